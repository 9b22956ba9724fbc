package dialect

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
	"github.com/geosql/geosql/internal/sqltext"
)

// long are texts of about n bytes that repeat something.
var long = map[string]func(n int) string{
	"semicolons":  repeated("", ";", ""),
	"statements":  repeated("", "SELECT 1;", ""),
	"blanks":      repeated("", " ;\n", ""),
	"comments":    repeated("", "/* a */ ", ""),
	"quotes":      repeated("SELECT ", "'a' ", ""),
	"marks":       counted("SELECT ", "$a%d$ ", ""),
	"dollars":     repeated("SELECT ", "$", ""),
	"brackets":    repeated("SELECT 1, ", "[", ""),
	"exponents":   repeated("SELECT ", "1e+1 ", ""),
	"exponent":    repeated("SELECT 1", "e+1", ""),
	"a name":      repeated("SELECT a", ".a", ""),
	"a setting":   repeated("SET a", ".a", " = 1"),
	"values":      repeated("SET a = 1", ", 1", ""),
	"modes":       repeated("BEGIN", " READ ONLY", ""),
	"operator":    repeated("SELECT 1 OPERATOR(", "+", ") 1"),
	"terms":       repeated("SELECT 1", "+1", ""),
	"columns":     repeated("SELECT a::int", ", a::int", " FROM t"),
	"series":      counted("SELECT 1", ", unnest(a%d)", " FROM t"),
	"tables":      counted("SELECT 1 FROM t", ", unnest(a%d) AS b", ""),
	"cases":       repeated("SELECT CASE a", " WHEN a THEN NULL", " END"),
	"unions":      repeated("SELECT 1", " UNION SELECT 1", ""),
	"parameters":  repeated("SELECT a IN ($1", ", $1", ")"),
	"calls":       repeated("SELECT a IN ($1", ", g($1), $1", ")"),
	"nested":      repeated("SELECT dx_sum(a, $1", ", (1), g(1, $1), $1", ")"),
	"comparisons": repeated("SELECT (a + b) = $1", " AND a = $1", ""),
	"copy":        repeated("COPY (SELECT 1", ", (1)", ") TO STDOUT"),
}

func repeated(first, unit, last string) func(int) string {
	return func(n int) string { return first + strings.Repeat(unit, n/len(unit)) + last }
}

// counted repeats a unit with a number, a different one each time.
func counted(first, unit, last string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(first)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, unit, i)
		}
		return b.String() + last
	}
}

// lazily returns a statement that is read when it is parsed.
func lazily(sql string) sqltext.Statement { return sqltext.PostgreSQL.Read(sql, sqltext.Budget{}) }

// readers are all that read statements.
var readers = map[string]func(sql string){
	"Parse":   func(sql string) { Parse(lazily(sql)) },
	"Rewrite": func(sql string) { Rewrite(Read(sql)) },
	"Describe": func(sql string) {
		d := Describe(Read(sql), func(string) uint32 { return 0 }, nil)
		d.Parameters(1, nil)
		d.Results()
	},
}

// allocated returns the bytes that do allocates.
func allocated(do func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// To read a text of twice the length takes twice as much memory.
func TestReadersAreLinear(t *testing.T) {
	const n, little = 200_000, 1 << 20
	for name, read := range readers {
		for what, text := range long {
			t.Run(name+" "+what, func(t *testing.T) {
				fuzztest.Limit(t, time.Minute)
				once, twice := allocated(func() { read(text(n)) }), allocated(func() { read(text(2 * n)) })
				if twice > 2.5*once+little {
					t.Errorf("%.0f bytes for a text, and %.0f for one twice as long", once, twice)
				}
			})
		}
	}
}

// These texts would take hours if each part were read again for each other.
func TestReadersAreNotQuadratic(t *testing.T) {
	for name, sizes := range map[string]map[string]int{
		"Parse":    {"exponent": 16 << 20, "marks": 16 << 20, "a setting": 4 << 20},
		"Describe": {"calls": 4 << 20, "nested": 4 << 20},
	} {
		for what, n := range sizes {
			t.Run(name+" "+what, func(t *testing.T) {
				fuzztest.Limit(t, time.Minute)
				readers[name](long[what](n))
			})
		}
	}
}

// Behind the first word of a statement that it classifies, the text is not kept.
func TestReadersKeepLittle(t *testing.T) {
	const size, most = 4 << 20, 1 << 20
	for what, text := range long {
		sql := text(size)
		if strings.HasPrefix(sql, "SELECT") {
			if n := allocated(func() { Parse(lazily(sql)) }); n > most {
				t.Errorf("%s: Parse allocates %.0f bytes", what, n)
			}
		}
	}
}

// A LIMIT in a LIMIT is written once.
func TestRewriteNestedLimits(t *testing.T) {
	const depth = 60
	sql := strings.Repeat("SELECT 1 LIMIT (", depth) + "SELECT 1" + strings.Repeat(")", depth)
	fuzztest.Limit(t, time.Minute)
	if got, err := Rewrite(Read(sql)); got != sql || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}
