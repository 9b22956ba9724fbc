// Package sqlmath has the mathematical functions of SQL for connections without them.
//
// SQLite has them only where it was compiled with them. They are plain SQL, so that a
// statement should not depend on how an engine was built. Their answers follow SQLite's
// documentation. The functions see whatever the SQL passes to them, like abs and round.
package sqlmath

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// flags say that the functions have no state, so that proofs about programs may count on
// them.
const flags = sqlite.Deterministic | sqlite.Innocuous

// Register registers the functions on a connection that has none of them.
func Register(conn *sqlite.Conn) error {
	if has, err := hasFunctions(conn); has || err != nil {
		return err
	}
	var lib sqlite.Library
	add := func(name string, f func(*sqlite.Call), args ...int) {
		lib.Scalars = append(lib.Scalars, sqlite.Scalar{Name: name, Args: args, Flags: flags, Call: func(c *sqlite.Call) error {
			f(c)
			return nil
		}})
	}
	for _, name := range slices.Sorted(maps.Keys(ofNumber)) {
		add(name, real(ofNumber[name]), 1)
	}
	for _, name := range slices.Sorted(maps.Keys(roundings)) {
		add(name, rounded(roundings[name]), 1)
	}
	for _, name := range slices.Sorted(maps.Keys(ofNumbers)) {
		add(name, realOfTwo(ofNumbers[name]), 2)
	}
	add("log", func(c *sqlite.Call) {
		if c.Len() == 1 {
			real(log10)(c)
		} else {
			realOfTwo(logarithm)(c)
		}
	}, 1, 2)
	add("pi", func(c *sqlite.Call) { c.ResultFloat(0, math.Pi) }, 0)
	return conn.Register(lib)
}

// hasFunctions reports whether the engine was compiled with the functions. It does not try
// one: an error would stay with the connection, which may not be completely open.
func hasFunctions(conn *sqlite.Conn) (has bool, err error) {
	err = conn.Each("SELECT 1 FROM pragma_function_list WHERE name = 'sqrt'", func([]sqlite.Value) error {
		has = true
		return nil
	})
	return has, err
}

// ofNumber holds the functions of a number that answer a REAL.
var ofNumber = map[string]func(float64) float64{
	"acos": math.Acos, "acosh": math.Acosh, "asin": math.Asin, "asinh": math.Asinh, "atan": math.Atan, "atanh": math.Atanh,
	"cos": math.Cos, "cosh": math.Cosh, "sin": math.Sin, "sinh": math.Sinh, "tan": math.Tan, "tanh": math.Tanh,
	"exp": math.Exp, "ln": positive(math.Log), "log10": log10, "log2": positive(math.Log2), "sqrt": math.Sqrt,
	"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
	"radians": func(x float64) float64 { return x * (math.Pi / 180) },
}

// roundings holds the functions that leave an INTEGER as it is.
var roundings = map[string]func(float64) float64{
	"ceil": math.Ceil, "ceiling": math.Ceil, "floor": math.Floor, "trunc": math.Trunc,
}

// ofNumbers holds the functions of two numbers.
var ofNumbers = map[string]func(x, y float64) float64{
	"atan2": math.Atan2, "mod": math.Mod, "pow": math.Pow, "power": math.Pow,
}

var log10 = positive(math.Log10)

// logarithm returns the logarithm of x to a base above 1, NaN where there is none.
func logarithm(base, x float64) float64 {
	if !(base > 1 && x > 0) {
		return math.NaN()
	}
	return math.Log(x) / math.Log(base)
}

// positive returns f for numbers above 0, and NaN for others.
func positive(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if !(x > 0) {
			return math.NaN()
		}
		return f(x)
	}
}

func real(f func(float64) float64) func(*sqlite.Call) {
	return func(c *sqlite.Call) {
		if x, ok := numeric(c.Arg(0)); ok {
			c.ResultFloat(0, f(x))
		}
	}
}

func realOfTwo(f func(x, y float64) float64) func(*sqlite.Call) {
	return func(c *sqlite.Call) {
		x, ok := numeric(c.Arg(0))
		if y, too := numeric(c.Arg(1)); ok && too {
			c.ResultFloat(0, f(x, y))
		}
	}
}

func rounded(f func(float64) float64) func(*sqlite.Call) {
	return func(c *sqlite.Call) {
		v := c.Arg(0)
		if v.Type() == sqlite.Integer {
			c.ResultInt(0, v.Int())
			return
		}
		if v.Type() == sqlite.Text {
			if n, err := strconv.ParseInt(trim(v.Text()), 10, 64); err == nil {
				c.ResultInt(0, n)
				return
			}
		}
		real(f)(c)
	}
}

// numeric returns a number, or text that is one, as a float. It reports false for anything
// else, for which SQLite's functions answer NULL. (An answer that is NaN becomes NULL too.)
func numeric(v *sqlite.Value) (float64, bool) {
	switch v.Type() {
	case sqlite.Integer:
		return float64(v.Int()), true
	case sqlite.Float:
		return v.Float(), true
	case sqlite.Text:
		text := trim(v.Text())
		x, err := strconv.ParseFloat(text, 64)
		return x, strings.Trim(text, "0123456789+-.eE") == "" && (err == nil || math.IsInf(x, 0))
	default:
		return 0, false
	}
}

// trim removes the white space that SQLite allows around a number.
func trim(text string) string { return strings.Trim(text, " \t\n\v\f\r") }
