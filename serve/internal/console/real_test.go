package console

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveReal builds geosql, and serves with it a sealed database of meters and trips, made by its commands. It returns
// where the console is.
func serveReal(t *testing.T) (origin string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "geosql")
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-o", program, "../../../cmd/geosql")
	plain, sealed, key, owner := filepath.Join(dir, "plain.db"), filepath.Join(dir, "city.db"), filepath.Join(dir, "key"), filepath.Join(dir, "owner")
	run(program, plain, `CREATE TABLE reading(id INTEGER PRIMARY KEY, meter TEXT NOT NULL, month INTEGER NOT NULL, kwh REAL);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4799)
		INSERT INTO reading(meter, month, kwh) SELECT 'meter-' || (i % 400), i / 400 + 1, round(6 + 3 * cos((i / 400) * 0.5236) + i % 7 / 10.0, 1) FROM n;
		CREATE TABLE trip(id INTEGER PRIMARY KEY, person TEXT NOT NULL, mode TEXT NOT NULL, lat REAL, lon REAL);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
		INSERT INTO trip(person, mode, lat, lon) SELECT 'person-' || (i % 1000), iif(i % 3, 'walk', 'bus'),
			39.92 + 0.08 * cos(i * 2.4) * (i % 97) / 97.0 * (i % 31) / 31.0, 116.39 + 0.12 * sin(i * 2.4) * (i % 97) / 97.0 * (i % 31) / 31.0 FROM n;
		SELECT dx_universe('month', 0, 10, 0.1, 'kWh'), geo_domain('beijing', 39.75, 116.1, 40.1, 116.65, 1);
		SELECT budget_limit('*', 'kWh', 5), budget_limit('*', 'record', 10), budget_limit('*', 'm', 1)`)
	run(program, "keygen", key)
	run(program, "seal", plain, sealed, "--key", key+".pub", "--yes", "--table", "reading", "--account", "meter", "--seal", "kwh:month", "--public", "month",
		"--table", "trip", "--account", "person", "--seal", "lat,lon:beijing", "--public", "mode")
	if err := os.WriteFile(owner, []byte(OwnerName+"-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	command := exec.Command(program, "serve", sealed, "--key", key, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--owner-password-file", owner)
	stderr, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	listens, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if url := regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text()); url != "" {
				listens <- url
			}
		}
		ended <- command.Wait()
	}()
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil || t.Failed() {
				t.Errorf("the server ended with %v\n%s", err, &said)
			}
		case <-time.After(time.Minute):
			command.Process.Kill()
			t.Error("the server does not stop")
		}
	})
	select {
	case origin = <-listens:
	case <-time.After(time.Minute):
		t.Fatal("the server does not listen")
	}
	return origin
}

// shootAll keeps pictures of the page as it is, large and small, light and dark.
func (b *browser) shootAll(name string) {
	b.T.Helper()
	if os.Getenv("GEOSQL_SHOTS") == "" {
		return
	}
	for _, width := range []int{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			b.Size(width, 900, scheme)
			time.Sleep(300 * time.Millisecond) // until the page is drawn anew
			b.Shoot(fmt.Sprintf("real-%s-%d-%s", name, width, scheme))
		}
	}
	b.Size(1280, 900, "light")
}

// fill writes into a field of the form that the selector names.
func (b *browser) fill(selector, text string) {
	b.T.Helper()
	b.Click(selector)
	b.Press("Ctrl+a")
	b.Write(text)
}

// download saves the result as a file, and returns the file's text.
func (b *browser) download() string {
	b.T.Helper()
	folder := b.T.TempDir()
	b.Call("Page.setDownloadBehavior", object{"behavior": "allow", "downloadPath": folder}, nil)
	b.Click(".download")
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(folder, "answer.csv"))
		if err == nil && len(text) > 0 {
			return string(text)
		}
	}
	b.T.Fatal("there is no file")
	return ""
}

// The owner of a real server adds a role. The role asks, pays, and is refused when its budget is used up.
func TestARealServer(t *testing.T) {
	b := newBrowser(t)
	b.Size(1280, 900, "light")
	origin := serveReal(t)
	b.open(origin)
	b.fill("#login-user", OwnerName)
	b.Press("Tab")
	b.Write("wrong")
	b.Press("Enter")
	b.Until(`document.getElementById("login-error").textContent.includes("wrong")`)
	b.login(OwnerName)
	b.Click(`nav a[href="#roles"]`)
	b.Until(`document.querySelector("#roles-body form")`)
	b.fill(".add [name=name]", "analyst")
	b.fill(".add [name=password]", "analyst-password")
	for i := range 2 {
		b.Click(fmt.Sprintf("[name=column%d]", i))
	}
	for unit, epsilon := range map[string]string{"kWh": "0.5", "record": "6", "m": "0.02"} {
		var i int
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll("[name^=epsilon]")].findIndex(e => e.name && e.closest("label").textContent.startsWith(%q))`, "Per "+unit), &i)
		b.fill(fmt.Sprintf("[name=epsilon%d]", i), epsilon)
	}
	b.shootAll("add")
	b.Click(".add button.primary")
	b.Until(`document.querySelector(".role h2")?.textContent === "analyst"`)
	b.shootAll("roles")
	b.Click("#logout")
	b.Until(`!document.getElementById("login").hidden`)

	b.login("analyst")
	b.shootAll("start")
	const sums = "SELECT month, dx_sum(kwh, 0.25) AS kwh FROM reading GROUP BY month"
	b.ask(sums)
	b.Until(`document.querySelector("dialog[open]")`)
	b.shootAll("cost")
	text := b.Text(`document.querySelector("dialog[open]").innerText`)
	for _, part := range []string{"kWh", "400", "0.25", "95 %"} {
		if !strings.Contains(text, part) {
			t.Errorf("the cost does not say %s: %q", part, text)
		}
	}
	b.confirm()
	b.shootAll("table")
	first := b.Text(`document.querySelector("#panel tbody").innerText`)
	if text := b.Text(`document.getElementById("result").innerText`); strings.Count(first, "\n") != 11 || strings.Count(first, " ± 12") != 12 || strings.Count(text, "0.25") != 1 || !strings.Contains(text, "95 % within") {
		t.Errorf("the result says %q", text)
	}
	if got, want := b.download(), "month,kwh\n"+strings.NewReplacer("\t\n", "\n", "\t", ",", " ± 12", "").Replace(first+"\n"); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	b.Click("#tab-chart")
	b.shootAll("chart")
	var marks [2]int
	if b.Eval(`[document.querySelectorAll(".column-bar").length, document.querySelectorAll(".whisker").length]`, &marks); marks != [2]int{12, 12} {
		t.Errorf("the chart has %d bars and %d intervals", marks[0], marks[1])
	}
	// The same again is free, and the same.
	b.Click("#tab-table")
	b.ask(sums)
	b.Until(`document.getElementById("result").innerText.includes("remembered") && document.getElementById("cancel").hidden`)
	if again := b.Text(`document.querySelector("#panel tbody").innerText`); again != first {
		t.Errorf("the second answer is %q, the first one was %q", again, first)
	}
	if text := b.Text(`document.getElementById("result").innerText`); strings.Contains(text, "cost") || !strings.Contains(text, "free") {
		t.Errorf("what is free says %q", text)
	}
	b.shootAll("again")
	b.Click("#cost")
	b.Until(`document.querySelector("dialog[open]")`)
	if text := b.Text(`document.querySelector("dialog[open]").innerText`); !strings.Contains(text, "This is free") || !strings.Contains(text, "given again for nothing") {
		t.Errorf("the cost of what is remembered says %q", text)
	}
	b.Press("Escape")

	b.ask("SELECT dx_heatmap(location, 1, 1000) FROM trip")
	b.confirm()
	b.Until(`document.querySelectorAll(".cell").length > 10`)
	b.shootAll("heat")
	b.ask("SELECT mode, geoind_laplace(location, 0.005) AS place FROM trip WHERE mode = 'bus' LIMIT 400")
	b.confirm()
	b.Click("#tab-map")
	b.Until(`document.querySelectorAll(".point").length === 400`)
	b.shootAll("points")

	// Beyond the budget.
	b.ask("SELECT dx_sum(kwh, 0.4) FROM reading")
	b.Until(faulty)
	b.shootAll("refused")
	text = b.Text(`document.getElementById("problem").innerText`)
	for _, part := range []string{"too little of its budget left", "0.25/kWh left of 0.5/kWh", "Nobody was charged", "smaller epsilon"} {
		if !strings.Contains(text, part) {
			t.Errorf("the refusal does not say %s: %q", part, text)
		}
	}
	if strings.Contains(text, "meter-") {
		t.Errorf("the refusal names an account: %q", text)
	}
	// The hint names the control of the page.
	b.ask("SELECT sum(kwh) FROM reading")
	b.Until(`document.querySelector("#problem .hint")?.textContent.includes("dx_sum(kwh, epsilon)")`)
	if text := b.Text(`document.querySelector("#problem .hint").textContent`); !strings.Contains(text, "or write 0.1 into “"+b.Text(`document.querySelector(".epsilon").firstChild.data.trim()`)+"” below the statement and ask as you did.") || strings.Contains(text, "SET") {
		t.Errorf("the hint is %q", text)
	}
	for _, page := range []string{"budgets", "history"} {
		b.Click(`nav a[href="#` + page + `"]`)
		b.Until(`document.getElementById("` + page + `-body").childElementCount > 0`)
		b.shootAll(page)
	}
	if text := b.Text(`document.getElementById("history-body").innerText`); strings.Count(text, "a budget was used up") != 1 || strings.Count(text, sums+"\n") != 2 {
		t.Errorf("the history says %q", text)
	}
	b.Click("tr:last-child .again") // is remembered
	b.Until(`!document.getElementById("query").hidden && document.getElementById("result").innerText.includes("remembered")`)
	if again := b.Text(`document.querySelector("#panel tbody").innerText`); again != first {
		t.Errorf("run again, the answer is %q, the first one was %q", again, first)
	}
	b.Click("#save")
	b.Until(`document.querySelector("dialog[open] input") === document.activeElement`)
	b.Write("Each month")
	b.Press("Enter")
	b.Until(`document.getElementById("saved")?.innerText.includes("Each month")`)
	b.Click("#logout")
	b.Until(`!document.getElementById("login").hidden`)
	b.Eval(`document.getElementById("login-user").value = ""`, nil)
	b.login(OwnerName)
	b.Click(`nav a[href="#budgets"]`)
	b.Until(`document.querySelectorAll(".left").length === 3`)
	b.shootAll("left")
	if text := b.Text(`document.getElementById("left").innerText`); !strings.Contains(text, "0 of 400 accounts have nothing left. More than half have over 90 % left.") {
		t.Errorf("the owner reads %q", text)
	}
	b.Check(origin)
	if metrics, err := http.Get(origin + "/metrics"); err != nil {
		t.Error(err)
	} else {
		text, err := io.ReadAll(metrics.Body)
		metrics.Body.Close()
		for _, line := range []string{`geosql_logins_total{result="failed"} 1`, `geosql_refusals_total 1`} {
			if err != nil || !strings.Contains(string(text), line+"\n") {
				t.Errorf("the metrics lack %s: %v", line, err)
			}
		}
	}
}
