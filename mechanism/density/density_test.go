package density

import (
	cryptorand "crypto/rand"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// square returns a domain of some kilometres around the equator.
func square(t testing.TB, km, step float64) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("square", -km/2/110.574, -km/2/111.32, km/2/110.574, km/2/111.32, step)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func plane(t testing.TB, d *planar.Domain, mechanism, epsilon string, cellM float64) *Plane {
	t.Helper()
	m, err := d.Mechanism(mechanism, number(epsilon))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlane(m, cellM)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lawOf(p *Plane) *planeLaw { return &planeLaw{p, newTransform(p.kernel.width, p.kernel.height)} }

func number(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }

// matrix returns the probabilities of bins, for each cell.
func matrix(l law) (rows [][]float64) {
	for cell := range l.cells() {
		cells, bins := newPair(l.cells()), newPair(l.bins())
		cells[0][cell] = 1
		l.release(bins, cells)
		rows = append(rows, bins[0])
	}
	return rows
}

// The law of a plane is that of its mechanism on the lattice, enumerated, for locations that are even over a cell. Where the cells
// lie between lattice points makes the difference that is left.
func TestPlaneHasTheLawOfItsMechanism(t *testing.T) {
	for _, c := range []struct {
		mechanism, epsilon string
		step, cell         float64
		region             string
	}{{"laplace", "0.004", 25, 250, ""}, {"laplace_l1", "0.004", 25, 250, ""}, {"gauss", "0.00001", 25, 250, ""}, {"laplace", "0.05", 2, 30, ""}, {"laplace", "0.004", 50, 250, "POLYGON((-0.004 -0.004, 0.004 -0.004, 0.002 0.003, -0.004 -0.004))"}} {
		d, most := square(t, 4*c.cell/1000, c.step), 0.002
		if c.region != "" {
			var err error
			if d, err = d.WithRegion(t.Context(), c.region); err != nil {
				t.Fatal(err)
			}
			most = 0.02 // bins at its border are cut by it
		}
		p := plane(t, d, c.mechanism, c.epsilon, c.cell)
		a := p.mechanism.Accuracy()
		want := make([]float64, lawOf(p).bins())
		reach, _ := a.Reach(1 - 1e-7)
		n := int(reach / c.step)
		total := 0.0
		noise := make([]float64, (n+1)*(n+1))
		for i := 0; i <= n; i++ {
			for j := 0; j <= n; j++ {
				w := math.Exp(-a.Exponent(float64(i)*c.step, float64(j)*c.step))
				noise[i*(n+1)+j] = w
				for _, k := range []int{i, j} {
					if k > 0 {
						w *= 2
					}
				}
				total += w
			}
		}
		// A cell's locations round to its lattice points, and each leads to the bins of those around it.
		const at = 0
		var inside []planar.Cell
		first := p.grid.Nearest(0, 0)
		for i := range int64(c.cell/c.step) + 2 {
			for j := range int64(c.cell/c.step) + 2 {
				z := planar.Cell{I: first.I + i - 1, J: first.J + j - 1}
				if column, row := p.grid.At(z); column == 0 && row == 0 {
					inside = append(inside, z)
				}
			}
		}
		for _, x := range inside {
			for i := -n; i <= n; i++ {
				for j := -n; j <= n; j++ {
					w := noise[max(i, -i)*(n+1)+max(j, -j)]
					want[p.bin(p.grid.At(d.Admissible(planar.Cell{I: x.I + int64(i), J: x.J + int64(j)})))] += w / total / float64(len(inside))
				}
			}
		}
		got := matrix(lawOf(p))[at]
		far, sum := 0.0, 0.0
		for bin := range got {
			far += math.Abs(got[bin]-want[bin]) / 2
			sum += got[bin]
		}
		t.Logf("%+v: total variation from the enumeration %.2g, sum 1%+.2g", c, far, sum-1)
		if far > most || math.Abs(sum-1) > 1e-9 {
			t.Errorf("the law is another")
		}
	}
}

// The sums over bins are those of the matrix, both ways.
func TestBlameIsTheTransposeOfRelease(t *testing.T) {
	d := square(t, 2, 10)
	region, err := d.WithRegion(t.Context(), "POLYGON((-0.005 -0.005, 0.004 -0.005, 0.006 0.006, -0.005 -0.005))")
	if err != nil {
		t.Fatal(err)
	}
	line := newTruncated([]float64{3, 4, 3, 3, 4}, 0.2)
	one := newTruncated([]float64{3}, 0.2)
	for name, l := range map[string]law{"plane": lawOf(plane(t, d, "laplace", "0.01", 300)), "region": lawOf(plane(t, region, "laplace", "0.01", 300)), "line": &line, "one": &one} {
		m := matrix(l)
		weights, cells := newPair(l.bins()), newPair(l.cells())
		r := rand.New(rand.NewPCG(1, 2))
		for h := range weights {
			for bin := range weights[h] {
				weights[h][bin] = r.Float64()
			}
		}
		want := newPair(l.cells())
		for h := range want {
			for cell, row := range m {
				for bin, p := range row {
					want[h][cell] += p * weights[h][bin]
				}
			}
		}
		l.blame(cells, weights)
		for h := range want {
			for cell := range want[h] {
				if math.Abs(want[h][cell]-cells[h][cell]) > 1e-9 {
					t.Errorf("%s: cell %d: %v, not %v", name, cell, cells[h][cell], want[h][cell])
				}
			}
		}
		for cell, row := range m {
			sum := 0.0
			for _, p := range row {
				sum += p
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: the probabilities of cell %d sum to %v", name, cell, sum)
			}
		}
	}
}

// The law of a line is that of its mechanism, enumerated.
func TestLineHasTheLawOfItsMechanism(t *testing.T) {
	for _, lengths := range [][]float64{{1, 1, 1, 1}, {3, 4, 3, 3, 4}, {2, 3}, {5}} {
		for _, rate := range []float64{0.01, 0.4, 3, 50} {
			law := newTruncated(lengths, rate)
			var run []int
			for i, l := range lengths {
				for range int(l) {
					run = append(run, i)
				}
			}
			for from, row := range matrix(&law) {
				want := make([]float64, len(lengths))
				q := math.Exp(-rate)
				for x := range run {
					if run[x] != from {
						continue
					}
					for z := range run {
						p := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(z-x)))
						if z == 0 || z == len(run)-1 {
							p = math.Pow(q, math.Abs(float64(z-x))) / (1 + q)
						}
						if len(run) == 1 {
							p = 1
						}
						want[run[z]] += p / lengths[from]
					}
				}
				for to, p := range row {
					if math.Abs(p-want[to]) > 1e-12 {
						t.Errorf("runs %v, rate %v: from %d to %d with probability %v, not %v", lengths, rate, from, to, p, want[to])
					}
				}
			}
		}
	}
}

// Of two cells the likeliest share is known in closed form, and the likelihood never falls on the way.
func TestLikeliestShareOfTwoCells(t *testing.T) {
	for _, c := range []struct {
		counts [2]float64
		q      float64
	}{{[2]float64{70, 30}, 0.2}, {[2]float64{50, 50}, 0.4}, {[2]float64{95, 5}, 0.3}, {[2]float64{1, 99}, 0.1}} {
		counts := pair{c.counts[:], c.counts[:]}
		e := newExpectation(Matrix{{1 - c.q, c.q}, {c.q, 1 - c.q}}, nil, counts)
		last := math.Inf(-1)
		for range 5000 {
			e.step()
			if score := e.score(counts); score < last-1e-9 {
				t.Fatalf("%+v: the likelihood falls from %v to %v", c, last, score)
			} else {
				last = score
			}
		}
		want := min(1, max(0, (c.counts[0]/(c.counts[0]+c.counts[1])-c.q)/(1-2*c.q)))
		if got := e.cells[0][0]; math.Abs(got-want) > 2e-3 {
			t.Errorf("%+v: share %v, not %v", c, got, want)
		}
	}
}

// Without noise the estimate is the histogram of the releases. Without releases it is nothing.
func TestWithoutNoise(t *testing.T) {
	u, err := scalar.NewUniverse("u", 0, 10, 1, budget.Unit("kWh"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLine(u, number("1000"))
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range []float64{3, 3, 10, 3, 7} {
		l.Add(z)
	}
	estimate, steps, err := population(t.Context(), &l.truncated, nil, l.counts)
	if err != nil {
		t.Fatal(err)
	}
	for v, n := range []float64{0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 1} {
		if math.Abs(estimate[v]-n) > 1e-4 {
			t.Errorf("after %d steps there are %v of %d, not %v", steps, estimate[v], v, n)
		}
	}
	empty, _, err := population(t.Context(), &l.truncated, nil, make([]int64, 11))
	if err != nil || slices.Max(empty) != 0 {
		t.Errorf("of nothing: %v, %v", empty, err)
	}
}

// Two towns are told apart again, and the numbers add up.
func TestTowns(t *testing.T) {
	d := square(t, 4, 1)
	src := exact.NewSource(cryptorand.Reader)
	const people, cell = 16_000, 250.0
	for _, c := range []struct{ mechanism, epsilon string }{{"laplace", "0.006"}, {"laplace_l1", "0.006"}, {"gauss", "0.00001"}} {
		p := plane(t, d, c.mechanism, c.epsilon, cell)
		points := map[int]int64{}
		truth := make([]float64, lawOf(p).cells())
		raw := make([]float64, lawOf(p).cells())
		for i := range people {
			lat, lon := 0.008, -0.009
			if i%4 == 0 {
				lat, lon = -0.007, 0.008
			}
			truth[p.grid.Cell(lat, lon)]++
			lat, lon = p.mechanism.Draw(src, lat, lon)
			raw[p.grid.Cell(lat, lon)]++
			points[p.Bin(lat, lon)]++
		}
		estimate, err := p.Population(t.Context(), points)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, n := range estimate.cells {
			sum += n
		}
		before, after := variation(raw, truth), variation(estimate.cells, truth)
		t.Logf("%s: total variation %.3f raw, %.3f recovered, after %d steps", c.mechanism, before, after, estimate.steps)
		if math.Abs(sum-people) > 1e-6*people || after > 0.7*before {
			t.Errorf("%v people, and a total variation of %v from %v", sum, after, before)
		}
	}
}

// variation returns the total variation of the shares of counts.
func variation(a, b []float64) (distance float64) {
	totalA, totalB := 0.0, 0.0
	for i := range a {
		totalA, totalB = totalA+a[i], totalB+b[i]
	}
	for i := range a {
		distance += math.Abs(a[i]/totalA-b[i]/totalB) / 2
	}
	return distance
}

// The likeliest distribution is the one at which no cell would make the counts likelier: the gradient of the likelihood is the number
// of releases where there is somebody, and less elsewhere (Karush, Kuhn and Tucker).
func TestGradientVanishes(t *testing.T) {
	m := Matrix{{0.7, 0.1, 0.1, 0.05, 0.05}, {0.2, 0.5, 0.1, 0.1, 0.1}, {0.1, 0.1, 0.4, 0.2, 0.2}, {0.25, 0.25, 0.2, 0.2, 0.1}}
	for _, counts := range [][]float64{{50, 30, 20, 10, 10}, {5, 60, 5, 0, 0}, {1, 2, 80, 40, 40}, {0, 0, 0, 0, 7}} {
		e := newExpectation(m, nil, pair{counts, counts})
		for range 20_000 {
			e.step()
		}
		e.release()
		for cell, row := range m {
			gradient := 0.0
			for bin, p := range row {
				gradient += counts[bin] / e.likely[0][bin] * p
			}
			if share := gradient / e.totals[0]; share > 1.001 || e.cells[0][cell] > 0.01 && share < 0.999 {
				t.Errorf("counts %v: cell %d with %v has %v of the gradient", counts, cell, e.cells[0][cell], share)
			}
		}
	}
}

// The law of rings is that of distances between two drawn points, and of one and a fixed one. 100,000 draws leave an error of 0.008 in all
// rings together.
func TestRings(t *testing.T) {
	d := square(t, 20, 10)
	m, err := d.Mechanism("laplace", number("0.002"))
	if err != nil {
		t.Fatal(err)
	}
	const n, width, draws, from = 40, 200.0, 100_000, 11
	once, err := Rings(planar.LaplaceLaw.Plane(0.002), width, n)
	if err != nil {
		t.Fatal(err)
	}
	src := exact.NewSource(cryptorand.Reader)
	lat, lon := (from+0.5)*width/110_574, 0.0
	for name, law := range map[string]Matrix{"once": once, "twice": once.Twice()} {
		drawn, far := make([]float64, n), 0.0
		for range draws {
			zlat, zlon := m.Draw(src, lat, lon)
			olat, olon := 0.0, 0.0
			if name == "twice" {
				olat, olon = m.Draw(src, 0, 0)
			}
			drawn[min(int(planar.Distance(zlat, zlon, olat, olon)/width), n-1)] += 1. / draws
		}
		sum := 0.0
		for k, p := range law[from] {
			far += math.Abs(p-drawn[k]) / 2
			sum += p
		}
		if t.Logf("%s: total variation %.4f", name, far); far > 0.03 || math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: total variation %v, sum %v", name, far, sum)
		}
	}
}
