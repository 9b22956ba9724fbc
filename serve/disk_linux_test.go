package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/internal/servetest"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
)

// wantHealth demands that health says a text within seconds, or half a minute on a busy machine.
func (s *site) wantHealth(want string) {
	s.Helper()
	said := ""
	for end := time.Now().Add(30 * time.Second); said != want && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		_, said = servetest.Fetch(s.T, http.DefaultClient, "http://"+s.httpAddr+"/healthz")
	}
	if said != want {
		s.Errorf("health: %s, want %s", said, want)
	}
}

// Health says within seconds that the disk of the ledger is full, and that it has room again.
func TestHealthOfAFullDisk(t *testing.T) {
	folder := filestest.SmallDisk(t, 2)
	s := newSiteIn(t, folder).fake()
	s.wantHealth("ok")
	filler := filestest.Fill(t, folder)
	s.wantHealth("nobody can be charged: the disk of the ledger is full")
	check(t, os.Remove(filler))
	s.wantHealth("ok")
}

// addAna adds a role that may ask about the readings.
func (s *site) addAna() {
	s.Helper()
	check(s.T, AddRole(s.path, "", Role{Name: "ana", Columns: []catalog.ColumnName{{Table: "meter", Column: "kwh"}},
		Epsilon: map[budget.Unit]budget.Amount{"kWh": budget.One}}, "sesame"))
}

// ask asks for a sum, and returns the SQLSTATE.
func ask(c *pgx.Conn, epsilon string) string {
	var sum float64
	if err := c.QueryRow(context.Background(), "SELECT dx_sum(kwh, "+epsilon+") FROM meter", pgx.QueryExecModeSimpleProtocol).Scan(&sum); err != nil {
		return servetest.SQLState(err)
	}
	return "00000"
}

// While the disk of the audit log is full, statements are answered and health says so. Then the log says how many lines it lacks,
// also if nobody asks any more.
func TestFullDiskOfTheAuditLog(t *testing.T) {
	folder := filestest.SmallDisk(t, 1)
	s := newSite(t)
	s.options.AuditFile = filepath.Join(folder, "audit")
	s.addAna()
	s.serve(openBackend)
	s.wantHealth("ok")
	c := s.MustConnect("")
	filler := filestest.Fill(t, folder)
	s.wantHealth("the audit log cannot be written")
	for n := range 100 { // the last page of the file has room
		if state := ask(c, fmt.Sprintf("0.00%02d", n+1)); state != "00000" {
			t.Fatalf("statement %d: %s", n, state)
		}
	}
	if n := strings.Count(s.said.String(), "the audit log cannot be written\" error="); n != 1 {
		t.Errorf("the log says %d times that lines are lost:\n%s", n, s.said.String())
	}
	s.wantHealth("the audit log cannot be written")
	check(t, os.Remove(filler))
	s.wantHealth("ok")
	text, err := os.ReadFile(s.options.AuditFile)
	check(t, err)
	written, lost := 0, 0
	for line := range strings.Lines(string(text)) { // of which one is torn
		if json.Valid([]byte(line)) && strings.Contains(line, `"event":"statement"`) {
			written++
		}
	}
	_, last, _ := strings.Cut(string(text), `"lost":`)
	if _, err := fmt.Sscan(strings.TrimRight(last, "}\n"), &lost); err != nil || written+lost != 100 || lost == 0 {
		t.Errorf("%d statements in the log, and %d lost: %v", written, lost, err)
	}
	if state := ask(c, "0.5"); state != "00000" {
		t.Error(state)
	}
}

// While the disk of temporary files is full, a statement that needs them is refused and charges nobody, others are answered, and health
// says so. The statement needs them for the counts of rows that lie far apart in their session.
func TestFullTemporaryFolder(t *testing.T) {
	const pages, perPage = 16<<10 + 8, 1 << 10 // of internal/counts, with one row on each page
	s := newSite(t)
	s.addAna()
	conn, err := sqlite.Open(s.path, sqlite.ReadWrite)
	check(t, err)
	check(t, conn.Exec("BEGIN"))
	for range pages {
		check(t, conn.Exec(fmt.Sprintf("INSERT INTO meter VALUES ('%s', %s)", s.sealed.Account("ana").Pseudonym, s.sealed.Reading(1, "ana", 5))))
		s.sealed.Skip(perPage - 1)
	}
	check(t, conn.Exec("COMMIT"))
	check(t, conn.Close())
	folder := filestest.SmallDisk(t, 1)
	t.Setenv("TMPDIR", folder)
	s.serve(openBackend)
	c := s.MustConnect("")
	s.wantHealth("ok")
	filler := filestest.Fill(t, folder)
	s.wantHealth("the disk of temporary files is full")
	if state := ask(c, "0.5"); state != "53100" {
		t.Errorf("a large statement: %s", state)
	}
	var n int
	check(t, c.QueryRow(context.Background(), "SELECT count(*) FROM meter").Scan(&n))
	check(t, os.Remove(filler))
	s.wantHealth("ok")
	if state := ask(c, "1"); state != "00000" { // with all of the budget
		t.Errorf("with room: %s", state)
	}
}
