package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database that was deserialized lives in memory, and so does its ledger, although
// SQLite has a file name for it: unrelated ones would share that of the name.
func TestDeserializedDatabasesHaveLedgersInMemory(t *testing.T) {
	const universe = `SELECT dx_universe('u', 0, 10, 1, 'kWh');`
	var files [2]string
	for i, name := range []string{"ana.db", "bo.db"} {
		files[i] = filepath.Join(t.TempDir(), name)
		if err := succeed(runGo(files[i], []string{universe})); err != nil {
			t.Fatal(err)
		}
	}
	const release = `SELECT dx_value('ana', 3, 0.05, 'u') IS NOT NULL;`
	onEveryHost(t, func(t *testing.T, run host) {
		if strings.HasSuffix(t.Name(), "node:sqlite") {
			return // it cannot deserialize
		}
		before := filesHere(t)
		for i, limit := range []string{"0.05", "1000"} {
			outcomes, err := run(deserialized+files[i], []string{release, `SELECT budget_limit('ana', 'kWh', ` + limit + `);`, release, release})
			if err != nil {
				t.Fatal(err)
			}
			if first := outcomes[0]; !first.Refused {
				t.Errorf("%s: without a limit: %+v", files[i], first)
			}
			if err := succeed(outcomes[1:3], nil); err != nil {
				t.Errorf("%s: within the limit: %v", files[i], err)
			}
			if again := outcomes[3]; again.Refused != (limit == "0.05") {
				t.Errorf("%s: with limit %s, again: %+v", files[i], limit, again)
			}
		}
		if after := filesHere(t); after != before {
			t.Errorf("a run left files: %s, were %s", after, before)
		}
	})
}

// filesHere returns the files of the folder that the hosts run in.
func filesHere(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, " ")
}
