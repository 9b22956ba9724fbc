package pim

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
)

// estimates are a run's estimates of the secret.
type estimates struct {
	lat, lon  float64
	cell      int
	area      []int
	likeliest float64
	covered   float64
	begun     bool
}

func estimatesOf(r *Run, p budget.Amount) (e estimates) {
	e.lat, e.lon = r.Mean()
	e.cell, e.likeliest = r.Likeliest()
	e.area, e.covered = r.Area(p)
	_, e.begun = r.Last()
	return e
}

// enumerated returns the posterior of the last of three steps, at the start and one and two
// periods later, by summing over all paths of three cells. Nothing of Run is used: the noise is
// worked out from the sets that the plans said, and the reports.
func enumerated(m *Mechanism, sets [][]int, reports []planar.Cell) []float64 {
	n := m.model.Grid().Len()
	matrix := make([][]float64, n)
	for i := range matrix {
		from := make([]float64, n)
		from[i] = 1
		matrix[i] = make([]float64, n)
		m.model.Advance(matrix[i], from)
	}
	var likelihood [3][]float64
	for step := range likelihood {
		likelihood[step] = likelihoods(m, sets[step], reports[step])
	}
	posterior, start := make([]float64, n), m.model.Start()
	for a := range n {
		for b := range n {
			for c := range n {
				posterior[c] += start[a] * likelihood[0][a] * matrix[a][b] * likelihood[1][b] * matrix[b][c] * likelihood[2][c]
			}
		}
	}
	sum := total(posterior)
	for cell := range posterior {
		posterior[cell] /= sum
	}
	return posterior
}

// likelihoods returns how likely a report is from each cell, up to a factor: by definition, a
// cell counts as the nearest one of the set, and the noise has the exponent epsilon times the
// norm with the unit ball that is the hull of all differences, or the l1 ball of Laplace noise.
func likelihoods(m *Mechanism, set []int, z planar.Cell) []float64 {
	grid := m.model.Grid()
	differences := map[vector]bool{}
	for _, a := range set {
		for _, b := range set {
			x, y := grid.Centre(a), grid.Centre(b)
			differences[vector{x.I - y.I, x.J - y.J}] = true
		}
	}
	likely := make([]float64, grid.Len())
	for cell := range likely {
		x, nearest := grid.Centre(cell), math.Inf(1)
		var at planar.Cell
		// Of equally near cells the westernmost counts, then the southernmost.
		byColumn := slices.Clone(set)
		width, _ := grid.Size()
		slices.SortFunc(byColumn, func(a, b int) int { return cmp.Or(cmp.Compare(a%width, b%width), cmp.Compare(a, b)) })
		for _, s := range byColumn {
			y := grid.Centre(s)
			if d := math.Hypot(float64(x.I-y.I), float64(x.J-y.J)); d < nearest {
				at, nearest = y, d
			}
		}
		likely[cell] = math.Exp(-m.policy.Epsilon.Float64() * norm(m.law, differences, vector{z.I - at.I, z.J - at.J}))
	}
	return likely
}

// norm returns the norm of d. In a hull it is the least a + b for which d is a*u + b*v with
// two of its points.
func norm(law string, differences map[vector]bool, d vector) float64 {
	if law == Laplace {
		var east, north int64
		for u := range differences {
			east, north = max(east, u.x), max(north, u.y)
		}
		return (abs(float64(d.x)) + abs(float64(d.y))) / float64(east+north)
	}
	least := math.Inf(1)
	for u := range differences {
		for v := range differences {
			if area := float64(cross(u, v)); area > 0 {
				if a, b := float64(cross(d, v))/area, float64(cross(u, d))/area; a >= 0 && b >= 0 {
					least = min(least, a+b)
				}
			}
		}
	}
	return least
}

// The estimate is that of a posterior which is summed over all paths.
func TestEstimateAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := rapid.SampledFrom([]string{PIM, Laplace}).Draw(t, "law")
		p := policy()
		p.Epsilon = budget.Amount(rapid.Int64Range(int64(budget.One/4), int64(8*budget.One)).Draw(t, "epsilon"))
		p.Delta = budget.Amount(rapid.Int64Range(0, int64(budget.One/2)).Draw(t, "delta"))
		p.MinSet = 5 // some are not on a line
		m := newMechanism(smallModel, law, p)
		r := m.Start()
		n := smallModel.Grid().Len()
		var sets [][]int
		var reports []planar.Cell
		for step := range int64(3) {
			plan, err := r.Plan(step * minute)
			if err != nil {
				t.Fatal(err)
			}
			if onALine(smallModel.Grid(), plan.Set()) {
				t.Skip("noise along a line")
			}
			z := smallModel.Grid().Centre(rapid.IntRange(0, n-1).Draw(t, "cell"))
			z.I += rapid.Int64Range(-30, 30).Draw(t, "i")
			z.J += rapid.Int64Range(-30, 30).Draw(t, "j")
			sets, reports = append(sets, slices.Clone(plan.Set())), append(reports, z)
			r.Add(plan, z)
		}
		want := enumerated(m, sets, reports)
		share := budget.Amount(rapid.Int64Range(0, int64(budget.One-1)).Draw(t, "p"))
		checkEstimate(t, smallModel.Grid(), estimatesOf(r, share), want, share.Float64())
	})
}

// onALine reports whether cells are all on one line.
func onALine(g *markov.Grid, set []int) bool {
	at := func(k int) vector { c := g.Centre(set[k]); return vector{c.I, c.J} }
	for k := range set {
		if cross(at(1).sub(at(0)), at(k).sub(at(0))) != 0 {
			return false
		}
	}
	return true
}

// checkEstimate checks estimates against a posterior.
func checkEstimate(t *rapid.T, g *markov.Grid, got estimates, posterior []float64, share float64) {
	const rounding = 1e-9
	var x, y float64
	order := make([]int, len(posterior))
	for cell, p := range posterior {
		c := g.Centre(cell)
		x += p * float64(c.I)
		y += p * float64(c.J)
		order[cell] = cell
	}
	lat, lon := g.Domain().Location(planar.Cell{I: int64(math.Round(x)), J: int64(math.Round(y))})
	if d := planar.Distance(lat, lon, got.lat, got.lon); d > g.Domain().Step() { // half a diagonal, and printed decimals
		t.Fatalf("the mean is %v m off", d)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(posterior[b], posterior[a]) })
	best := posterior[order[0]]
	if posterior[got.cell] < best-rounding || math.Abs(got.likeliest-best) > rounding {
		t.Fatalf("cell %d with %v, not %d with %v", got.cell, got.likeliest, order[0], best)
	}
	var sum float64
	least := 0
	for least == 0 || sum < share-rounding {
		sum += posterior[order[least]]
		least++
	}
	var covered float64
	for _, cell := range got.area {
		covered += posterior[cell]
	}
	if len(got.area) < least || len(got.area) > least && sum > share+rounding || covered < share-rounding || math.Abs(got.covered-covered) > rounding {
		t.Fatalf("an area of %d cells with %v, called %v, not %d with %v for %v", len(got.area), covered, got.covered, least, sum, share)
	}
	if !slices.IsSorted(got.area) || !got.begun {
		t.Fatalf("%+v", got)
	}
}

// Among equals the cell with the lowest number is the likeliest one.
func TestEstimateTies(t *testing.T) {
	m := mechanism(t, smallModel, PIM, policy())
	r := m.Start()
	if _, begun := r.Last(); begun {
		t.Error("it has begun")
	}
	for cell := range r.belief {
		r.belief[cell] = 1 / float64(len(r.belief))
	}
	if cell, p := r.Likeliest(); cell != 0 || p != r.belief[0] {
		t.Errorf("cell %d, %v", cell, p)
	}
	if area, _ := r.Area(0); !slices.Equal(area, []int{0}) {
		t.Errorf("area %v", area)
	}
	lat, lon := r.Mean()
	if d := planar.Distance(lat, lon, 40, 116); d > 360 { // half a diagonal of a cell
		t.Errorf("the mean of all cells is %v m from the middle", d)
	}
	r = m.StartIn(3, 7*minute)
	if at, begun := r.Last(); at != 7*minute || !begun {
		t.Errorf("%d, %v", at, begun)
	}
}

// An estimate changes neither the next step of the run nor a plan that was made.
func TestEstimateChangesNothing(t *testing.T) {
	m := mechanism(t, sharedModel, PIM, policy())
	src := exact.NewSource(nil)
	r := m.Start()
	for k := range int64(10) {
		p := plan(t, r, k*minute)
		set, state := slices.Clone(p.Set()), r.AppendBinary(nil)
		estimatesOf(r, budget.One/2)
		if !slices.Equal(p.Set(), set) || !slices.Equal(r.AppendBinary(nil), state) {
			t.Fatalf("step %d: something has changed", k)
		}
		r.Add(p, p.Draw(src, 9))
	}
}
