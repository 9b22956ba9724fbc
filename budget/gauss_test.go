package budget

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The exact delta in 60 digits.
func TestNormalDelta(t *testing.T) {
	for _, c := range []struct{ m, epsilon, want float64 }{
		{.5, 1, 0.0068295949831145753842},
		{.01, .001, 0.0035110920258420983293},
		{1e-4, 1e-6, 0.000039396242416419009387},
		{3, .5, 0.82999580994769030778},
		{10, 100, 1.8797170020519157446e-7},
		{.1, 3, 7.304806101754675939e-200},
		{6, 1e-9, 0.99730020393538991291},
		{1, 1.5, 0.056696236230553472783},
	} {
		if got := normalDelta(c.m, c.epsilon); got < c.want || got > c.want*(1+1e-8) {
			t.Errorf("normalDelta(%v, %v) = %v, want %v", c.m, c.epsilon, got, c.want)
		}
	}
	for _, c := range [][2]float64{{math.Inf(1), 1}, {math.MaxFloat64, 1}, {100, 1}, {1, 5e-324}} {
		if got := normalDelta(c[0], c[1]); !(got > 0.3 && got <= 1) {
			t.Errorf("normalDelta%v = %v", c, got)
		}
	}
	for _, c := range [][2]float64{{5e-324, math.MaxFloat64}, {1, math.MaxFloat64}, {5e-324, 1}, {0.1, 4}} {
		if got := normalDelta(c[0], c[1]); !(got > 0 && got < 1e-300) {
			t.Errorf("normalDelta%v = %v", c, got)
		}
	}
}

// With the lattice, in 60 digits, beside the delta of a continuous mechanism.
func TestGaussDelta(t *testing.T) {
	for _, c := range []struct{ rho, distance, epsilon, step, want, continuous float64 }{
		{1e-7, 501.4143, 1, 1, 3.1084201837052675702e-7, 3.1084081103041844365e-7},
		{1e-7, 501.4143, 1, 300, 4.3417917315751091445e-7, 3.1084081103041844365e-7},
		{1e-8, 1001.4143, 1, 1, 2.6252792378146648932e-14, 2.6252760050523003274e-14},
		{1e-6, 101.4143, .1, 1, 0.021611981934773680834, 0.021611897392794433778},
		{1e-4, 100, 3, 1, 0.031713457156499167334, 0.031672194185786858726},
		{2e-4, 301.4143, 10, 1, 0.88003389237405163364, 0.87964599940999581453},
		{0.5, 1, 3, .01, 0.0015393062152083239033, 0.0015371853694009548469},
	} {
		got := GaussDelta(c.rho, c.distance, c.epsilon, c.step)
		if got < c.want*(1-1e-9) || got > c.want*(1+1e-6) || got <= c.continuous {
			t.Errorf("GaussDelta(%v, %v, %v, %v) = %v, want %v", c.rho, c.distance, c.epsilon, c.step, got, c.want)
		}
	}
	for _, c := range [][4]float64{ // noise of less than a few steps, and an epsilon that the lattice takes up
		{0.5, 1, 3, 0.7}, {3, 3, 4, 1}, {1, 1, 1, math.MaxFloat64}, {1e-7, 501, 1e-9, 1}, {math.MaxFloat64, math.MaxFloat64, 1, 1},
	} {
		if got, want := GaussDelta(c[0], c[1], c[2], c[3]), Delta(c[0], c[1], c[2]); got != want {
			t.Errorf("GaussDelta%v = %v, not the general bound %v", c, got, want)
		}
	}
}

// It is no less than the exact delta of continuous noise, grows with rho and the step, and falls with
// epsilon, by all that rounding allows.
func TestGaussDeltaIsAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := math.Exp(rapid.Float64Range(-14, 2).Draw(t, "ln r"))
		distance := math.Exp(rapid.Float64Range(0, 9).Draw(t, "ln distance"))
		step := distance * rapid.Float64Range(0.0001, 0.7).Draw(t, "step")
		epsilon := math.Exp(rapid.Float64Range(-7, 4).Draw(t, "ln epsilon"))
		rho := r / distance / distance
		got := GaussDelta(rho, distance, epsilon, step)
		m := math.Sqrt(2 * r)
		exact := (math.Erfc((epsilon/m-m/2)/math.Sqrt2) - math.Exp(epsilon)*math.Erfc((epsilon/m+m/2)/math.Sqrt2)) / 2
		if got < exact*(1-1e-9)-1e-13 {
			t.Fatalf("%v is below that of continuous noise, %v", got, exact)
		}
		for _, more := range []float64{
			GaussDelta(rho*1.0001, distance, epsilon, step), GaussDelta(rho, distance, epsilon, step*1.0001), GaussDelta(rho, distance, epsilon*0.9999, step),
		} {
			if more < got*(1-1e-7) {
				t.Fatalf("%v falls to %v", got, more)
			}
		}
	})
}

// Both bounds of Mills's ratio enclose it.
func TestMills(t *testing.T) {
	for x, want := range map[float64]float64{
		-7.9: 89381829964369.007923, -1: 3.4770518117036944669, 0: 1.2533141373155002512, 1: 0.65567954241879847154, 1.5: 0.5158156382179632, 5: 0.19280810471531576488, 40: 0.024984404205720571147,
	} {
		above, below := mills(x, true), mills(x, false)
		if above < want*(1-1e-15) || below > want*(1+1e-15) || above-below > 1e-12*want {
			t.Errorf("R(%v) lies between %v and %v, want %v", x, below, above, want)
		}
	}
}

// At (1, 1e-6) and 500 m a limit is 15 % larger, and delta at one limit is a 4.6th.
func TestGaussGain(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, distance, step, times, smaller float64
	}{
		{1, 1e-6, 500 + math.Sqrt2, 1, 1.150, 4.63},
		{1, 1e-6, 500 + math.Sqrt2, 354, 1.099, 2.91},
		{1, 1e-6, 20 + math.Sqrt2, 1, 1.150, 4.62},
		{0.1, 1e-6, 500 + math.Sqrt2, 1, 1.182, 4.15},
		{1, 1e-9, 500 + math.Sqrt2, 1, 1.106, 5.70},
		{10, 1e-6, 500 + math.Sqrt2, 1, 1.109, 5.54},
	} {
		general, ok := LargestRho(c.epsilon, c.delta, c.distance)
		gauss, too := LargestGaussRho(c.epsilon, c.delta, c.distance, c.step)
		if !ok || !too {
			t.Fatal("no rho")
		}
		g, _ := general.Float64()
		s, _ := gauss.Float64()
		if got := GaussDelta(s, c.distance, c.epsilon, c.step); got > c.delta || got < c.delta*0.999 {
			t.Errorf("%+v: rho %v has delta %v", c, s, got)
		}
		smaller := Delta(g, c.distance, c.epsilon) / GaussDelta(g, c.distance, c.epsilon, c.step)
		if math.Abs(s/g-c.times) > 0.001 || math.Abs(smaller-c.smaller) > 0.01 {
			t.Errorf("%+v: rho is %.4f times as large, and delta %.3f times smaller", c, s/g, smaller)
		}
	}
}
