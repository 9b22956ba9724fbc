package census

import (
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// The law of rings is that of distances of drawn homes. 100,000 draws leave an error of 0.008 in all rings together, and a ring is as
// wide as a seventh of the noise.
func TestRingLaw(t *testing.T) {
	s := Published[0]
	law, err := ringLaw(s.Epsilon())
	if err != nil {
		t.Fatal(err)
	}
	m, err := noise.Laplace(newDomain(t, 10), s.Epsilon())
	if err != nil {
		t.Fatal(err)
	}
	src := exact.NewSource(nil)
	for _, miles := range []float64{0.25, 4.25, 20.25} {
		const draws = 100_000
		home, drawn := downtown.north(miles), make([]float64, rings)
		for range draws {
			lat, lon := m.Draw(src, home.Lat, home.Lon)
			drawn[ring(planar.Distance(lat, lon, downtown.Lat, downtown.Lon))] += 1. / draws
		}
		far := 0.0
		for k, p := range law[ring(miles*MetresPerMile)] {
			far += math.Abs(p-drawn[k]) / 2
		}
		if far > 0.03 {
			t.Errorf("%v miles: total variation %v", miles, far)
		}
	}
}

// Commutes of towns on a grid are recovered from noise that is as wide as they are long.
func TestRecoversCommutes(t *testing.T) {
	var places []Place
	var commutes []Commute
	for i := range 100 {
		home := Place{downtown.north(float64(i/10) * 4).Lat, downtown.Lon + float64(i%10)*0.08}
		places = append(places, home)
		commutes = append(commutes, Commute{home, downtown, int64(40_000 / (10 + i))})
	}
	study := newStudy(t, newDomain(t, 1), []Setting{{math.Ln2, 1.22}}, commutes...)
	study.Places = places
	for _, r := range rowsOf(t, study) {
		t.Logf("%s: error %.4f released, %.4f recovered", r.Bucket, r.ShareError, r.EstimateError)
		if math.Abs(r.EstimateError) > 0.02 || r.Bucket == Buckets[0] && math.Abs(r.EstimateError) > math.Abs(r.ShareError)/3 {
			t.Errorf("%+v", r)
		}
	}
}
