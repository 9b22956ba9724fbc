package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// FuzzRequest has an analyst's browser send any body anywhere. The answer is JSON unless it is a part of the page, a
// request without the page's token changes nothing, and no analyst spends without a quote, sees roles or changes them.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"/api/session", "/api/login", "/api/logout", "/api/schema", "/api/budgets", "/api/history", "/api/quote", "/api/run",
		"/api/cancel", "/api/roles", "/api/roles/add", "/api/roles/drop", "/api/", "/", "/../api/run", "/api/run?quote=x", "//", "/%2e%2e/%00"} {
		f.Add("GET", path, "", true)
		for _, body := range []string{
			`{}`, `null`, `[]`, ``, `{`, `{"sql":"SELECT dx_sum(kwh, 0.1) FROM reading"}`, `{"sql":"SELECT 1","epsilon":"0.1","quote":""}`, `{"sql":"SELECT 1"}{}`,
			`{"sql":"SELECT sum(kwh) FROM reading","epsilon":"1e999999999"}`, `{"user":"owner","password":"owner-passwore"}`, `{"name":"ana"}`, `{"sql":"\ud800"}`,
			`{"sql":"SELECT dx_sum(kwh, 0.1) FROM reading","quote":"x"}`, `{"name":"eve","password":"long enough","columns":["reading.kwh"],"epsilon":{"kWh":"1"}}`,
		} {
			f.Add("POST", path, body, true)
			f.Add("POST", path, body, false)
		}
	}
	f.Fuzz(func(t *testing.T, method, path, body string, token bool) {
		if !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || strings.Contains(body, "wait") {
			return // no request has that, or the fake waits
		}
		if r, err := http.NewRequest(method, "http://localhost:8080"+path, nil); err != nil || r.URL.Host != "localhost:8080" || method == "CONNECT" {
			return
		}
		fuzztest.Limit(t, 20*time.Second)
		v, fake := loggedIn(t, "ana")
		spent := fake.spent["kWh"]
		a := v.request(method, path, body, func(r *http.Request) {
			if !token {
				r.Header.Del("X-CSRF-Token")
			}
		})
		if media := a.header.Get("Content-Type"); strings.HasPrefix(media, "application/json") {
			if !json.Valid([]byte(a.text)) || !utf8.ValidString(a.text) {
				t.Errorf("%s %s %q: %q", method, path, body, a.text)
			}
		} else if strings.HasPrefix(path, "/api/") && a.status < 300 {
			t.Errorf("%s %s %q: %d %s", method, path, body, a.status, media)
		}
		if a.status >= 500 {
			t.Errorf("%s %s %q: %d %s", method, path, body, a.status, a.text)
		}
		if fake.spent["kWh"] != spent || len(fake.spent) != 1 || len(fake.roles) != 1 || fake.inside != 0 {
			t.Errorf("%s %s %q: spent %v, %d roles", method, path, body, fake.spent, len(fake.roles))
		}
		if strings.HasPrefix(path, "/api/roles") && a.status < 300 {
			t.Errorf("%s %s %q: %d %s", method, path, body, a.status, a.text)
		}
		if !token && method == "POST" && strings.HasPrefix(path, "/api/") && a.status < 300 {
			t.Errorf("%s %s %q without a token: %d %s", method, path, body, a.status, a.text)
		}
	})
}
