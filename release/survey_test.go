package release

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Distances are those of the haversine formula, but for what is said of near locations.
func TestDistance(t *testing.T) {
	const degree = math.Pi / 180
	rapid.Check(t, func(t *rapid.T) {
		lat1, lon1 := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lon")
		size := rapid.SampledFrom([]float64{1e-5, 0.1, 1, 1.2, 10, 400}).Draw(t, "size")
		lat2 := min(max(lat1+size*rapid.Float64Range(-1, 1).Draw(t, "north"), -90), 90)
		lon2 := math.Remainder(lon1+size*rapid.Float64Range(-1, 1).Draw(t, "east"), 360)

		north, east := math.Sin((lat2-lat1)*degree/2), math.Sin((lon2-lon1)*degree/2)
		h := north*north + math.Cos(lat1*degree)*math.Cos(lat2*degree)*east*east
		want := 2 * 6371008.8 * math.Atan2(math.Sqrt(h), math.Sqrt(max(1-h, 0)))

		allowed := 1e-6 + 1e-8*want // rounding, and what Asin loses near the antipode
		if e := math.Abs(lon2-lon1) * degree; e < 0.02 {
			allowed += want*e*e/6 + 6371008.8*e*1e-8
		}
		if got := distance(lat1, lon1, lat2, lon2); !(math.Abs(got-want) <= allowed) {
			t.Fatalf("%v %v is %v m from %v %v, not %v", lat1, lon1, got, lat2, lon2, want)
		}
	})
}

func TestCosine(t *testing.T) {
	for x := -math.Pi / 2; x <= math.Pi/2; x += 1e-4 {
		if got := cosine(x); !(math.Abs(got-math.Cos(x)) < 1e-8) {
			t.Errorf("the cosine of %v is not %v", x, got)
		}
	}
}
