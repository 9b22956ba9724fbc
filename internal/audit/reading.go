package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// A universe is one that the fixture of readings declares.
type universe struct {
	name         string
	lo, hi, step float64
	unit         string
}

// Universes of several kinds. Their steps are binary fractions, but for that of tenths, so that sums of them are exact
// as they are checked here.
var (
	units    = universe{"u", 0, 10, 1, "kWh"}
	across   = universe{"d", -5, 5, 0.5, "degrees"} // 0
	dense    = universe{"w", 0, 1000000, 0.25, "Wh"}
	negative = universe{"n", -10, 2, 1, "m3"} // its lo is farther from 0 than its hi
	above    = universe{"g", 3, 23, 4, "K"}   // 0, and its step does not divide its lo
	tenths   = universe{"t", 0, 1, 0.1, "V"}
	binary   = universe{"b", 0, 1, 1, "bit"}
	few      = universe{"k", 0, 80, 1, "km"}
	vast     = universe{"f", 0, 1e12, 1, "J"}
	farther  = universe{"h", 100, 110, 1, "hPa"} // from 0 than it is wide

	universes = []universe{units, across, dense, negative, above, tenths, binary, few, vast, farther}
)

var readings = newReadings()

func newReadings() *fixture {
	f := &fixture{name: "readings", release: `dx_value('dry run', 1, 1, 'u')`}
	limits := func(unit string) {
		f.declare = append(f.declare, fmt.Sprintf(`SELECT budget_limit('*', '%s', 9000000), budget_limit('blocked', '%[1]s', 0)`, unit))
	}
	for _, u := range universes {
		f.declare = append(f.declare, fmt.Sprintf(`SELECT dx_universe('%s', %v, %.0f, %v, '%s')`, u.name, u.lo, u.hi, u.step, u.unit))
		limits(u.unit)
	}
	limits("record")
	return f
}

// pure returns the claim that the loss is at most the charge, times a distance.
func pure(distance float64) claim { return claim{kind: bound.Pure, distance: distance} }

// scalarReading returns an attack with a scalar function over a table of (account, x).
func scalarReading(a attack) attack {
	a.fixture, a.columns, a.from, a.alike = readings, "account, x", "FROM {rows}", a.answer
	return a
}

// aggregateReadings returns an attack on an aggregate over a table of (account, x). The second form of its answer
// has another text and the same meaning.
func aggregateReadings(a attack) attack {
	a.fixture, a.columns, a.from, a.group = readings, "account, x", "FROM {rows}", "GROUP BY trial"
	a.alike = strings.Replace(a.answer, "(account", "(+account", 1)
	return a
}

// aggregate returns an attack on an aggregate of the readings of a universe, with its arguments after the reading.
func aggregate(function string, u universe, pair, settings string, distance float64, x, y []string) attack {
	return aggregateReadings(attack{
		function: function, pair: pair, inputs: [2][]string{x, y},
		answer: function + "(account, x, " + settings + ")", unit: u.unit, claim: pure(distance),
	})
}

// number returns an answer that is a real number.
func number(v any) (float64, bool) {
	x, ok := v.(float64)
	return x, ok
}

// value reports whether an answer is a value of the universe, as that is printed.
func (u universe) value(row []any) bool {
	x, ok := number(row[0])
	return ok && x >= u.lo && x <= u.hi && multiple(x-u.lo, u.step)
}

// multiple reports whether x is a multiple of a step, which is a binary fraction or a tenth.
func multiple(x, step float64) bool {
	if step == 0.1 {
		return x == math.Round(x*10)/10
	}
	return math.Mod(x, step) == 0
}

// sum reports whether an answer may be a noisy sum of readings: a multiple of the greatest common divisor of lo and the
// step, which is not below 0 if no reading is.
func (u universe) sum(row []any) bool {
	x, ok := number(row[0])
	divisor := u.step
	if math.Mod(u.lo, u.step) != 0 {
		divisor = 1 // as that of above
	}
	return ok && (u.lo < 0 || x >= 0) && multiple(x, divisor)
}

// averageOf returns whether an answer may be an average of a public number of readings, as rounded for noise of a scale.
func (u universe) averageOf(rows, scale float64) func([]any) bool {
	return func(row []any) bool {
		x, ok := number(row[0])
		steps := (x - u.lo) * rows / u.step
		return ok && x >= u.lo && x <= u.hi && math.Abs(steps-math.Round(steps)) <= scale/2000*rows/u.step
	}
}

// between returns whether an answer is a number from lo to hi.
func between(lo, hi float64) func([]any) bool {
	return func(row []any) bool {
		x, ok := number(row[0])
		return ok && x >= lo && x <= hi
	}
}

// whole reports whether an answer is a count.
func whole(row []any) bool {
	n, ok := row[0].(int64)
	return ok && n >= 0
}
