package audit

import (
	"fmt"
	"regexp"
)

// The sums of the blocks of a curve have geometric noise on integers, and together the loss of a sum. That of one block is
// attained.
func attacksOnCurves(register func(...attack)) {
	curve := func(u universe, pair, settings string, distance float64, x, y []string) attack {
		return aggregate("dx_curve", u, pair, settings, distance, x, y).on(u.curve(len(x)))
	}
	register(
		curve(units, "one reading moves from corner to corner", "0.2, 'u'", 10, []string{"{ana}, 0", "{ben}, 3"}, []string{"{ana}, 10", "{ben}, 3"}),
		shared(curve(units, "a reading of 0 moves within the first of two blocks", "0.5, 'u', 2", 5,
			[]string{"{ana}, 0", "{ben}, 0", "{ben}, 9", "{ben}, 9"}, []string{"{ana}, 5", "{ben}, 0", "{ben}, 9", "{ben}, 9"})),
		shared(curve(units, "a reading moves from the first of two blocks to the last", "0.4, 'u', '[50]'", 6,
			[]string{"{ana}, 1", "{ben}, 3"}, []string{"{ana}, 7", "{ben}, 3"})),
		shared(curve(units, "both blocks move as far, in opposite directions", "0.4, 'u', 2", 6,
			[]string{"{ana}, 2", "{ana}, 8"}, []string{"{ana}, 5", "{ana}, 5"})),
		shared(curve(across, "many readings of one account move", "0.25, 'd', 1", 10,
			[]string{"{ana}, -1", "{ana}, 0", "{ana}, 2.5", "{ana}, 4", "{ben}, 1"},
			[]string{"{ana}, -3.5", "{ana}, -2.5", "{ana}, 0", "{ana}, 1.5", "{ben}, 1"})),
		shared(curve(units, "a percentile above the others moves far, of a narrow tail", "0.3, 'u', '[50, 75]'", 10,
			[]string{"{ana}, 0", "{ben}, 0", "{ben}, 0", "{ben}, 0"}, []string{"{ana}, 10", "{ben}, 0", "{ben}, 0", "{ben}, 0"})),

		// An answer read from a curve is as private as the curve.
		shared(aggregateReadings(attack{
			function: "dx_curve", pair: "the largest percentile of a curve, when that reading moves",
			inputs: [2][]string{{"{ana}, 0", "{ben}, 0"}, {"{ana}, 10", "{ben}, 0"}},
			answer: "dx_curve_percentile(dx_curve(account, x, 0.3, 'u'), 100)", unit: units.unit, claim: pure(10), grid: units.value,
		})),
	)
}

// curve returns whether an answer is a curve of so many rows: all but its sums is public.
func (u universe) curve(rows int) func(row []any) bool {
	shape := regexp.MustCompile(fmt.Sprintf(`^\{"m":%d,"lo":%v,"hi":%v,"step":%v,"epsilon":[\d.]+,"edges":\[0(,\d+)*,%[1]d\],"sums":\[-?\d+(,-?\d+)*\]\}$`, rows, u.lo, u.hi, u.step))
	return func(row []any) bool {
		text, ok := row[0].(string)
		return ok && shape.MatchString(text)
	}
}
