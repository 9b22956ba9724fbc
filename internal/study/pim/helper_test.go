package pim

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

const second = 1_000_000 // microseconds

// town is the domain of these tests, some 3 km across, with a step of 20 m.
func town(t *testing.T) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("town", 39.99, 116.48, 40.02, 116.52, 20)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// brief are settings with little to do.
func brief() Settings {
	return Settings{
		Epsilons: []float64{1}, Deltas: []float64{0.01}, MinSet: 1, CellMetres: 400, Period: time.Minute, Break: 10 * time.Minute,
		Traces: 10, Steps: 50, Repeat: 1, KNN: []KNN{{1, 1}, {2, 2}, {2, 5}},
	}
}

func newStudy(t *testing.T, s Settings, places []Place) *Study {
	t.Helper()
	study, err := New(town(t), s, places)
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

// walks returns a track for each of some people, who walk about in the town and are
// recorded every twenty seconds.
func walks(people, fixes int) (all []track.Track) {
	for k := range people {
		t := track.Track{User: "u" + strconv.Itoa(k), Name: "walk"}
		for j := range fixes {
			phase := float64(j) / 100
			t.Fixes = append(t.Fixes, track.Fix{
				T:   int64(j) * 20 * second,
				Lat: 40.005 + 0.008*math.Sin(phase+float64(k)), Lon: 116.5 + 0.01*math.Cos(2*phase),
			})
		}
		all = append(all, t)
	}
	return all
}

// corners are places about the town.
func corners() (places []Place) {
	for i := range 10 {
		for j := range 10 {
			places = append(places, Place{39.99 + 0.003*float64(i), 116.48 + 0.004*float64(j)})
		}
	}
	return places
}
