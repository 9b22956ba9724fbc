package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// MaxBlocks is the largest number of blocks of a [Curve], before the outer ones are split.
const MaxBlocks = 10_000

// Curve returns the aggregate of the sums of blocks of the sorted readings: of so many blocks, from 1 to [MaxBlocks] and at
// most as many as readings, that are as equally long as can be; or for 0 of as many as public facts say, with finer ones at
// both ends. It is under D1 only.
//
// It releases JSON that [ParseCurve] reads. All percentiles, shares and means of runs of ranks follow from it
// without spending more, so that several percentiles of a group cost as much as one:
//
//	q, err := NewQuery(Curve(0), universe, budget.D1, epsilon)
//	released, err := ParseCurve(q.Release(src, a).JSON)
//	median := released.Percentile(50)
//
// A law of this package that answers with several percentiles embeds sortedSums, and asks the curve that its method release
// returns for each of them.
func Curve(blocks int64) Aggregate { return curve{blocks: blocks} }

// CurveAt returns the aggregate of the sums of blocks that end at percentiles, a JSON list of numbers from 0 to 100 in any
// order: each block has the readings that come before one of them, see [Percentile], and not before the one below.
func CurveAt(percentiles string) Aggregate { return curve{at: percentiles} }

type curve struct {
	blocks int64
	at     string // a JSON list of percentiles, in place of a number of blocks
}

func (curve) String() string      { return "curve" }
func (curve) TakesUniverse() bool { return true }

func (c curve) law(s setting) (law, error) { return newSortedSums(s, c) }

// sortedSums has sums of blocks of the sorted readings, as indices of the universe.
//
// # Privacy
//
// The number m of readings is public under d1, and blocks end at ranks that follow from m, epsilon, the universe and the
// blocks that were asked for. So databases at a finite distance have the same blocks.
//
// Sorting brings nothing further apart: for readings x_1, .., x_m and y_1, .., y_m,
//
//	sum |x_(i) - y_(i)| <= sum |x_i - y_i|.
//
// For a <= b and c <= d, |a-c| + |b-d| <= |a-d| + |b-c|: a distance is the measure of the thresholds between its ends, and if
// one has n of a, b below it and k of c, d, it is between the ends of at least |n-k| of two pairs, and of just so many of the
// sorted two. So exchanging two partners that are not in order does not increase the right side, and the last exchange makes it
// the left one.
//
// A sum of a block moves by the moves of its readings at most, so all sums together move by no more than the readings do,
// d/step steps for readings that move by d in all. Each sum has independent noise at a rate of epsilon*step: together they
// spend epsilon*d. Groups without common readings add up their distances, and so cost an account the largest of their prices
// together. (One block is a sum.)
type sortedSums struct {
	setting
	keeping
	noise  noise      // of each sum
	blocks int64      // 0 where public facts decide
	inner  []fraction // percentiles where blocks end, in place of blocks

	accuracy *big.Rat // epsilon*(hi-lo), the number of noise's scales in the width of the universe
}

func newSortedSums(s setting, c curve) (_ *sortedSums, err error) {
	if s.metric != budget.D1 {
		return nil, fmt.Errorf("metric %v: curve is released under d1 only", s.metric)
	}
	l := &sortedSums{setting: s, blocks: c.blocks}
	if c.at != "" {
		if l.inner, err = parsePercentiles(c.at); err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
	} else if c.blocks < 0 || c.blocks > MaxBlocks {
		return nil, fmt.Errorf("blocks must be from 1 to %d, not %d", MaxBlocks, c.blocks)
	}
	perStep := new(big.Rat).Mul(s.epsilon, s.universe.Step())
	if l.noise, err = newNoise(perStep); err != nil {
		return nil, err
	}
	l.accuracy = perStep.Mul(perStep, new(big.Rat).SetInt64(s.universe.last))
	return l, nil
}

// parsePercentiles reads a JSON list of 1 to MaxBlocks percentiles.
func parsePercentiles(list string) ([]fraction, error) {
	var numbers []*float64
	if json.Unmarshal([]byte(list), &numbers) != nil || len(numbers) == 0 || len(numbers) > MaxBlocks || slices.Contains(numbers, nil) {
		return nil, fmt.Errorf("must be a JSON list of 1 to %d percentiles, such as [50, 90, 99]", MaxBlocks)
	}
	largest, fractions := 0., make([]fraction, len(numbers))
	for _, p := range numbers {
		largest = max(largest, *p)
	}
	for i, p := range numbers {
		var err error
		if fractions[i], err = fractionAmong(*p, largest); err != nil {
			return nil, err
		}
	}
	return fractions, nil
}

// blockSize is the memory of a block, with its part of an answer.
const blockSize = 256

func (l *sortedSums) bytes(readings int64) int64 {
	return readingSize*readings + blockSize*min(readings, MaxBlocks)
}

// standIn is the curve of a single reading, lo.
func (l *sortedSums) standIn() Release {
	return Release{JSON: l.released(l.ends(1), []int128{{}}).String(), Readings: 1}
}

func (*sortedSums) radius(float64, int64) (float64, error) {
	return 0, errors.New("a curve has more than one answer")
}

func (l *sortedSums) draw(src *exact.Source, a *Accumulator) Release {
	return Release{JSON: l.release(src, a).String(), Readings: 1}
}

// release draws a curve. The sums are released as drawn, also where no readings have such sums.
func (l *sortedSums) release(src *exact.Source, a *Accumulator) *ReleasedCurve {
	sorted := a.sorted(l.universe)
	ends := l.ends(int64(len(sorted)))
	sums := make([]int128, len(ends)-1)
	for b := range sums {
		var sum uint128
		for _, k := range sorted[ends[b]:ends[b+1]] {
			sum = sum.add(uint64(k))
		}
		sums[b] = l.noise.add(src, sum.times(1))
	}
	return l.released(ends, sums)
}

func (l *sortedSums) released(ends []int64, sums []int128) *ReleasedCurve {
	return newReleasedCurve(l.universe, l.times(1), ends, sums)
}

// ends returns 0 and, for each block of m sorted readings, how many readings there are up to its end.
func (l *sortedSums) ends(m int64) []int64 {
	if m == 0 {
		return []int64{0}
	}
	ends := []int64{0, m}
	switch {
	case l.inner != nil:
		for _, p := range l.inner {
			if p.num < p.den {
				ends = append(ends, int64(p.below(int(m))))
			}
		}
	case l.blocks > 0:
		ends = cut(ends, min(l.blocks, m))
	default:
		blocks := l.bestBlocks(m)
		ends = cut(ends, blocks)
		for half := m / blocks / 2; l.worthSplitting(half); half /= 2 {
			ends = append(ends, half)
		}
		for half := (m - m*(blocks-1)/blocks) / 2; l.worthSplitting(half); half /= 2 {
			ends = append(ends, m-half)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// cut adds the inner ends of blocks of nearly the same length to 0 and m.
func cut(ends []int64, blocks int64) []int64 {
	m := ends[1]
	for b := int64(1); b < blocks; b++ {
		ends = append(ends, m*b/blocks) // readings are in memory, so it does not overflow
	}
	return ends
}

// bestBlocks returns the cube root of m*epsilon*(hi-lo), rounded, from 1 to m and to MaxBlocks. So many blocks are as wide in
// readings that lie evenly as the noise of their averages, to a factor that depends on neither.
func (l *sortedSums) bestBlocks(m int64) int64 {
	eightfold := new(big.Int).Mul(l.accuracy.Num(), big.NewInt(m))
	eightfold.Lsh(eightfold, 3).Div(eightfold, l.accuracy.Denom())
	most := int64(math.MaxInt64)
	if eightfold.IsInt64() {
		most = eightfold.Int64()
	}
	// The root is below b+1/2 if 8 times its cube is below (2b+1)^3, and that is a whole number.
	return 1 + search(min(m, MaxBlocks)-1, func(i int64) bool { return (2*i+3)*(2*i+3)*(2*i+3) > most })
}

// worthSplitting reports whether blocks of so many readings have averages with noise of a scale of at most a 20th of the
// universe's width.
func (l *sortedSums) worthSplitting(readings int64) bool {
	return readings > 0 && new(big.Rat).Mul(l.accuracy, new(big.Rat).SetInt64(readings)).Cmp(big.NewRat(20, 1)) >= 0
}
