package conformance

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fault changes a host's answer to a statement and its balances. It reports whether
// there was something to change.
type fault struct {
	name  string
	plant func(s statement, o, balances *outcome) bool
}

var faults = []fault{
	{"an error is swallowed", func(s statement, o, _ *outcome) bool {
		planted := o.Error != ""
		o.Error, o.Refused = "", false
		return planted
	}},
	{"an error appears", func(s statement, o, _ *outcome) bool {
		planted := o.Error == ""
		o.Error = "disk I/O error"
		return planted
	}},
	{"another error", func(s statement, o, _ *outcome) bool {
		planted := o.Error != ""
		o.Error = "another: " + o.Error
		return planted
	}},
	{"refused or not", func(s statement, o, _ *outcome) bool {
		o.Refused = !o.Refused
		return o.Error != ""
	}},
	{"a row too few", func(s statement, o, _ *outcome) bool {
		if len(o.Rows) == 0 || s.fails != nil { // which may show a row less
			return false
		}
		o.Rows = o.Rows[:len(o.Rows)-1]
		return true
	}},
	{"a row too many", func(s statement, o, _ *outcome) bool {
		o.Rows = append(slices.Clone(o.Rows), []string{"1"})
		return true
	}},
	{"a column too many", func(s statement, o, _ *outcome) bool {
		if len(o.Rows) == 0 {
			return false
		}
		o.Rows = slices.Clone(o.Rows)
		o.Rows[0] = append(slices.Clone(o.Rows[0]), "1")
		return true
	}},
	{"a value of another type", func(s statement, o, _ *outcome) bool {
		if len(o.Rows) == 0 {
			return false
		}
		o.Rows = slices.Clone(o.Rows)
		o.Rows[0] = slices.Clone(o.Rows[0])
		o.Rows[0][0] = map[string]string{"NULL": "0", "INTEGER": o.Rows[0][0] + ".0", "REAL": "1", "TEXT": "X''", "BLOB": "''"}[typeOf(o.Rows[0][0])]
		return true
	}},
	{"a charge too much", func(s statement, _, b *outcome) bool {
		b.Rows = append(slices.Clone(b.Rows), []string{"'nobody'", "'m'", "0.001"})
		return true
	}},
	{"nothing is charged", func(s statement, _, b *outcome) bool {
		b.Rows = nil
		return len(s.charges) > 0
	}},
}

// Every fault, planted into every statement of every script that has room for it,
// is caught there: the checks work, and no statement lacks an expectation.
func TestPlantedFaultsAreCaught(t *testing.T) {
	planted := map[string]int{}
	for _, s := range scripts(t) {
		database := filepath.Join(t.TempDir(), "main.db")
		spent := map[budgetKey]float64{}
		for _, session := range s.sessions {
			var statements []string
			for _, statement := range session {
				statements = append(statements, statement.sql, balances)
			}
			outcomes, err := runGo(database, statements)
			if err != nil {
				t.Fatal(err)
			}
			for i, statement := range session {
				for _, f := range faults {
					pair := slices.Clone(outcomes[2*i : 2*i+2])
					if !f.plant(statement, &pair[0], &pair[1]) {
						continue
					}
					planted[f.name]++
					if check(session[i:i+1], pair, maps.Clone(spent)) == nil {
						t.Errorf("scripts/%s.sql line %d: %s, and nobody notices\n%s", s.name, statement.line, f.name, statement.sql)
					}
				}
				if err := check(session[i:i+1], outcomes[2*i:2*i+2], spent); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for _, f := range faults {
		if planted[f.name] == 0 {
			t.Errorf("%s: planted nowhere", f.name)
		}
	}
}

// Noise of another scale, about another place, of another shape, and no noise. Of
// 20,000 draws with an epsilon a quarter larger or a fifth smaller, some bin is more
// than nine standard deviations beyond the border of the alarm: one is missed with a
// probability below 1e-15. The others are further away.
func TestPlantedNoiseIsCaught(t *testing.T) {
	const n = `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n)`
	for _, c := range []struct {
		law, release string
		wrong        bool
	}{
		{"geometric 0.5 about 3 within 0 10", `dx_value('ana', 3, 0.5, 'u')`, false},
		{"geometric 0.5 about 3 within 0 10", `dx_value('ana', 3, 0.625, 'u')`, true},
		{"geometric 0.5 about 3 within 0 10", `dx_value('ana', 3, 0.4, 'u')`, true},
		{"geometric 0.5 about 3 within 0 10", `dx_value('ana', 4, 0.5, 'u')`, true},
		{"geometric 0.5 about 3 within 0 10", `dx_value('ana', 3, 100, 'u')`, true},
		{"geometric 0.5 about 3 within 0 10", `abs(dx_value('ana', 3, 0.5, 'u') - 3) + 3`, true},
		{"geometric 0.5 about 3 within 0 10", `max(1.0, dx_value('ana', 3, 0.5, 'u'))`, true},
		{"geometric 0.5 about 3", `dx_value('ana', 3, 0.5, 'u')`, true},
		{"staircase 1.5 of 10 from 4 about 4 within 0 1000", `(SELECT dx_sum('ana', 4 + 0 * j, 1.5, 'u', 'dh') FROM (SELECT i AS j))`, false},
		{"staircase 1.5 of 10 from 4 about 4 within 0 1000", `(SELECT dx_sum('ana', 4 + 0 * j, 1.5, 'u', 'nd1') FROM (SELECT i AS j))`, true},
		{"staircase 1.5 of 10 from 4 about 4 within 0 1000", `(SELECT dx_sum('ana', 4 + 0 * j, 2, 'u', 'dh') FROM (SELECT i AS j))`, true},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace('ana', 39.9, 116.3, 0.01)`, false},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace('ana', 39.9, 116.3, 0.0125)`, true},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace('ana', 39.9, 116.3, 0.008)`, true},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace('ana', 39.901, 116.3, 0.01)`, true},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace('ana', 39.9, 116.3, 1)`, true},
		{"laplace 0.01 about 39.9 116.3", `geoind_laplace_l1('ana', 39.9, 116.3, 0.01)`, true},
		{"laplace_l1 0.01 about 39.9 116.3", `geoind_laplace_l1('ana', 39.9, 116.3, 0.01)`, false},
		{"laplace_l1 0.01 about 39.9 116.3", `geoind_laplace_l1('ana', 39.9, 116.3, 0.0125)`, true},
		{"gauss 0.00005 about 39.9 116.3", `geoind_gauss('ana', 39.9, 116.3, 0.00005)`, false},
		{"gauss 0.00005 about 39.9 116.3", `geoind_gauss('ana', 39.9, 116.3, 0.0000625)`, true},
		{"gauss 0.00005 about 39.9 116.3", `geoind_gauss('ana', 39.9, 116.3, 0.00004)`, true},
		{"gauss 0.00005 about 39.9 116.3", `geoind_gauss('ana', 39.9005, 116.3, 0.00005)`, true},
		{"gauss 0.00005 about 39.9 116.3", `geoind_laplace('ana', 39.9, 116.3, 0.01)`, true},
		{"chance 0.5", `dx_value('ana', 3, 0.5, 'u') > 3`, true},
		{"chance 0.5", `2`, true},
	} {
		l, err := parseLaw(c.law)
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := runGo(":memory:", []string{
			`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 1, 'kWh')`,
			`SELECT budget_limit('ana', 'm', 9000000), budget_limit('ana', 'm2', 9000000), budget_limit('ana', 'kWh', 9000000), budget_limit('ana', 'record', 9000000)`,
			`SELECT ` + c.release + ` FROM ` + n,
		})
		if err != nil || len(outcomes[2].Rows) != 20000 {
			t.Fatalf("%s: %v, %s", c.release, err, outcomes[2].Error)
		}
		if err := l.judge(outcomes[2].Rows); (err != nil) != c.wrong {
			t.Errorf("%s as %s: %v", c.release, c.law, err)
		}
	}
}

func TestScriptsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"--> 1":                     "1: an expectation follows a statement",
		"SELECT 1\n--> 1":           "2: an expectation follows a statement",
		"SELECT 1;\n--? 1":          "2: no expectation begins with --?",
		"SELECT 1;\n--$ ana":        "2: \"ana\" is no charge",
		"SELECT 1;\n\n--~ normal 5": "3: no law",
		"SELECT 1;\n--~ geometric 1 about 5 in 0 9": "2: no law",
		"SELECT 1;\n--> 'a":                         "2: a quote is not closed",
		"SELECT 1":                                  "no ;",
		"SELECT 1;\n--- reconnect\n--> 1":           "3: an expectation follows",
	} {
		if _, err := parseScript(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		field, value string
		want         bool
	}{
		{"INTEGER", "5", true}, {"INTEGER", "5.0", false}, {"INTEGER", "'5'", false}, {"REAL", "1e-07", true},
		{"TEXT", "''", true}, {"BLOB", "X'00'", true}, {"NULL", "NULL", true}, {"NULL", "'NULL'", false},
		{"5", "5", true}, {"5", "5.0", false}, {"5.0", "5.0", true}, {"0.1", "0.10000000000000000555", true},
		{"4..6", "5", true}, {"4..6", "7", false}, {"4.0..6.0", "5.5", true}, {"4.0..6.0", "5", false}, {"-1..1", "-2", false},
		{"'a...'", "'abc'", true}, {"'a...c'", "'abc'", true}, {"'a...c'", "'ab'", false}, {"'a...b...b'", "'ab'", false},
		{"'...'", "'it''s'", true}, {"'it''s'", "'it''s'", true}, {"'a'", "'ab'", false},
	} {
		if got := fits(c.field, c.value); got != c.want {
			t.Errorf("%s fits %s: %t, want %t", c.value, c.field, got, c.want)
		}
	}
	if got := fmt.Sprint(splitFields("'a, b', 5, 'it''s', NULL")); got != "['a, b' 5 'it''s' NULL] <nil>" {
		t.Errorf("fields are %s", got)
	}
}
