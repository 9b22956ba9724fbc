package census

import (
	"math"
	"testing"
)

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
