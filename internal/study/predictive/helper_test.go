package predictive

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

const second = 1_000_000 // microseconds

// city is the domain of these tests, some 190 km across.
func city(t *testing.T) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("city", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// published are the settings of the paper, with little to do.
func published() Settings {
	return Settings{
		Epsilon:    math.Ln10 / 100,
		Managers:   []string{trace.FixedRate, trace.FixedUtility},
		Steps:      30,
		Alpha:      3000,
		SkipSpeeds: []float64{0, 30 / 3.6},
		Predictors: []string{trace.Parrot},
		Jumps:      []float64{0.2},
		Repeat:     1,
	}
}

func newStudy(t *testing.T, s Settings) *Study {
	t.Helper()
	study, err := New(city(t), s)
	if err != nil {
		t.Fatal(err)
	}
	return study
}

// repeatable makes a study draw from a fixed stream, by one worker.
func (s *Study) repeatable() { s.Sources = []*exact.Source{repeatableSource()} }

func repeatableSource() *exact.Source {
	return exact.NewSource(rand.NewChaCha8([32]byte{'s', 't', 'u', 'd', 'y'}))
}

// walks returns tracks of people who walk to and fro about the centre of the city,
// at 1 m/s, recorded every ten seconds.
func walks(tracks, fixes int) (all []track.Track) {
	for k := range tracks {
		t := track.Track{User: "u" + strconv.Itoa(k), Name: "walk"}
		for j := range fixes {
			phase := float64(j) / 300
			t.Fixes = append(t.Fixes, track.Fix{
				T: int64(j) * 10 * second, Lat: 40 + 0.01*math.Sin(phase), Lon: 116.5 + 0.001*float64(k) + 0.01*math.Cos(2*phase),
			})
		}
		all = append(all, t)
	}
	return all
}
