package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

// The schema of a database calls nothing of the owner's: either the host refuses that, or
// the function does, as in CHECK constraints under SQLite 3.40.
func TestSchemaCallsNothingOfTheOwners(t *testing.T) {
	const (
		raise = `budget_limit('ana', 'kWh', 1000)`
		left  = `SELECT budget_remaining('ana', 'kWh') = 1;`
	)
	onEveryHost(t, func(t *testing.T, run host) {
		outcomes, err := run(filepath.Join(t.TempDir(), "main.db"), []string{
			`SELECT dx_universe('u', 0, 10, 1, 'kWh');`,
			`SELECT budget_limit('ana', 'kWh', 1);`,
			`CREATE TABLE c(a CHECK (a <> ` + raise + `));`,
			`INSERT INTO c VALUES (1);`,
			`PRAGMA ignore_check_constraints = ON;`,
			`INSERT INTO c VALUES (1);`,
			`PRAGMA ignore_check_constraints = OFF;`,
			`PRAGMA integrity_check;`,
			`CREATE VIEW v AS SELECT ` + raise + `;`,
			`SELECT * FROM v;`,
			left,
			`CREATE TEMP VIEW mine AS SELECT budget_remaining('ana', 'kWh') = 1 AS remains;`,
			`SELECT remains FROM mine;`,
		})
		if err != nil {
			t.Fatal(err)
		}
		made, inserted := outcomes[2], outcomes[3]
		if made.Error == "" && !strings.Contains(inserted.Error, "budget_limit: may not be called by the schema of a database") {
			t.Errorf("CHECK: %+v, %+v", made, inserted)
		}
		if made.Error != "" && !strings.Contains(made.Error, "unsafe use of budget_limit()") {
			t.Errorf("CHECK: %+v", made)
		}
		if view := outcomes[9]; !strings.Contains(view.Error, "unsafe use of budget_limit()") {
			t.Errorf("view: %+v", view)
		}
		for _, k := range []int{10, 12} {
			if o := outcomes[k]; o.Error != "" || o.Rows[0][0] != "1" {
				t.Errorf("what remains: %+v", o)
			}
		}
	})
}
