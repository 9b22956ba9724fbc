package scalar

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Sum is the sum of the readings.
var Sum Aggregate = &simple{"sum", newSum}

// A sum is on the lattice gcd(lo, step)*Z, clamped at 0 if no reading is negative.
//
// # Sensitivity
//
// A reading that moves by d moves the sum by d, and such moves add up: 1 under d1. A reading that appears or disappears
// moves the sum by its value, at most reach = max(|lo|, |hi|, hi-lo): one record under dh, and the distance that the row
// then counts as under d1. Under nd1 a move by d is at distance d/(hi-lo), and d <= reach*d/(hi-lo), because
// reach >= hi-lo. So reach bounds the sensitivity under nd1 and dh. (Thesis, section 4.3.) Where it is known which rows
// there are, readings only move, and hi-lo does. Under dh any move of a record costs epsilon, so that noise may be a staircase.
//
// Under d1 a row that is present or absent counts as hi - lo elsewhere in this package. The exception is the sum over a
// universe without 0: one row more or less changes it by up to max(|lo|, |hi|) > hi - lo, and counts as that distance.
//
// Under dinf n readings that each move by one step move the sum by n: there is no bound.
type sum struct {
	setting
	noised
	sums
}

func newSum(s setting) (law, error) {
	totals, width := s.universe.totals(), s.universe.width()
	if s.secretRows() {
		width = s.universe.reach()
	}
	var n noised
	var err error
	switch {
	case s.perRecord():
		n = noised{lattice: totals, most: math.Inf(1)}
		n.noise, err = s.newRecordNoise(s.epsilon, width/totals.step)
	case s.metric == budget.DInf:
		err = fmt.Errorf("metric %v: sum has no finite sensitivity under it", s.metric)
	default:
		n, err = s.newNoised(totals, math.Inf(1), s.universe.one())
	}
	return &sum{s, n, sums{}}, err
}

func (v *sum) answer(a *Accumulator) int128 { return v.universe.total(a.rows, a.sum) }

func (v *sum) draw(src *exact.Source, a *Accumulator) Release { return v.release(src, v.answer(a)) }

func (*sum) standIn() Release { return zero }

// total returns the sum of the readings, in grains, from the sum of their indices.
func (u *Universe) total(rows int64, indices uint128) int128 {
	grain := u.grain()
	steps := indices.times(uint64(u.stride / grain))
	offset := uint128{0, uint64(rows)}.times(uint64(max(u.first, -u.first) / grain))
	if u.first < 0 {
		offset = offset.neg()
	}
	return steps.add(offset)
}
