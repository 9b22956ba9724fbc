package planar

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// benchRates are epsilon*step of ln 4 over 200 m with a step of 1 m, and of one
// step.
var benchRates = []float64{0.00693, 1}

var sinkCell Cell

func benchLaplace(b *testing.B, rate float64) *Laplace {
	b.Helper()
	d, err := NewDomain("bench", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		b.Fatal(err)
	}
	l, err := d.Laplace(new(big.Rat).SetFloat64(rate))
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkPlanarDraw draws the noise alone, in lattice steps.
func BenchmarkPlanarDraw(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%v", rate), func(b *testing.B) {
			l := benchLaplace(b, rate)
			src := exact.NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkCell.I, sinkCell.J = l.noise.offset(src)
			}
		})
	}
}

// BenchmarkNoise makes the law of another amount for every draw.
func BenchmarkNoise(b *testing.B) {
	d := benchLaplace(b, 1).domain
	src := exact.NewSource(nil)
	b.ReportAllocs()
	for eps := budget.Amount(6_930_000_000); b.Loop(); eps++ {
		noise := d.Noise(eps)
		sinkCell = noise.Draw(src, sinkCell)
	}
}

// BenchmarkPolarTextbook draws an angle and a radius in float64 (thesis, figure
// 5.3) and rounds to the lattice: not private in its last bits, the yardstick for
// BenchmarkPlanarDraw. The radius is C^-1(p), or the sum of two exponentials.
func BenchmarkPolarTextbook(b *testing.B) {
	radii := []struct {
		name string
		draw func(src *exact.Source) float64
	}{
		{"lambert", func(src *exact.Source) float64 { return gamma2Quantile(unitFloat(src)) }},
		{"gamma", func(src *exact.Source) float64 { return -math.Log((1 - unitFloat(src)) * (1 - unitFloat(src))) }},
	}
	for _, radius := range radii {
		for _, rate := range benchRates {
			b.Run(fmt.Sprintf("%s/rate=%v", radius.name, rate), func(b *testing.B) {
				src := exact.NewSource(nil)
				b.ReportAllocs()
				for b.Loop() {
					sin, cos := math.Sincos(2 * math.Pi * unitFloat(src))
					r := radius.draw(src) / rate
					sinkCell = Cell{int64(math.Round(r * cos)), int64(math.Round(r * sin))}
				}
			})
		}
	}
}

// unitFloat is uniform on the multiples of 2^-53 in [0, 1).
func unitFloat(src *exact.Source) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }

// BenchmarkLaplaceDraw reports a location, with the projection both ways.
func BenchmarkLaplaceDraw(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%v", rate), func(b *testing.B) {
			benchDraw(b, benchLaplace(b, rate))
		})
	}
}

// BenchmarkLaplaceDrawRegion does so in a domain with a region that the noise often
// leaves.
func BenchmarkLaplaceDrawRegion(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%v", rate), func(b *testing.B) {
			l := benchLaplace(b, rate)
			restricted, err := l.domain.WithRegion(b.Context(),
				"POLYGON((116.30 39.84, 116.49 39.85, 116.48 39.97, 116.3973 39.9091, 116.30 39.84))")
			if err != nil {
				b.Fatal(err)
			}
			l.domain = restricted
			benchDraw(b, l)
		})
	}
}

func benchDraw(b *testing.B, l *Laplace) {
	src := exact.NewSource(nil)
	var sum float64
	b.ReportAllocs()
	for b.Loop() {
		lat, lon := l.Draw(src, 39.9087, 116.3975)
		sum += lat + lon
	}
	_ = sum
}

// BenchmarkWithRegion precomputes a region of some 180 km at a step of 1 m.
func BenchmarkWithRegion(b *testing.B) {
	d := benchLaplace(b, 1).domain
	for b.Loop() {
		if _, err := d.WithRegion(b.Context(), "POLYGON((115.5 39.5, 117.5 39.6, 117.3 40.9, 116.2 41, 115.5 39.5))"); err != nil {
			b.Fatal(err)
		}
	}
}

// triangles are n equilateral ones that overlap hardly ever, in a box of some 130 km, and
// the length of their boundary in metres.
func triangles(n int) (wkt string, metres float64) {
	const radius = 20
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		lat, lon, turn := 39.5+r.Float64(), 115.5+1.5*r.Float64(), 2*math.Pi*r.Float64()
		var corners [3]string
		for k := range corners {
			sin, cos := math.Sincos(turn + 2*math.Pi*float64(k)/3)
			corners[k] = fmt.Sprintf("%.7f %.7f", lon+radius*cos/85_400, lat+radius*sin/111_000)
		}
		fmt.Fprintf(&b, ", ((%s, %s, %s, %[1]s))", corners[0], corners[1], corners[2])
	}
	return "MULTIPOLYGON(" + b.String()[2:] + ")", 3 * math.Sqrt(3) * radius * float64(n)
}

// BenchmarkRegion is about a region of 20,000 triangles at a step of 1 m: declaring it, by
// step of its boundary and relative to locating a lattice point in one triangle;
// its first use where its rows are stored; and moving a point into it from anywhere
// in the box.
func BenchmarkRegion(b *testing.B) {
	d, err := NewDomain("bench", 39.4, 115.4, 40.6, 117.1, 1)
	if err != nil {
		b.Fatal(err)
	}
	wkt, steps := triangles(20_000)
	region, err := d.WithRegion(b.Context(), wkt)
	if err != nil {
		b.Fatal(err)
	}
	polygons, err := parsePolygons(wkt, 0)
	if err != nil {
		b.Fatal(err)
	}
	triangle := (&area{domain: d}).face(polygons[0][0])
	corner := d.Cell(float64(triangle.low.y)/perDegree, float64(triangle.low.x)/perDegree)

	b.Run("declare", func(b *testing.B) {
		var located time.Duration
		for b.Loop() {
			if _, err := d.WithRegion(b.Context(), wkt); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			began := time.Now()
			for k := range int64(steps) {
				sinkPosition = triangle.locate(corner.add(k%30, k/30%30))
			}
			located += time.Since(began)
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
		b.ReportMetric(b.Elapsed().Seconds()/located.Seconds(), "locations/step")
	})
	b.Run("stored", func(b *testing.B) {
		rows := region.RegionRows()
		for b.Loop() {
			if _, err := d.WithRegionRows(wkt, rows); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(rows))/float64(len(region.region.strips)), "B/strip")
	})
	b.Run("nearest", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 3))
		low, high := d.Extent()
		for b.Loop() {
			sinkCell = region.Admissible(low.add(r.Int64N(high.I-low.I), r.Int64N(high.J-low.J)))
		}
	})
}

var sinkPosition position
