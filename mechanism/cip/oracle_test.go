package cip

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

const one = 1_000_000_000_000 // a budget's 1

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// alphas are R45 and R46: reference values, computed independently, for ten points a
// unit apart and every other one.
var alphas = []struct{ l, sigma2, alpha, loss float64 }{
	{1, .25, 2.614788, 33.07394},
	{1, 1, .834090, 9.17045},
	{1, 2, .437226, 4.68613},
	{1, 4, .224052, 2.37026},
	{2, .25, 5.763284, 48.81642},
	{2, 1, 1.804318, 14.02159},
	{2, 4, .484884, 3.67442},
	{.5, 1, .034850, 5.17425},
}

// checkAlphas compares something that computes alpha with them.
func checkAlphas(alpha func(l, sigma2 float64) (float64, error)) error {
	for _, want := range alphas {
		got, err := alpha(want.l, want.sigma2)
		if err != nil {
			return err
		}
		if math.Abs(got-want.alpha) > 6e-7 {
			return fmt.Errorf("l = %v, sigma2 = %v: alpha is %v, not %v", want.l, want.sigma2, got, want.alpha)
		}
	}
	return nil
}

// R45, R46.
func TestEveryOther(t *testing.T) {
	err := checkAlphas(func(l, sigma2 float64) (float64, error) {
		loss, err := base(l).Loss(t.Context(), seq(10), sigma2)
		return loss.Alpha, err
	})
	if err != nil {
		t.Error(err)
	}
	for _, want := range alphas {
		loss := mustLoss(t, base(want.l), seq(10), want.sigma2)
		if math.Abs(loss.Loss-want.loss) > 6e-6 || !near(loss.Independent, 5/want.sigma2, 1e-12) {
			t.Errorf("l = %v, sigma2 = %v: %v, not %v", want.l, want.sigma2, loss, want.loss)
		}
	}
	// Half more than for independent points, the paper's example, is there only.
	if loss := mustLoss(t, base(1), seq(10), .12094); math.Abs(loss.Loss/loss.Independent-1.5) > 1e-4 {
		t.Errorf("%v", loss)
	}
}

// float64Alpha computes alpha as it is written, in float64, with a value in the place of
// sigma2 beside the covariance.
func float64Alpha(times []float64, set []int, l, beside float64) float64 {
	others := rest(set, len(times))
	r := func(rows, columns []int) *mat.Dense {
		m := mat.NewDense(len(rows), len(columns), nil)
		for i, a := range rows {
			for j, b := range columns {
				m.Set(i, j, math.Exp(-(times[a]-times[b])*(times[a]-times[b])/(2*l*l)))
			}
		}
		return m
	}
	var at, c, b, eff mat.Dense
	if err := at.Solve(r(set, set), r(set, others)); err != nil && !errors.As(err, new(mat.Condition)) {
		return math.NaN()
	}
	c.Mul(at.T(), r(set, others))
	c.Sub(r(others, others), &c)
	for i := range others {
		c.Set(i, i, c.At(i, i)+beside)
	}
	if err := b.Solve(&c, at.T()); err != nil && !errors.As(err, new(mat.Condition)) {
		return math.NaN()
	}
	eff.Mul(&at, &b)
	var eigen mat.EigenSym
	eigen.Factorize(symmetric(&eff), false)
	return eigen.Values(nil)[len(set)-1]
}

// R47: the formula as it is in the paper's main text, with the noise's deviation in
// place of its variance, is caught by the reference values; the right one passes.
func TestDeviationForVarianceIsCaught(t *testing.T) {
	wrong := func(l, sigma2 float64) (float64, error) {
		return float64Alpha(seq(10), indices(0, 10, 2), l, math.Sqrt(sigma2)), nil
	}
	if checkAlphas(wrong) == nil {
		t.Error("it was not caught")
	}
	for sigma2, ratio := range map[float64]float64{.25: 1.3819, 4: 2.7489} {
		if alpha, _ := wrong(1, sigma2); math.Abs(1+alpha*sigma2-ratio) > 6e-5 {
			t.Errorf("another bug: ratio %v at %v, not %v", 1+alpha*sigma2, sigma2, ratio)
		}
	}
	if err := checkAlphas(func(l, sigma2 float64) (float64, error) {
		return float64Alpha(seq(10), indices(0, 10, 2), l, sigma2), nil
	}); err != nil {
		t.Error(err)
	}
}

// R48: closed forms for one point.
func TestSingleForms(t *testing.T) {
	rho2 := math.Exp(-1)
	for _, c := range []struct {
		n, point int
		want     float64
	}{
		{2, 1, rho2 / (2 - rho2)},
		{2, 1, .2253996735605641},
		{3, 1, .5257011206198181},
	} {
		loss := mustLoss(t, withSets(base(1), []int{c.point}), seq(c.n), 1)
		if !(loss.Alpha >= c.want*(1-1e-15)) || !near(loss.Alpha, c.want, 1e-10) {
			t.Errorf("%v, not %v", loss, c.want)
		}
	}
}

// threePoints is R49's closed form for S = {0, 2} and variances of 1.
func threePoints(l float64) float64 {
	rho2 := math.Exp(-1 / (l * l))
	rho4 := rho2 * rho2
	return 2 * rho2 / (1 + rho4) / (1 + rho4) / (2 - 2*rho2/(1+rho4))
}

// R49: the loss is not monotone in the length scale; its maximum is found inside.
func TestGreatestLengthScaleIsNotWorst(t *testing.T) {
	p := withSets(base(1), []int{0, 2})
	for l, want := range map[float64]float64{
		1: .422209486, 1.5: .590155339, 1.6624: .594700544, 2: .585664271, 1000: .5,
	} {
		p.LengthScale = l
		loss := mustLoss(t, p, seq(3), 1)
		if math.Abs(loss.Alpha-want) > 1e-6 || !near(loss.Alpha, threePoints(l), 1e-8) {
			t.Errorf("l = %v: %v, not %v", l, loss.Alpha, want)
		}
	}
	for _, last := range []float64{1.7, 2, 5, 10, 77, 1000} {
		loss := mustLoss(t, upTo(p, last), seq(3), 1)
		if math.Abs(loss.LengthScale-1.6624) > 2e-3 || !near(loss.Loss, 2*1.594700544, 2e-6) || loss.Loss < 2*1.594700544 {
			t.Errorf("up to %v: %v", last, loss)
		}
	}
	// Where it still rises, it is greatest at the end.
	if loss := mustLoss(t, upTo(p, 1.5), seq(3), 1); loss.LengthScale != 1.5 || !near(loss.Alpha, .590155339, 1e-5) {
		t.Errorf("%v", loss)
	}
}

// allSets are the 1023 sets of ten points.
func allSets() [][]int {
	var sets [][]int
	for bits := 1; bits < 1<<10; bits++ {
		var set []int
		for i := range 10 {
			if bits>>i&1 == 1 {
				set = append(set, i)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// R51: the worst of all sets, found with 60 digits.
func TestWorstOfAllSets(t *testing.T) {
	for _, c := range []struct {
		l, loss, error float64
		sets           [2]string // the worst one's mirror image is as bad
	}{
		{1, 23.1120, 6e-5, [2]string{"[0 1 2 3 4 6 7 8 9]", "[0 1 2 3 5 6 7 8 9]"}},
		{2, 11242.53, 6e-3, [2]string{"[2 3 4 5 6 7 8 9]", "[0 1 2 3 4 5 6 7]"}},
	} {
		loss := mustLoss(t, withSets(base(c.l), allSets()...), seq(10), 1)
		set := fmt.Sprint(loss.Set)
		if math.Abs(loss.Loss-c.loss) > c.error || set != c.sets[0] && set != c.sets[1] {
			t.Errorf("l = %v: %v, not %v", c.l, loss, c.loss)
		}
	}
}

// R51: float64 alone fails, which the reference value catches.
func TestFloat64AloneIsCaught(t *testing.T) {
	const want = 33792.99 // with 60 digits
	set := indices(0, 9, 1)
	check := func(alpha float64) bool { return near(alpha, want, 1e-6) }
	if loss := mustLoss(t, withSets(base(8), set), seq(10), 1); !check(loss.Alpha) {
		t.Errorf("alpha is %v, not %v", loss.Alpha, want)
	}
	if alpha := float64Alpha(seq(10), set, 8, 1); check(alpha) {
		t.Errorf("float64 has %v: the test is worth nothing", alpha)
	} else {
		t.Logf("float64 has %v", alpha)
	}
}
