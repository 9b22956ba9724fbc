package meters

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

const second = 1_000_000 // microseconds

func universe(t testing.TB, lo, hi, step float64) *scalar.Universe {
	t.Helper()
	u, err := scalar.NewUniverse("test", lo, hi, step, "W")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// brief are settings of signatures of two reports, ten seconds apart.
func brief(t testing.TB, epsilons ...float64) Settings {
	t.Helper()
	return Settings{
		Universe: universe(t, 0, 4, 1), Epsilons: epsilons, Repeat: 1,
		Window: 20 * time.Second, Period: 10 * time.Second, Windows: 100,
	}
}

// newStudy returns a study that draws from a fixed stream, by one worker.
func newStudy(t testing.TB, s Settings) *Study {
	t.Helper()
	study, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	study.Sources = []*exact.Source{exact.NewSource(rand.NewChaCha8([32]byte{'m', 'e', 't', 'e', 'r'}))}
	return study
}

// meter returns one that is read every ten seconds.
func meter(name string, values ...float64) (m Meter) {
	m.Name = name
	for k, v := range values {
		m.Readings = append(m.Readings, Reading{int64(k) * 10 * second, v})
	}
	return m
}

// law returns the probabilities of the releases 0..last of x, from the definition of
// the truncated geometric mechanism (thesis, figure 4.2 iv), for a rate per step.
func law(rate float64, x, last int) (p []float64) {
	q := math.Exp(-rate)
	for y := range last + 1 {
		mass := math.Pow(q, math.Abs(float64(y-x))) / (1 + q)
		if 0 < y && y < last {
			mass *= 1 - q
		}
		p = append(p, mass)
	}
	return p
}

// falseAlarm is the probability that one of the statistical checks here fails
// although all is well.
const falseAlarm = 1e-8

// hoeffding returns how far the mean of n independent numbers from an interval of some
// width strays from its expectation, but with probability falseAlarm.
func hoeffding(width float64, n int) float64 {
	return width * math.Sqrt(math.Log(2/falseAlarm)/float64(2*n))
}
