package scalar

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// MaxPercentiles is the largest number of percentiles of a [Percentiles].
const MaxPercentiles = 1000

// Percentiles returns the aggregate of several percentiles of a group for one epsilon. The list is a JSON array of 1 to
// [MaxPercentiles] numbers in 0..100, in any order; one that is there twice is answered twice. An answer is a JSON array in the
// order of the list, and never falls with p.
func Percentiles(list string) Aggregate { return percentiles{list} }

type percentiles struct{ list string }

func (percentiles) String() string      { return "percentiles" }
func (percentiles) TakesUniverse() bool { return true }

// parse returns the numbers of the list.
func (p percentiles) parse() ([]float64, error) {
	var list []*float64 // nil for null
	err := json.Unmarshal([]byte(p.list), &list)
	if n := len(list); err != nil || n == 0 || n > MaxPercentiles || slices.Contains(list, nil) {
		return nil, fmt.Errorf("ps must be a JSON array of 1 to %d numbers, such as '[25, 50, 75]'", MaxPercentiles)
	}
	numbers := make([]float64, len(list))
	for i, number := range list {
		numbers[i] = *number
	}
	return numbers, nil
}

// law is that of [Percentile] for one percentile. Under dh several are found by halving, or each by its own question with its
// part of epsilon, see halving.go.
func (p percentiles) law(s setting) (_ law, err error) {
	if s.metric != budget.D1 && s.metric != budget.DH {
		return nil, fmt.Errorf("metric %v: several percentiles are released under d1 and dh only, as halving counts the readings "+
			"that move, however little; ask dx_percentile for each", s.metric)
	}
	l := &together{setting: s}
	if l.listed, err = p.parse(); err != nil {
		return nil, err
	}
	l.distinct = slices.Compact(slices.Sorted(slices.Values(l.listed)))
	if len(l.distinct) > 1 && s.metric == budget.D1 {
		return nil, fmt.Errorf("metric d1: several percentiles are released under dh only")
	}
	s.epsilon = new(big.Rat).Quo(s.epsilon, big.NewRat(int64(len(l.distinct)), 1))
	for _, number := range l.distinct {
		one, err := Percentile(budget.Decimal(number))
		if err != nil {
			return nil, fmt.Errorf("ps: %w", err)
		}
		alone, err := one.law(s)
		if err != nil {
			return nil, err
		}
		l.alone = append(l.alone, alone)
	}
	if s.metric == budget.DH {
		l.halving, err = newHalving(l.distinct, l.epsilon)
	}
	return l, err
}

// together is the law of several percentiles.
type together struct {
	setting
	keeping
	listed   []float64
	distinct []float64 // those listed, in order
	halving  *question // of all percentiles; nil if each is answered alone
	alone    []law     // of each of them, with its part of epsilon
}

func (l *together) bytes(readings int64) int64 {
	return readingSize*readings + binSize*int64(len(l.listed))
}

// draw releases answers that never fall with p: those of questions of their own are put in order, which is a function of them.
func (l *together) draw(src *exact.Source, a *Accumulator) Release {
	values := make([]float64, len(l.distinct))
	if l.halving != nil {
		for i, k := range l.halving.draw(src, a, l.universe) {
			values[i] = l.universe.Value(k)
		}
	} else {
		for i, one := range l.alone {
			values[i] = one.draw(src, a).Value
		}
		slices.Sort(values)
	}
	return l.release(values)
}

// standIn answers lo for each.
func (l *together) standIn() Release {
	return l.release(slices.Repeat([]float64{l.universe.lo}, len(l.distinct)))
}

func (l *together) radius(float64, int64) (float64, error) {
	return 0, fmt.Errorf("how far percentiles are off under metric %v depends on the readings", l.metric)
}

// release returns the values of the distinct percentiles as a JSON array on one line, in the order of the list.
func (l *together) release(values []float64) Release {
	b := []byte{'['}
	for i, p := range l.listed {
		if i > 0 {
			b = append(b, ',')
		}
		at, _ := slices.BinarySearch(l.distinct, p)
		b = append(b, `{"p":`...)
		b = strconv.AppendFloat(b, p, 'f', -1, 64)
		b = append(b, `,"value":`...)
		b = strconv.AppendFloat(b, values[at], 'f', -1, 64)
		b = append(b, '}')
	}
	return Release{Readings: 1, JSON: string(append(b, ']'))}
}
