package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/devicetest"
	"github.com/geosql/geosql/internal/need"
)

// installed returns a copy of examples/device with the package installed, as its README says.
func installed(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../examples/device")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(folder, "node_modules/geosql-device"), os.DirFS(devicetest.Built(t))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// figures plays the figures of a page: draws, the slider by keys, and a move of the place.
func figures(t *testing.T, b *browser.Browser) {
	t.Helper()
	of := func(figure, selector string) string {
		return `document.querySelector("[data-figure=` + figure + `] ` + selector + `")`
	}
	said := func(figure, text string) {
		t.Helper()
		b.Until(of(figure, ".said") + `?.textContent.includes("` + text + `")`)
	}
	b.Until(of("place", ".epsilon") + `?.textContent.endsWith("per metre")`)
	b.Click("[data-figure=place] .once")
	said("place", "The draw is ")
	b.Click("[data-figure=place] .often")
	said("place", "of 1000 draws are within")
	if n := strings.Count(b.Text(of("place", ".draws")+`.getAttribute("d")`), "h0"); n != 1000 {
		t.Errorf("%d draws are shown", n)
	}
	before := b.Text(of("place", ".within") + ".textContent")
	b.Eval(of("place", "input")+".focus()", nil)
	b.Press("ArrowRight")
	b.Until(of("place", ".within") + `.textContent !== "` + before + `"`)
	label := b.Text(of("place", ".map") + `.getAttribute("aria-label")`)
	b.Eval(of("place", ".map")+".focus()", nil)
	b.Press("ArrowLeft")
	b.Until(of("place", ".map") + `.getAttribute("aria-label") !== "` + label + `"`)
	b.Until(of("household", ".epsilon") + `?.textContent.endsWith("per kWh")`)
	b.Click("[data-figure=household] .once")
	said("household", "The noisy sum is ")
}

// The figures of the example draw, on a phone's width too, and nothing is loaded from elsewhere.
func TestDeviceExample(t *testing.T) {
	address := serve(t, installed(t), "/example/")
	b := browser.New(t)
	b.Size(390, 844, "dark")
	b.Open(address+"index.html", "true")
	b.Until(`document.querySelectorAll(".once").length === 2`)
	faults := tour(b)
	figures(t, b)
	var more []string
	b.Shoot("device")
	b.Eval(look, &more)
	for _, fault := range append(faults, more...) {
		t.Error(fault)
	}
	b.Check(strings.TrimSuffix(address, "/example/"))
}

// The app that looks for cafés asks once, for a radius that does not depend on its draw, and gets more than it shows.
func TestDeviceNearby(t *testing.T) {
	node := need.Program(t, "node")
	folder := installed(t)
	out, err := exec.Command(node, filepath.Join(folder, "nearby.mjs")).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "asked 1 time for 1249 m around a noisy point: true\n") {
		t.Errorf("%s, %v", out, err)
	}
}

// The figures draw on the site too.
func TestDeviceOnTheSite(t *testing.T) {
	address := serve(t, site(t), "/some/where/")
	b := browser.New(t)
	b.Size(1280, 1024, "light")
	open(b, address+"see-epsilon.html")
	figures(t, b)
	b.Shoot("see-epsilon")
	b.Check(strings.TrimSuffix(address, "/some/where/"))
}
