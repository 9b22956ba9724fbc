package audit

import (
	"context"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/audit/host"
	"github.com/geosql/geosql/mechanism/cip"
)

// The attack on cip_trace draws the points that are not secret from the process that the policy names. 16,000 draws tell
// their covariances to within 6 %, but for a probability below 1e-6.
func TestGuessedPointsHaveTheirLaw(t *testing.T) {
	policy, err := cip.ParsePolicy(cipPolicy("singles"))
	if err != nil {
		t.Fatal(err)
	}
	covariances, err := policy.Covariances(t.Context(), cipTimes)
	if err != nil {
		t.Fatal(err)
	}
	given := func(i, j int) float64 {
		return covariances.At(i, j) - covariances.At(i, 1)*covariances.At(1, j)/covariances.At(1, 1)
	}
	a := &placed{attack: guessed()}
	d, err := host.Library{}.Create(context.Background(), t.TempDir(), processes.setup([]*placed{a}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const draws = 16000
	var sum [4][4]float64
	points := "max(lat) FILTER (WHERE t = 0), max(lat) FILTER (WHERE t = 120), max(lon) FILTER (WHERE t = 0), max(lon) FILTER (WHERE t = 120)"
	mean := 40 - 24.99*latitude*covariances.At(0, 1)/covariances.At(1, 1)
	err = s.Query(context.Background(), a.queryFor(points, 0, trials{0, draws}), func(row []any) error {
		var metres [4]float64
		for i := range metres {
			if x := row[i].(float64); i < 2 {
				metres[i] = (x - mean) / latitude
			} else {
				metres[i] = (x - 116.35) / latitude / 1.3003
			}
		}
		for i, x := range metres {
			for j, y := range metres {
				sum[i][j] += x * y / draws
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	v, c := given(0, 0), given(0, 2)
	for i, want := range [4][4]float64{{v, c, 0, 0}, {c, v, 0, 0}, {0, 0, v, c}, {0, 0, c, v}} {
		for j := range want {
			if math.Abs(sum[i][j]-want[j]) > 0.06*v {
				t.Errorf("covariance %d, %d is %v, want %v", i, j, sum[i][j], want[j])
			}
		}
	}
}
