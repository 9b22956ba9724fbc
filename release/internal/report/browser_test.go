package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
)

// A browser is Debian's chromium, without a window.
type browser struct {
	program string
	dir     string
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	program := need.Program(t, "chromium")
	// Not t.TempDir: processes that the browser leaves running may write its profile a little
	// longer.
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return browser{program: program, dir: dir}
}

// open opens a page of the given text and returns the browser's output and the messages that the
// page logged to its console.
func (b browser) open(t *testing.T, page string, flags ...string) (output string, console []string) {
	t.Helper()
	path := filepath.Join(b.dir, "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	// The sandbox needs a kernel and a user that a build machine may not have, and
	// the page is our own.
	flags = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir=" + filepath.Join(b.dir, "profile"), "--enable-logging=stderr",
	}, flags...)
	command := exec.CommandContext(ctx, b.program, append(flags, "file://"+path)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = time.Minute
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, ":CONSOLE") {
			console = append(console, line)
		}
	}
	return stdout.String(), console
}

// A browser reads the page as it is written, element by element, and has nothing to
// complain of.
func TestABrowserReadsThePage(t *testing.T) {
	b := newBrowser(t)
	data := released(t, 2000)
	data.Public.Kept = []string{`<script>alert(1)</script>`, `"><svg onload="alert(1)">`, "</style>", "<!--"}
	page := written(t, data)
	dom, console := b.open(t, page, "--dump-dom")
	if len(console) > 0 {
		t.Errorf("the console says %q", console)
	}
	for _, name := range []string{"main", "aside", "svg", "path", "rect", "text", "table", "caption", "tr", "th", "td", "h2", "h3", "bdi", "script"} {
		if n, want := strings.Count(dom, "<"+name+">")+strings.Count(dom, "<"+name+" "), tags(t, page, name); n != want {
			t.Errorf("the browser has %d elements %s, %d are written", n, name, want)
		}
	}
}

func tags(t *testing.T, page, name string) int {
	t.Helper()
	document, err := parse(page)
	if err != nil {
		t.Fatal(err)
	}
	return len(document.all(name))
}

// The page's policy forbids scripts and pictures of elsewhere, and the test sees the
// messages on the console.
func TestThePolicyHolds(t *testing.T) {
	b := newBrowser(t)
	page := written(t, released(t, 20))
	const script, picture = `<script>document.title = "run"</script>`, `<img alt="" src="other.png" />`
	dom, console := b.open(t, strings.Replace(page, "</main>", script+picture+"</main>", 1), "--dump-dom")
	if len(console) != 2 || strings.Contains(dom, "<title>run") {
		t.Errorf("the console says %q", console)
	}
}

// A layout holds the measures that the script below takes of a page.
type layout struct {
	Dark     bool
	Wide     float64  // by how much the page is wider than its window
	Pictures int      // of a visible size
	Overlaps []string // pairs of labels, and labels that stick out of their picture
	Faint    []string // texts with a contrast below 4.5 : 1 (WCAG 2.1, criterion 1.4.3)
}

const measure = `<script>
for (const d of document.querySelectorAll("details")) d.open = true;
const result = {Dark: matchMedia("(prefers-color-scheme: dark)").matches, Overlaps: [], Faint: []};
const root = document.documentElement;
result.Wide = root.scrollWidth - root.clientWidth;
const pictures = [...document.querySelectorAll("svg")];
const box = e => e.getBoundingClientRect();
result.Pictures = pictures.filter(s => box(s).width > 200 && box(s).height > 100).length;
for (const s of pictures) {
  const outer = box(s), labels = [...s.querySelectorAll("text")];
  labels.forEach((l, i) => {
    const a = box(l);
    if (a.left < outer.left - 1 || a.right > outer.right + 1 || a.top < outer.top - 1 || a.bottom > outer.bottom + 1)
      result.Overlaps.push(l.textContent + " sticks out");
    for (const m of labels.slice(i + 1)) {
      const b = box(m);
      if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
        result.Overlaps.push(l.textContent + " / " + m.textContent);
    }
  });
}
const parts = c => (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = c => parts(c).slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = e => {
  for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (parts(c)[3] !== 0) return c;
  }
  return "rgb(255, 255, 255)";
};
for (const e of document.querySelectorAll("h1, h2, h3, p, li, td, th, caption, figcaption, summary, code, a, text")) {
  const style = getComputedStyle(e), ink = light(e.tagName === "text" ? style.fill : style.color), paper = light(ground(e));
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  if (contrast < 4.5) result.Faint.push(e.tagName + " " + contrast.toFixed(2) + " " + e.textContent.slice(0, 30));
}
const output = document.createElement("pre");
output.id = "layout";
output.textContent = JSON.stringify(result);
document.body.append(output);
</script></body>`

// measured opens a page, allows it the measuring script, and returns the layout found.
func (b browser) measured(t *testing.T, page string, flags ...string) (l layout) {
	t.Helper()
	page = strings.Replace(page, "default-src 'none'", "script-src 'unsafe-inline'", 1)
	page = strings.Replace(page, "</body>", measure, 1)
	dom, console := b.open(t, page, append(flags, "--dump-dom")...)
	if len(console) > 0 {
		t.Errorf("the console says %q", console)
	}
	_, text, found := strings.Cut(dom, `<pre id="layout">`)
	text, _, closed := strings.Cut(text, "</pre>")
	if !found || !closed {
		t.Fatal("the page was not measured")
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// faults returns the faults of a layout.
func (l layout) faults(pictures int) (all []string) {
	if l.Wide > 0 {
		all = append(all, fmt.Sprintf("it is %v pixels too wide", l.Wide))
	}
	if l.Pictures != pictures {
		all = append(all, fmt.Sprintf("%d of %d pictures show", l.Pictures, pictures))
	}
	return append(append(all, l.Overlaps...), l.Faint...)
}

// On a wide and on a narrow screen, in the light and in the dark, everything fits, no
// label covers another and every text can be read.
func TestLayout(t *testing.T) {
	b := newBrowser(t)
	data := released(t, 2000)
	data.Public.Output = strings.Repeat("a_very_long_name", 20)
	page := written(t, data)
	pictures := tags(t, page, "svg")
	for _, c := range []struct {
		name, width, scheme string
		dark                bool
	}{{"wide", "1200,900", "1", false}, {"narrow and dark", "500,900", "0", true}} {
		l := b.measured(t, page, "--window-size="+c.width, "--blink-settings=preferredColorScheme="+c.scheme)
		if l.Dark != c.dark {
			t.Errorf("%s: dark is %v", c.name, l.Dark)
		}
		if faults := l.faults(pictures); len(faults) > 0 {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}

// Boxes and noise of other sizes have labels that fit too; here on one page.
func TestLayoutOfOtherDomains(t *testing.T) {
	b := newBrowser(t)
	data := released(t, 0)
	data.Owner = nil
	page, pictures := written(t, data), 0
	page = strings.Replace(page, mainPart(t, page), "", 1)
	p := &data.Public
	p.Level, p.Radius = 0, 0
	for _, c := range []struct {
		box     Box
		epsilon float64
		highest int64
	}{
		{Box{South: -0.01, West: 179.99, North: 0.01, East: -179.95}, 3, 12},
		{Box{South: -50, West: -75, North: -20, East: -65}, 1e-5, 1_000_000_000},
		{Box{South: 89, West: -90, North: 90, East: 90}, 1e-9, 100_000},
		{Box{South: 48.80001, West: 2.3, North: 48.80002, East: 2.3001}, 100, 1},
		{Box{South: -48.80002, West: -122.3001, North: -48.80001, East: -122.3}, 0.04, 1},
	} {
		g := NewGrid(c.box)
		g.counts[0] = c.highest
		p.Box, p.Epsilon, p.Rows = c.box, c.epsilon, c.highest
		p.Locations = []Location{{Lat: "lat", Lon: "lon", Released: g}}
		part := mainPart(t, written(t, data))
		pictures += 2
		page = strings.Replace(page, "</main>", part+"</main>", 1)
	}
	if faults := b.measured(t, page, "--window-size=800,900").faults(pictures); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// The measuring finds faults: the page is spoilt in four ways.
func TestLayoutFaultsAreFound(t *testing.T) {
	b := newBrowser(t)
	page := written(t, released(t, 20))
	spoilt := strings.NewReplacer(
		"<h1>", `<div id="wide"></div><h1>`,
		"svg text {", "#wide { width: 3000px; height: 1px } svg:first-of-type { letter-spacing: 30px } aside svg { display: none } svg text {",
		"--faint: #595959", "--faint: #bbbbbb",
	).Replace(page)
	l := b.measured(t, spoilt, "--blink-settings=preferredColorScheme=1")
	if l.Wide <= 0 || len(l.Overlaps) == 0 || len(l.Faint) == 0 || l.Pictures != 3 {
		t.Errorf("of four faults some are not found: %+v", l)
	}
}

// A picture of the page shows the paper, the ink, the border of the owner's part and
// all colours of the maps that are used.
func TestScreenshot(t *testing.T) {
	b := newBrowser(t)
	data := released(t, 50_000)
	path := filepath.Join(b.dir, "page.png")
	_, console := b.open(t, written(t, data), "--window-size=800,9000", "--blink-settings=preferredColorScheme=1", "--screenshot="+path)
	if len(console) > 0 {
		t.Errorf("the console says %q", console)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	pixels, bounds := map[color.RGBA]int{}, picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			pixels[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	for colour, least := range map[string]int{
		"#ffffff": 1_000_000, "#1b1b1b": 1000, "#a4262c": 10_000,
		"#bcd7ec": 10_000, "#7fb2d8": 10_000, "#3f86bd": 10_000, "#1a5a93": 1000, "#b34700": 1000,
	} {
		c := color.RGBA{A: 255}
		if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
			t.Fatal(err)
		}
		if pixels[c] < least {
			t.Errorf("%d pixels have colour %s, expected at least %d", pixels[c], colour, least)
		}
	}
}
