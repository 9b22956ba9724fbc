package console

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/geosql/geosql/budget"
)

// A visitor speaks to a console as a browser does, without a network.
type visitor struct {
	t       testing.TB
	server  *Server
	cookies map[string]string
	token   string
	addr    string
	https   bool
}

func newVisitor(t testing.TB, server *Server) *visitor {
	return &visitor{t: t, server: server, cookies: map[string]string{}, addr: "192.0.2.1:1000"}
}

// An answer is the server's answer to a request.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	text   string
}

// code returns the code of an error, or nothing.
func (a answer) code() string {
	e, _ := a.body["error"].(map[string]any)
	code, _ := e["code"].(string)
	return code
}

// at returns a member of the body by its path.
func (a answer) at(path ...any) (v any) {
	v = a.body
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

// request makes a request as the page does, changed by edit.
func (v *visitor) request(method, path, body string, edit func(r *http.Request)) answer {
	v.t.Helper()
	target := "http://localhost:8080" + path
	if v.https {
		target = "https://example.org" + path
	}
	r := httptest.NewRequestWithContext(v.t.Context(), method, target, strings.NewReader(body))
	r.RemoteAddr = v.addr
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", scheme(r)+"://"+r.Host)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-CSRF-Token", v.token)
	}
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	v.server.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header(), text: w.Body.String()}
	json.Unmarshal(w.Body.Bytes(), &a.body)
	for _, c := range w.Result().Cookies() {
		v.cookies[c.Name] = c.Value
	}
	if token, ok := a.body["token"].(string); ok {
		v.token = token
	}
	return a
}

func (v *visitor) get(path string) answer { v.t.Helper(); return v.request("GET", path, "", nil) }

func (v *visitor) post(path string, body any) answer {
	v.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.request("POST", path, string(text), nil)
}

type object = map[string]any

func (v *visitor) login(user, password string) answer {
	v.t.Helper()
	v.get("/api/session")
	return v.post("/api/login", object{"user": user, "password": password})
}

// loggedIn returns a visitor who has logged in to a console of a fake.
func loggedIn(t testing.TB, user string) (*visitor, *fake) {
	t.Helper()
	f := newFake()
	s := New(f, Options{})
	t.Cleanup(s.Close)
	v := newVisitor(t, s)
	if a := v.login(user, user+"-password"); a.status != http.StatusOK {
		t.Fatalf("the login of %s: %d %s", user, a.status, a.text)
	}
	return v, f
}

func (v *visitor) run(sql, quote string) answer {
	v.t.Helper()
	return v.post("/api/run", object{"sql": sql, "epsilon": "", "quote": quote})
}

func (v *visitor) quote(sql string) answer {
	v.t.Helper()
	return v.post("/api/quote", object{"sql": sql, "epsilon": ""})
}

const sumSQL = "SELECT month, dx_sum(kwh, 0.05) FROM reading GROUP BY month"

func TestLogin(t *testing.T) {
	f := newFake()
	s := New(f, Options{})
	defer s.Close()
	v := newVisitor(t, s)
	if a := v.get("/api/schema"); a.status != http.StatusUnauthorized || a.code() != codeLoggedOut {
		t.Errorf("without a login the schema is answered %d %s", a.status, a.text)
	}
	wrongUser, wrongPassword := v.login("nobody", "ana-password"), v.login("ana", "bo-password")
	if wrongUser.status != http.StatusUnauthorized || wrongUser.text != wrongPassword.text {
		t.Errorf("a wrong user and a wrong password differ: %s and %s", wrongUser.text, wrongPassword.text)
	}
	before := v.cookies["geosql-8080"]
	a := v.login("ana", "ana-password")
	if a.status != http.StatusOK || a.at("login", "user") != "ana" || a.at("login", "owner") != false {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if v.cookies["geosql-8080"] == before {
		t.Error("a login keeps the cookie that the browser had before")
	}
	if a := v.get("/api/session"); a.at("login", "user") != "ana" || a.at("token") != v.token {
		t.Error(a.text)
	}
	if a := v.get("/api/schema"); a.at("tables", 0, "name") != "reading" || a.at("tables", 1, "columns", 4, "sealed", "granted") != false {
		t.Error(a.text)
	}
	if a := v.post("/api/logout", object{}); a.status != http.StatusOK || v.cookies["geosql-8080"] != "" {
		t.Errorf("%d %s, cookie %q", a.status, a.text, v.cookies["geosql-8080"])
	}
	if a := v.get("/api/schema"); a.status != http.StatusUnauthorized {
		t.Errorf("after a logout the schema is answered %d", a.status)
	}
}

func TestCookies(t *testing.T) {
	s := New(newFake(), Options{})
	defer s.Close()
	for _, https := range []bool{false, true} {
		v := newVisitor(t, s)
		v.https = https
		for _, a := range []answer{v.get("/api/session"), v.login("ana", "ana-password")} {
			cookie := a.header.Get("Set-Cookie")
			for part, want := range map[string]bool{"HttpOnly": true, "SameSite=Strict": true, "Path=/": true, "Secure": https, "__Host-": https, "Domain": false} {
				if strings.Contains(cookie, part) != want {
					t.Errorf("https %v: the cookie is %q", https, cookie)
				}
			}
		}
	}
}

// A request with a fault that another site's page could make is refused, whatever it asks.
func TestRequestsOfOtherPages(t *testing.T) {
	v, f := loggedIn(t, "owner")
	logins := f.logins
	for name, edit := range map[string]func(r *http.Request){
		"no token":         func(r *http.Request) { r.Header.Del("X-CSRF-Token") },
		"another token":    func(r *http.Request) { r.Header.Set("X-CSRF-Token", v.server.token("another cookie")) },
		"no origin":        func(r *http.Request) { r.Header.Del("Origin") },
		"another origin":   func(r *http.Request) { r.Header.Set("Origin", "http://other.invalid") },
		"an opaque origin": func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another port":     func(r *http.Request) { r.Header.Set("Origin", "http://localhost:8081") },
		"another scheme":   func(r *http.Request) { r.Header.Set("Origin", "https://localhost:8080") },
		"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"the same site":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a form":           func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
		"plain text":       func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"no cookie":        func(r *http.Request) { r.Header.Del("Cookie"); r.Header.Set("X-CSRF-Token", v.server.token("")) },
		"another name": func(r *http.Request) {
			r.Host = "rebound.invalid:8080"
			r.Header.Set("Origin", "http://rebound.invalid:8080")
		},
	} {
		for path, body := range map[string]string{
			"/api/login": `{"user":"ana","password":"ana-password"}`, "/api/logout": `{}`, "/api/quote": `{"sql":"SELECT 1"}`, "/api/run": `{"sql":"SELECT 1"}`,
			"/api/cancel": `{}`, "/api/roles/add": `{}`, "/api/roles/drop": `{"name":"ana"}`,
		} {
			switch a := v.request("POST", path, body, edit); a.status {
			case http.StatusForbidden, http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest:
			default:
				t.Errorf("%s with %s: %d %s", path, name, a.status, a.text)
			}
		}
	}
	if f.logins != logins || len(f.roles) != 1 {
		t.Error("a request that was refused did something")
	}
	for _, path := range []string{"/api/session", "/api/schema", "/api/budgets", "/api/history", "/api/roles"} {
		if a := v.request("GET", path, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); a.status != http.StatusForbidden {
			t.Errorf("%s for another site: %d", path, a.status)
		}
		if a := v.request("POST", path, "{}", nil); a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, a.status)
		}
	}
	if a := v.get("/api/budgets"); a.status != http.StatusOK {
		t.Errorf("the login has ended: %d", a.status)
	}
}

func TestHeaders(t *testing.T) {
	v, _ := loggedIn(t, "ana")
	for _, path := range []string{"/", "/app.js", "/style.css", "/nowhere", "/api/session", "/api/budgets", "/api/nowhere"} {
		h := v.get(path).header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self';", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
		want := "no-cache"
		if strings.HasPrefix(path, "/api/") {
			want = "no-store"
		}
		if h.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control is %q", path, h.Get("Cache-Control"))
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: the policy allows what is unsafe", path)
		}
	}
	page := v.get("/")
	again := v.request("GET", "/", "", func(r *http.Request) { r.Header.Set("If-None-Match", page.header.Get("ETag")) })
	if again.status != http.StatusNotModified {
		t.Errorf("a page that the browser has is answered %d", again.status)
	}
	if a := v.get("/../fault.go"); a.status == http.StatusOK {
		t.Error("a file that is not the page's is served")
	}
}

// The page has no script and no style of its own, and nothing of other hosts.
func TestThePageKeepsItsPolicy(t *testing.T) {
	for name, a := range assets() {
		text := strings.ToLower(string(a.content))
		text = strings.ReplaceAll(text, `"http://www.w3.org/2000/svg"`, "")                      // a name, which nothing is loaded from
		text = strings.NewReplacer("createobjecturl(", "", "revokeobjecturl(", "").Replace(text) // of the page itself
		for _, part := range []string{"http:", "https:", `"//`, "url(", "@import", "innerhtml", "outerhtml", "insertadjacenthtml", "document.write", "eval(", "style=", " onclick=", "<style"} {
			if strings.Contains(text, part) {
				t.Errorf("%s has %q", name, part)
			}
		}
	}
	if len(assets()) < 5 {
		t.Errorf("there are %d files", len(assets()))
	}
}

func TestQuoteAndRun(t *testing.T) {
	v, f := loggedIn(t, "ana")
	if a := v.run("SELECT count(*) FROM reading", ""); a.status != http.StatusOK || a.at("rows", 0, 0) != 932215.0 {
		t.Errorf("what is free: %d %s", a.status, a.text)
	}
	// Without a quote nothing is charged.
	if a := v.run(sumSQL, ""); a.status != http.StatusConflict || a.code() != codeCosts || f.spent["kWh"] != budget.One*35/100 {
		t.Errorf("%d %s", a.status, a.text)
	}
	q := v.quote(sumSQL)
	if q.status != http.StatusOK || q.at("charges") != true || q.at("report", "costs", 0, "most") != "0.05" || q.at("report", "costs", 0, "accounts") != 4212.0 || f.spent["kWh"] != budget.One*35/100 {
		t.Fatalf("%d %s", q.status, q.text)
	}
	id := q.at("quote").(string)
	// The quote is for this statement only, and for one run.
	if a := v.run(sumSQL+" ", id); a.code() != codeUnknown {
		t.Errorf("another statement: %d %s", a.status, a.text)
	}
	if a := v.run(sumSQL, id); a.code() != codeUnknown {
		t.Errorf("a used quote: %d %s", a.status, a.text)
	}
	id = v.quote(sumSQL).at("quote").(string)
	other := newVisitor(t, v.server)
	other.login("bo", "bo-password")
	if a := other.run(sumSQL, id); a.code() != codeUnknown {
		t.Errorf("somebody else's quote: %d %s", a.status, a.text)
	}
	a := v.run(sumSQL, id)
	if a.status != http.StatusOK || a.at("rows", 11, 0) != 12.0 || a.at("report", "radius") != 59.91 || a.at("columns", 1, "name") != "kwh" || a.at("notices", 0, "message") == nil {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if a.at("within", 11, 1) != "± 59.91" || a.at("within", 11, 0) != "" { // the month is no answer
		t.Errorf("%s", a.text)
	}
	if f.spent["kWh"] != budget.One*40/100 {
		t.Errorf("%s are spent", f.spent["kWh"])
	}
	// Remembered answers cost nothing.
	if a := v.run(sumSQL, ""); a.status != http.StatusOK || a.at("report", "remembered") != 12.0 || f.spent["kWh"] != budget.One*40/100 {
		t.Errorf("asked again: %d %s", a.status, a.text)
	}
	if a := v.get("/api/budgets"); a.at("budgets", 0, "most") != "0.4" || a.at("budgets", 0, "left") != "0.6" || a.at("budgets", 0, "part") != 0.4 {
		t.Error(a.text)
	}
	if a := v.get("/api/history"); a.at("history", 0, "report", "costs") == nil || a.at("history", 2, "refused") != "53400" || a.at("history", 0, "sql") != sumSQL {
		t.Error(a.text)
	}
}

func TestTheCostHasChanged(t *testing.T) {
	v, f := loggedIn(t, "ana")
	id := v.quote(sumSQL).at("quote").(string)
	f.price *= 2
	if a := v.run(sumSQL, id); a.status != http.StatusConflict || a.code() != codeChanged || f.spent["kWh"] != budget.One*35/100 {
		t.Errorf("%d %s, %s spent", a.status, a.text, f.spent["kWh"])
	}
}

func TestEpsilonOfPlainAggregates(t *testing.T) {
	v, _ := loggedIn(t, "ana")
	body := object{"sql": "SELECT sum(kwh) FROM reading", "epsilon": "0.1"}
	if a := v.post("/api/quote", body); a.at("charges") != true {
		t.Error(a.text)
	}
	for _, epsilon := range []string{"0", "-1", "x", "1e9", "1e999999999", "0.0000000000001", "1/3", "9000001", " 1", "NaN", strings.Repeat("9", 100)} {
		body["epsilon"] = epsilon
		if a := v.post("/api/quote", body); a.code() != "22023" {
			t.Errorf("epsilon %s: %d %s", epsilon, a.status, a.text)
		}
	}
}

func TestErrorsOfStatements(t *testing.T) {
	v, _ := loggedIn(t, "ana")
	for sql, want := range map[string]struct {
		code string
		part string
	}{
		"SELEC 1":                       {"42601", `"position":1`},
		"SELECT sum(kwh) FROM reading":  {"42804", "dx_sum(kwh, epsilon)"},
		"SELECT poor":                   {"53400", "3f1c09aa57d21e04"},
		"SELECT denied":                 {"42501", "trip.fare"},
		"SELECT broken":                 {codeServer, "the server has failed"},
		"  \n":                          {"42601", "no statement"},
		"SELECT half, dx_sum(kwh, 0.1)": {codeCosts, ""},
	} {
		if a := v.run(sql, ""); a.code() != want.code || !strings.Contains(a.text, want.part) || strings.Contains(a.text, "/secret/path") {
			t.Errorf("%s: %d %s", sql, a.status, a.text)
		}
	}
	// The error reports the spending before it.
	const sql = "SELECT half, dx_sum(kwh, 0.1)"
	a := v.run(sql, v.quote(sql).at("quote").(string))
	if a.code() != "53400" || a.at("error", "report", "costs", 0, "most") != "0.05" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := v.run("SELECT ended", ""); a.code() != "57P01" {
		t.Error(a.text)
	}
	if a := v.get("/api/budgets"); a.code() != codeLoggedOut {
		t.Errorf("a session that has ended still is one: %d %s", a.status, a.text)
	}
}

func TestBounds(t *testing.T) {
	v, _ := loggedIn(t, "ana")
	a := v.run("SELECT many", "")
	if rows, _ := a.at("rows").([]any); len(rows) != maxRows || a.at("more") != true || a.at("count") != float64(maxRows) {
		t.Errorf("%d: %d rows, more %v", a.status, len(rows), a.at("more"))
	}
	a = v.run("SELECT wide", "")
	if n, _ := a.at("count").(float64); a.at("more") != true || n == 0 || n >= 40 || len(a.text) > 2*maxResult {
		t.Errorf("%d: %v rows in %d bytes", a.status, n, len(a.text))
	}
	a = v.run("SELECT types", "")
	if a.at("rows", 0, 0) != "9223372036854775807" || a.at("rows", 0, 1) != "Infinity" || a.at("rows", 0, 2, "bytes") != 56.0 || a.at("rows", 0, 3) != nil || a.at("rows", 0, 4) != true ||
		a.at("rows", 1, 0) != -7.0 || a.at("rows", 1, 2, "hex") != "01" || a.at("cut") != 1.0 || len(a.at("rows", 1, 3).(string)) != maxCell {
		t.Errorf("%.400s", a.text)
	}
	for path, size := range map[string]int{"/api/run": maxStatement, "/api/quote": maxStatement, "/api/login": maxSmallBody, "/api/cancel": maxSmallBody} {
		if a := v.request("POST", path, `{"sql":"`+strings.Repeat("x", size)+`"}`, nil); a.status != http.StatusRequestEntityTooLarge || a.code() != codeTooLarge {
			t.Errorf("%s with %d bytes: %d %s", path, size, a.status, a.text)
		}
	}
	for _, body := range []string{"", "{", "null x", `{"sql":"SELECT 1"}{}`, `{"sql":"SELECT 1","other":1}`, `{"sql":7}`, "{\"sql\":\"\xff\"}", "[]"} {
		if a := v.request("POST", "/api/run", body, nil); a.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", body, a.status, a.text)
		}
	}
}

func TestCancelAndBusy(t *testing.T) {
	v, f := loggedIn(t, "ana")
	for _, ask := range []func(sql string) answer{v.quote, func(sql string) answer { return v.run(sql, "") }} {
		var wg sync.WaitGroup
		var a answer
		wg.Go(func() { a = ask("SELECT slow") })
		for f.running() == 0 {
			time.Sleep(time.Millisecond)
		}
		second := newVisitor(t, v.server)
		second.cookies, second.token = v.cookies, v.token
		if b := second.run("SELECT 1", ""); b.status != http.StatusConflict || b.code() != codeBusy {
			t.Errorf("a second statement: %d %s", b.status, b.text)
		}
		if b := second.get("/api/budgets"); b.status != http.StatusOK {
			t.Errorf("budgets meanwhile: %d %s", b.status, b.text)
		}
		second.post("/api/cancel", object{})
		wg.Wait()
		if a.code() != "57014" {
			t.Errorf("a canceled statement: %d %s", a.status, a.text)
		}
	}
	if f.most != 1 {
		t.Errorf("%d calls at once", f.most)
	}
	if a := v.post("/api/cancel", object{}); a.status != http.StatusOK {
		t.Errorf("with nothing to cancel: %d %s", a.status, a.text)
	}
}

// running returns the number of calls of Quote and Run that are going on.
func (f *fake) running() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inside
}

// A logout, the end of the server and a browser that is gone cancel running statements, and sessions are closed after that.
func TestEndsOfStatements(t *testing.T) {
	for name, end := range map[string]func(v *visitor, hangUp func()){
		"logout":  func(v *visitor, _ func()) { v.post("/api/logout", object{}) },
		"close":   func(v *visitor, _ func()) { v.server.Close() },
		"hang up": func(_ *visitor, hangUp func()) { hangUp() },
	} {
		v, f := loggedIn(t, "ana")
		web := httptest.NewServer(v.server)
		defer web.Close()
		cookie := "geosql-" + web.URL[strings.LastIndex(web.URL, ":")+1:]
		ctx, hangUp := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, _ := http.NewRequestWithContext(ctx, "POST", web.URL+"/api/run", strings.NewReader(`{"sql":"SELECT slow"}`))
			r.Header = http.Header{"Origin": {web.URL}, "Content-Type": {"application/json"}, "X-Csrf-Token": {v.token}, "Cookie": {cookie + "=" + v.cookies["geosql-8080"]}}
			if response, err := http.DefaultClient.Do(r); err == nil {
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}()
		for f.running() == 0 {
			time.Sleep(time.Millisecond)
		}
		end(v, hangUp)
		<-done
		hangUp()
		wait := time.Now().Add(10 * time.Second)
		for f.running() > 0 {
			if time.Now().After(wait) {
				t.Fatalf("%s: the statement goes on", name)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// Saved questions have a name, a length and an epsilon that can be meant.
func TestSave(t *testing.T) {
	v, f := loggedIn(t, "ana")
	for _, q := range []object{
		{"name": " ", "sql": "SELECT 1"}, {"name": strings.Repeat("x", maxName+1), "sql": "SELECT 1"},
		{"name": "x", "sql": strings.Repeat("x", maxKept+1)}, {"name": "x", "sql": "SELECT 1", "epsilon": "1e9"},
	} {
		if a := v.post("/api/save", q); a.status != http.StatusUnprocessableEntity || a.code() != "22023" || len(f.saved) > 0 {
			t.Errorf("%v: %d %s", q, a.status, a.text)
		}
	}
	if a := v.post("/api/save", object{"name": "x", "sql": "SELECT 1", "epsilon": "0.5"}); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := v.get("/api/saved"); a.at("saved", 0, "name") != "x" || a.at("saved", 0, "epsilon") != "0.5" {
		t.Error(a.text)
	}
}

func TestOwnerOnly(t *testing.T) {
	v, _ := loggedIn(t, "ana")
	for _, a := range []answer{v.get("/api/roles"), v.post("/api/roles/add", object{}), v.post("/api/roles/drop", object{"name": "ana"}), v.get("/api/left")} {
		if a.status != http.StatusForbidden || a.code() != codeForbidden {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
}

func TestRoles(t *testing.T) {
	v, f := loggedIn(t, "owner")
	role := func() object {
		return object{"name": "cy", "password": "a long password", "columns": []string{"reading.kwh"}, "epsilon": object{"kWh": "0.5"}, "epsilon_max": object{"kWh": "0.1"},
			"max_repeat": 1, "timeout": 20, "rows": 0, "memory": 0, "leave_out": true}
	}
	if a := v.post("/api/roles/add", role()); a.status != http.StatusOK {
		t.Fatal(a.text)
	}
	if r := f.roles[1]; r.Epsilon["kWh"] != budget.One/2 || r.Timeout != 20*time.Second || !r.Verifier.Fits("a long password") || r.Added.IsZero() {
		t.Errorf("%+v", r)
	}
	a := v.get("/api/roles")
	if a.at("roles", 1, "name") != "cy" || a.at("roles", 1, "epsilon", "kWh") != "0.5" || strings.Contains(strings.ToLower(a.text), "scram") || strings.Contains(a.text, "password") {
		t.Error(a.text)
	}
	for name, wrong := range map[string]any{
		"name": "owner", "password": "short", "columns": []string{}, "epsilon": object{}, "epsilon_max": object{"m": "1"}, "max_repeat": 0, "timeout": -1, "rows": -1, "memory": -1,
	} {
		r := role()
		r["name"] = "di"
		r[name] = wrong
		if a := v.post("/api/roles/add", r); a.code() != "22023" {
			t.Errorf("%s %v: %d %s", name, wrong, a.status, a.text)
		}
	}
	if a := v.post("/api/roles/add", role()); a.code() != "42710" {
		t.Errorf("a second cy: %s", a.text)
	}
	// A role that is dropped is logged out.
	ana := newVisitor(t, v.server)
	ana.login("ana", "ana-password")
	if a := v.post("/api/roles/drop", object{"name": "ana"}); a.status != http.StatusOK {
		t.Error(a.text)
	}
	if a := ana.get("/api/budgets"); a.code() != codeLoggedOut {
		t.Errorf("a dropped role: %d %s", a.status, a.text)
	}
	if a := v.post("/api/roles/drop", object{"name": "ana"}); a.code() != "42704" {
		t.Error(a.text)
	}
}

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var told []string
		s := New(f, Options{LoginFailed: func(remote net.Addr, user string) { told = append(told, user+" from "+remote.String()) }})
		defer s.Close()
		v := newVisitor(t, s)
		v.get("/api/session")
		login := func(addr, user, password string) answer {
			v := *v
			v.addr, v.cookies = addr, map[string]string{"geosql-8080": v.cookies["geosql-8080"]}
			return v.post("/api/login", object{"user": user, "password": password})
		}
		for i := range 5 {
			if a := login("192.0.2.1:1", "ana", "x"); a.status != http.StatusUnauthorized {
				t.Fatalf("failure %d: %d %s", i, a.status, a.text)
			}
		}
		// The right password does not help until the address has waited. Other users and addresses do not wait.
		waits := login("192.0.2.1:2", "ana", "ana-password")
		if waits.status != http.StatusTooManyRequests || waits.header.Get("Retry-After") != "1" || waits.code() != codeWait {
			t.Errorf("%d %s", waits.status, waits.text)
		}
		if f.logins != 5 {
			t.Errorf("%d passwords were judged, want 5", f.logins)
		}
		if want := slices.Repeat([]string{"ana from 192.0.2.1:1"}, 5); !slices.Equal(told, append(want, "ana from 192.0.2.1:2")) {
			t.Errorf("told of %q", told)
		}
		for _, from := range [][2]string{{"[2001:db8::1]:1", "ana"}, {"192.0.2.1:3", "bo"}} {
			if a := login(from[0], from[1], from[1]+"-password"); a.status != http.StatusOK {
				t.Errorf("%s: %d %s", from, a.status, a.text)
			}
		}
		time.Sleep(time.Second)
		if a := login("192.0.2.1:4", "ana", "ana-password"); a.status != http.StatusOK {
			t.Errorf("after a second: %d %s", a.status, a.text)
		}
		if len(told) != 6 {
			t.Errorf("told of %q", told)
		}
	})
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := New(f, Options{Idle: 10 * time.Minute, Absolute: time.Hour})
		defer s.Close()
		v := newVisitor(t, s)
		v.login("ana", "ana-password")
		for range 6 { // used every nine minutes
			time.Sleep(9 * time.Minute)
			if a := v.get("/api/budgets"); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.text)
			}
		}
		time.Sleep(7 * time.Minute) // an hour and a minute in all
		if a := v.get("/api/budgets"); a.code() != codeLoggedOut {
			t.Errorf("after an hour: %d %s", a.status, a.text)
		}
		v.login("ana", "ana-password")
		time.Sleep(10*time.Minute + time.Second)
		if a := v.get("/api/budgets"); a.code() != codeLoggedOut {
			t.Errorf("after ten minutes without use: %d %s", a.status, a.text)
		}
		time.Sleep(2 * sweepInterval)
		synctest.Wait()
		if f.open != 0 {
			t.Errorf("%d sessions are open", f.open)
		}
		// One user has so many logins.
		for range maxLogins + 3 {
			newVisitor(t, s).login("bo", "bo-password")
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if f.open != maxLogins {
			t.Errorf("%d sessions are open, want %d", f.open, maxLogins)
		}
		// A quote is good for a time.
		v.login("ana", "ana-password")
		id := v.quote(sumSQL).at("quote").(string)
		time.Sleep(9 * time.Minute)
		v.get("/api/budgets")
		time.Sleep(7 * time.Minute)
		if a := v.run(sumSQL, id); a.code() != codeUnknown {
			t.Errorf("an old quote: %d %s", a.status, a.text)
		}
	})
}

func TestPlainHTTPIsForThisMachine(t *testing.T) {
	s := New(newFake(), Options{})
	defer s.Close()
	for host, local := range map[string]bool{
		"localhost": true, "LOCALHOST:8080": true, "127.0.0.1:80": true, "127.5.0.1": true, "[::1]:8080": true, "[::1]": true,
		"example.org": false, "192.0.2.1:80": false, "localhost.example.org": false, "": false, "[::1.example.org": false,
	} {
		for _, https := range []bool{false, true} {
			r := httptest.NewRequest("GET", "/", nil)
			r.Host = host
			if https {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if ok := w.Code == http.StatusOK; ok != (local || https) {
				t.Errorf("%q, https %v: %d", host, https, w.Code)
			}
		}
	}
}

// The log has logins, and neither statements nor passwords.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	s := New(newFake(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer s.Close()
	v := newVisitor(t, s)
	v.login("a-password-in-the-wrong-field", "x-word")
	v.login("ana", "ana-password")
	v.run("SELECT 'a secret literal'", "")
	v.run("SELECT broken", "")
	text := log.String()
	for part, want := range map[string]bool{"disk I/O error": true, "user=ana": true, "192.0.2.1": true, "secret literal": false, "ana-password": false, "x-word": false, "wrong-field": false, v.token: false, v.cookies["geosql-8080"]: false} {
		if strings.Contains(text, part) != want {
			t.Errorf("%q in the log: %v\n%s", part, !want, text)
		}
	}
}

// pipes are connections within the process with deadlines by the clock of a test.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A request that does not arrive is given up, and a statement may take longer than that.
func TestSlowRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := loggedIn(t, "ana")
		listener := make(pipes)
		web := &http.Server{Handler: v.server}
		var wg sync.WaitGroup
		wg.Go(func() { web.Serve(listener) })
		const sql = `{"sql":"SELECT slow"}`
		for _, c := range []struct {
			body, token string
			status      int
			after       time.Duration
		}{{sql, v.token, http.StatusOK, time.Minute}, {sql[:5], v.token, http.StatusBadRequest, bodyTime}, {sql[:5], "x", http.StatusForbidden, bodyTime}} {
			ours, theirs := net.Pipe()
			listener <- theirs
			begun := time.Now()
			wg.Go(func() {
				fmt.Fprintf(ours, "POST /api/run HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: http://localhost:8080\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
					"X-CSRF-Token: %s\r\nCookie: geosql-8080=%s\r\n\r\n%s", len(sql), c.token, v.cookies["geosql-8080"], c.body)
			})
			response, err := http.ReadResponse(bufio.NewReader(ours), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			if took := time.Since(begun); response.StatusCode != c.status || took != c.after {
				t.Errorf("%q is answered after %v: %d %s", c.body, took, response.StatusCode, text)
			}
			ours.Close()
		}
		close(listener)
		web.Close()
		wg.Wait()
	})
}
