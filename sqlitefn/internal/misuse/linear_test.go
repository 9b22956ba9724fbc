package misuse

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// The readers of a statement take twice as much memory for twice the length, and do not take hours.
func TestReadersAreLinear(t *testing.T) {
	const n, little = 250_000, 1 << 20
	for name, read := range map[string]func(sql string){
		"mostArguments": func(sql string) { mostArguments([]string{sql})("printf") },
		"wordsIn":       func(sql string) { wordsIn(sql) },
		"replaceCalls":  func(sql string) { replaceCalls(sql, map[string]string{"sum": "dx_sum"}, "1") },
	} {
		for what, text := range map[string][3]string{
			"terms":      {"SELECT printf('%d', 1", "+1", ")"},
			"arguments":  {"SELECT printf('%d', 1", ",1", ")"},
			"calls":      {"SELECT 1", "+printf(1,2)", ""},
			"groups":     {"SELECT 1", "+sum(a)", ""},
			"comments":   {"", "/* a */ ", "SELECT 1"},
			"operators":  {"SELECT a", "<b", ""},
			"semicolons": {"", ";", ""},
			"quotes":     {"SELECT printf(", "'a'", ")"},
			"brackets":   {"SELECT ", "[", ""},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				fuzztest.Limit(t, time.Minute)
				allocated := func(n int) float64 {
					sql := text[0] + strings.Repeat(text[1], n/len(text[1])) + text[2]
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					read(sql)
					runtime.ReadMemStats(&after)
					return float64(after.TotalAlloc - before.TotalAlloc)
				}
				if once, twice := allocated(n), allocated(2*n); twice > 2.5*once+little {
					t.Errorf("%.0f bytes for a text, and %.0f for one twice as long", once, twice)
				}
			})
		}
	}
}

// A statement with many calls is read once for all of them, and not for each.
func TestManyCalls(t *testing.T) {
	fuzztest.Limit(t, time.Minute)
	sql := "SELECT 1" + strings.Repeat("+printf(1,2)", 100_000)
	most := mostArguments([]string{sql})
	for range 100_000 {
		if got := most("Printf"); got != 2 {
			t.Fatal(got)
		}
	}
}
