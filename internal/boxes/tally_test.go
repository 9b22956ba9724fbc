package boxes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A tally counts as the boxes do.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var tally Tally
	var at [][2]float64
	for range 2000 {
		lat, lon := -90+180*rng.Float64(), -180+360*rng.Float64()
		at = append(at, [2]float64{lat, lon})
		tally.Add(lat, lon)
	}
	swapped := tally.Swapped()
	for _, b := range All() {
		var in, swappedIn int
		for _, p := range at {
			if b.Holds(p[0], p[1]) {
				in++
			}
			if b.Holds(p[1], p[0]) {
				swappedIn++
			}
		}
		if got, want := tally.Share(b), float64(in)/2000; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s holds %v, want %v", b.Name, got, want)
		}
		if got, want := swapped.Share(b), float64(swappedIn)/2000; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s holds %v of the swapped ones, want %v", b.Name, got, want)
		}
	}
	if tally.Possible() != 1 || tally.Total() != 2000 {
		t.Errorf("%v of %d are possible", tally.Possible(), tally.Total())
	}
}

func TestHolding(t *testing.T) {
	var tally Tally
	if held := tally.Holding(0); held != nil || tally.Possible() != 0 {
		t.Errorf("of no location: %v", held)
	}
	for range 199 {
		tally.Add(48.8584, 2.2945)
	}
	tally.Add(45.76, 4.84) // Lyon
	held := tally.Holding(0.99)
	if len(held) < 2 || held[0].Name != "Paris" || held[0].Share != 0.995 {
		t.Fatalf("%v", held)
	}
	if held = tally.Holding(1); held[0].Name != "France" {
		t.Errorf("%v", held)
	}
	tally.Add(5_411_000, 250_000) // projected
	tally.Add(math.NaN(), 0)
	tally.Add(91, 0)
	if got := tally.Possible(); got != 200.0/203 {
		t.Errorf("%v are possible", got)
	}
}
