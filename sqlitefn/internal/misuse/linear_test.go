package misuse

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

func TestReadersAreLinear(t *testing.T) {
	fuzztest.Linear(t, map[string]func(sql string){
		"mostArguments": func(sql string) { mostArguments([]string{sql})("printf") },
		"wordsIn":       func(sql string) { wordsIn(sql) },
		"replaceCalls":  func(sql string) { replaceCalls(sql, map[string]string{"sum": "dx_sum"}, "1") },
	})
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
