package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sealed/catalog"
)

const (
	heatSQL   = "SELECT dx_heatmap(location, 0.5, 1000) FROM trip"
	pointsSQL = "SELECT geoind_laplace(location, 0.01) AS place, mode FROM trip"
)

// A user logs in, is refused first, looks at a cost, spends, and sees the answer as a table, a chart and a map.
func TestAUserOfThePage(t *testing.T) {
	b, f, origin := openConsole(t, 1280, 900, "light")
	b.Shoot("login-light")
	b.Click("#login-user")
	b.Write("ana")
	b.Press("Tab")
	b.Write("wrong")
	b.Press("Enter")
	b.Until(`document.getElementById("login-error").textContent.includes("wrong")`)
	b.login("ana")
	b.Shoot("start-light")
	if text := b.Text(`document.getElementById("schema-body").innerText`); !strings.Contains(text, "sealed · kWh") || !strings.Contains(text, "not granted") {
		t.Errorf("the schema says %q", text)
	}

	// A free statement runs at once.
	b.ask("SELECT count(*) FROM reading")
	b.Until(shown)
	if text := b.Text(`document.getElementById("panel").innerText`); !strings.Contains(text, "932") {
		t.Errorf("the answer says %q", text)
	}

	// A statement that costs is asked about, and Escape spends nothing.
	b.ask(sumSQL)
	b.Until(`document.querySelector("dialog[open]")`)
	b.Shoot("cost-light")
	text := b.Text(`document.querySelector("dialog[open]").innerText`)
	for _, part := range []string{"kWh", "4,212", "0.05", "left out", "95 %", "59.91", "0.35", "at most 0.4"} {
		if !strings.Contains(text, part) {
			t.Errorf("the cost does not say %s: %q", part, text)
		}
	}
	if focus := b.Text(`document.activeElement.textContent`); focus != "Do not run" {
		t.Errorf("the focus is on %q", focus)
	}
	b.Press("Escape")
	b.Until(`!document.querySelector("dialog[open]")`)
	if f.spent["kWh"] != budget.One*35/100 {
		t.Errorf("%s is spent", f.spent["kWh"])
	}
	b.Click("#cost")
	b.confirm()
	if f.spent["kWh"] != budget.One*40/100 {
		t.Errorf("%s is spent", f.spent["kWh"])
	}
	b.Shoot("table-light")
	var rows int
	if b.Eval(`document.querySelectorAll("#panel tbody tr").length`, &rows); rows != 12 {
		t.Errorf("%d rows", rows)
	}
	if text := b.Text(`document.getElementById("result").innerText`); !strings.Contains(text, "0.05") || !strings.Contains(text, "within 59.91 kWh") {
		t.Errorf("the result says %q", text)
	}

	b.Click("#tab-chart")
	b.Shoot("chart-light")
	var chart struct {
		Bars, Whiskers int
		Heights        []float64
	}
	b.Eval(`({Bars: document.querySelectorAll(".column-bar").length, Whiskers: document.querySelectorAll(".whisker").length, Heights: [...document.querySelectorAll(".column-bar")].map(e => e.height.baseVal.value)})`, &chart)
	if chart.Bars != 12 || chart.Whiskers != 12 || slices.Index(chart.Heights, slices.Max(chart.Heights)) != 0 || slices.Min(chart.Heights) <= 0 {
		t.Errorf("the chart has %+v", chart)
	}
	// Numbers of a statement without private functions have no interval.
	b.ask("SELECT day, celsius FROM weather")
	b.Until(`document.querySelector(".curve")`)
	b.Shoot("line-light")
	var intervals int
	if b.Eval(`document.querySelectorAll(".whisker, .band").length`, &intervals); intervals != 0 {
		t.Errorf("%d intervals of exact numbers", intervals)
	}

	b.ask(heatSQL)
	b.confirm()
	b.Until(`document.querySelectorAll(".cell").length > 100 && document.getElementById("tab-map").getAttribute("aria-selected") === "true"`)
	b.Shoot("heat-light")
	b.ask("SELECT dx_heatmap(location, 0.5, 1000, 'adaptive') FROM trip")
	b.confirm()
	b.Until(`document.querySelectorAll(".cell").length === 5`)
	var wide float64
	b.Eval(`(() => { const w = [...document.querySelectorAll(".cell")].map(c => c.getBBox().width); return w[0] / w[1]; })()`, &wide)
	if text := b.Text(`document.getElementById("result").innerText`); wide < 1.9 || wide > 2.1 || !strings.Contains(text, "5 cells of 1 km to 2 km") || !strings.Contains(text, "Count in a square of 1 km") || !strings.Contains(text, "-0.75") {
		t.Errorf("squares are %v times as wide as others, and the map says %q", wide, text)
	}
	b.Shoot("adaptive-light")
	b.ask(pointsSQL)
	b.confirm()
	b.Click("#tab-map")
	b.Until(`document.querySelectorAll(".point").length === 240`)
	b.Shoot("points-light")
	b.Click(".controls button")
	var inside bool
	b.Eval(`(() => { const f = document.querySelector(".frame").getBoundingClientRect(); return [...document.querySelectorAll(".point")].every(p => { const r = p.getBoundingClientRect(); return r.left >= f.left - 5 && r.right <= f.right + 5 && r.top >= f.top - 5 && r.bottom <= f.bottom + 5; }); })()`, &inside)
	if !inside {
		t.Error("a point is outside of the frame that fits the answers")
	}
	// The domain's north-west corner is in the frame's: the points' places are those of their coordinates.
	var off float64
	b.Eval(`(() => { document.querySelector(".controls button").click(); const f = document.querySelector(".frame").getBoundingClientRect(), p = document.querySelector(".point").getBoundingClientRect();
		const x = f.left + (116.39 - 116.1) / 0.55 * f.width, y = f.top + (40.1 - 39.92) / 0.35 * f.height;
		return Math.hypot(p.left + p.width / 2 - x, p.top + p.height / 2 - y); })()`, &off)
	if off > 2 {
		t.Errorf("a point is %v pixels from its place", off)
	}

	for _, page := range []string{"budgets", "history"} {
		b.Click(`nav a[href="#` + page + `"]`)
		b.Until(`document.getElementById("` + page + `-body").childElementCount > 0`)
		b.Shoot(page + "-light")
	}
	if text := b.Text(`document.getElementById("history-body").innerText`); !strings.Contains(text, "dx_heatmap") || !strings.Contains(text, "a budget was used up") {
		t.Errorf("the history says %q", text)
	}
	if text := b.Text(`document.querySelector("nav").innerText`); strings.Contains(text, "Roles") {
		t.Error("a role is shown the page of roles")
	}
	b.Click("#logout")
	b.Until(`!document.getElementById("login").hidden`)
	if text := b.Text(`document.getElementById("sql").value + document.getElementById("history-body").textContent + document.getElementById("result").textContent`); strings.Contains(text, "kwh") || strings.Contains(text, "dx_heatmap") {
		t.Errorf("after a logout the page still has %q", text)
	}
	b.Check(origin)
}

func TestTheCostChangesWhileTheUserReads(t *testing.T) {
	b, f, origin := openConsole(t, 1280, 900, "dark")
	b.Shoot("login-dark")
	b.login("ana")
	b.ask(sumSQL)
	b.Until(`document.querySelector("dialog[open]")`)
	f.mu.Lock()
	f.price *= 3
	f.mu.Unlock()
	b.Click("dialog[open] button.primary")
	b.Until(`document.querySelector("dialog[open]") && document.getElementById("dialog-title").textContent.includes("has changed")`)
	b.Shoot("cost-dark")
	if text := b.Text(`document.querySelector("dialog[open]").innerText`); !strings.Contains(text, "0.15") || f.spent["kWh"] != budget.One*35/100 {
		t.Errorf("%q, %s is spent", text, f.spent["kWh"])
	}
	b.confirm()
	if f.spent["kWh"] != budget.One*50/100 {
		t.Errorf("%s is spent", f.spent["kWh"])
	}
	// Remembered answers run at once.
	b.ask(sumSQL)
	b.Until(`document.getElementById("result").innerText.includes("remembered")`)
	b.Click("#tab-chart")
	b.Shoot("chart-dark")
	for sql, name := range map[string]string{"SELEC 1": "error-dark", "SELECT sum(kwh) FROM reading": "hint-dark", "SELECT poor": "poor-dark"} {
		b.ask(sql)
		b.Until(faulty)
		b.Shoot(name)
	}
	// Positions count characters. Some are two units of JavaScript's texts.
	b.ask("SELECT '\U0001f600\U0001f600', sum(kwh) FROM reading")
	b.Until(faulty)
	if text := b.Text(`document.querySelector(".t-fault").textContent`); text != "sum" {
		t.Errorf("the mark is under %q", text)
	}
	b.Click("#problem .link")
	var at int
	if b.Eval(`document.getElementById("sql").selectionStart`, &at); at != len("SELECT '____', ") {
		t.Errorf("the caret is at %d", at)
	}
	b.ask(heatSQL)
	b.confirm()
	b.Shoot("heat-dark")
	b.ask("SELECT many")
	b.Until(`document.getElementById("result").innerText.includes("first 10,000 rows")`)
	b.Click(".next-page")
	b.Until(`document.querySelector(".pager").innerText.includes("101 to 200 of 10,000")`)
	b.Shoot("many-dark")
	b.ask("SELECT slow")
	b.Until(`!document.getElementById("cancel").hidden && document.getElementById("progress").hidden === false`)
	b.Shoot("running-dark")
	b.Press("Escape")
	b.Until(faulty)
	if text := b.Text(`document.getElementById("problem").innerText`); !strings.Contains(text, "canceled") {
		t.Errorf("after a cancel the page says %q", text)
	}
	b.Check(origin)
}

// Everything can be done without a mouse, and the focus shows where it is.
func TestKeyboardAlone(t *testing.T) {
	b, f, origin := openConsole(t, 1280, 900, "light")
	focus := func() string {
		return b.Text(`(() => { const e = document.activeElement; return e.id || e.textContent.trim() || e.tagName; })()`)
	}
	visibleFocus := func() {
		t.Helper()
		if outline := b.Text(`getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
			t.Errorf("the focus on %s does not show: %s", focus(), outline)
		}
	}
	if focus() != "login-user" {
		t.Fatalf("the focus is on %s", focus())
	}
	b.Write("ana")
	b.Press("Tab")
	b.Write("ana-password")
	b.Press("Tab")
	visibleFocus()
	b.Press("Enter")
	b.Until(`document.activeElement.id === "sql"`)
	visibleFocus()

	// Completion.
	expanded := func() bool {
		return b.Text(`document.getElementById("sql").getAttribute("aria-expanded")`) == "true"
	}
	chosen := func() string {
		return b.Text(`document.getElementById(document.getElementById("sql").getAttribute("aria-activedescendant"))?.textContent ?? ""`)
	}
	b.Write("SELECT dx_s")
	if !expanded() || !strings.HasPrefix(chosen(), "dx_sum") || !strings.Contains(chosen(), "dx_sum(sealed, epsilon [, metric])") {
		t.Fatalf("expanded %v, %q", expanded(), chosen())
	}
	b.Shoot("completion-light")
	b.Press("ArrowDown")
	if !strings.HasPrefix(chosen(), "dx_stddev") {
		t.Errorf("below it is %q", chosen())
	}
	b.Press("ArrowUp", "Tab")
	if text := b.Text(`document.getElementById("sql").value`); text != "SELECT dx_sum(" || expanded() {
		t.Fatalf("completed to %q", text)
	}
	if text := b.Text(`document.getElementById("signature").innerText`); !strings.Contains(text, "dx_sum(sealed, epsilon [, metric])") {
		t.Errorf("the signature says %q", text)
	}
	b.Write("kw")
	if !strings.Contains(chosen(), "kwh") || !strings.Contains(chosen(), "halfhour") {
		t.Errorf("the column is %q", chosen())
	}
	b.Press("Escape")
	if expanded() {
		t.Error("Escape does not close the list")
	}
	b.Press("Ctrl+ ", "Enter")
	b.Write(", 0.05) FROM re")
	b.Press("Tab")
	b.Write(" AS r WHERE r.mo")
	b.Press("Tab")
	b.Write(" = 1")
	b.Press("Enter")
	b.Write("OR")
	b.Press("Enter") // a line's end, though completions are there
	b.Write("r.day > 'dx_s")
	if expanded() {
		t.Error("a string is completed")
	}
	b.Write("'")
	const want = "SELECT dx_sum(kwh, 0.05) FROM reading AS r WHERE r.month = 1\nOR\nr.day > 'dx_s'"
	if text := b.Text(`document.getElementById("sql").value`); text != want {
		t.Errorf("the statement is %q, want %q", text, want)
	}
	// The words behind the textarea stand where its own do.
	var apart float64
	if b.Eval(`Math.abs(document.getElementById("mirror").scrollHeight - document.getElementById("sql").scrollHeight)`, &apart); apart > 2 {
		t.Errorf("the colours are %v pixels off", apart)
	}

	b.Press("Ctrl+Enter")
	b.Until(`document.querySelector("dialog[open]")`)
	visibleFocus()
	b.Press("Tab")
	if focus() != "Spend and run" {
		t.Errorf("the focus is on %s", focus())
	}
	b.Press("Enter")
	b.Until(shown)
	if focus() != "sql" || f.spent["kWh"] != budget.One*40/100 {
		t.Errorf("the focus is on %s, %s is spent", focus(), f.spent["kWh"])
	}
	b.Until(`document.getElementById("live").textContent.startsWith("12 rows.")`)
	// From the editor on: run, cost, save, epsilon, tabs, rows.
	var order []string
	for range 6 {
		b.Press("Tab")
		visibleFocus()
		order = append(order, focus())
	}
	if got := strings.Join(order[:5], " "); got != "run cost save epsilon tab-table" {
		t.Errorf("the order is %q", order)
	}
	b.Press("Shift+Tab", "ArrowRight")
	if focus() != "tab-chart" {
		t.Errorf("the arrow leads to %s", focus())
	}
	b.Until(`document.querySelector(".column-bar")`)
	// Back to the top, past everything, and to another page.
	for i := 0; focus() != "Skip to the content"; i++ {
		if i == 40 {
			t.Fatalf("no way back to the top: the focus is on %s", focus())
		}
		b.Press("Shift+Tab")
		visibleFocus()
	}
	b.Press("Tab", "Tab")
	if focus() != "Budgets" {
		t.Errorf("the second page is %s", focus())
	}
	b.Press("Enter")
	b.Until(`!document.getElementById("budgets").hidden && document.activeElement.id === "budgets-title"`)
	b.Check(origin)
}

func TestTheOwnersRoles(t *testing.T) {
	b, f, origin := openConsole(t, 1280, 1000, "light")
	b.login("owner")
	b.Click(`nav a[href="#roles"]`)
	b.Until(`document.querySelector(".role")`)
	b.Shoot("roles-light")
	fill := func(name, value string) {
		b.Click(`.add [name="` + name + `"]`)
		b.Write(value)
	}
	fill("name", "cy")
	fill("password", "a long password")
	b.Click(`[name="epsilon0"]`)
	b.Write("x")
	b.Click(`.add button.primary`)
	b.Until(`document.querySelector(".add .error-line").textContent.includes("must be a number")`)
	b.Press("Tab")
	b.Eval(`document.querySelector("[name=epsilon0]").select()`, nil)
	b.Click(`[name="column0"]`)
	b.Eval(`document.querySelector("[name=epsilon0]").select()`, nil)
	b.Write("0.5")
	b.Click(`.add button.primary`)
	b.Until(`document.querySelectorAll(".role").length === 2`)
	if r := f.roles[1]; r.Name != "cy" || r.Epsilon["kWh"] != budget.One/2 || !slices.Equal(r.Columns, []catalog.ColumnName{{Table: "reading", Column: "kwh"}}) || !r.Verifier.Fits("a long password") {
		t.Errorf("%+v", r)
	}
	b.Click(`[aria-label="Drop the role cy"]`)
	b.Until(`document.querySelector("dialog[open]")`)
	b.Press("Escape")
	b.Until(`!document.querySelector("dialog[open]")`)
	b.Click(`[aria-label="Drop the role cy"]`)
	b.Until(`document.querySelector("dialog[open]")`)
	b.Click("dialog[open] .danger")
	b.Until(`document.querySelectorAll(".role").length === 1`)
	b.Check(origin)
}

// Texts of the database stay texts, wherever they are shown.
func TestTextsStayTexts(t *testing.T) {
	b, _, origin := openConsole(t, 1280, 900, "light")
	b.login("ana")
	elements := `JSON.stringify([...document.querySelectorAll("#result *, #problem *")].map(e => e.localName).filter(n => ["script", "img", "iframe", "link", "a", "b", "object"].includes(n)))`
	b.ask("SELECT xss")
	b.Until(shown)
	b.Shoot("corpus-light")
	for _, tab := range []string{"table", "chart", "map"} {
		var found bool
		if b.Eval(`Boolean(document.getElementById("tab-`+tab+`"))`, &found); !found {
			if tab != "map" {
				t.Errorf("there is no tab %s", tab)
			}
			continue
		}
		b.Click("#tab-" + tab)
		if tab == "chart" {
			b.Eval(`document.querySelectorAll(".controls select")[0].value = "2"; document.querySelectorAll(".controls select")[0].dispatchEvent(new Event("change"))`, nil)
		}
		if all := b.Text(elements); all != "[]" {
			t.Errorf("%s has elements %s", tab, all)
		}
	}
	b.Click("#tab-table")
	text := b.Text(`document.getElementById("result").textContent`)
	for _, c := range corpus {
		if want := strings.NewReplacer("\u202e", `\u202e`, "\u2066", `\u2066`, "\x00", `\u0000`, "\x1b", `\u001b`).Replace(c); !strings.Contains(text, want) {
			t.Errorf("the result does not show %q", want)
		}
	}
	b.ask("SELECT xss_error")
	b.Until(faulty)
	if all := b.Text(elements); all != "[]" {
		t.Errorf("the error has elements %s", all)
	}
	b.Eval(`document.querySelector("#problem .link").click()`, nil)
	if text := b.Text(`document.getElementById("problem").textContent`); !strings.Contains(text, corpus[0]) || !strings.Contains(text, corpus[2]) {
		t.Errorf("the error says %q", text)
	}
	// Text in the editor is coloured, and makes no element.
	b.ask("SELECT " + strings.Join(corpus[:4], " "))
	if all := b.Text(`JSON.stringify([...document.querySelectorAll("#mirror *")].map(e => e.localName).filter(n => n !== "span"))`); all != "[]" {
		t.Errorf("the editor has elements %s", all)
	}
	var pwned bool
	if b.Eval(`"pwned" in window`, &pwned); pwned {
		t.Error("a text of the database has run")
	}
	b.Check(origin)
}

// The content security policy finds violations: a page with some is complained of.
func TestViolationsAreFound(t *testing.T) {
	b := newBrowser(t)
	b.Size(800, 600, "light")
	b.serve(newFake(), Options{})
	b.Eval(`fetch("http://other.invalid/").catch(() => {})`, nil)
	b.Eval(`(() => { try { document.body.innerHTML = "<b>x</b>"; } catch { return; } throw new Error("markup is taken"); })()`, nil)
	b.Eval(`(() => { const s = document.createElement("script"); try { s.text = "window.pwned = 1"; document.body.append(s); } catch {} })()`, nil)
	b.Eval(`document.body.setAttribute("style", "color: red")`, nil)
	for _, part := range []string{"connect-src", "require-trusted-types-for", "style-src"} {
		for begun := time.Now(); !strings.Contains(strings.Join(b.Complaints(), "\n"), part); time.Sleep(20 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("the console does not speak of %s: %q", part, b.Complaints())
			}
		}
	}
	var pwned bool
	if b.Eval(`"pwned" in window`, &pwned); pwned {
		t.Error("a script was run")
	}
}

// A login that ends leaves the statement where it is.
func TestALoginEnds(t *testing.T) {
	b, _, origin := openConsole(t, 1000, 800, "light")
	b.login("ana")
	b.ask("SELECT ended")
	b.Until(`!document.getElementById("login").hidden`)
	b.Shoot("ended-light")
	if text := b.Text(`document.getElementById("login-why").textContent`); !strings.Contains(text, "has ended") {
		t.Errorf("the page says %q", text)
	}
	b.Write("ana-password")
	b.Press("Enter")
	b.Until(`!document.getElementById("app").hidden`)
	if text := b.Text(`document.getElementById("sql").value`); text != "SELECT ended" {
		t.Errorf("the statement is %q", text)
	}
	// A server that was started anew knows neither login nor token.
	b.restart()
	b.ask("SELECT 1")
	b.Until(`!document.getElementById("login").hidden`)
	b.Write("ana-password")
	b.Press("Enter")
	b.Until(`!document.getElementById("app").hidden`)
	// Somebody else finds nothing.
	b.ask("SELECT ended")
	b.Until(`!document.getElementById("login").hidden`)
	b.Eval(`document.getElementById("login-user").value = ""`, nil)
	b.login("bo")
	if text := b.Text(`document.getElementById("sql").value`); text != "" {
		t.Errorf("another user finds %q", text)
	}
	b.Check(origin)
}

// A layout is the result of the script below, which measures the page.
type layout struct {
	Dark   bool
	Wide   float64  // by how much the page is wider than its window
	Faint  []string // texts with a contrast below 4.5 : 1 (WCAG 2.1, criterion 1.4.3)
	Cut    []string // controls that stick out of the window
	Names  []string // controls without a name
	Labels []string // labels of a picture that cover each other or stick out
	Broken []string // words on two lines
}

const measure = `(() => {
const result = {Dark: matchMedia("(prefers-color-scheme: dark)").matches, Faint: [], Cut: [], Names: [], Labels: [], Broken: []};
const root = document.documentElement;
result.Wide = Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
const seen = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0 && !e.closest(".sr, .skip");
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const parts = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = c => parts(c).slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = e => {
  for (; e; e = e.parentElement) {
    if (e.closest("svg")) { e = e.closest("svg"); if (e.parentElement.closest("svg")) continue; if (e.classList.contains("map")) return getComputedStyle(e.querySelector(".ground")).fill; continue; }
    const c = getComputedStyle(e).backgroundColor;
    if (parts(c)[3] > 250) return c;
  }
  return "rgb(255, 255, 255)";
};
const dialog = document.querySelector("dialog[open]");
for (const e of (dialog ?? document.body).querySelectorAll("*")) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (!seen(e) || !own && !(e.localName === "input" && (e.value || e.placeholder)) || e.disabled || e.id === "sql") continue;
  const style = getComputedStyle(e), ink = light(e.closest("svg") ? style.fill : style.color), paper = light(ground(e));
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  if (contrast < 4.5) result.Faint.push(e.localName + "." + e.className + " " + contrast.toFixed(2) + " " + (e.textContent || e.value).trim().slice(0, 30));
}
for (const e of (dialog ?? document.body).querySelectorAll("button, input, select, textarea, nav a, summary")) {
  if (!seen(e)) continue;
  const r = e.getBoundingClientRect();
  if (!e.closest(".scroll") && (r.left < -0.5 || r.right > root.clientWidth + 0.5)) result.Cut.push(e.id || e.textContent);
  if (!(e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim() || e.textContent.trim())) result.Names.push(e.outerHTML.slice(0, 80));
}
for (const e of (dialog ?? document.body).querySelectorAll("*")) {
  if (!seen(e) || e.closest("code, pre, textarea, select, svg, .rows, #completions")) continue;
  for (const n of e.childNodes) if (n.nodeType === 3) for (const m of n.data.matchAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}]+/gu)) {
    const word = document.createRange();
    word.setStart(n, m.index);
    word.setEnd(n, m.index + m[0].length);
    const lines = [...word.getClientRects()].map(r => r.top);
    if (Math.max(...lines) - Math.min(...lines) > 4) result.Broken.push(m[0]);
  }
}
for (const s of document.querySelectorAll("svg.chart, svg.map")) {
  const outer = s.getBoundingClientRect(), labels = [...s.querySelectorAll("text")];
  labels.forEach((l, i) => {
    const a = l.getBoundingClientRect();
    if (a.left < outer.left - 1 || a.right > outer.right + 1 || a.top < outer.top - 1 || a.bottom > outer.bottom + 1) result.Labels.push(l.textContent + " sticks out");
    for (const m of labels.slice(i + 1)) {
      const b = m.getBoundingClientRect();
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top + 2 < b.bottom && b.top + 2 < a.bottom) result.Labels.push(l.textContent + " / " + m.textContent);
    }
  });
}
return result;
})()`

func (l layout) faults() (all []string) {
	if l.Wide > 0 {
		all = append(all, fmt.Sprintf("it is %v pixels too wide", l.Wide))
	}
	return slices.Concat(all, l.Faint, l.Cut, l.Names, l.Labels, l.Broken)
}

// On a wide screen and on a phone, in the light and in the dark, everything fits, has a name, and can be read.
func TestLayout(t *testing.T) {
	b := newBrowser(t)
	type screen struct {
		name          string
		width, height int
		scheme        string
	}
	for _, c := range trials.Some(t, 2, screen{"wide", 1280, 900, "light"}, screen{"phone", 360, 740, "light"},
		screen{"phone-dark", 360, 740, "dark"}, screen{"tablet-dark", 820, 1000, "dark"}) {
		b.Size(c.width, c.height, c.scheme)
		origin := b.serve(newFake(), Options{})
		look := func(what string) {
			t.Helper()
			var l layout
			b.Eval(measure, &l)
			if l.Dark != (c.scheme == "dark") {
				t.Errorf("%s: dark is %v", c.name, l.Dark)
			}
			if faults := l.faults(); len(faults) > 0 {
				t.Errorf("%s, %s: %q", c.name, what, faults)
			}
			b.Shoot(c.name + "-" + what)
		}
		look("login")
		b.login("owner")
		look("start")
		b.Eval(`document.getElementById("schema").open = true`, nil)
		look("schema")
		b.Eval(`document.getElementById("schema").open = innerWidth > 960`, nil)
		for _, page := range []string{"budgets", "history", "roles", "query"} {
			b.Eval(`location.hash = "`+page+`"`, nil)
			b.Until(`!document.getElementById("` + page + `").hidden && (` + fmt.Sprint(page == "query") + ` || document.getElementById("` + page + `-body").childElementCount > 0)`)
			b.Eval(`document.querySelectorAll("#roles details").forEach(d => d.open = true)`, nil)
			look(page)
		}
		b.Click("#logout")
		b.Until(`!document.getElementById("login").hidden`)
		b.login("ana")
		for sql, tabs := range map[string][]string{
			sumSQL: {"table", "chart"}, heatSQL: {"map"}, pointsSQL: {"table", "map"}, "SELECT day, celsius FROM weather": {"table", "chart"}, "SELECT xss": {"table", "chart"}, "SELECT nothing": {"table"}, "SELECT many": {"table", "chart"},
		} {
			name := strings.NewReplacer(" ", "-", "(", "", ")", "", "*", "", ",", "").Replace(sql)[:10]
			b.ask(sql)
			b.Until(`document.querySelector("dialog[open]") || ` + shown + ` && document.getElementById("state").textContent === ""`)
			var asks bool
			if b.Eval(`Boolean(document.querySelector("dialog[open]"))`, &asks); asks {
				look(name + "-cost")
				b.confirm()
			}
			for _, tab := range tabs {
				b.Click("#tab-" + tab)
				b.Eval(`document.getElementById("result").scrollIntoView()`, nil)
				look(name + "-" + tab)
			}
			b.Eval(`scrollTo(0, 0)`, nil)
		}
		b.ask("SELECT poor")
		b.Until(faulty)
		look("problem")
		b.Check(origin)
	}
}

// The measuring finds faults: the page is spoilt in four ways.
func TestLayoutFaultsAreFound(t *testing.T) {
	b := newBrowser(t)
	b.Size(360, 740, "light")
	b.serve(newFake(), Options{})
	b.Eval(`(() => {
		const wide = document.createElement("div"); wide.style.width = "900px"; wide.style.height = "1px";
		const button = document.createElement("button"); button.style.position = "absolute"; button.style.left = "300px"; button.style.width = "100px";
		document.querySelector("#login-form").append(button); document.body.append(wide);
		document.getElementById("login-why").style.color = "#aaa";
	})()`, nil)
	var l layout
	b.Eval(measure, &l)
	if l.Wide <= 0 || len(l.Faint) != 1 || len(l.Cut) != 1 || len(l.Names) != 1 {
		text, _ := json.Marshal(l)
		t.Errorf("of four faults some are not found: %s", text)
	}
}

// Completion at the end of a statement.
func TestCompletion(t *testing.T) {
	b := newBrowser(t)
	b.Size(800, 600, "light")
	origin := b.serve(newFake(), Options{})
	b.login("ana")
	for _, c := range []struct{ sql, want string }{
		{"SELECT dx_s", "dx_sum dx_stddev"},
		{"sel", "SELECT"},
		{"SELECT * FROM re", "reading"},
		{"SELECT * FROM ", ""}, // nothing that was not asked for
		{"SELECT * FROM trip AS q WHERE q.st", "started"},
		{"SELECT * FROM trip q JOIN reading r ON r.", "household month day kwh"},
		{"SELECT * FROM reading, trip x WHERE x.fa", "fare"},
		{`SELECT * FROM "trip" t WHERE t.lo`, "location"},
		{"SELECT nobody.ho", ""},
		{"SELECT heat", "dx_heatmap"}, // a part of a name
		{"SELECT kwh", ""},            // whole
		{"SELECT 'dx_s", ""},
		{"SELECT 1 -- dx_s", ""},
		{"SELECT /* dx_s", ""},
		{`SELECT "dx_s`, ""},
		{"SELECT 1e", ""},
		{"SELECT 😀 dx_su", "dx_sum"},
	} {
		text, _ := json.Marshal(c.sql)
		got := b.Text(fmt.Sprintf(`(async () => {
			const {complete} = await import("/sql.js"), schema = await (await fetch("/api/schema")).json(), sql = %s;
			return complete(sql, sql.length, schema, false).options.map(o => o.name).join(" ");
		})()`, text))
		if got != c.want {
			t.Errorf("%s is completed by %q, want %q", c.sql, got, c.want)
		}
	}
	for sql, want := range map[string]string{"SELECT dx_sum(kwh, ": "dx_sum", "SELECT dx_sum(round(1), ": "dx_sum", "SELECT dx_sum(1), ": "", "SELECT count('(": "count"} {
		text, _ := json.Marshal(sql)
		if got := b.Text(fmt.Sprintf(`import("/sql.js").then(({callAt}) => callAt(%s, %[1]s.length))`, text)); got != want {
			t.Errorf("the caret of %s is in %q, want %q", sql, got, want)
		}
	}
	b.Check(origin)
}

func TestCSV(t *testing.T) {
	b := newBrowser(t)
	b.serve(newFake(), Options{})
	got := b.Text(`import("/csv.js").then(({csv}) => csv({columns: [{name: "a,b"}, {name: "c"}], rows: [
		[null, ""], [-0.5, "9007199254740993"], [true, 'say "x"'], ["two\nlines", " edge"], [{bytes: 2, hex: "00ff"}, {bytes: 56, hex: "ab"}]]}))`)
	want := "\"a,b\",c\n,\"\"\n-0.5,9007199254740993\ntrue,\"say \"\"x\"\"\"\n\"two\nlines\",\" edge\"\n00ff,ab…\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
