package monitor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn"
)

// sample matches a line of metrics in the text form of Prometheus.
var sample = regexp.MustCompile(`^[a-z_]+(\{[a-z_]+="([^"\\]|\\[\\"n])*"(,[a-z_]+="([^"\\]|\\[\\"n])*")*\})? [-+0-9.e]+$|^# (HELP|TYPE) |^[a-z_]+\{[^{}]*le="\+Inf"\} [0-9]+$`)

// FuzzEvents tells observers of a session with any texts in it. Every line of the audit log is a JSON object, and every
// line of the metrics is one; neither has a literal of the statement, and no label but the unit is from outside.
func FuzzEvents(f *testing.F) {
	f.Add("ana", asked.SQL, "53400", "kWh", "reading.kwh", "dx_sum")
	f.Add("a\nb", "SELECT 'x\x00'", "\x1b[2J", "k\"W\\h\n", "\xff", "</script>")
	f.Add("", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, role, sql, state, unit, column, function string) {
		path := filepath.Join(t.TempDir(), "audit.log")
		audit, err := OpenAudit(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer audit.Close()
		metrics := NewMetrics()
		of := ana
		of.Role = role
		const literal = "hunter2hunter2"
		s := Statement{Session: of, SQL: sql + " SELECT '" + literal + "'", State: state, Report: sqlitefn.Report{Answers: 1, Columns: []string{column}, Functions: []string{function},
			Costs: []sqlitefn.Cost{{Unit: budget.Unit(unit), Accounts: 1, Most: budget.One}}}}
		for _, o := range []Observer{audit, metrics} {
			o.SessionBegan(of)
			o.LoginFailed(of.Remote, role)
			o.StatementEnded(s)
			o.SessionEnded(of, Reason(state))
		}
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(log) {
			var event map[string]any
			if json.Unmarshal(line, &event) != nil || !utf8.Valid(line) {
				t.Errorf("%q", line)
			}
			lines++
		}
		if lines < 4 {
			t.Errorf("%d lines", lines)
		}
		w := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != http.StatusOK {
			t.Errorf("%q: %d %s", unit, w.Code, w.Body)
		}
		for text := bufio.NewScanner(w.Body); text.Scan(); {
			if line := text.Text(); strings.HasPrefix(line, "geosql_") && !sample.MatchString(line) {
				t.Errorf("%q", line)
			}
		}
		if quotes := strings.Count(sql, "'"); quotes == 0 && !strings.ContainsAny(sql, "\"`[-/") && bytes.Contains(log, []byte(literal)) {
			t.Errorf("%q: the log has a literal", sql)
		}
	})
}
