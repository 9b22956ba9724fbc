//go:build planted

package planted

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// update writes the table of docs/audit.md: `GEOSQL_AUDIT_FOUND=FILE go test -tags planted ./internal/planted -run Table -update`
// takes the times from what TestAuditFinds has appended to the file.
var update = flag.Bool("update", false, "write the table of planted bugs in docs/audit.md")

const (
	tableHead = "| bug | what is wrong | of | found after |\n|---|---|---|---|\n"
	tablePage = "docs/audit.md"
)

// table is the table in the page, from its head on.
var table = regexp.MustCompile(`(?m)^PLANTED-TABLE$|^\| bug \|.*\n(\|.*\n)*`)

// row returns the row of a bug up to its last cell.
func (b Bug) row() string {
	wrong := b.Title
	if b.Source != "" {
		wrong += " (" + b.Source + ")"
	}
	of := "`" + b.Function + "`"
	if b.Host != everywhere {
		of += ", " + b.Host
	}
	if b.Test != "" {
		of += ", by `" + b.Test + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | ", b.Name, wrong, of)
}

// The page lists every planted bug as the catalogue has it, and after how long the audit has found it.
func TestTable(t *testing.T) {
	page := filepath.Join(root, tablePage)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		text = table.ReplaceAllLiteral(text, []byte(newTable(t)))
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Contains(text, []byte("\nPLANTED-TABLE\n")) {
		t.Skip("the page has no table yet")
	}
	lines := strings.Split(strings.TrimSuffix(string(table.Find(text)), "\n"), "\n")
	bugs := Catalogue()
	if len(lines) != len(bugs)+2 {
		t.Fatalf("%s has a table of %d lines, want two and one for each of %d bugs", tablePage, len(lines), len(bugs))
	}
	time := regexp.MustCompile(`^\d+(\.\d)? s \|$`)
	for i, b := range bugs {
		if cell, found := strings.CutPrefix(lines[i+2], b.row()); !found || !time.MatchString(cell) {
			t.Errorf("%s has %q, want %q and a time", tablePage, lines[i+2], b.row())
		}
	}
}

// newTable returns the table with the latest times.
func newTable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(os.Getenv(foundVariable))
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(text))); d.More(); {
		var f finding
		if err := d.Decode(&f); err != nil {
			t.Fatal(err)
		}
		cells[f.Bug] = "not found"
		if f.Found {
			cells[f.Bug] = fmt.Sprintf("%.1f s", f.Seconds)
		}
	}
	var b strings.Builder
	b.WriteString(tableHead)
	for _, bug := range Catalogue() {
		b.WriteString(bug.row() + cells[bug.Name] + " |\n")
	}
	return b.String()
}
