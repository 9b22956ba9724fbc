package device

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

func TestMain(m *testing.M) {
	code := m.Run()
	devicetest.Remove()
	os.Exit(code)
}

func built(t *testing.T) string {
	t.Helper()
	need.Programs(t, "node")
	return devicetest.Built(t)
}

// expected is the other side of the checks' comparisons.
type expected struct {
	Numbers  numbers   `json:"numbers"`
	Entropy  []byte    `json:"entropy"`
	Draws    []drawing `json:"draws"`
	Law      []float64 `json:"law"`
	Samples  int       `json:"samples"`
	Quantile float64   `json:"quantile"`
}

type numbers struct {
	Kappa      float64               `json:"kappa"`
	Mechanisms map[string]accuracies `json:"mechanisms"`
}

type accuracies struct {
	Radii      []float64   `json:"radii"`
	Confidence float64     `json:"confidence"`
	Unit       budget.Unit `json:"unit"`
	Quanta     string      `json:"quanta"`
}

type drawing struct {
	Mechanism string    `json:"mechanism"`
	Secret    []float64 `json:"secret"`
	Drawn     []float64 `json:"drawn"`
}

// expect returns the numbers and draws of the Go packages for the declarations in checks.js.
func expect(t *testing.T) []byte {
	t.Helper()
	town, err := planar.NewDomain("town", 47.3, 8.4, 47.5, 8.7, 10)
	if err != nil {
		t.Fatal(err)
	}
	meter, err := scalar.NewUniverse("meter", 0, 4, 1, "kWh")
	if err != nil {
		t.Fatal(err)
	}
	value, err := scalar.NewQuery(scalar.Value, meter, budget.D1, budget.Decimal(0.5))
	if err != nil {
		t.Fatal(err)
	}
	e := expected{Numbers: numbers{town.Kappa(), map[string]accuracies{}}, Samples: 4000}
	priced := func(a accuracies, p budget.Price) accuracies {
		a.Unit, a.Quanta = p.Unit, fmt.Sprint(int64(p.Amount))
		return a
	}
	radii := func(radius func(p float64) (float64, error)) []float64 {
		half, err := radius(0.5)
		most, err2 := radius(0.95)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return []float64{half, most}
	}
	draws := map[string]func(src *exact.Source, x, y float64) []float64{
		"value": func(src *exact.Source, x, _ float64) []float64 {
			var a scalar.Accumulator
			value.Reset(&a)
			value.Add(&a, x)
			return []float64{value.Draw(src, &a)}
		},
	}
	e.Numbers.Mechanisms["value"] = priced(accuracies{Radii: radii(func(p float64) (float64, error) { return value.Radius(p, 1) })}, value.Price())
	for name, c := range map[string]struct {
		law     string
		epsilon float64
	}{"laplace": {"laplace", 0.01}, "laplaceL1": {"laplace_l1", 0.01}, "gauss": {"gauss", 0.0001}} {
		m, err := town.Mechanism(c.law, budget.Decimal(c.epsilon))
		if err != nil {
			t.Fatal(err)
		}
		draws[name] = func(src *exact.Source, lat, lon float64) []float64 {
			lat, lon = m.Draw(src, lat, lon)
			return []float64{lat, lon}
		}
		e.Numbers.Mechanisms[name] = priced(accuracies{Radii: radii(m.Accuracy().Radius), Confidence: m.Accuracy().Confidence(100)}, m.Price())
	}
	e.Entropy = make([]byte, 1<<18)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(e.Entropy); i++ {
		e.Entropy[i] = byte(r.Uint64())
	}
	entropy := &bytesOnce{e.Entropy}
	src := exact.NewSmallSource(entropy)
	r := rand.New(rand.NewPCG(3, 4))
	for range 75 {
		for _, name := range []string{"laplace", "laplaceL1", "gauss", "value"} {
			secret := []float64{47.25 + 0.3*r.Float64(), 8.35 + 0.4*r.Float64()} // also outside of the box
			if name == "value" {
				secret = []float64{6*r.Float64() - 1}
			}
			drawn := draws[name](src, secret[0], secret[len(secret)-1])
			src.Erase()
			e.Draws = append(e.Draws, drawing{name, secret, drawn})
		}
	}
	// The truncated geometric law around 1 at epsilon 1.
	q := math.Exp(-1)
	e.Law = []float64{q / (1 + q), (1 - q) / (1 + q), (1 - q) / (1 + q) * q, (1 - q) / (1 + q) * q * q, q * q * q / (1 + q)}
	e.Quantile = distuv.ChiSquared{K: 4}.Quantile(1 - 1e-7)
	if os.Getenv("GEOSQL_WHOLE") != "" {
		e.Samples = 100_000
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// bytesOnce reads bytes and fails at their end.
type bytesOnce struct{ rest []byte }

func (b *bytesOnce) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// node runs the checks, or only one of them, over a package in Node.
func node(t *testing.T, folder, expected string, only ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", append([]string{"testdata/node.mjs", filepath.Join(folder, "index.js"), expected}, only...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func written(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "expected.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// False alarms: 1e-7, of one chi-squared test over 4000 values.
func TestNode(t *testing.T) {
	if out, err := node(t, built(t), written(t, expect(t))); err != nil {
		t.Errorf("in Node: %s", out)
	}
}

// The golden numbers of the packages that the module is made of are the same in WebAssembly.
func TestNumbersInWebAssembly(t *testing.T) {
	need.Programs(t, "go", "node")
	packages := []string{"mechanism/planar", "mechanism/scalar"}
	if os.Getenv("GEOSQL_WHOLE") != "" {
		packages = append(packages, "internal/elementary", "budget", "mechanism/pim", "mechanism/density", "mechanism/trace")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-vet=off", "-exec", filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/go_js_wasm_exec"), "-run", "^(TestNumbers|TestSameEverywhere)$"}
	for _, p := range packages {
		args = append(args, "github.com/geosql/geosql/"+p)
	}
	command := exec.Command("go", args...)
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A page loads a module before its first draw or seal, so that their sizes are bounded, as gzip packs them.
func TestModulesAreSmall(t *testing.T) {
	folder, gzip := devicetest.Built(t), need.Program(t, "gzip")
	for name, bound := range map[string]int{"draw.wasm": 1_100_000, "seal.wasm": 1 << 20} {
		packed, err := exec.Command(gzip, "-9c", filepath.Join(folder, name)).Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(packed) > bound {
			t.Errorf("%s has %d bytes, more than %d", name, len(packed), bound)
		}
	}
}

// site serves the package and the checks.
func site(t testing.TB, folder string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/device/", http.StripPrefix("/device/", http.FileServer(http.Dir(folder))))
	mux.Handle("/checks/", http.StripPrefix("/checks/", http.FileServer(http.Dir("testdata"))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><title>device</title>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

const stores = `device => [device.memory(), device.local("check" + Math.random()), device.indexed("check" + Math.random())]`

// False alarms: 1e-7, of one chi-squared test over 4000 values.
func TestChromium(t *testing.T) {
	folder := built(t)
	b := browser.New(t)
	origin := site(t, folder)
	b.Open(origin+"/", "true")
	var failed string
	const run = `(await import("/checks/checks.js")).run`
	b.Eval(`(async () => { try { await `+run+`("/device/index.js", `+string(expect(t))+`, { stores: `+stores+` }); return "" } catch (e) { return e.message } })()`, &failed)
	if failed != "" {
		t.Errorf("in chromium: %s", failed)
	}
	t.Run("workers", func(t *testing.T) { testWorkers(t, b) })
	t.Run("tabs", func(t *testing.T) { testTabs(t, b, origin) })
	b.Check(origin) // it loads nothing from elsewhere
}

// worker starts a worker in a mode and resolves to its message.
const worker = `(mode, name) => new Promise((resolve, reject) => {
	const w = new Worker("/checks/worker.js", { type: "module" })
	w.onmessage = e => { w.terminate(); resolve(e.data) }
	w.onerror = e => reject(new Error(e.message))
	w.postMessage({ index: "/device/index.js", mode, name })
})`

// Workers that draw at the same time stay below one limit, as tabs do; a charge stays if its worker is killed before the draw.
func testWorkers(t *testing.T, b *browser.Browser) {
	var drawn []any
	b.Eval(`(async () => {
		const device = await import("/device/index.js"), name = "workers", worker = `+worker+`
		const budget = device.budget(device.indexed(name))
		await budget.limit("ana", "kWh", 31)
		const killed = await worker("hang", name)
		const spent = (await budget.balance("ana", "kWh")).spent
		const drawn = await Promise.all([worker("draw", name), worker("draw", name)])
		return [killed, spent, drawn[0] + drawn[1], (await budget.balance("ana", "kWh")).spent]
	})()`, &drawn)
	if fmt.Sprint(drawn) != "[charged 1 30 31]" {
		t.Errorf("a killed worker, what it spent, the draws of two workers and the balance are %v", drawn)
	}
}

// Two tabs that draw from one store at the same time stay below a limit: in IndexedDB they take turns, and localStorage belongs
// to the first until it is closed.
func testTabs(t *testing.T, b *browser.Browser, origin string) {
	first, second := b.Tab(), b.Tab()
	for _, tab := range []*browser.Browser{first, second} {
		tab.Open(origin+"/", "true")
		tab.Eval(`(async () => {
			window.device = await import("/device/index.js")
			window.value = (await device.universe({ name: "meter", lo: 0, hi: 4, step: 1, unit: "kWh" })).value(1)
			window.drawing = {}
			for (const [kind, store] of Object.entries({ indexed: device.indexed("tabs"), local: device.local("tabs") }))
				drawing[kind] = async () => {
					let drawn = 0
					try { for (;;) { await value.draw(device.budget(store), "ana", 2); drawn++ } } catch (e) { return e instanceof device.RefusedError ? drawn : e.message }
				}
		})()`, nil)
	}
	var one, other int
	first.Eval(`device.budget(device.indexed("tabs")).limit("ana", "kWh", 100)`, nil)
	first.Eval(`navigator.locks.request("start", () => new Promise(start => (window.start = start))), 0`, nil)
	for _, tab := range []*browser.Browser{first, second} {
		tab.Eval(`window.drawn = navigator.locks.request("start", { mode: "shared" }, () => {}).then(drawing.indexed), 0`, nil)
	}
	first.Eval(`start()`, nil)
	first.Eval(`drawn`, &one)
	second.Eval(`drawn`, &other)
	if one+other != 100 || one == 0 || other == 0 {
		t.Errorf("under a limit of 100 draws in IndexedDB, two tabs make %d and %d", one, other)
	}

	first.Eval(`(async () => {
		await device.budget(device.local("tabs")).limit("ana", "kWh", 100)
		for (let i = 0; i < 60; i++) await value.draw(device.budget(device.local("tabs")), "ana", 2)
	})()`, nil)
	if said := second.Text(`drawing.local()`); !strings.HasPrefix(said, "another page has the budget 'tabs'") {
		t.Errorf("a second tab with the budget in localStorage says %s", said)
	}
	first.Close()
	second.Eval(`(async () => {
		for (;;) {
			const drawn = await drawing.local()
			if (typeof drawn === "number") return drawn
			await new Promise(resolve => setTimeout(resolve, 20))
		}
	})()`, &other)
	if other != 40 {
		t.Errorf("a tab makes %d draws of 100 in localStorage, after one that made 60", other)
	}
}

// The checks find bugs that are planted in the package.
func TestPlantedBugsAreFound(t *testing.T) {
	folder, expected := built(t), written(t, expect(t))
	for name, c := range map[string]struct{ file, old, new, found string }{
		"draw before the charge": {"index.js", "const { unit, quanta } = this.#price\n", "const { unit, quanta } = this.#price\n    const drawn = this.module.draw(this.handle, x, y)\n", "order"},
		"charge not awaited":     {"index.js", "await isBudget(budget).update((module, document) =>\n      module.charge(", "isBudget(budget).update((module, document) =>\n      module.charge(", "limits"},
		"step not charged":       {"index.js", "await isBudget(budget).update((module, document) =>\n      module.begin(", "await new Budget({ update: async f => f('') }).update((module, document) =>\n      module.begin(", "traces"},
		"store forgets":          {"stores.js", "stored = change(stored)", "change(stored)", "golden"},
		"entropy replaced":       {"draw.js", "return 0\n", "return new Uint8Array(memory.buffer, at, n).fill(77), 1\n", "entropy"},
		"account unchecked":      {"index.js", "await this.release(budget, check.payer(account), check.number('x', x), 0)", "await this.release(budget, check.account(account), check.number('x', x), 0)", "limits"},
		"other lattice":          {"index.js", "module.domain(String(name), ...box,", "module.domain(String(name), box[0] - 1e-9, ...box.slice(1),", "golden"},
		"other law":              {"index.js", "this.#mechanism('laplace_l1'", "this.#mechanism('laplace'", "golden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planted := t.TempDir()
			plant(t, folder, planted, c.file, c.old, c.new)
			if out, err := node(t, planted, expected, c.found); err == nil || !strings.HasPrefix(out, c.found) {
				t.Errorf("not found by %s: %s", c.found, out)
			}
		})
	}
}

// plant copies a package with a change in one of its files.
func plant(t *testing.T, from, to, file, old, new string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, file)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), old) != 1 {
		t.Fatalf("%s has %q %d times: %v", file, old, strings.Count(string(text), old), err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
