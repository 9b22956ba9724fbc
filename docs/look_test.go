package docs

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/browser"
	"github.com/geosql/geosql/internal/trials"
)

// structure returns the faults of a page's headings and pictures.
const structure = `(async () => {
  const faults = [], headings = [...document.querySelectorAll("main :is(h1, h2, h3, h4, h5, h6)")].map(h => Number(h.localName[1]));
  if (headings.filter(level => level === 1).length !== 1) faults.push("it has no heading of the first level, or several");
  headings.forEach((level, i) => { if (level > (headings[i - 1] ?? 0) + 1) faults.push("heading " + (i + 1) + " skips a level"); });
  for (const image of document.images) {
    await image.decode().catch(() => {});
    if (!image.naturalWidth) faults.push("a picture does not show: " + image.src);
    if (!image.alt) faults.push("a picture has no text in its place: " + image.src);
  }
  return faults;
})()`

// colours are functions for the contrast of a text with its ground, as WCAG 2.2 defines it (criterion 1.4.3).
const colours = `
const pixel = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d", {willReadFrequently: true});
const parse = colour => { pixel.clearRect(0, 0, 1, 1); pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); return [...pixel.getImageData(0, 0, 1, 1).data]; };
const over = ([r, g, b, a], under, opacity = 1) => [r, g, b].map((v, i) => under[i] + (v - under[i]) * opacity * a / 255);
const light = colour => colour.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const least = style => { const size = parseFloat(style.fontSize); return size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5; };`

// look returns the faults of a page's look: pale texts, small targets, and a width that scrolls.
const look = `(() => {` + colours + `
const faults = [], root = document.documentElement;
if (root.scrollWidth > root.clientWidth) faults.push("it is " + (root.scrollWidth - root.clientWidth) + " pixels too wide");
const chain = e => e ? [...chain(e.parentElement), e] : [];
const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !e.closest(".visually-hidden") &&
  [...e.getClientRects()].some(r => r.width > 1 && r.height > 1 && r.right > 0 && r.left < root.clientWidth);
const ground = e => chain(e).reduce((under, e) => over(parse(getComputedStyle(e).backgroundColor), under), [255, 255, 255]);
for (const e of document.body.querySelectorAll("*")) {
  if (!seen(e) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.replace(/[\s\u200b]/g, ""))) continue;
  const style = getComputedStyle(e), paper = ground(e), opacity = chain(e).reduce((o, e) => o * getComputedStyle(e).opacity, 1);
  const found = contrast(over(parse(style.color), paper, opacity), paper);
  if (found < least(style)) faults.push("the contrast of " + e.localName + "." + e.className + " " + e.textContent.trim().slice(0, 30) + " is " + found.toFixed(2));
}
for (const e of document.querySelectorAll("a[href], button, input, select, summary, [role=button], [tabindex='0']")) {
  if (!seen(e)) continue;
  const r = e.getBoundingClientRect(), inText = getComputedStyle(e).display === "inline" &&
    e.closest("p, li, td, th, h1, h2, h3, h4, figcaption")?.textContent.replace(/\u200b/g, "").trim() !== e.textContent.trim();
  if (!inText && (r.width < 23.99 || r.height < 23.99))
    faults.push("the target " + e.localName + "." + e.className + " " + e.textContent.trim().slice(0, 30) + " has " + r.width.toFixed(1) + " by " + r.height.toFixed(1) + " pixels");
}
return faults;
})()`

// stops prepares the page for Tab: window.places has where everything lies and how it looks without the focus, and
// window.stop returns a description of the element with the focus, or null after the last one.
const stops = `(() => {` + colours + `
const style = e => { const s = getComputedStyle(e); return [s.outline, s.boxShadow, s.borderColor, s.backgroundColor].join(); };
document.activeElement?.blur();
for (const e of document.querySelectorAll("*")) if (e.scrollTop) e.scrollTop = 0;
const places = new Map([...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].map(e => {
  const r = e.getClientRects()[0] ?? e.getBoundingClientRect();
  return [e, {left: r.left, right: r.right, top: r.top, bottom: r.bottom, style: style(e)}];
}));
const met = new Set(), regions = [];
window.stop = () => {
  const e = document.activeElement;
  if (!e || e === document.body || met.has(e)) return null;
  met.add(e);
  const {style: plain, ...place} = places.get(e), r = e.getClientRects()[0], s = getComputedStyle(e);
  const region = e.closest("nav, aside, main, header, footer") ?? document.body;
  if (regions.at(-1) !== region) regions.push(region);
  const left = Math.max(0, r.left), right = Math.min(innerWidth, r.right), high = Math.max(0, r.top), low = Math.min(innerHeight, r.bottom);
  const tops = [0.1, 0.5, 0.9].map(part => document.elementFromPoint(left + (right - left) / 2, high + (low - high) * part));
  const paper = chain(e.parentElement).reduce((under, e) => over(parse(getComputedStyle(e).backgroundColor), under), [255, 255, 255]);
  return {
    name: e.localName + "." + e.className + " " + e.textContent.trim().slice(0, 30), region: regions.length, ...place,
    shown: style(e) !== plain && (s.outlineStyle === "none" || s.outlineStyle === "auto" || contrast(over(parse(s.outlineColor), paper), paper) >= 3),
    covered: !tops.some(top => e.contains(top) || top?.contains(e)),
  };
};
function chain(e) { return e ? [...chain(e.parentElement), e] : []; }
})()`

// A stop is an element that Tab leads to.
type stop struct {
	Name                     string
	Region                   int // how many regions of the page the way has gone through
	Left, Right, Top, Bottom float64
	Shown, Covered           bool
}

// tour presses Tab until the end of the page and returns the faults that it meets.
func tour(b *browser.Browser) (faults []string) {
	b.T.Helper()
	b.Eval(stops, nil)
	var regions []stop
	var last stop
	for n := 0; ; n++ {
		b.Press("Tab")
		var s *stop
		if b.Eval("stop()", &s); s == nil {
			if n < 5 {
				faults = append(faults, fmt.Sprintf("Tab finds %d places", n))
			}
			break
		}
		if !s.Shown {
			faults = append(faults, s.Name+" does not show that it has the focus")
		}
		if s.Covered {
			faults = append(faults, s.Name+" has the focus, and cannot be seen")
		}
		if s.Region == last.Region {
			if s.Bottom <= last.Top || s.Top < last.Bottom && last.Top < s.Bottom && s.Right <= last.Left {
				faults = append(faults, fmt.Sprintf("Tab goes back from %s to %s", last.Name, s.Name))
			}
			r := &regions[len(regions)-1]
			r.Left, r.Right, r.Top, r.Bottom = min(r.Left, s.Left), max(r.Right, s.Right), min(r.Top, s.Top), max(r.Bottom, s.Bottom)
		} else {
			regions = append(regions, *s)
		}
		last = *s
	}
	for i, r := range regions[min(1, len(regions)):] {
		if before := regions[i]; r.Left < before.Right && r.Bottom <= before.Top || r.Right <= before.Left && r.Top < before.Bottom && before.Top < r.Bottom {
			faults = append(faults, fmt.Sprintf("Tab goes back from the region of %s to that of %s", before.Name, r.Name))
		}
	}
	return faults
}

// examined are pages of each kind.
var examined = []string{"index.html", "first-hour.html", "install.html", "epsilon.html", "command.html", "reference.html", "claims.html"}

type screen struct {
	name          string
	width, height int
}

var screens = []screen{{"laptop", 1280, 720}, {"phone", 390, 844}}

// On a laptop and on a phone, in the light and in the dark, texts can be read, targets can be hit, Tab goes along as the eye
// does and shows where it is, and nothing scrolls sideways.
func TestLook(t *testing.T) {
	address := serve(t, site(t), "/")
	b := browser.New(t)
	type view struct {
		page, scheme string
		screen
	}
	var views []view
	for _, page := range examined {
		for _, s := range screens {
			views = append(views, view{page, "light", s}, view{page, "dark", s})
		}
	}
	for _, v := range trials.Some(t, 8, views...) {
		b.Size(v.width, v.height, v.scheme)
		open(b, address+v.page)
		var faults []string
		b.Eval(look, &faults)
		for _, fault := range append(faults, tour(b)...) {
			t.Errorf("%s, %s, %s: %s", v.page, v.name, v.scheme, fault)
		}
		b.Shoot(strings.Join([]string{v.page, v.name, v.scheme}, "-"))
	}
	b.Check(strings.TrimSuffix(address, "/"))
}

// The faults that the tests of the look find, each on a page that is whole but for it.
func TestFaultsOfALookAreFound(t *testing.T) {
	folder := t.TempDir()
	const whole = `<!DOCTYPE html><meta name=viewport content="width=device-width"><style>a { display: block; height: 30px } main { display: flex; flex-direction: column }</style><main><h1>Page</h1>
<a href="#1">one</a><a href="#2">two</a><a href="#3">three</a><a href="#4">four</a><a href="#5">five</a><h2>Part</h2><p>Text</p></main>`
	address := serve(t, folder, "/")
	b := browser.New(t)
	b.Size(390, 844, "light")
	for i, c := range []struct{ old, new, fault string }{
		{"Text", "Text", ""},
		{"<p>", "<p style='color: #888'>", "the contrast of p. Text is 3.54"},
		{"<p>", "<p style='opacity: 0.4'>", "the contrast of p. Text is 2.85"},
		{"a {", "a:first-of-type { height: 20px !important } a {", "the target a. one has 374.0 by 20.0 pixels"},
		{"<p>", "<p style='width: 500px'>", "it is 119 pixels too wide"},
		{"a {", "a:focus { outline: none } a {", "a. one does not show that it has the focus"},
		{"a {", "a:focus { outline: 2px solid #ddd } a {", "a. one does not show that it has the focus"},
		{"a {", "a:first-of-type { order: 2 } a {", "Tab goes back from a. one to a. two"},
		{"a {", "a:first-of-type { position: absolute; left: -900px } a {", "a. one has the focus, and cannot be seen"},
		{"<h2>Part</h2>", "<nav><a href='#6' style='position: absolute; top: 0'>six</a></nav>", "Tab goes back from the region of a. one to that of a. six"},
		{"<a href", "<p hidden", "Tab finds 0 places"},
		{"h1", "h2", "it has no heading of the first level, or several"},
		{"h2", "h3", "heading 2 skips a level"},
		{"Text", "<img alt='x' src='data:,'>", "a picture does not show: data:,"},
		{"Text", "<img src='data:image/svg+xml,<svg/>'>", "a picture has no text in its place: data:image/svg+xml,<svg/>"},
	} {
		page := strings.ReplaceAll(whole, c.old, c.new)
		name := fmt.Sprintf("%d.html", i)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		b.Open(address+name, "true")
		var faults, headings []string
		b.Eval(look, &faults)
		b.Eval(structure, &headings)
		faults = append(append(faults, headings...), tour(b)...)
		if c.fault == "" && len(faults) > 0 || c.fault != "" && !slices.Contains(faults, c.fault) {
			t.Errorf("%q: the faults are %q", c.new, faults)
		}
	}
}

// The first page says in one screen what geosql is, for whom, and how each of them begins.
func TestTheFirstPageFits(t *testing.T) {
	address := serve(t, site(t), "/")
	b := browser.New(t)
	for _, s := range screens {
		b.Size(s.width, s.height, "light")
		open(b, address+"index.html")
		b.Until(`document.images[0].complete`)
		ends := map[string]float64{}
		b.Eval(`Object.fromEntries(["h1", "p", "ul", "img"].map(part => [part, document.querySelector("main " + part).getBoundingClientRect().bottom]))`, &ends)
		for part, end := range ends {
			if end > float64(s.height) {
				t.Errorf("%s: the first %s of the page ends at %v", s.name, part, end)
			}
		}
		b.Shoot("first-" + s.name)
	}
}

// Pages follow the system's theme until the reader switches it, and pictures follow the page.
func TestThemes(t *testing.T) {
	address := serve(t, site(t), "/")
	b := browser.New(t)
	check := func(when string, want color.RGBA) {
		t.Helper()
		b.Until(fmt.Sprintf(`getComputedStyle(document.body).backgroundColor === "rgb(%d, %d, %d)" && document.images[0].complete`, want.R, want.G, want.B))
		var at struct{ X, Y int }
		b.Eval(`(() => { const r = document.images[0].getBoundingClientRect(); return {X: Math.round(r.left + 8), Y: Math.round(r.bottom - 5)}; })()`, &at)
		if have := color.RGBAModel.Convert(b.Picture().At(at.X, at.Y)); have != want {
			t.Errorf("%s: the paper of the picture is %v, and the page %v", when, have, want)
		}
	}
	white, black := color.RGBA{255, 255, 255, 255}, color.RGBA{0x1b, 0x1b, 0x1f, 255}
	for scheme, themes := range map[string][2]color.RGBA{"light": {white, black}, "dark": {black, white}} {
		b.Size(1280, 720, scheme)
		open(b, address+"index.html")
		check("the system is "+scheme, themes[0])
		b.Click("button.VPSwitchAppearance")
		check("the system is "+scheme+", switched", themes[1])
		b.Click("button.VPSwitchAppearance")
	}
}

// legible returns the texts of a picture that are pale on the shapes below them.
const legible = `(() => {` + colours + `
const number = (e, name) => Number(getComputedStyle(e)[name]);
return [...document.querySelectorAll("text")].flatMap(text => {
  const r = text.getBoundingClientRect();
  const below = document.elementsFromPoint(r.left + r.width / 2, r.top + 3).filter(e => e.localName === "rect").reverse();
  const paper = below.reduce((under, e) => over(parse(getComputedStyle(e).fill), under, number(e, "fillOpacity")), [128, 128, 128]);
  const found = contrast(parse(getComputedStyle(text).fill).slice(0, 3), paper);
  return found < 4.5 ? [text.textContent + " " + found.toFixed(2)] : [];
});
})()`

// The texts of all pictures can be read in both themes.
func TestPicturesCanBeRead(t *testing.T) {
	pictures, err := filepath.Glob("pictures/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	address := serve(t, ".", "/")
	b := browser.New(t)
	for _, scheme := range []string{"light", "dark"} {
		b.Size(1280, 720, scheme)
		for _, picture := range pictures {
			b.Open(address+filepath.ToSlash(picture), "true")
			var pale []string
			if b.Eval(legible, &pale); len(pale) > 0 {
				t.Errorf("%s, %s: %q", picture, scheme, pale)
			}
			b.Shoot(filepath.Base(picture) + "-" + scheme)
		}
	}
}
