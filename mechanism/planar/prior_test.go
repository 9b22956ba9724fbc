package planar

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func priorDomain(t testing.TB) *Domain {
	t.Helper()
	d, err := NewDomain("city", 48.80, 2.22, 48.91, 2.48, 10)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// randomPrior returns a prior of n places within 200 steps of the middle.
func randomPrior(t testing.TB, r *rand.Rand, n int) *Prior {
	t.Helper()
	d := priorDomain(t)
	b := NewPriorBuilder(d)
	for range n {
		lat, lon := d.Location(Cell{r.Int64N(400) - 200, r.Int64N(400) - 200})
		b.Add(lat, lon, math.Exp(4*r.NormFloat64()))
	}
	p, err := b.Prior()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expectedDistance returns the expected distance of a point from the true location, in steps,
// by the definition.
func expectedDistance(p *Prior, rate float64, z, guess point) float64 {
	sum, total := 0.0, 0.0
	for _, place := range p.places {
		at := point{float64(place.I), float64(place.J)}
		w := place.weight * math.Exp(-rate*at.distance(z))
		sum, total = sum+w*at.distance(guess), total+w
	}
	return sum / total
}

// The guess is as good as the best that a direct search finds.
func TestRemapIsTheBestGuess(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 3))
	for trial := range 60 {
		p := randomPrior(t, r, 1+trial)
		d := p.domain
		for _, eps := range []float64{1e-5, 0.0005, 0.002, 0.02, 1} {
			report := Cell{r.Int64N(500) - 250, r.Int64N(500) - 250}
			lat, lon := d.Location(report)
			lat, lon = p.Remap(eps, lat, lon)
			x, y := d.position(lat, lon)
			rate := eps * d.step / (1 + d.kappa)
			z := point{float64(report.I), float64(report.J)}
			got := expectedDistance(p, rate, z, point{x, y})
			best := math.Inf(1)
			for _, place := range p.places {
				best = min(best, expectedDistance(p, rate, z, point{float64(place.I), float64(place.J)}))
			}
			at := point{x, y}
			for size := 128.0; size > 0.1; size /= 2 { // from the guess downhill, in all directions
				for angle := range 16 {
					sin, cos := math.Sincos(float64(angle) * math.Pi / 8)
					next := point{at.x + size*cos, at.y + size*sin}
					if e := expectedDistance(p, rate, z, next); e < best {
						best, at = e, next
					}
				}
			}
			if got > best+0.75 { // it is rounded to the lattice, and so is its printed form
				t.Fatalf("trial %d, epsilon %v: the guess is off by %v steps, and %v is possible", trial, eps, got, best)
			}
		}
	}
}

// Noise that is small beside the distances leaves the nearest place, and a huge one leaves the
// median of the prior.
func TestRemapLimits(t *testing.T) {
	d := priorDomain(t)
	b := NewPriorBuilder(d)
	for _, place := range []weighted{{Cell{0, 0}, 3}, {Cell{100, 0}, 1}, {Cell{0, 100}, 1}} {
		lat, lon := d.Location(place.Cell)
		b.Add(lat, lon, place.weight)
	}
	p, err := b.Prior()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		eps        float64
		from, want Cell
	}{{1, Cell{90, 5}, Cell{100, 0}}, {1, Cell{0, 60}, Cell{0, 100}}, {1e-6, Cell{90, 5}, Cell{}}, {1e-6, Cell{5000, 5000}, Cell{}}} {
		lat, lon := d.Location(c.from)
		if got := d.Cell(p.Remap(c.eps, lat, lon)); got != c.want {
			t.Errorf("epsilon %v from %v: %v, want %v", c.eps, c.from, got, c.want)
		}
	}
}

// The order of places does not matter, and places with one lattice point add up.
func TestPriorOfAnyOrder(t *testing.T) {
	d := priorDomain(t)
	var forms [][]byte
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}} {
		b := NewPriorBuilder(d)
		for _, i := range order {
			lat, lon := d.Location(Cell{int64(i % 3), 0})
			b.Add(lat, lon, []float64{0.1, 0.2, 0.3, 1e17}[i])
		}
		p, err := b.Prior()
		if err != nil || p.Len() != 3 {
			t.Fatal(p, err)
		}
		form, _ := p.AppendBinary(nil)
		forms = append(forms, form)
	}
	if !bytes.Equal(forms[0], forms[1]) {
		t.Error("the order matters")
	}
}

func TestPriorRefuses(t *testing.T) {
	d := priorDomain(t)
	if _, err := NewPriorBuilder(d).Prior(); err == nil {
		t.Error("a prior of no place")
	}
	b := NewPriorBuilder(d)
	b.Add(48.85, 2.3, math.MaxFloat64)
	b.Add(48.86, 2.3, math.MaxFloat64)
	if _, err := b.Prior(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

// A prior comes back from its binary form, and nothing else is one.
func TestPriorBinary(t *testing.T) {
	p := randomPrior(t, rand.New(rand.NewPCG(1, 1)), 50)
	data, _ := p.AppendBinary(nil)
	resolve := func(string) (*Domain, error) { return p.domain, nil }
	again, err := ParsePrior(data, resolve)
	if err != nil || again.Len() != p.Len() || again.places[7] != p.places[7] {
		t.Fatal(again, err)
	}
	for n := range data {
		if _, err := ParsePrior(data[:n], resolve); err == nil {
			t.Errorf("the first %d bytes are a prior", n)
		}
	}
	if _, err := ParsePrior(append(bytes.Clone(data), 0), resolve); err == nil {
		t.Error("a byte more is a prior")
	}
}

func FuzzParsePrior(f *testing.F) {
	p := randomPrior(f, rand.New(rand.NewPCG(2, 2)), 3)
	data, _ := p.AppendBinary(nil)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParsePrior(data, func(string) (*Domain, error) { return p.domain, nil })
		if err != nil {
			return
		}
		if again, _ := got.AppendBinary(nil); !bytes.Equal(again, data) {
			t.Errorf("%x parses, and is written as %x", data, again)
		}
		got.Remap(0.001, 48.85, 2.3)
	})
}
