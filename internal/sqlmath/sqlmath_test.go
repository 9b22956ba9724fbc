package sqlmath

import (
	"bufio"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
)

func open(t *testing.T) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := Register(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answer is the text of an expression's value.
func answer(t *testing.T, conn *sqlite.Conn, expression string) string {
	t.Helper()
	st, _, err := conn.Prepare("SELECT typeof(x) || ' ' || coalesce(printf('%.13g', x), '') FROM (SELECT " + expression + " AS x)")
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	defer st.Close()
	if row, err := st.Step(); err != nil || !row {
		t.Fatalf("%s: %v", expression, err)
	}
	v := st.Column(0)
	return v.Text()
}

func TestFunctions(t *testing.T) {
	conn := open(t)
	for expression, want := range map[string]string{
		"sqrt(2)": "real 1.414213562373", "sqrt('2')": "real 1.414213562373", "sqrt(' 4 ')": "real 2", "sqrt(-1)": "null 0",
		"sqrt(NULL)": "null 0", "sqrt('two')": "null 0", "sqrt(x'34')": "null 0", "sqrt('0x10')": "null 0", "sqrt('inf')": "null 0",
		"ln(exp(1))": "real 1", "ln(0)": "null 0", "log(100)": "real 2", "log(2, 8)": "real 3", "log(1, 8)": "null 0", "log10(1000)": "real 3", "log2(8)": "real 3",
		"pow(2, 10)": "real 1024", "power(2, -1)": "real 0.5", "mod(7.5, 2)": "real 1.5", "mod(1, 0)": "null 0", "pi()": "real 3.14159265359",
		"ceil(1.2)": "real 2", "ceil(3)": "integer 3", "ceil(' 3')": "integer 3", "floor(-1.2)": "real -2", "trunc(-1.7)": "real -1", "ceiling(9223372036854775807)": "integer 9.223372036855e+18",
		"degrees(pi())": "real 180", "radians(180)": "real 3.14159265359", "atan2(1, 1)": "real 0.7853981633974", "acos(2)": "null 0",
		"pow('x', 2)": "null 0", "sin(1) * sin(1) + cos(1) * cos(1)": "real 1", "tanh(atanh(0.5))": "real 0.5",
	} {
		if got := answer(t, conn, expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// Another engine that was compiled with the functions answers the same, to the last digits.
func TestAgainstTheShell(t *testing.T) {
	var expressions []string
	numbers := []string{"0", "1", "-1", "0.5", "-0.75", "2", "10", "1e300", "-3.5", "'7'", "'x'", "NULL", "1e-300"}
	for name := range ofNumber {
		for _, x := range numbers {
			expressions = append(expressions, fmt.Sprintf("%s(%s)", name, x))
		}
	}
	for _, x := range numbers {
		for name := range roundings {
			expressions = append(expressions, fmt.Sprintf("%s(%s)", name, x))
		}
		expressions = append(expressions, "log("+x+")")
		for _, y := range numbers {
			for _, name := range []string{"atan2", "mod", "pow", "power", "log"} {
				expressions = append(expressions, fmt.Sprintf("%s(%s, %s)", name, x, y))
			}
		}
	}
	var script strings.Builder
	for _, e := range expressions {
		fmt.Fprintf(&script, "SELECT typeof(x) || ' ' || coalesce(printf('%%.13g', x), '') FROM (SELECT %s AS x);\n", e)
	}
	command := exec.Command(need.Program(t, "sqlite3"), ":memory:")
	command.Stdin = strings.NewReader(script.String())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	conn := open(t)
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for _, e := range expressions {
		if !lines.Scan() {
			t.Fatal("the shell has no more answers")
		}
		if got := answer(t, conn, e); !same(got, lines.Text()) {
			t.Errorf("%s is %q, the shell's %q", e, got, lines.Text())
		}
	}
}

// same reports whether two answers have one type and agree to 12 digits.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(strings.TrimPrefix(a, "real "), 64)
	y, errY := strconv.ParseFloat(strings.TrimPrefix(b, "real "), 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-12*math.Abs(y)
}
