package frame

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
		"checkVerb": func(sql string) { checkVerb(sql) },
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
