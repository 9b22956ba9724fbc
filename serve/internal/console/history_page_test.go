package console

import (
	"fmt"
	"strings"
	"testing"
)

// A role's earlier statements can be run again, and saved questions too. Others do not find them after a logout.
func TestRunAgain(t *testing.T) {
	b, f, origin := openConsole(t, 1280, 900, "light")
	b.login("ana")
	b.fill("#epsilon", "0.25")
	b.ask("SELECT sum(kwh) FROM reading")
	b.confirm()
	b.ask("SELECT count(*) FROM reading")
	b.Until(shown)
	b.Eval(`document.getElementById("epsilon").value = ""`, nil)
	spent := f.spent["kWh"]
	b.Click(`nav a[href="#history"]`)
	b.Until(`document.querySelector(".again")`)
	if text := b.Text(`document.getElementById("history-body").innerText`); !strings.Contains(text, "SELECT sum(kwh) FROM reading") || !strings.Contains(text, "epsilon of plain aggregates 0.25") {
		t.Errorf("the history says %q", text)
	}
	b.Shoot("history-again")
	b.Click(".again")
	b.Until(`!document.getElementById("query").hidden && document.getElementById("result").innerText.includes("remembered")`)
	if got := b.Text(`document.getElementById("sql").value + " " + document.getElementById("epsilon").value`); got != "SELECT sum(kwh) FROM reading 0.25" || f.spent["kWh"] != spent {
		t.Errorf("%q runs again, and %v is spent", got, f.spent["kWh"]-spent)
	}
	// A statement without a remembered answer asks first.
	f.mu.Lock()
	clear(f.known)
	f.mu.Unlock()
	b.Click(`nav a[href="#history"]`)
	b.Until(`document.querySelectorAll(".again").length === 2`)
	b.Click(".again")
	b.Until(`document.querySelector("dialog[open]")`)
	b.Press("Escape")
	b.Until(`!document.querySelector("dialog[open]")`)
	if f.spent["kWh"] != spent {
		t.Errorf("%v is spent", f.spent["kWh"]-spent)
	}

	save := func(name string) {
		b.Click("#save")
		b.Until(`document.querySelector("dialog[open] input") === document.activeElement`)
		b.Write(name)
		b.Press("Enter")
		b.Until(`!document.querySelector("dialog[open]") && document.getElementById("saved")?.innerText.includes("` + name + `")`)
	}
	save("All of it")
	b.Eval(`document.getElementById("epsilon").value = ""`, nil)
	b.ask("SELECT count(*) FROM trip")
	save("<b>trips</b>")
	b.Shoot("saved")
	b.Click(".saved button")
	if got := b.Text(`document.getElementById("sql").value + " " + document.getElementById("epsilon").value`); got != "SELECT sum(kwh) FROM reading 0.25" {
		t.Errorf("the saved question is %q", got)
	}
	b.Click(".saved .remove")
	b.Until(`document.querySelectorAll(".saved").length === 1`)
	if len(f.saved) != 1 || f.saved[0] != (SavedQuestion{"<b>trips</b>", "SELECT count(*) FROM trip", ""}) {
		t.Errorf("%+v are saved", f.saved)
	}
	b.Click("#logout")
	b.Until(`!document.getElementById("login").hidden`)
	if text := b.Text(`document.getElementById("schema-body").textContent + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`); strings.Contains(text, "trips") || strings.Contains(text, "SELECT") {
		t.Errorf("after a logout the browser has %q", text)
	}
	b.login(OwnerName)
	var hidden bool
	if b.Eval(`document.getElementById("save").hidden && !document.getElementById("saved")`, &hidden); !hidden {
		t.Error("the owner can save")
	}
	b.Check(origin)
}

// A chart has one or two series, each with its own intervals, a legend, and a caption that says how they are drawn.
func TestTwoSeries(t *testing.T) {
	b, _, origin := openConsole(t, 1280, 900, "light")
	b.login("ana")
	choose := func(name, value string) {
		b.Eval(fmt.Sprintf(`(() => { const s = document.querySelector("[name=chart-%s]"); s.value = %q; s.dispatchEvent(new Event("change")); })()`, name, value), nil)
	}
	caption := func() string { return b.Text(`document.querySelector(".caption").textContent`) }
	counts := func() (n [6]int) {
		b.Eval(`[".chart .column-bar", ".chart .second .column-bar", ".chart .whisker", ".chart .curve", ".chart .band", ".other-side"].map(s => document.querySelectorAll(s).length)`, &n)
		return n
	}
	b.ask("SELECT month, dx_sum(kwh, 0.05), temperature FROM two")
	b.confirm()
	b.Click("#tab-chart")
	if got := caption(); got != "kwh by month. The whiskers show 95 % intervals, ± 59.91 kWh." || counts() != [6]int{12, 0, 12, 0, 0, 0} {
		t.Errorf("one series: %q, %v", got, counts())
	}
	choose("and", "2") // the exact number of rows, which is as large
	if got := b.Text(`document.querySelector(".legend").textContent`); !strings.HasPrefix(got, "kwhrowskwh and rows by month. The whiskers") || counts() != [6]int{24, 12, 12, 0, 0, 0} {
		t.Errorf("two series: %q, %v", got, counts())
	}
	b.Shoot("two-bars")
	choose("and", "3") // far smaller
	if got := b.Text(`document.querySelector(".legend").textContent`); !strings.HasPrefix(got, "kwh, axis at the leftcelsius, axis at the right") || counts()[5] < 3 {
		t.Errorf("two axes: %q, %v", got, counts())
	}
	// The lowest bar of the second series is a third of its axis high, and no line on that of the first.
	var high float64
	if b.Eval(`Math.max(...[...document.querySelectorAll(".second .column-bar")].map(r => r.getBBox().height))`, &high); high < 100 {
		t.Errorf("the second series is %v high", high)
	}
	choose("as", "line")
	if got := caption(); got != "kwh and celsius by month. The band shows 95 % intervals, ± 59.91 kWh." || counts()[3] != 2 || counts()[4] != 1 || counts()[2] != 0 {
		t.Errorf("lines: %q, %v", got, counts())
	}
	b.Shoot("two-lines")
	b.Eval(`(() => { const r = document.querySelector("svg.chart").getBoundingClientRect(); document.querySelector("svg.chart").dispatchEvent(new PointerEvent("pointermove", {clientX: r.left + 60, clientY: r.top + 50})); })()`, nil)
	if got := b.Text(`document.querySelector(".readout").textContent`); got != "1: kwh 7,100 ± 59.91, celsius 1" {
		t.Errorf("under the pointer is %q", got)
	}

	// Zoom: by button, key, double click and dragging.
	choose("and", "-1")
	choose("as", "bars")
	bars := func() string {
		return b.Text(`[...document.querySelectorAll(".chart .under")].map(e => e.textContent).join(" ")`)
	}
	b.Click(`[aria-label="Zoom in"]`)
	if got := bars(); got != "4 5 6 7 8 9" || !strings.Contains(caption(), "kwh by month, values 4 to 9 of 12.") {
		t.Errorf("zoomed are %s: %q", got, caption())
	}
	b.Eval(`document.querySelector(".plot").focus()`, nil)
	b.Press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
	if got := bars(); !strings.HasSuffix(got, "12") || strings.Contains(got, "6 ") {
		t.Errorf("moved to the right are %s", got)
	}
	drag := func(from, to float64) {
		var r struct{ X, Y, Width, Height float64 }
		b.Eval(`document.querySelector(".plot svg").getBoundingClientRect().toJSON()`, &r)
		at := func(kind string, part float64) {
			b.Call("Input.dispatchMouseEvent", object{"type": kind, "x": r.X + part*r.Width, "y": r.Y + 0.4*r.Height, "button": "left", "buttons": 1, "clickCount": 1}, nil)
		}
		at("mousePressed", from)
		at("mouseMoved", (from+to)/2)
		at("mouseMoved", to)
		at("mouseReleased", to)
	}
	before := bars()
	drag(0.2, 0.9)
	if got := bars(); got == before || strings.HasSuffix(got, "12") {
		t.Errorf("dragged to the right are %s", got)
	}
	b.Eval(`document.querySelector(".plot").focus()`, nil)
	b.Press("0")
	if got := bars(); got != "1 2 3 4 5 6 7 8 9 10 11 12" {
		t.Errorf("all are %s", got)
	}
	b.Check(origin)
}

// A map has the outlines of declared regions, a legend of its marks, and zoom.
func TestRegionsAndZoomOfAMap(t *testing.T) {
	b, _, origin := openConsole(t, 1280, 900, "light")
	b.login("ana")
	b.ask(pointsSQL)
	b.confirm()
	b.Click("#tab-map")
	b.Until(`document.querySelectorAll(".point").length === 240`)
	b.Shoot("region")
	// The first ring has the corners that the domain declares.
	var rings []string
	b.Eval(`[...document.querySelectorAll(".map .region")].map(e => e.getAttribute("d"))`, &rings)
	var off float64
	b.Eval(`(() => { const f = document.querySelector(".frame").getBBox(), [x, y] = document.querySelector(".map .region").getAttribute("d").slice(1).split(/[ L]/).map(Number);
		return Math.hypot(x - f.x - (116.2 - 116.1) / 0.55 * f.width, y - f.y - (40.1 - 39.8) / 0.35 * f.height); })()`, &off)
	if len(rings) != 2 || strings.Count(rings[0], "L") != 3 || off > 1 {
		t.Errorf("the outlines are %q, %v off", rings, off)
	}
	if text := b.Text(`document.querySelector(".legend").innerText`); !strings.Contains(text, "an answer: a location, with noise") || !strings.Contains(text, "the region of beijing") {
		t.Errorf("the legend says %q", text)
	}
	label := func() string { return b.Text(`document.querySelector("svg.map").getAttribute("aria-label")`) }
	whole := label()
	if !strings.Contains(whole, "the outline of 1 region") || !strings.Contains(whole, "in beijing") {
		t.Errorf("the map is %q", whole)
	}
	scale := func() string { return b.Text(`document.querySelector(".map text:last-of-type").textContent`) }
	first := scale()
	b.Click(`[aria-label="Zoom in"]`)
	b.Click(`[aria-label="Zoom in"]`)
	if !strings.Contains(label(), "from 39.8813° N, 116.3063° E to 39.9688° N, 116.4438° E.") || scale() == first {
		t.Errorf("zoomed in it is %q, the scale %s", label(), scale())
	}
	var inside bool
	if b.Eval(`document.querySelectorAll(".point").length === 240`, &inside); !inside {
		t.Error("points are gone")
	}
	b.Shoot("region-zoomed")
	before := label()
	b.Eval(`document.querySelector(".plot").focus()`, nil)
	b.Press("ArrowRight")
	if label() == before {
		t.Error("the arrow does not move it")
	}
	b.Press("0")
	if label() != whole {
		t.Errorf("all of it is %q", label())
	}
	b.ask(heatSQL)
	b.confirm()
	b.Until(`document.querySelectorAll(".cell").length > 100`)
	if text := b.Text(`document.querySelector(".legend").innerText`); !strings.Contains(text, "Count, with noise") || strings.Contains(text, "an answer") {
		t.Errorf("the legend of a heat map says %q", text)
	}
	b.Check(origin)
}

// The owner sees how many accounts have how much left.
func TestTheOwnerSeesWhatIsLeft(t *testing.T) {
	b, _, origin := openConsole(t, 1280, 900, "light")
	b.login(OwnerName)
	b.Click(`nav a[href="#budgets"]`)
	b.Until(`document.querySelectorAll(".left").length === 2`)
	b.Shoot("left")
	if text := b.Text(`document.querySelector(".left").innerText`); !strings.Contains(text, "12 of 4,212 accounts have nothing left. More than half have over 40 % left.") {
		t.Errorf("it says %q", text)
	}
	var heights []float64
	b.Eval(`[...document.querySelectorAll(".left")].map(e => Math.max(...[...e.querySelectorAll(".column-bar")].map(r => r.getBBox().height)))`, &heights)
	if label := b.Text(`document.querySelector(".left svg").getAttribute("aria-label")`); !strings.Contains(label, "12 accounts have nothing left, 40 accounts have 0 to 10 % left, 160 accounts have 20 to 30 % left") || heights[0] != heights[1] {
		t.Errorf("%q, %v", label, heights)
	}
	b.Click("#logout")
	b.Until(`!document.getElementById("login").hidden`)
	b.login("ana")
	b.Click(`nav a[href="#budgets"]`)
	b.Until(`document.querySelector(".budget")`)
	if text := b.Text(`document.getElementById("budgets").innerText + document.getElementById("left-body").textContent`); strings.Contains(text, "nothing left") || strings.Contains(text, "What people") {
		t.Errorf("a role sees %q", text)
	}
	b.Check(origin)
}
