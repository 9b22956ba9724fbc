package markov

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The chain is the one that the definition makes, written out as a matrix: each
// entry is the product of a unit belief, and a general belief's is the product with
// the matrix.
func TestAgainstDenseMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		points := drawPoints(t, g)
		m, want := train(t, g, period, points), bruteForce(g, points)
		if m.Info() != want.info {
			t.Fatalf("info is %+v, want %+v", m.Info(), want.info)
		}
		if err := differ(m.Start(), want.start, 1e-14); err != nil {
			t.Fatal("start:", err)
		}
		n := g.Len()
		got := make([]float64, n)
		for i := range n {
			m.Advance(got, unit(n, i))
			if err := differ(got, want.matrix[i], 1e-14); err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
		}
		src := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "belief")
		product := make([]float64, n)
		for i := range n {
			for j := range n {
				product[j] += src[i] * want.matrix[i][j]
			}
		}
		m.Advance(got, src)
		if err := differ(got, product, 1e-13); err != nil {
			t.Fatal("product:", err)
		}
	})
}

// Rows sum to one, wherever in the grid they are, and every cell can be reached
// from every other, in one transition.
func TestStochasticAndIrreducible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		m := train(t, g, period, drawPoints(t, g))
		n := g.Len()
		got := make([]float64, n)
		for i := range n {
			m.Advance(got, unit(n, i))
			if math.Abs(total(got)-1) > 1e-14 {
				t.Fatalf("row %d sums to %v", i, total(got))
			}
			for j, p := range got {
				if !(p >= 0.999999*background/float64(n)) {
					t.Fatalf("from %d to %d has probability %v", i, j, p)
				}
			}
		}
		if s := total(m.Start()); math.Abs(s-1) > 1e-14 {
			t.Fatalf("the start sums to %v", s)
		}
	})
}

// Advance keeps the sum, over a thousand transitions and in the largest grid.
func TestAdvanceKeepsTheSum(t *testing.T) {
	for _, c := range []struct{ width, height, moves, periods int }{
		{100, 100, 60_000, 1000},
		{1024, 1024, 3_000_000, 3},
	} {
		m := synthetic(c.width, c.height, c.moves)
		belief, next := m.Start(), make([]float64, m.grid.Len())
		for k := range c.periods {
			m.Advance(next, belief)
			belief, next = next, belief
			if s := total(belief); math.Abs(s-1) > 1e-12 {
				t.Fatalf("%d x %d: the sum is 1%+.3g after %d transitions", c.width, c.height, s-1, k+1)
			}
		}
	}
}

// A function linear in the belief is linear in its sum, too.
func TestAdvanceScales(t *testing.T) {
	m := synthetic(20, 30, 1000)
	src := m.Start()
	want, got := make([]float64, len(src)), make([]float64, len(src))
	m.Advance(want, src)
	for i := range src {
		src[i] *= 0x1p-40
		want[i] *= 0x1p-40
	}
	m.Advance(got, src)
	if err := differ(got, want, 0); err != nil {
		t.Error(err)
	}
}

func TestAdvanceAllocatesNothing(t *testing.T) {
	m := synthetic(20, 30, 1000)
	src, dst := m.Start(), make([]float64, 600)
	if n := testing.AllocsPerRun(100, func() { m.Advance(dst, src) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Start returns a slice of the caller's.
func TestStartIsFresh(t *testing.T) {
	m := synthetic(3, 3, 5)
	p := m.Start()
	clear(p)
	if total(m.Start()) == 0 {
		t.Error("the model has changed")
	}
}

// synthetic makes a model of a grid without a domain: so many pairs of cells with a
// transition, each within 4 cells.
func synthetic(width, height, pairs int) *Model {
	g := &Grid{metres: 100, k: 10, width: width, height: height}
	random := rand.New(rand.NewPCG(1, 2))
	c := counter{visits: make([]uint32, g.Len())}
	for len(c.pairs) < pairs {
		from := random.IntN(g.Len())
		column := from%width + random.IntN(9) - 4
		row := from/width + random.IntN(9) - 4
		if column < 0 || column >= width || row < 0 || row >= height {
			continue
		}
		to := row*width + column
		for range 1 + random.IntN(3) {
			c.pairs = append(c.pairs, newPair(uint32(from), uint32(to)))
			c.visits[from]++
			c.visits[to]++
		}
	}
	rows, moves := c.sparse()
	return newModel(g, time.Minute, 1, rows, moves)
}
