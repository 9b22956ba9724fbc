// Package conformance tests every host with the same scripts: SQL with the answer of
// each statement, its error, its charges and the distribution of its noise.
package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// play runs a script on a new database and checks every statement.
func play(s script, database string, run host) error {
	spent := map[budgetKey]float64{}
	for _, session := range s.sessions {
		var statements []string
		for _, statement := range session {
			statements = append(statements, statement.sql, balances)
		}
		outcomes, err := run(database, statements)
		if err != nil {
			return err
		}
		if err := check(session, outcomes, spent); err != nil {
			return fmt.Errorf("scripts/%s.sql\n%w", s.name, err)
		}
	}
	return nil
}

func TestScripts(t *testing.T) {
	list := scripts(t)
	onEveryHost(t, func(t *testing.T, run host) {
		version, err := run(":memory:", []string{`SELECT geosql_debug();`})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(version[0].Rows)
		for _, s := range list {
			t.Run(s.name, func(t *testing.T) {
				if err := play(s, filepath.Join(t.TempDir(), "main.db"), run); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// listed are the functions of the function table that a connection has, table-valued ones too.
const listed = `SELECT DISTINCT name FROM (SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list) ` +
	`WHERE instr(char(10) || geosql_help() || char(10), char(10) || name || char(10)) ORDER BY name;`

// functions are the names in the first column of a host's answer.
func functions(t *testing.T, run host, query string) (names []string) {
	t.Helper()
	outcomes, err := run(":memory:", []string{query})
	if err != nil || outcomes[0].Error != "" {
		t.Fatalf("%v, %v", err, outcomes)
	}
	for _, row := range outcomes[0].Rows {
		names = append(names, unquote(row[0]))
	}
	return names
}

// table are the names in the function table, in their order.
func table(t *testing.T) []string {
	t.Helper()
	names := strings.Split(functions(t, runGo, `SELECT geosql_help();`)[0], "\n")
	slices.Sort(names)
	return names
}

func TestEveryHostHasTheSameFunctions(t *testing.T) {
	want := table(t)
	onEveryHost(t, func(t *testing.T, run host) {
		if got := functions(t, run, listed); !slices.Equal(got, want) {
			t.Errorf("functions are %v, want %v", got, want)
		}
	})
}

func TestEveryFunctionIsInAScript(t *testing.T) {
	var all strings.Builder
	for _, s := range scripts(t) {
		for _, session := range s.sessions {
			for _, statement := range session {
				all.WriteString(statement.sql)
			}
		}
	}
	for _, name := range table(t) {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(all.String()) {
			t.Errorf("no script calls %s", name)
		}
	}
}

// The scripts under examples/sql run on other hosts as they stand, with columns as
// many as in Go.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			var statements []string
			for _, statement := range s.sessions[0] {
				statements = append(statements, statement.sql)
			}
			want, err := runGo(filepath.Join(t.TempDir(), "main.db"), statements)
			if err != nil {
				t.Fatal(err)
			}
			onAnotherHost(t, func(t *testing.T, run host) {
				got, err := run(filepath.Join(t.TempDir(), "main.db"), statements)
				if err != nil {
					t.Fatal(err)
				}
				for i, o := range got {
					if o.Error != "" || columns(o) != columns(want[i]) {
						t.Errorf("%s\nanswers %d columns, %s, in Go %d", statements[i], columns(o), o.Error, columns(want[i]))
					}
				}
			})
		})
	}
}

// columns returns the number of columns of the first row.
func columns(o outcome) int {
	if len(o.Rows) == 0 {
		return 0
	}
	return len(o.Rows[0])
}
