package sqlitefn

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/printable/printabletest"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// TestErrorsSteerNothing passes texts that steer a terminal as every argument of every
// function, in both forms, also inside arguments with a grammar. No error shows them as they are.
func TestErrorsSteerNothing(t *testing.T) {
	all := append(printabletest.Texts(), "a\x00b")
	for _, c := range forms() {
		t.Run(c.String(), func(t *testing.T) {
			d, texts := newInner(t), trials.Some(t, 4, all...)
			for i := range c.f.Args {
				for _, text := range texts {
					for _, arg := range hostile(c.f, i, text) {
						c.checkHostile(t, d, i, arg)
					}
				}
			}
		})
	}
}

func (c form) checkHostile(t *testing.T, d inner, i int, arg string) {
	t.Helper()
	args := goodArgs(c.f, t)
	args[i] = "?"
	if _, err := d.ask("SAVEPOINT before"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ask(c.query(args...), arg); err != nil {
		wantPrintable(t, err)
	}
	if _, err := d.ask("ROLLBACK TO before"); err != nil {
		t.Fatal(err)
	}
}

func wantPrintable(t *testing.T, err error) {
	t.Helper()
	if printabletest.Steers(err.Error()) {
		t.Errorf("the error steers a terminal: %q", err)
	}
}

// quotedText finds the names, the keys and the texts in JSON.
var quotedText = regexp.MustCompile(`"[^"]*"`)

// hostile are values for argument i that hold text: alone, in a geometry, as a key and a
// text of JSON, and in place of each text in the JSON that would be good.
func hostile(f *frame.Function, i int, text string) []string {
	encoded, _ := json.Marshal(text)
	name := string(encoded)
	values := []string{
		text, "dx_sum" + text,
		"POLYGON((" + text + "))", "POLYGON((116 40" + text + ", 116.01 40, 116.01 40.01, 116 40))",
		"{" + name + ": 1}", `{"` + text + `": 1}`, "[" + name + "]", "[" + text + "]",
	}
	good := strings.Trim(sampleOf(f, i).good, "'")
	if !strings.HasPrefix(good, "{") {
		return values
	}
	for _, at := range quotedText.FindAllStringIndex(good, -1) {
		values = append(values, good[:at[0]]+name+good[at[1]:])
	}
	return values
}

// Names in the tables of a database from elsewhere are quoted too.
func TestStoredNamesSteerNothing(t *testing.T) {
	for _, text := range trials.Some(t, 3, printabletest.Texts()...) {
		d := newInner(t)
		for _, prepare := range []string{
			`INSERT INTO geosql_domain(name, south, west, north, east, step_m) VALUES(?, 39.4, 115.4, 41.1, 117.6, 1)`,
			`UPDATE geosql_universe SET name = ?`,
			`SELECT budget_limit(?, 'm', 0)`,
			`SELECT trace_policy('walk', ?, 'predictive', '{"epsilon": 0.1, "steps": 5, "domain": "beijing"}')`,
		} {
			if _, err := d.ask(prepare, text); err != nil {
				t.Fatal(err)
			}
		}
		for query, args := range map[string][]any{
			`SELECT geoind_laplace('ana', 39.9, 116.3, 0.5)`:                                                nil,
			`SELECT dx_value('ana', 3, 0.5, 'u')`:                                                           nil,
			`SELECT geoind_laplace(?, 39.9, 116.3, 0.5, 'beijing')`:                                         {text},
			`SELECT predictive_step('walk', 0, 39.9, 116.3)`:                                                nil,
			`SELECT geoind_laplace('ana', 39.9, 116.3, 0.5, ?)`:                                             {text + "x"},
			`SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 1, "steps": 5, "domain": "x"}')`: nil,
		} {
			_, err := d.ask(query, args...)
			if err == nil {
				t.Errorf("%s with %q succeeds", query, text)
				continue
			}
			wantPrintable(t, err)
		}
	}
}

// A refusal's cure is SQL that can be pasted: it means the account that it is about.
func TestCureNamesItsAccount(t *testing.T) {
	for _, text := range append(printabletest.Texts(), "it's") {
		d := newInner(t)
		_, err := d.ask(`SELECT dx_count(?, 1)`, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = d.ask(`SELECT dx_universe('v', 0, 10, 1, 'Wh')`); err != nil {
			t.Fatal(err)
		}
		_, err = d.ask(`SELECT dx_value(?, 3, 1, 'v')`, text)
		if err == nil {
			t.Fatalf("%q is charged", text)
		}
		wantPrintable(t, err)
		_, cure, _ := strings.Cut(err.Error(), "set one: ")
		cure, _, _ = strings.Cut(cure, " or ")
		if _, err := d.ask(strings.Replace(cure, "EPSILON", "5", 1)); err != nil {
			t.Fatalf("%s: %v", cure, err)
		}
		if _, err := d.ask(`SELECT dx_value(?, 3, 1, 'v')`, text); err != nil {
			t.Errorf("%s does not help: %v", cure, err)
		}
	}
}
