package scalar

import "github.com/geosql/geosql/mechanism/exact"

// Value is the last reading that was added: the one reading of a scalar call.
var Value Aggregate = &simple{"value", newValue}

// value is the truncated geometric mechanism (thesis, figure 4.2 iv, proposition 4.4).
type value struct {
	setting
	noised
}

// newValue has a sensitivity of 1: the answer moves as far as the reading does.
func newValue(s setting) (law, error) {
	if err := s.noMetric("value"); err != nil {
		return nil, err
	}
	n, err := s.newNoised(s.universe.lattice(), float64(s.universe.last), s.universe.one())
	return &value{s, n}, err
}

func (*value) add(a *Accumulator, k int64) { a.index = k }

func (*value) answer(a *Accumulator) int128 { return fromInt64(a.index) }

func (v *value) draw(src *exact.Source, a *Accumulator) Release { return v.release(src, v.answer(a)) }
