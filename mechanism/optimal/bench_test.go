package optimal_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
)

// scattered returns n places in a city of 10 km x 10 km, most of them in its centre,
// and a skewed prior.
func scattered(n int) optimal.Problem {
	r := rand.New(rand.NewSource(1)) // a public instance, the same each time
	type place struct{ x, y float64 }
	places, prior := make([]place, n), make([]float64, n)
	for i := range places {
		places[i] = place{5 + r.NormFloat64(), 5 + 2*r.NormFloat64()}
		prior[i] = math.Pow(r.Float64(), 3) + 1e-3
	}
	d := distances(n, func(i int) (x, y float64) { return places[i].x, places[i].y })
	return optimal.Problem{Prior: prior, Quality: d, Privacy: d, Epsilon: 1.07}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{50, 75, 100, 200} {
		for _, dilation := range []float64{1, 1.1} {
			b.Run(fmt.Sprintf("places=%d/dilation=%g", n, dilation), func(b *testing.B) {
				p := scattered(n)
				before := userTime(b)
				for b.Loop() {
					s, err := optimal.Solve(context.Background(), p, optimal.Options{Dilation: dilation})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(s.Step), "steps")
					b.ReportMetric(s.Loss, "km")
				}
				b.ReportMetric((userTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}

// BenchmarkThousandPlaces takes minutes. It reports the memory of the process, too.
func BenchmarkThousandPlaces(b *testing.B) {
	p := scattered(1000)
	before := userTime(b)
	for b.Loop() {
		s, err := optimal.Solve(context.Background(), p, optimal.Options{Dilation: 1.1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Step), "steps")
		b.ReportMetric(s.Loss, "km")
	}
	b.ReportMetric((userTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	var used runtime.MemStats
	runtime.ReadMemStats(&used)
	b.ReportMetric(float64(used.Sys)/1e6, "MB")
}

func BenchmarkMostPrivate(b *testing.B) {
	for _, n := range []int{50, 100} {
		c := scattered(n)
		adversaries := []struct {
			name  string
			error optimal.Matrix
		}{{"distance", c.Quality}, {"square", squares(c.Quality)}, {"wrong", wrong(c.Quality)}}
		for _, adversary := range adversaries {
			b.Run(fmt.Sprintf("places=%d/%s", n, adversary.name), func(b *testing.B) {
				p := optimal.PrivacyProblem{Prior: c.Prior, Quality: c.Quality, Adversary: adversary.error, Loss: 0.9}
				for b.Loop() {
					if _, err := optimal.MostPrivate(context.Background(), p, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	p := scattered(50)
	s, err := optimal.Solve(context.Background(), p, optimal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := optimal.New(p.Epsilon, p.Privacy, s.Matrix); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	p := scattered(50)
	m, err := optimal.New(p.Epsilon, p.Privacy, optimal.Exponential(p.Epsilon, p.Privacy))
	if err != nil {
		b.Fatal(err)
	}
	src := exact.NewSource(nil)
	b.ReportAllocs()
	for b.Loop() {
		m.Draw(src, 7)
	}
}
