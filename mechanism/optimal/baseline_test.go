package optimal_test

import (
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/mechanism/optimal"
)

// TestBaselines compares losses before and after the Bayesian remap with those of
// libqif and of a program that sums over the lattice (R26, R30).
func TestBaselines(t *testing.T) {
	exponential := func(epsilon float64, w int) optimal.Matrix { return optimal.Exponential(epsilon, grid(w)) }
	planar := func(epsilon float64, w int) optimal.Matrix {
		return must(optimal.PlanarGeometric(epsilon, 1, w, w))
	}
	constant := func(_ float64, w int) optimal.Matrix {
		return must(optimal.Cloak(slices.Repeat([]int{w * w / 2}, w*w)))
	}
	for _, c := range []struct {
		name           string
		k              func(epsilon float64, w int) optimal.Matrix
		width          int
		epsilon        float64
		loss, remapped float64 // remapped 0: not stated
	}{
		{"planar geometric", planar, 5, ln2, 1.692327817, 1.518439572},
		{"planar geometric", planar, 7, ln2, 2.001635045, 0},
		{"planar geometric", planar, 7, math.Log(4), 1.035303789, 0},
		{"exponential", exponential, 5, ln2, 2.063059777, 1.815014829},
		{"the middle", constant, 7, math.Log(1.2), 2.652495935, 2.652495935},
	} {
		k, d, prior := c.k(c.epsilon, c.width), grid(c.width), uniform(c.width*c.width)
		if l := optimal.Loss(prior, k, d); math.Abs(l-c.loss) > 1e-9 {
			t.Errorf("%s %d: loss %.9f, want %.9f", c.name, c.width, l, c.loss)
		}
		remapped := optimal.Loss(prior, k.Remapped(optimal.Remap(prior, k, d)), d)
		if c.remapped != 0 && math.Abs(remapped-c.remapped) > 1e-9 {
			t.Errorf("%s %d: loss after the remap %.9f, want %.9f", c.name, c.width, remapped, c.remapped)
		}
		if e := optimal.AdversaryError(prior, k, d); !near(e, remapped, 1e-12) {
			t.Errorf("%s %d: adversary's error %g, loss after the remap %g", c.name, c.width, e, remapped)
		}
		if e := optimal.RealisedEpsilon(k, d); e > c.epsilon*(1+1e-9) {
			t.Errorf("%s %d: realised epsilon %g, made for %g", c.name, c.width, e, c.epsilon)
		}
	}
}

// TestRealisedEpsilon compares with constants of libqif (R17).
func TestRealisedEpsilon(t *testing.T) {
	d := line(10, 1.1)
	if e := optimal.RealisedEpsilon(optimal.Exponential(0.9, d), d); !near(e, 0.6419730718046716, 1e-12) {
		t.Errorf("10 places on a line: %.16f", e)
	}
	if e := optimal.RealisedEpsilon(optimal.Exponential(0.9*1.1, grid(3)), grid(3)) / 1.1; !near(e, 0.5894559152872625, 1e-12) {
		t.Errorf("3x3 places: %.16f", e)
	}
	for _, k := range []optimal.Matrix{{{1, 0}, {0.5, 0.5}}, {{1.1, -0.1}, {1.1, -0.1}}} {
		if e := optimal.RealisedEpsilon(k, line(2, 1)); !math.IsInf(e, 1) {
			t.Errorf("%v: realised epsilon %g", k, e)
		}
	}
	if e := optimal.RealisedEpsilon(optimal.Matrix{{1, 0}, {1, 0}}, line(2, 1)); e != 0 {
		t.Errorf("a constant mechanism: realised epsilon %g", e)
	}
}

// TestSensitivityIsNotUniform is the counterexample of the thesis's figure 4.1 (R21). Its
// query takes three values as they are, which are one apart, though the secrets behind y1
// and y3 are two apart: of sensitivity 1, but not uniformly so (definition 4.5). So H after
// the query is ln 2-private and H itself is not, for 3/4 > 2*1/4. The epsilon of a mechanism
// depends on the distances alone, and RealisedEpsilon takes its distances from the caller.
func TestSensitivityIsNotUniform(t *testing.T) {
	h := optimal.Matrix{{3. / 4, 1. / 4}, {1. / 2, 1. / 2}, {1. / 4, 3. / 4}}
	values := optimal.Matrix{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}
	if e := optimal.RealisedEpsilon(h, line(3, 1)); !near(e, math.Ln2, 1e-15) {
		t.Errorf("between secrets: realised epsilon %g, want ln 2", e)
	}
	if e := optimal.RealisedEpsilon(h, values); !near(e, math.Log(3), 1e-15) {
		t.Errorf("between values: realised epsilon %g, want ln 3", e)
	}
}

// TestPlanarGeometricOnALine sums over the plane, as a line of places does.
func TestPlanarGeometricOnALine(t *testing.T) {
	const epsilon, step, reach = 0.9, 1.5, 60
	k := must(optimal.PlanarGeometric(epsilon, step, 4, 1))
	want, total := optimal.NewMatrix(4, 4), 0.0
	for i := -reach; i <= reach; i++ {
		for j := -reach; j <= reach; j++ {
			p := math.Exp(-epsilon * step * math.Hypot(float64(i), float64(j)))
			total += p
			for x := range 4 {
				want[x][min(3, max(0, x+i))] += p
			}
		}
	}
	for x, row := range k {
		for z, p := range row {
			if !near(p, want[x][z]/total, 1e-9) {
				t.Errorf("(%d,%d): %g, want %g", x, z, p, want[x][z]/total)
			}
		}
	}
}

func TestRefusedBaselines(t *testing.T) {
	for _, c := range []struct {
		epsilon, step float64
		w, h          int
	}{{1, 0.001, 3, 3}, {1, 1, 0, 3}, {1, 1, 1, 1}, {1, 1, 33, 32}, {math.NaN(), 1, 3, 3}} {
		if _, err := optimal.PlanarGeometric(c.epsilon, c.step, c.w, c.h); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestCloak is the comparison of the thesis, section 5.5: 9x9 regions of 100 m in zones of
// 3x3, each reported as its central region. It prints 107.03 m; the mean distance is that
// of R15. All an adversary can do is to guess the centre.
func TestCloak(t *testing.T) {
	centres := make([]int, 81)
	for x := range centres {
		centres[x] = (x/9/3*3+1)*9 + x%9/3*3 + 1
	}
	k := must(optimal.Cloak(centres))
	d := each(grid(9), func(v float64) float64 { return 100 * v })
	loss, e := optimal.Loss(uniform(81), k, d), optimal.AdversaryError(uniform(81), k, d)
	if want := 107.298381; math.Abs(loss-want) > 5e-7 || !near(e, loss, 1e-12) {
		t.Errorf("loss %.6f, adversary's error %.6f, want %.6f", loss, e, want)
	}
	if e := optimal.RealisedEpsilon(k, d); !math.IsInf(e, 1) {
		t.Errorf("realised epsilon %g", e)
	}
	for _, bad := range [][]int{{0, 2}, {-1, 0}} {
		if _, err := optimal.Cloak(bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
