//go:build unix

package serve

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/servetest"
	"github.com/geosql/geosql/sealed/catalog"
)

// watchers returns the expressions of the dashboard and of the alerts, which are in the form that Grafana and Prometheus read.
func watchers(t *testing.T) (all []string) {
	t.Helper()
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join("../internal/packaging/serve", name))
		check(t, err)
		check(t, json.Unmarshal(text, into))
	}
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID          int
			Title, Type string
			GridPos     struct{ H, W, X, Y int }
			Targets     []struct{ RefID, Expr string }
		}
	}
	read("geosql.grafana.json", &board)
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 {
		t.Errorf("%+v is no dashboard", board)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if p.Title == "" || p.Type == "" || p.GridPos.W == 0 || len(p.Targets) == 0 || ids[p.ID] {
			t.Errorf("%+v is no panel", p)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	var alerts struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	read("geosql.rules.json", &alerts)
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			if g.Name == "" || r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || !regexp.MustCompile(`^\d+[mh]$`).MatchString(r.For) {
				t.Errorf("%+v is no rule", r)
			}
			all = append(all, r.Expr)
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d expressions", len(all))
	}
	return all
}

// Every metric that the dashboard or an alert names, with the values of its labels, is one that a server exports.
func TestWatched(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir()
	s.options.CertFile, s.options.KeyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writeCertificate(t, 1, s.options.CertFile, s.options.KeyFile, tomorrow())
	r := Role{Name: "ana", Columns: []catalog.ColumnName{{Table: "meter", Column: "kwh"}}, Epsilon: map[budget.Unit]budget.Amount{"kWh": budget.One}}
	check(t, AddRole(s.path, "", r, "sesame"))
	s.serve(openBackend)
	var sum float64
	check(t, s.MustConnect("sslmode=require").QueryRow(t.Context(), "SELECT dx_sum(kwh, 0.5) FROM meter", pgx.QueryExecModeSimpleProtocol).Scan(&sum))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	status, text := servetest.Fetch(t, client, "https://"+s.httpAddr+"/metrics")
	if status != 200 {
		t.Fatal(status, text)
	}
	for _, want := range []string{"geosql_ledger_answers 1", `geosql_sessions{state="idle"} 1`, "geosql_healthy 1"} {
		if !regexp.MustCompile("(?m)^" + regexp.QuoteMeta(want) + "$").MatchString(text) {
			t.Errorf("no %s", want)
		}
	}
	var exported []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)[{ ]`).FindAllStringSubmatch(text, -1) {
		exported = append(exported, m[1])
	}
	metric := regexp.MustCompile(`\b(?:geosql|process|go)_[a-z_]+`)
	label := regexp.MustCompile(`(geosql_[a-z_]+)\{[^}]*?(reason|result|class|state|origin)=~?"([^"]*)"`)
	for _, expr := range watchers(t) {
		names := metric.FindAllString(expr, -1)
		for _, name := range names {
			if !slices.Contains(exported, name) {
				t.Errorf("%s: the server has no metric %s", expr, name)
			}
		}
		if len(names) == 0 {
			t.Errorf("%s has no metric", expr)
		}
		for _, m := range label.FindAllStringSubmatch(expr, -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `\{` + m[2] + `="(` + m[3] + `)"\}`).MatchString(text) {
				t.Errorf("%s: no %s has the %s %s", expr, m[1], m[2], m[3])
			}
		}
	}
}
