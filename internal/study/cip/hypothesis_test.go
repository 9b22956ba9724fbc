package cip

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/geosql/geosql/internal/study/chart/charttest"
)

// attained returns the Rényi divergence of the releases of ten points for values of every
// other one that differ by a row's shift, from the distribution of a release given these
// values: the others have it that follows from the textbook's formulas, in float64.
func attained(t *testing.T, r Row) float64 {
	t.Helper()
	const n = 10
	isSecret := func(i int) bool { return i%2 == 0 }
	rbf := func(i, j int) float64 { return math.Exp(-float64((i-j)*(i-j)) / (2 * r.LengthScale * r.LengthScale)) }
	var s, u []int
	for i := range n {
		if isSecret(i) {
			s = append(s, i)
		} else {
			u = append(u, i)
		}
	}
	block := func(rows, columns []int) *mat.Dense {
		m := mat.NewDense(len(rows), len(columns), nil)
		m.Apply(func(i, j int, _ float64) float64 { return rbf(rows[i], columns[j]) }, m)
		return m
	}
	delta := mat.NewVecDense(len(s), nil)
	for k, i := range s {
		delta.SetVec(k, r.Shift[i])
	}
	var solved, c mat.Dense
	if err := solved.Solve(block(s, s), block(s, u)); err != nil { // A transposed
		t.Fatal(err)
	}
	c.Mul(block(u, s), &solved)
	c.Sub(block(u, u), &c)
	for i := range u {
		c.Set(i, i, c.At(i, i)+r.Sigma2)
	}
	var mean, weighted mat.VecDense
	mean.MulVec(solved.T(), delta)
	if err := weighted.SolveVec(&c, &mean); err != nil {
		t.Fatal(err)
	}
	return r.Lambda / 2 * (mat.Dot(delta, delta)/r.Sigma2 + mat.Dot(&mean, &weighted))
}

// Figure 2 (b): the hypothesis attains the loss of R45 and R46.
func TestHypothesisAttainsTheLoss(t *testing.T) {
	for _, r := range rowsOf(t, published()) {
		if got := attained(t, r); math.Abs(got/r.Loss.Loss-1) > 1e-8 {
			t.Errorf("%+v attains %v", r, got)
		}
		// One number is off, the length is the same.
		wrong := r
		wrong.Shift = append([]float64{-r.Shift[0]}, r.Shift[1:]...)
		if got := attained(t, wrong); math.Abs(got/r.Loss.Loss-1) < 1e-6 {
			t.Errorf("%+v attains %v, too: the test is worth nothing", wrong, got)
		}
	}
}

// There is a line of panels for each family, a panel for each length scale, and it is about
// the first variance only.
func TestHypothesisFigure(t *testing.T) {
	s := published()
	s.Families, s.Sigma2, s.Times = []string{"every-other", "windows:2", "[[1]]", "[[1]]"}, []float64{2, 1}, []float64{9, 7, 8, 3}
	study, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	figure, err := study.HypothesisFigure(t.Context(), rowsOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "every-other, l = 1, variance 2", "windows:2, l = 0.5, variance 2")
	charttest.Hold(t, texts, 2, "[[1]], l = 2, variance 2")
	charttest.Hold(t, texts, 1, "trace", "hypothesis", "secrets")
	charttest.Hold(t, texts, 12, "time (units)", "position (units)")
}

// A panel holds the trace, the moved one, and the secrets of both.
func TestHypothesisPanel(t *testing.T) {
	s := published()
	s.Times, s.Families = []float64{5, 1, 2}, []string{"[[0,2]]"}
	r := rowsOf(t, s)[0]
	p := hypothesisPanel(r, []float64{1, 2, 5}, []float64{10, 20, 30})
	trace, moved, secrets := p.Curves[0].Points, p.Curves[1].Points, p.Curves[2].Points
	for k, x := range trace {
		if y := moved[k]; x.Y != float64(10*k+10) || y.X != x.X || y.Y != x.Y+r.Shift[k] {
			t.Errorf("%v, moved to %v by %v", x, y, r.Shift)
		}
	}
	if len(secrets) != 4 || secrets[0] != trace[0] || secrets[1] != moved[0] || secrets[2] != trace[2] || secrets[3] != moved[2] {
		t.Errorf("%v", secrets)
	}
}

// One point, and points that the prior cannot tell apart, are a figure too.
func TestHypothesisFigureOfSingularPriors(t *testing.T) {
	for _, times := range [][]float64{{3}, {0, 1, 24, 25}, seq(60)} {
		s := published()
		s.Times, s.Kernel, s.Period = times, "periodic", 24
		s.Families, s.LengthScales = []string{"singles"}, []float64{1}
		study, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		figure, err := study.HypothesisFigure(t.Context(), rowsOf(t, s))
		if err != nil {
			t.Fatal(err)
		}
		charttest.Hold(t, charttest.Texts(t, figure), 1, "hypothesis")
	}
}

// An example is the same each time, and looks like the prior. The seed is fixed, so the
// bounds are no matter of chance.
func TestExample(t *testing.T) {
	s := published()
	s.Times, s.Families, s.Variance = seq(200), []string{"singles"}, 9
	policy, err := s.policy("singles", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := example(t.Context(), policy, s.Times)
	if err != nil {
		t.Fatal(err)
	}
	again, err := example(t.Context(), policy, s.Times)
	if err != nil {
		t.Fatal(err)
	}
	for k := range x {
		if x[k] != again[k] {
			t.Fatalf("%v, then %v", x[k], again[k])
		}
	}
	if v := stat.Moment(2, x, nil); v < 5 || v > 14 {
		t.Errorf("the variance is %v", v)
	}
	if rho := stat.Correlation(x[1:], x[:199], nil); math.Abs(rho-math.Exp(-.5)) > .2 {
		t.Errorf("neighbours have a correlation of %v", rho)
	}
}

func TestHypothesisFigureEnds(t *testing.T) {
	s := published()
	study, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, s)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := study.HypothesisFigure(ctx, rows); err != cause {
		t.Error(err)
	}
}
