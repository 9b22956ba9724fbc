package exact_test

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func TestNewSparseCountsRefuses(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		cells int64
	}{{1, 0}, {1, -1}, {1, 1<<40 + 1}, {0, 1}, {-1, 1}, {0x1p-46, 1}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		if _, err := exact.NewSparseCounts(c.rate, c.cells); err == nil {
			t.Errorf("rate %v with %d cells accepted", c.rate, c.cells)
		}
	}
}

// The threshold is the least t >= 1 with cells * P(Z >= t) <= 1, by the oracle's arithmetic.
func TestSparseThreshold(t *testing.T) {
	one := bigFloat().SetInt64(1)
	for _, c := range []struct {
		rate  float64
		cells int64
	}{
		{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 100}, {0.5, 1 << 40}, {0.05, 100_000_000}, {math.Ln2, 1 << 20}, {math.Ln2, 1<<20 + 1},
		{0.1, 12345}, {7, 10}, {20, 1 << 40}, {100, 1 << 40}, {1e-6, 1_000_000}, {0x1p-45, 1 << 40},
	} {
		p := must(exact.NewSparseCounts(c.rate, c.cells))
		expected := func(t int64) *big.Float {
			mean := oracleTail(c.rate, t) // of both signs
			mean.Mul(mean, bigFloat().SetInt64(c.cells))
			return mean.Quo(mean, bigFloat().SetInt64(2))
		}
		got := p.Threshold()
		if got < 1 || expected(got).Cmp(one) > 0 {
			t.Errorf("rate %v, %d cells: threshold %d lists more than one empty cell", c.rate, c.cells, got)
		}
		if got > 1 && expected(got-1).Cmp(one) <= 0 {
			t.Errorf("rate %v, %d cells: threshold %d is not the least", c.rate, c.cells, got)
		}
	}
}

// waitTail is P(wait >= n) in float64, good to 1e-13 for the n of these tests.
func waitTail(rate float64, threshold, limit int64) tailFunc {
	p := math.Exp(-rate*float64(threshold)) / (1 + math.Exp(-rate))
	return func(_ float64, n int64) float64 {
		if n > limit {
			return 0
		}
		return math.Exp(float64(n) * math.Log1p(-p))
	}
}

// How many cells are passed over has its law, by enumeration of 2^13 intervals of U, since each is decided in integers. Planted
// errors are noticed.
func TestSparseWaitEnumerated(t *testing.T) {
	for _, c := range []struct {
		rate         float64
		cells, limit int64
	}{{1, 1, 1}, {1, 5, 5}, {0.3, 40, 7}, {2, 100, 100}, {0.02, 1000, 0}} {
		p := must(exact.NewSparseCounts(c.rate, c.cells))
		tail := waitTail(c.rate, p.Threshold(), c.limit)
		if n := misfitIn(1<<13, tail, c.rate, func(s *exact.Source) int64 { return p.Wait(s, c.limit) }); n >= 0 {
			t.Errorf("%+v: P(wait = %d) is outside its bounds", c, n)
		}
	}
	const rate, cells = 0.3, 40
	p := must(exact.NewSparseCounts(rate, cells))
	twice := must(exact.NewSparseCounts(rate, 2*cells))
	for name, draw := range map[string]func(s *exact.Source) int64{
		"one too many":       func(s *exact.Source) int64 { return min(p.Wait(s, cells)+1, cells) },
		"one too few":        func(s *exact.Source) int64 { return max(p.Wait(s, cells)-1, 0) },
		"another threshold":  func(s *exact.Source) int64 { return twice.Wait(s, cells) },
		"the limit excluded": func(s *exact.Source) int64 { return p.Wait(s, cells-1) },
	} {
		if misfitIn(1<<13, waitTail(rate, p.Threshold(), cells), rate, draw) < 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// A sparseDraw draws from the law of SparseCounts.Draw, or should.
type sparseDraw func(s *exact.Source, counts []exact.Count) []exact.Count

// dense draws by definition: noise for every cell, then the threshold.
func dense(rate float64, cells, threshold int64) sparseDraw {
	d := must(exact.NewDiscreteLaplace(rate))
	return func(s *exact.Source, counts []exact.Count) (listed []exact.Count) {
		values := make([]int64, cells)
		for _, c := range counts {
			values[c.Cell] = c.N
		}
		for cell, n := range values {
			if n += d.Draw(s); n >= threshold {
				listed = append(listed, exact.Count{Cell: int64(cell), N: n})
			}
		}
		return listed
	}
}

// Draws of Draw itself, by which a Wait that skips one too many is noticed, and of what is told from it by fewer.
const manyDraws, fewDraws = 60_000, 12_000

// jointPvalue bounds the probability that draws diverge as much as these from the
// joint law of all cells. Of each cell it distinguishes four outcomes: left out, listed with
// the threshold, with one more, or with more than that.
func jointPvalue(draws int, rate float64, cells, threshold int64, counts []exact.Count, draw sparseDraw) float64 {
	const outcomes = 4
	below := func(x int64) float64 { return laplaceBelow(rate, x) }
	classes := 1
	law := []float64{1}
	for cell := range cells {
		n := int64(0)
		for _, c := range counts {
			if c.Cell == cell {
				n = c.N
			}
		}
		upTo := []float64{0, below(threshold - n), below(threshold + 1 - n), below(threshold + 2 - n), 1}
		next := make([]float64, classes*outcomes)
		for o := range outcomes {
			for i, p := range law {
				next[o*classes+i] = p * (upTo[o+1] - upTo[o])
			}
		}
		law, classes = next, classes*outcomes
	}
	seen := make([]int, classes)
	s := exact.NewSource(nil)
	for range draws {
		class, last := 0, int64(-1)
		for _, c := range draw(s, counts) {
			if c.Cell <= last || c.Cell >= cells || c.N < threshold {
				return 0 // out of order, twice, or not to be listed
			}
			last = c.Cell
			class += int(1+min(c.N-threshold, outcomes-2)) << (2 * c.Cell) // four outcomes: two bits a cell
		}
		seen[class]++
	}
	return pvalue(seen, law)
}

var sparseCases = []struct {
	rate   float64
	cells  int64
	counts []exact.Count
}{
	{1, 1, nil},
	{0.5, 4, nil},
	{0.5, 4, []exact.Count{{Cell: 0, N: 2}, {Cell: 2, N: 1}}},
	{0.7, 3, []exact.Count{{Cell: 0, N: 1}, {Cell: 1, N: 1}, {Cell: 2, N: 3}}},
	{0.2, 4, []exact.Count{{Cell: 3, N: 9}}},
}

// Draws follow the joint law of noise on every cell: 60,000 draws a case, false alarm 1e-10.
// So do 12,000 draws by definition.
func TestSparseCountsFollowTheDenseLaw(t *testing.T) {
	for _, c := range trials.Some(t, 1, sparseCases...) {
		p := must(exact.NewSparseCounts(c.rate, c.cells))
		if got := jointPvalue(manyDraws, c.rate, c.cells, p.Threshold(), c.counts, p.Draw); got < falseAlarm {
			t.Errorf("%+v: sparse draws diverge, p < %v", c, got)
		}
		byDefinition := dense(c.rate, c.cells, p.Threshold())
		if got := jointPvalue(fewDraws, c.rate, c.cells, p.Threshold(), c.counts, byDefinition); got < falseAlarm {
			t.Errorf("%+v: dense draws diverge, p < %v", c, got)
		}
	}
}

// The comparison notices likely errors.
func TestSparseLawNoticesPlantedErrors(t *testing.T) {
	c := sparseCases[2]
	p := must(exact.NewSparseCounts(c.rate, c.cells))
	at := p.Threshold()
	excess := must(exact.NewGeometric(c.rate))
	// drawn is Draw with its parts to be chosen.
	drawn := func(step int64, first func(s *exact.Source) int64, keepDropped, sorted bool) sparseDraw {
		d := must(exact.NewDiscreteLaplace(c.rate))
		return func(s *exact.Source, counts []exact.Count) (listed []exact.Count) {
			occupied := map[int64]bool{}
			for _, k := range counts {
				occupied[k.Cell] = true
				if n := k.N + d.Draw(s); n >= at {
					listed = append(listed, exact.Count{Cell: k.Cell, N: n})
				}
			}
			for cell := p.Wait(s, c.cells); cell < c.cells; {
				if n := first(s); !occupied[cell] || keepDropped {
					listed = append(listed, exact.Count{Cell: cell, N: n})
				}
				cell += step
				cell += p.Wait(s, max(0, c.cells-cell))
			}
			if sorted {
				slices.SortFunc(listed, func(a, b exact.Count) int { return int(a.Cell - b.Cell) })
			}
			return listed
		}
	}
	honest := func(s *exact.Source) int64 { return at + excess.Draw(s) }
	if got := jointPvalue(fewDraws, c.rate, c.cells, at, c.counts, drawn(1, honest, false, true)); got < falseAlarm {
		t.Fatalf("nothing is planted, yet p < %v", got)
	}
	full := must(exact.NewSparseCounts(2*c.rate, c.cells))
	planted := map[string]sparseDraw{
		"lists none beside the counts": drawn(c.cells, honest, false, true),
		"excess one too large":         drawn(1, func(s *exact.Source) int64 { return 1 + honest(s) }, false, true),
		"no excess":                    drawn(1, func(*exact.Source) int64 { return at }, false, true),
		"marks of counts are kept":     drawn(1, honest, true, true),
		"drawn after counted":          drawn(1, honest, false, false),
		"twice the rate":               func(s *exact.Source, counts []exact.Count) []exact.Count { return full.Draw(s, counts) },
		"dense at twice the rate":      dense(2*c.rate, c.cells, at),
	}
	for _, name := range trials.Some(t, 2, slices.Sorted(maps.Keys(planted))...) {
		if got := jointPvalue(fewDraws, c.rate, c.cells, at, c.counts, planted[name]); got >= falseAlarm {
			t.Errorf("%s: not noticed, p < %v", name, got)
		}
	}
	if got := jointPvalue(manyDraws, c.rate, c.cells, at, c.counts, drawn(2, honest, false, true)); got >= falseAlarm {
		t.Errorf("skips one too many: not noticed, p < %v", got)
	}
}

// counted counts the bytes read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// A draw reads only the entropy for its counts and its marks, however many cells there are. 1,000 draws
// have 1,000 marks at most on average, and 2,000 or more with probability below e^-386
// (Chernoff).
func TestSparseDrawIsSparse(t *testing.T) {
	for _, cells := range []int64{1_000_000, 1 << 40} {
		p := must(exact.NewSparseCounts(0.5, cells))
		entropy := &counted{Reader: pseudorandom(3)}
		s := exact.NewSource(entropy)
		counts := []exact.Count{{Cell: cells - 1, N: 1_000_000}}
		marks := 0
		for range 1000 {
			listed := p.Draw(s, counts)
			if last := listed[len(listed)-1]; last.Cell != cells-1 || last.N < 999_000 {
				t.Fatalf("%d cells: the last one is %v", cells, last)
			}
			marks += len(listed) - 1
		}
		if marks == 0 || marks > 2000 {
			t.Errorf("%d cells: %d empty ones in 1,000 draws", cells, marks)
		}
		if entropy.n > 200_000 {
			t.Errorf("%d cells: read %d bytes", cells, entropy.n)
		}
	}
}

// A noise that saturates neither overflows nor shows the count.
func TestSparseCountsSaturate(t *testing.T) {
	p := must(exact.NewSparseCounts(0x1p-45, 1))
	s := exact.NewSource(pseudorandom(4))
	for range 1000 {
		for _, c := range p.Draw(s, []exact.Count{{Cell: 0, N: math.MaxInt64}}) {
			if c.N < p.Threshold() || c.N > 1<<53 {
				t.Fatal(c)
			}
		}
	}
}

func ExampleSparseCounts() {
	// 10^12 cells, two of them not empty.
	p, err := exact.NewSparseCounts(0.5, 1_000_000_000_000)
	if err != nil {
		panic(err)
	}
	listed := p.Draw(exact.NewSource(nil), []exact.Count{{Cell: 7, N: 3}, {Cell: 1_000_000, N: 5000}})
	fmt.Println(p.Threshold(), slices.ContainsFunc(listed, func(c exact.Count) bool { return c.Cell == 1_000_000 }))
	// Output: 55 true
}
