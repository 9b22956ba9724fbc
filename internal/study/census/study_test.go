package census

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// The counts of known releases: every home is 9 miles further north.
func TestCounts(t *testing.T) {
	commutes := []Commute{
		{downtown, downtown, 1},
		{downtown.north(2), downtown, 20},
		{downtown, downtown.north(2), 300},
		{downtown.north(20), downtown, 4000},
		{downtown, downtown.north(55), 50_000},
	}
	settings := []Setting{{2, 1}, {3, 4}}
	study := newStudy(t, newDomain(t, 1), settings, commutes...)
	study.releasing(always(func(home Place) Place { return home.north(9) }))
	original, released := []int64{321, 4000, 0, 50_000}, []int64{301, 20, 54_000, 0} // 7 to 46 miles
	rows := rowsOf(t, study)
	if len(rows) != len(settings)*len(Buckets) {
		t.Fatalf("%d rows", len(rows))
	}
	for k, r := range rows {
		b := k % len(Buckets)
		want := Row{Setting: settings[k/len(Buckets)], Bucket: Buckets[b], Original: original[b], Released: released[b], ShareError: float64(released[b]-original[b]) / 54_321}
		if r != want {
			t.Errorf("%+v, not %+v", r, want)
		}
	}
}

// Homes are released, once for each job, and workplaces are not.
func TestHomesAreReleased(t *testing.T) {
	home, work := downtown.north(3), downtown.north(20)
	var lock sync.Mutex
	released := map[Place]int64{}
	study := newStudy(t, newDomain(t, 1), []Setting{{2, 1}}, Commute{home, work, 3}, Commute{downtown, work, 2}, Commute{work, home, 0})
	study.releasing(always(func(p Place) Place {
		lock.Lock()
		defer lock.Unlock()
		released[p]++
		return p
	}))
	rowsOf(t, study)
	if len(released) != 2 || released[home] != 3 || released[downtown] != 2 {
		t.Errorf("%v", released)
	}
}

// No job is lost or counted twice, whatever the workers do, and homes that stay where
// they are change nothing.
func TestJobsAreKept(t *testing.T) {
	d := newDomain(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) Place {
			return Place{rapid.Float64Range(41.5, 43.5).Draw(t, "lat"), rapid.Float64Range(-84.5, -82).Draw(t, "lon")}
		})
		some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Commute {
			return Commute{place.Draw(t, "home"), place.Draw(t, "work"), rapid.Int64Range(0, 3).Draw(t, "jobs")}
		}), 1, 20).Draw(t, "commutes")
		commutes := slices.Repeat(some, rapid.IntRange(1, 100).Draw(t, "times"))
		var jobs int64
		for _, c := range commutes {
			jobs += c.Jobs
		}
		if jobs == 0 {
			return
		}
		for name, stay := range map[string]bool{"stay": true, "move": false} {
			study, err := New(d, []Setting{{math.Ln2, 1.22}}, commutes)
			if err != nil {
				t.Fatal(err)
			}
			if stay {
				study.releasing(always(func(p Place) Place { return p }))
			}
			var original, released int64
			if err := study.Run(context.Background(), func(r Row) error {
				original, released = original+r.Original, released+r.Released
				if stay && (r.Original != r.Released || r.ShareError != 0) {
					t.Errorf("%+v", r)
				}
				return nil
			}); err != nil || original != jobs || released != jobs {
				t.Errorf("%s: %d jobs, then %d, then %d (%v)", name, jobs, original, released, err)
			}
		}
	})
}

// Distances are along the ellipsoid: a mile is 1609.344 of its metres.
func TestOriginalDistances(t *testing.T) {
	for _, c := range []struct {
		miles float64
		want  histogram
	}{{9.99, histogram{1}}, {10.01, histogram{0, 1}}, {24.99, histogram{0, 1}}, {25.01, histogram{0, 0, 1}}, {50.01, histogram{0, 0, 0, 1}}} {
		east := Place{downtown.Lat, downtown.Lon + 0.1}
		perDegree := planar.Distance(downtown.Lat, downtown.Lon, east.Lat, east.Lon) / 0.1
		east.Lon = downtown.Lon + c.miles*MetresPerMile/perDegree
		if got := newStudy(t, newDomain(t, 1), Published, Commute{downtown, east, 1}).original; got != c.want {
			t.Errorf("%v miles: %v", c.miles, got)
		}
	}
}

func TestNewErrors(t *testing.T) {
	d := newDomain(t, 1)
	for _, c := range []struct {
		settings []Setting
		commutes []Commute
		text     string
	}{
		{Published, nil, "there are no jobs"},
		{Published, []Commute{{downtown, downtown, 0}}, "there are no jobs"},
		{[]Setting{{0, 1}}, []Commute{{downtown, downtown, 1}}, "level must be above 0, not 0"},
	} {
		if _, err := New(d, c.settings, c.commutes); err == nil || err.Error() != c.text {
			t.Errorf("%v, not %s", err, c.text)
		}
	}
}

// All settings that are accepted can be drawn from.
func TestExtremeSettings(t *testing.T) {
	extremes := []Setting{
		{700, 0.001}, {1e-16, 1e-11}, {0.7, 1e5}, {700, 1e8}, {math.MaxFloat64, 1e303}, {math.SmallestNonzeroFloat64, 1e-320},
	}
	for _, r := range rowsOf(t, newStudy(t, newDomain(t, 1), extremes, Commute{downtown, downtown, 10})) {
		if r.Level == 700 && r.Radius < 1 && r.Bucket == "0-10" && r.Released != 10 {
			t.Errorf("%+v", r)
		}
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	study := newStudy(t, newDomain(t, 1), Published, Commute{downtown, downtown, 1 << 40}) // days
	mechanism, drawn := endingAt(10, cancel)
	study.releasing(mechanism)
	if err := study.Run(ctx, func(r Row) error {
		t.Errorf("%+v", r)
		return nil
	}); !errors.Is(err, errEnough) || *drawn != 10 {
		t.Errorf("%v after %d draws", err, *drawn)
	}

	study = newStudy(t, newDomain(t, 1), Published, Commute{downtown, downtown, 1})
	calls := 0
	err := study.Run(t.Context(), func(Row) error { calls++; return errEnough })
	if !errors.Is(err, errEnough) || calls != 1 {
		t.Errorf("%v after %d rows", err, calls)
	}
}

func TestProgress(t *testing.T) {
	commutes := slices.Repeat([]Commute{{downtown, downtown, 1}}, 2*partSize+1)
	study := newStudy(t, newDomain(t, 1), Published, commutes...)
	last := 0
	study.Progress = func(done, total int) {
		if done != last+1 || total != 3*len(Published) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	rowsOf(t, study)
	if last != 3*len(Published) {
		t.Errorf("%d", last)
	}
}
