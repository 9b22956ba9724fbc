package scalar

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Percentiles returns the aggregate of several percentiles of a group for one epsilon. The list is JSON: 1 to [MaxBlocks] numbers
// in 0..100, in any order. An answer is a JSON array in the order of the list, with one that is there twice answered twice, and
// never falls with p.
func Percentiles(list string) Aggregate { return percentiles{list} }

type percentiles struct{ list string }

func (percentiles) String() string      { return "percentiles" }
func (percentiles) TakesUniverse() bool { return true }

// law is that of [Percentile] for one percentile. Several are read from a curve under d1. Under dh they are found by halving, or
// each by a question of its own with its part of epsilon: see halving.go.
func (p percentiles) law(s setting) (_ law, err error) {
	if s.metric != budget.D1 && s.metric != budget.DH {
		return nil, fmt.Errorf("metric %v: several percentiles are released under d1 and dh only, as halving counts the readings "+
			"that move, however little; ask dx_percentile for each", s.metric)
	}
	fractions, err := parsePercentiles(p.list)
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	listed, whole, err := sharesOf(fractions)
	if err != nil {
		return nil, err
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(listed)))
	l := &together{setting: s}
	for _, share := range distinct {
		p := new(big.Rat).SetFrac(new(big.Int).SetUint64(share), new(big.Int).SetUint64(whole))
		l.percentiles = append(l.percentiles, p.Mul(p, big.NewRat(100, 1)))
	}
	for _, share := range listed {
		at, _ := slices.BinarySearch(distinct, share)
		l.listed = append(l.listed, at)
	}
	switch {
	case len(distinct) > 1 && s.metric == budget.D1:
		l.curve, err = newSortedSums(s, curve{})
		return l, err
	case len(distinct) > 1:
		if l.halving, err = newHalving(distinct, whole, s.epsilon); err != nil || l.halving != nil {
			return l, err
		}
	}
	s.epsilon = new(big.Rat).Quo(s.epsilon, big.NewRat(int64(len(distinct)), 1))
	for _, share := range distinct {
		one, err := percentile{name: "percentile", fraction: fraction{share, whole}}.law(s)
		if err != nil {
			return nil, err
		}
		l.alone = append(l.alone, one)
	}
	return l, nil
}

// together is the law of several percentiles.
type together struct {
	setting
	keeping
	percentiles []*big.Rat // in order, each once
	listed      []int      // which of them is where in the list

	// How they are answered: one of these.
	curve   *sortedSums
	halving *question
	alone   []law
}

// percentileSize is the memory of a percentile, with its part of an answer.
const percentileSize = 128

func (l *together) bytes(readings int64) int64 {
	bytes := readingSize*readings + percentileSize*int64(len(l.listed))
	if l.curve != nil {
		bytes += l.curve.bytes(readings)
	}
	return bytes
}

// draw releases answers that never fall with p. Those of questions of their own are put in order, which is a function of them.
func (l *together) draw(src *exact.Source, a *Accumulator) Release {
	values := make([]float64, len(l.percentiles))
	switch {
	case l.curve != nil:
		released := l.curve.release(src, a)
		for i, p := range l.percentiles {
			f, _ := fractionOf(p) // in 0..100
			values[i] = released.percentile(f)
		}
	case l.halving != nil:
		for i, k := range l.halving.draw(src, a, l.universe) {
			values[i] = l.universe.Value(k)
		}
	default:
		for i, one := range l.alone {
			values[i] = one.draw(src, a).Value
		}
		slices.Sort(values)
	}
	return l.release(values)
}

// standIn answers lo for each.
func (l *together) standIn() Release {
	return l.release(slices.Repeat([]float64{l.universe.lo}, len(l.percentiles)))
}

func (l *together) radius(float64, int64) (float64, error) {
	return 0, fmt.Errorf("how far several percentiles are off under metric %v depends on the readings", l.metric)
}

// release returns the values of the percentiles as a JSON array on one line, in the order of the list.
func (l *together) release(values []float64) Release {
	b := []byte{'['}
	for i, at := range l.listed {
		if i > 0 {
			b = append(b, ',')
		}
		p, _ := l.percentiles[at].Float64() // the number that was listed, which is the nearest
		b = fmt.Appendf(b, `{"p":%s,"value":%s}`, plain(p), plain(values[at]))
	}
	return Release{Readings: 1, JSON: string(append(b, ']'))}
}

// sharesOf returns fractions as parts of a whole.
func sharesOf(fractions []fraction) (shares []uint64, whole uint64, err error) {
	multiple, common := big.NewInt(1), new(big.Int)
	for _, f := range fractions {
		den := new(big.Int).SetUint64(f.den)
		multiple.Mul(multiple, den.Quo(den, common.GCD(nil, nil, multiple, den)))
	}
	if !multiple.IsUint64() {
		return nil, 0, errors.New("ps has numbers with more than 17 decimals")
	}
	whole = multiple.Uint64()
	for _, f := range fractions {
		shares = append(shares, f.num*(whole/f.den))
	}
	return shares, whole, nil
}
