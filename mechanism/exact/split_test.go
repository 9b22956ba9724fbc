package exact

import (
	"math"
	"math/big"
	"testing"
)

// splitChance is p(x) for noise of that rate, in float64.
func splitChance(rate float64, x int64) float64 {
	if x <= 0 {
		return math.Exp(-rate*float64(1-x)) / (1 + math.Exp(-rate))
	}
	return 1 - math.Exp(-rate*float64(x))/(1+math.Exp(-rate))
}

// splitCost is K + a, summed up in float64.
func splitCost(rate float64, delta int64) float64 {
	sum := rate
	for x := -delta; x < 60*delta; x += delta {
		sum += math.Log(splitChance(rate, x+1) / splitChance(rate, x))
	}
	return sum
}

func mustSplits(t *testing.T, spends *big.Rat) *Splits {
	t.Helper()
	s, err := NewSplits(spends)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The rate spends all that it may and not more, to within a hundredth, with a delta that ends trees.
func TestSplitsSpendWhatTheyMay(t *testing.T) {
	for _, eps := range []float64{0.001, 0.01, 0.1, 0.5, 1, 2, 3, 4, 6, 8, 10, 20, 100} {
		s := mustSplits(t, new(big.Rat).SetFloat64(eps/2))
		a := s.noise.rate
		if cost := splitCost(a, s.delta); cost > eps/2*(1+1e-12) || splitCost(a*1.01, s.delta) < eps/2 {
			t.Errorf("epsilon %v: rate %v and delta %d cost %v of %v", eps, a, s.delta, cost, eps/2)
		}
		if least := math.Ceil(2 * math.Ln2 / a); float64(s.delta) != least {
			t.Errorf("epsilon %v: delta is %d, want %v", eps, s.delta, least)
		}
	}
	for _, c := range []struct {
		eps, rate float64
		delta     int64
	}{{0.1, 0.01571, 89}, {1, 0.15736, 9}, {4, 0.64806, 3}} {
		if s := mustSplits(t, new(big.Rat).SetFloat64(c.eps/2)); s.delta != c.delta || s.noise.rate < 0.99*c.rate || s.noise.rate > 1.0001*c.rate {
			t.Errorf("epsilon %v: rate %v and delta %d", c.eps, s.noise.rate, s.delta)
		}
	}
	for _, spends := range []*big.Rat{new(big.Rat), big.NewRat(-1, 1), big.NewRat(1, 1<<44), new(big.Rat).SetFloat64(5e-324)} {
		if _, err := NewSplits(spends); err == nil {
			t.Errorf("spends %v", spends)
		}
	}
	if s := mustSplits(t, big.NewRat(4_500_000, 1)); s.delta != 1 {
		t.Errorf("delta %d", s.delta)
	}
}

// Squares are split with the probabilities of the proof, at any depth and count: 20,000 draws each, and a false alarm has a probability
// of at most 1e-8 in all 72 cases, by Bernstein's inequality, which holds where a square is hardly ever left whole too.
func TestSplitsFollowTheirLaw(t *testing.T) {
	const n = 20_000
	src, log := NewSource(nil), math.Log(2*72/1e-8)
	for _, eps := range []*big.Rat{big.NewRat(1, 2), big.NewRat(2, 1)} {
		s := mustSplits(t, eps)
		for depth := range 4 {
			for _, count := range []int64{0, 1, 3, 7, 8, 9, 10, 20, 30} {
				p, split := splitChance(s.noise.rate, max(count-int64(depth)*s.delta, -s.delta)), 0
				for range n {
					if s.Split(src, count, depth) {
						split++
					}
				}
				if math.Abs(float64(split)-n*p) > log/3+math.Sqrt(log*log/9+2*log*n*p*(1-p)) {
					t.Errorf("rate %v: %d of depth %d is split %d times of %d, want %v", s.noise.rate, count, depth, split, n, n*p)
				}
			}
		}
	}
}

// A forest has the counts of the squares of a tree with 256 cells, by depth, in the order in which four make one.
type forest [5][]int64

func newForest(cells map[int]int64) (f forest) {
	for depth := range f {
		f[depth] = make([]int64, 1<<(2*depth))
		for cell, n := range cells {
			f[depth][cell>>(2*(len(f)-1-depth))] += n
		}
	}
	return f
}

// loss returns the largest ln(P(tree, counts|f)/P(tree, counts|g)) of a square and all below it: a square is split or not, and
// the noise of a leaf has some rate.
func (f forest) loss(g forest, chance func(n int64, depth int) float64, leaf float64, depth, square int) float64 {
	n, m := f[depth][square], g[depth][square]
	stop := leaf * math.Abs(float64(n-m))
	if depth == len(f)-1 || n == 0 && m == 0 {
		return stop
	}
	p, q := chance(n, depth), chance(m, depth)
	split := math.Log(p / q)
	for quarter := 4 * square; quarter < 4*square+4; quarter++ {
		split += f.loss(g, chance, leaf, depth+1, quarter)
	}
	return max(stop+math.Log((1-p)/(1-q)), split)
}

// The largest loss of any tree and its counts is within epsilon, for several numbers of locations in four of 256 cells and all ways to
// add, remove and replace one: the law is computed, not drawn. It comes near epsilon, and twice the rate and a smaller delta are
// caught.
func TestTreesKeepEpsilon(t *testing.T) {
	for _, eps := range []int64{4, 8} {
		s := mustSplits(t, big.NewRat(eps, 2))
		places := []int{0, 1, 16, 64} // neighbours at several depths
		worst := func(rate float64, delta int64) (most float64) {
			chance := func(n int64, depth int) float64 { return splitChance(rate, max(n-int64(depth)*delta, -delta)) }
			counts := []int64{0, 1, delta, 2*delta - 1, 2 * delta}
			var visit func(cells map[int]int64, next int)
			visit = func(cells map[int]int64, next int) {
				if next < len(places) {
					for _, n := range counts {
						cells[places[next]] = n
						visit(cells, next+1)
					}
					return
				}
				f := newForest(cells)
				for _, from := range append(places, -1) {
					for _, to := range append(places, -1) {
						if from == to || from >= 0 && cells[from] == 0 {
							continue
						}
						cells[from]--
						cells[to]++
						delete(cells, -1)
						g := newForest(cells)
						cells[from]++
						cells[to]--
						delete(cells, -1)
						most = max(most, f.loss(g, chance, float64(eps)/4, 0, 0), g.loss(f, chance, float64(eps)/4, 0, 0))
					}
				}
			}
			visit(map[int]int64{}, 0)
			return most
		}
		most := worst(s.noise.rate, s.delta)
		t.Logf("epsilon %d: rate %v, delta %d, the largest loss is %v", eps, s.noise.rate, s.delta, most)
		if most > float64(eps) || most < 0.9*float64(eps) {
			t.Errorf("epsilon %d: the largest loss is %v", eps, most)
		}
		if doubled := worst(2*s.noise.rate, s.delta); doubled <= float64(eps) {
			t.Errorf("epsilon %d: twice the rate is not caught, %v", eps, doubled)
		}
		if nearer := worst(s.noise.rate, s.delta-1); nearer <= float64(eps) {
			t.Errorf("epsilon %d: a delta of %d is not caught, %v", eps, s.delta-1, nearer)
		}
	}
}
