package accuracy

import (
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

func settings(t testing.TB, m budget.Metric, draws int, epsilons ...float64) Settings {
	t.Helper()
	u, err := scalar.NewUniverse("test", -1, 3, 0.5, "kWh")
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Universe: u, Metric: m.String(), metric: m, Epsilons: epsilons, Draws: draws}
}

func newStudy(t testing.TB, s Settings) *Study {
	t.Helper()
	study, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return study
}

// indices returns readings as sorted indices of the universe.
func indices(u *scalar.Universe, sorted ...float64) (all []int64) {
	for _, x := range sorted {
		all = append(all, u.Index(x))
	}
	return all
}

// falseAlarm is the probability that one of the statistical checks here fails
// although all is well.
const falseAlarm = 1e-9

// strays returns how far the share of an event in n draws is from its probability, but with
// probability falseAlarm (Hoeffding).
func strays(n int) float64 { return math.Sqrt(math.Log(2/falseAlarm) / float64(2*n)) }
