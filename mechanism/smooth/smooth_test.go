package smooth

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// random is the same in each run, so that no test fails by chance.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// released returns a location with planar Laplace noise.
func noisy(r *rand.Rand, x, y, epsilon float64) (float64, float64) {
	radius, angle := (r.ExpFloat64()+r.ExpFloat64())/epsilon, 2*math.Pi*r.Float64()
	return x + radius*math.Cos(angle), y + radius*math.Sin(angle)
}

// covariance returns that of the distances travelled after t and s seconds, from a velocity in equilibrium.
func covariance(t, s, density float64) float64 {
	return density * math.Pow(decay, 3) / 2 *
		(2*min(t, s)/decay - 1 + math.Exp(-t/decay) + math.Exp(-s/decay) - math.Exp(-math.Abs(t-s)/decay))
}

// Filter and smoother are regression with the covariance of the model and an unknown start, which Cholesky's decomposition
// solves at once: the generalised mean, and the deviations from it.
func TestAgainstRegression(t *testing.T) {
	r := random()
	for range 50 {
		n := 2 + r.IntN(20)
		density := densities[r.IntN(len(densities))]
		points, variances := make([]Point, n), make([]float64, n)
		at := 0.0
		for i := range points {
			points[i] = Point{T: at, X: 1000 * r.NormFloat64(), Y: 1000 * r.NormFloat64()}
			variances[i] = math.Exp(6 + 8*r.Float64())
			at += 5 + 600*r.Float64()
		}
		if n > 4 {
			points[1+r.IntN(n-2)].X = math.NaN()
		}
		passes, positions := make([]pass, n), make([]Position, n)
		forward(points, variances, density, passes)
		backward(points, passes, positions)
		for i, want := range regression(t, points, variances, density) {
			if got := positions[i].X; math.Abs(got-want) > 1e-3+1e-6*math.Abs(want) { // the start's variance is finite
				t.Fatalf("point %d of %d is at %v, expected %v", i, n, got, want)
			}
		}
	}
}

func regression(t *testing.T, points []Point, variances []float64, density float64) (x []float64) {
	var seen []int
	for i, p := range points {
		if released(p) {
			seen = append(seen, i)
		}
	}
	k := mat.NewSymDense(len(seen), nil)
	ones, z := mat.NewVecDense(len(seen), nil), mat.NewVecDense(len(seen), nil)
	for a, i := range seen {
		for b, j := range seen[:a+1] {
			k.SetSym(a, b, covariance(points[i].T, points[j].T, density))
		}
		k.SetSym(a, a, k.At(a, a)+variances[i])
		ones.SetVec(a, 1)
		z.SetVec(a, points[i].X)
	}
	var c mat.Cholesky
	if !c.Factorize(k) {
		t.Fatal("the covariance is not positive definite")
	}
	solve := func(v *mat.VecDense) *mat.VecDense {
		var out mat.VecDense
		if err := c.SolveVecTo(&out, v); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	mean := mat.Dot(ones, solve(z)) / mat.Dot(ones, solve(ones))
	for a := range seen {
		z.SetVec(a, z.AtVec(a)-mean)
	}
	weights := solve(z)
	for _, p := range points {
		at := mean
		for b, j := range seen {
			at += covariance(p.T, points[j].T, density) * weights.AtVec(b)
		}
		x = append(x, at)
	}
	return x
}

// Of two points each is drawn to the other by R/(2R + V), where R is the variance of the noise and V that of the distance between.
func TestTwoPoints(t *testing.T) {
	points := []Point{{T: 0, X: 0, Y: 0}, {T: 60, X: 1000, Y: -500}}
	passes, positions := make([]pass, 2), make([]Position, 2)
	forward(points, []float64{4e4, 4e4}, 0.1, passes)
	backward(points, passes, positions)
	share := 4e4 / (8e4 + covariance(60, 60, 0.1))
	for i, want := range []Position{{1000 * share, -500 * share}, {1000 * (1 - share), -500 * (1 - share)}} {
		if got := positions[i]; math.Hypot(got.X-want.X, got.Y-want.Y) > 1e-3 {
			t.Errorf("point %d is at %v, expected %v", i, got, want)
		}
	}
}

// Somebody who stands still is found the better the more points there are: the error falls as 1/sqrt(n).
func TestStandingStill(t *testing.T) {
	const epsilon = 0.001
	r := random()
	errorOf := func(n int) (mean float64) {
		const runs = 200
		for range runs {
			points := make([]Point, n)
			for i := range points {
				x, y := noisy(r, 0, 0, epsilon)
				points[i] = Point{60 * float64(i), x, y, epsilon}
			}
			at := Course(points)[n/2]
			mean += math.Hypot(at.X, at.Y) / runs
		}
		return mean
	}
	few, many := errorOf(25), errorOf(400)
	t.Logf("mean error %.0f m of 25 points, %.0f m of 400", few, many)
	if ratio := few / many; ratio < 2.8 || ratio > 5.2 {
		t.Errorf("sixteen times as many points have an error that is %.2f times smaller, expected 4", ratio)
	}
}

// walk returns a trace of a walker who turns at random, at 1.4 m/s, and its released points.
func walk(r *rand.Rand, n int, seconds, epsilon float64) (truth []Position, points []Point) {
	at, course := Position{}, 0.0
	for i := range n {
		truth = append(truth, at)
		x, y := noisy(r, at.X, at.Y, epsilon)
		points = append(points, Point{seconds * float64(i), x, y, epsilon})
		course += 0.5 * r.NormFloat64()
		at.X += 1.4 * seconds * math.Cos(course)
		at.Y += 1.4 * seconds * math.Sin(course)
	}
	return truth, points
}

// All points of a trace say more than those up to one, and these more than a report.
func TestWalks(t *testing.T) {
	const epsilon = math.Ln10 / 100 / 30
	r := random()
	var reported, last, all float64
	n := 0.0
	for range 100 {
		truth, points := walk(r, 30, 60, epsilon)
		positions := Course(points)
		for i, x := range truth {
			reported += math.Hypot(points[i].X-x.X, points[i].Y-x.Y)
			all += math.Hypot(positions[i].X-x.X, positions[i].Y-x.Y)
			at := Last(points[:i+1])
			last += math.Hypot(at.X-x.X, at.Y-x.Y)
			n++
		}
	}
	t.Logf("mean error: reports %.0f m, from the points up to each %.0f m, from all %.0f m", reported/n, last/n, all/n)
	if all > reported/3 || last > reported*0.55 {
		t.Errorf("the estimates gain too little")
	}
}

// Points without a release are bridged; before any release nothing is known.
func TestBridges(t *testing.T) {
	nothing := Point{X: math.NaN(), Y: math.NaN(), Epsilon: 0.01}
	var points []Point
	for i, p := range []Point{nothing, {X: 0, Epsilon: 0.01}, nothing, {X: 100, Epsilon: 0.01}, nothing} {
		p.T = 60 * float64(i)
		points = append(points, p)
	}
	positions := Course(points)
	for i, p := range positions {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) || math.Abs(p.X) > 300 {
			t.Errorf("point %d is at %v", i, p)
		}
	}
	if x := positions[2].X; math.Abs(x-(positions[1].X+positions[3].X)/2) > 1e-6 {
		t.Errorf("the gap is at %v, between %v and %v", x, positions[1].X, positions[3].X)
	}
	if at := Last(points[:1]); !math.IsNaN(at.X) {
		t.Errorf("before any release: %v", at)
	}
}

func FuzzCourse(f *testing.F) {
	f.Add(1.0, 60.0, 0.01, 5.0, 1e6)
	f.Fuzz(func(t *testing.T, dt1, dt2, epsilon, x, far float64) {
		if !(dt1 >= 1e-6 && dt2 >= 1e-6 && dt1 < 1e12 && dt2 < 1e12 && epsilon >= 1e-12 && epsilon <= 9e6 && math.Abs(x) < 2e7 && math.Abs(far) < 2e7) {
			t.Skip()
		}
		points := []Point{{0, x, 0, epsilon}, {dt1, math.NaN(), math.NaN(), epsilon}, {dt1 + dt2, far, x, epsilon}}
		if !(points[2].T > points[1].T) {
			t.Skip()
		}
		for i, p := range Course(points) {
			if !(math.Abs(p.X) < 1e9 && math.Abs(p.Y) < 1e9) {
				t.Errorf("point %d is at %v", i, p)
			}
		}
	})
}

func BenchmarkCourse(b *testing.B) {
	_, points := walk(random(), 1000, 60, 0.001)
	for b.Loop() {
		Course(points)
	}
}
