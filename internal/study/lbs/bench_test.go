package lbs

import (
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/mechanism/planar"
)

// BenchmarkServe draws a report of a user with 1300 places within the largest radius of
// retrieval, and counts.
func BenchmarkServe(b *testing.B) {
	d, err := planar.NewDomain("city", 48.75, 2.2, 49.05, 2.65, 1)
	if err != nil {
		b.Fatal(err)
	}
	s := published()
	s.Levels, s.Reports = []float64{math.Log(4)}, 1
	study, err := New(d, s, Grid(d, 288_000), []Place{notreDame})
	if err != nil {
		b.Fatal(err)
	}
	rows, err := study.radii(s.Levels[0])
	if err != nil {
		b.Fatal(err)
	}
	m, err := noise.Laplace(d, s.Epsilon(s.Levels[0]))
	if err != nil {
		b.Fatal(err)
	}
	c := newCounter(study, m, study.Sources[0], rows)
	ctx := b.Context()
	c.serve(ctx, notreDame) // which makes room for the places of interest
	b.ReportAllocs()
	study.settings.Reports = b.N
	b.ResetTimer()
	c.serve(ctx, notreDame)
	b.ReportMetric(float64(c.fetched[5])/float64(c.reports), "places/op")
}
