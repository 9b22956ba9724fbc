package device

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
)

// measure is JavaScript that measures a package: milliseconds until it draws, planar draws a second, and those with a charge
// in memory.
const measure = `async index => {
	const rate = async (n, draw) => {
		const start = performance.now()
		for (let i = 0; i < n; i++) await draw()
		return n / (performance.now() - start) * 1000
	}
	const start = performance.now()
	const device = await import(index)
	const town = await device.domain({ name: "town", south: 47.3, west: 8.4, north: 47.5, east: 8.7, stepM: 10 })
	const ready = performance.now() - start
	const laplace = town.laplace(0.01)
	const budget = device.budget(device.memory())
	await budget.limit("ana", "m", 1e6)
	const draws = () => { for (let i = 0; i < 1000; i++) laplace.module.draw(laplace.handle, 47.4, 8.5) }
	const charged = () => laplace.draw(budget, "ana", 47.4, 8.5)
	await rate(10, draws) // functions that are called often are compiled once more
	await rate(1000, charged)
	return [ready, await rate(50, draws) * 1000, await rate(5000, charged)]
}`

func report(b *testing.B, measured []float64) {
	b.ReportMetric(0, "ns/op")
	for i, unit := range []string{"ms-to-ready", "draws/s", "charged/s"} {
		b.ReportMetric(measured[i], unit)
	}
}

// Each operation is another page of one browser: with -benchtime 9x the last of nine is reported.
func BenchmarkChromium(b *testing.B) {
	page := browser.New(b)
	origin := site(b, devicetest.Built(b))
	var measured []float64
	for b.Loop() {
		page.Open(origin+"/", "true")
		page.Eval("("+measure+`)("/device/index.js")`, &measured)
		b.Log(measured)
	}
	report(b, measured)
}

func BenchmarkNode(b *testing.B) {
	node := need.Program(b, "node")
	script := filepath.Join(b.TempDir(), "measure.mjs")
	text := "console.log((await (" + measure + `)("` + filepath.Join(devicetest.Built(b), "index.js") + `")).join(" ")); process.exit()`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	measured := make([]float64, 3)
	for b.Loop() {
		out, err := exec.Command(node, script).Output()
		if err != nil {
			b.Fatal(err)
		}
		for i, number := range strings.Fields(string(out)) {
			if measured[i], err = strconv.ParseFloat(number, 64); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, measured)
}
