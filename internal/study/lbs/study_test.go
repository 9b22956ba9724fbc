package lbs

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/internal/study/studytest"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// city is the domain of these tests, 33 km across.
func city(t *testing.T) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("city", 48.75, 2.2, 49.05, 2.65, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var notreDame = Place{48.853, 2.35}

// north returns the point so many metres to the north.
func (p Place) north(metres float64) Place {
	const metresPerDegree = 111_209.0 // at 48.9 degrees
	return Place{p.Lat + metres/metresPerDegree, p.Lon}
}

func newStudy(t *testing.T, s Settings, pois, users []Place) *Study {
	t.Helper()
	study, err := New(city(t), s, pois, users)
	if err != nil {
		t.Fatal(err)
	}
	return study
}

func rowsOf(t *testing.T, s *Study) []Row {
	t.Helper()
	return studytest.Rows(t, s.Run)
}

// reporting makes a study use another mechanism, at epsilon per metre.
func (s *Study) reporting(m func(epsilon float64) studytest.Drawer) {
	s.mechanism = func(_ *planar.Domain, epsilon float64) (noise.Drawer, error) { return m(epsilon), nil }
}

// far reports the place so many metres to the north.
func far(metres float64) func(float64) studytest.Drawer {
	return func(float64) studytest.Drawer {
		return func(_ *exact.Source, lat, lon float64) (float64, float64) {
			z := Place{lat, lon}.north(metres)
			return z.Lat, z.Lon
		}
	}
}

// The counts of known reports: users look for places up to 300 m to
// the north of them, and 100 and 200 m to the south; the areas of retrieval reach 861 m
// (ln 4 and 0.9) or 984 m.
func TestCounts(t *testing.T) {
	var pois []Place
	for _, metres := range []float64{-400, -310, -200, -100, 0, 290, 310, 900, 1270, 1290} {
		pois = append(pois, notreDame.north(metres))
	}
	s := published()
	s.Levels, s.Confidences, s.Reports = []float64{math.Log(4)}, []float64{0.9, 0.95}, 7
	type counts struct{ contained, found, fetched float64 }
	for _, c := range []struct {
		metres     float64
		at90, at95 counts
	}{
		{0, counts{1, 1, 7}, counts{1, 1, 8}},
		{560, counts{1, 1, 8}, counts{1, 1, 10}},     // 300 + 560 <= 861
		{563, counts{0, 1, 8}, counts{1, 1, 10}},     // no place lies so far to the south
		{700, counts{0, 0.75, 7}, counts{0, 1, 8}},   // -200 is lost
		{900, counts{0, 0.25, 5}, counts{0, 0.5, 6}}, // and -100, and with 0.9 also 0
	} {
		study := newStudy(t, s, pois, []Place{notreDame})
		study.reporting(far(c.metres))
		for _, r := range rowsOf(t, study) {
			want := c.at90
			if r.Confidence == 0.95 {
				want = c.at95
			}
			if got := (counts{r.Contained.Share, r.Found, r.Fetched}); got != want {
				t.Errorf("%v m to the north, %v m: %+v, not %+v", c.metres, r.Metres, got, want)
			}
			if r.Reports != 7 || r.Interest != 4 || r.Overhead != r.Fetched/4 || math.Abs(r.ExtraKB-0.84*(r.Fetched-4)) > 1e-9 {
				t.Errorf("%+v", r)
			}
		}
	}
}

// Rows come by level, confidence and radius. A radius of the lattice is greater by the part of the lattice and the
// frame.
func TestRows(t *testing.T) {
	rows := rowsOf(t, newStudy(t, published(), []Place{notreDame}, []Place{notreDame}))
	s := published()
	k := 0
	for _, level := range s.Levels {
		for _, c := range s.Confidences {
			for _, name := range []string{Continuous, Lattice} {
				r := rows[k]
				if r.Level != level || r.Epsilon != level/200 || r.Confidence != c || r.Radius != name {
					t.Errorf("row %d is %+v", k, r)
				}
				if math.Abs(r.AreaRatio*90000-r.Metres*r.Metres) > 1e-6 || r.Reports != 1 {
					t.Errorf("%+v", r)
				}
				k++
			}
			if more := rows[k-1].Metres - rows[k-2].Metres; !(0.7 < more && more < 0.8) {
				t.Errorf("the lattice adds %v m", more)
			}
		}
	}
	if k != len(rows) {
		t.Errorf("%d rows", len(rows))
	}
}

// trials is how many reports tests of the law draw, at each level.
const trials = 300_000

// miss is the probability with which each interval of these tests misses the true value. There are fewer than 100 of
// them: a false alarm has a probability below 1e-9.
const miss = 1e-11

// law measures a mechanism with users all over the city and returns its faults: the
// promised confidence is not kept, or the continuous law does not hold. The lattice
// changes the latter by less than 1e-5 (step 1 m, noise of 200 m and more), rounded and
// in a frame that is true to 1e-5; the intervals are 1e-3 wide or more.
func law(t *testing.T, m func(epsilon float64) studytest.Drawer) (broken, other bool) {
	t.Helper()
	s := published()
	s.Confidences = []float64{0.1, 0.5, 0.9, 0.95, 0.99}
	users := Grid(city(t), 1000)
	s.Reports = trials / len(users)
	study := newStudy(t, s, users[:1], users)
	if m != nil {
		study.reporting(m)
	}
	for _, r := range rowsOf(t, study) {
		hits := int64(math.Round(r.Contained.Share * float64(r.Reports)))
		low, high := interval(hits, r.Reports, miss)
		broken = broken || r.Radius == Lattice && high < r.Confidence
		other = other || r.Radius == Continuous && !(low <= r.Confidence+1e-5 && high >= r.Confidence-1e-5)
	}
	return broken, other
}

func TestPromiseIsKept(t *testing.T) {
	if broken, other := law(t, nil); broken || other {
		t.Errorf("the confidence is not kept: %v; another law: %v", broken, other)
	}
}

// Mechanisms that are wrong are found out.
func TestWrongMechanisms(t *testing.T) {
	d := city(t)
	mechanism := func(epsilon float64) *planar.Laplace {
		l, err := noise.Laplace(d, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		return l.(*planar.Laplace)
	}
	for _, c := range []struct {
		name          string
		breaks        bool // the promised confidence
		mechanismWith func(epsilon float64) studytest.Drawer
	}{
		{"97 % of epsilon", true, func(epsilon float64) studytest.Drawer { return mechanism(0.97 * epsilon).Draw }},
		{"more epsilon than asked for", false, func(epsilon float64) studytest.Drawer { return mechanism(1.03 * epsilon).Draw }},
		// Noise of equal degrees to the east and to the north.
		{"degrees", false, func(epsilon float64) studytest.Drawer {
			m := mechanism(epsilon)
			return func(src *exact.Source, lat, lon float64) (float64, float64) {
				zlat, zlon := m.Draw(src, lat, lon)
				return zlat, lon + (zlon-lon)*math.Cos(lat*radiansPerDegree)
			}
		}},
		// A reader of the polar form who forgets the factor r of the density.
		{"exponential length", false, func(epsilon float64) studytest.Drawer {
			m := mechanism(epsilon)
			return func(src *exact.Source, lat, lon float64) (float64, float64) {
				zlat, zlon := m.Draw(src, lat, lon)
				share := float64(src.Uint32()) / (1 << 32) // of two exponential lengths, one
				return lat + (zlat-lat)*share, lon + (zlon-lon)*share
			}
		}},
		// Noise that is drawn again beyond the 0.98 quantile.
		{"no tail", false, func(epsilon float64) studytest.Drawer {
			m := mechanism(epsilon)
			furthest, err := planar.LaplaceLaw.Plane(epsilon).Radius(0.98)
			if err != nil {
				t.Fatal(err)
			}
			return func(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
				for {
					zlat, zlon = m.Draw(src, lat, lon)
					if planar.Distance(lat, lon, zlat, zlon) < furthest {
						return zlat, zlon
					}
				}
			}
		}},
	} {
		broken, other := law(t, c.mechanismWith)
		if broken != c.breaks || !other {
			t.Errorf("%s: the confidence is broken: %v; another law: %v", c.name, broken, other)
		}
	}
}

// Where places are spread evenly, the overhead is the ratio of the areas. 100,000
// places lie on a lattice of 50 m, the users anywhere within a cell of it.
func TestOverheadOfEvenlySpreadPlaces(t *testing.T) {
	const step, width = 50, 320
	d, err := planar.NewDomain("places", 48.75, 2.2, 49.05, 2.65, step)
	if err != nil {
		t.Fatal(err)
	}
	var pois, users []Place
	add := func(to *[]Place, lat, lon float64) { *to = append(*to, Place{lat, lon}) }
	for i := range int64(width) {
		for j := range int64(width) {
			lat, lon := d.Location(planar.Cell{I: i - width/2, J: j - width/2})
			add(&pois, lat, lon)
		}
	}
	fine := city(t)
	for i := range int64(10) {
		for j := range int64(10) {
			lat, lon := fine.Location(planar.Cell{I: step/10*i + 2, J: step/10*j + 3})
			add(&users, lat, lon)
		}
	}
	s := published()
	s.Levels, s.Confidences, s.Reports = []float64{math.Log(4), math.Log(6)}, []float64{0.9, 0.95}, 20
	for _, r := range rowsOf(t, newStudy(t, s, pois, users)) {
		// Users see 113.1 places on average: the lattice of the users takes the
		// place of an integral. A disc of 700 m or more has a count that is off by
		// 1.5 %, at a mean of 2000 reports by 0.1 %, and its noise less than five
		// times that (Hoeffding, 1e-9).
		if math.Abs(r.Interest-math.Pi*300*300/(step*step)) > 0.5 || math.Abs(r.Overhead/r.AreaRatio-1) > 0.005 {
			t.Errorf("%+v", r)
		}
	}
}

// Users with nothing around them.
func TestNothingOfInterest(t *testing.T) {
	s := published()
	for _, r := range rowsOf(t, newStudy(t, s, []Place{{0, 0}}, []Place{notreDame})) {
		if !math.IsNaN(r.Found) || !math.IsNaN(r.Overhead) || r.Interest != 0 || r.Fetched != 0 || r.ExtraKB != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestNewErrors(t *testing.T) {
	some := []Place{notreDame}
	if _, err := New(city(t), Settings{}, some, some); err == nil {
		t.Error("no settings")
	}
	if _, err := New(city(t), published(), nil, some); err == nil {
		t.Error("no points of interest")
	}
	if _, err := New(city(t), published(), some, nil); err == nil {
		t.Error("no users")
	}
	study := newStudy(t, published(), some, some)
	study.mechanism = func(*planar.Domain, float64) (noise.Drawer, error) { return nil, errors.New("none") }
	if err := study.Run(t.Context(), func(Row) error { return nil }); err == nil {
		t.Error("no mechanism")
	}
}

// The greatest and the least noise that is accepted keep the promise too: all areas of
// retrieval but of a share below 1e-13 hold the area of interest.
func TestExtremeLevels(t *testing.T) {
	for _, level := range []float64{1000, 1e-9} {
		s := published()
		s.PrivacyRadius, s.Levels, s.Confidences, s.Reports = 1, []float64{level}, []float64{1 - 1e-13}, 100
		for _, r := range rowsOf(t, newStudy(t, s, []Place{notreDame}, []Place{notreDame})) {
			if r.Radius == Lattice && r.Contained.Share != 1 {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestRunEnds(t *testing.T) {
	cause := errors.New("enough")
	s := published()
	s.Reports = 1_000_000_000 // of a single user: hours
	ctx, cancel := context.WithCancelCause(t.Context())
	study := newStudy(t, s, []Place{notreDame}, []Place{notreDame})
	drawn := 0
	study.reporting(func(float64) studytest.Drawer {
		return func(_ *exact.Source, lat, lon float64) (float64, float64) {
			if drawn++; drawn == 10 {
				cancel(cause)
			}
			return lat, lon
		}
	})
	row := func(r Row) error {
		t.Errorf("%+v", r)
		return nil
	}
	if err := study.Run(ctx, row); !errors.Is(err, cause) || drawn != 10 {
		t.Errorf("%v after %d reports", err, drawn)
	}

	study = newStudy(t, published(), []Place{notreDame}, []Place{notreDame})
	calls := 0
	err := study.Run(t.Context(), func(Row) error { calls++; return cause })
	if !errors.Is(err, cause) || calls != 1 {
		t.Errorf("%v after %d rows", err, calls)
	}
}

func TestProgress(t *testing.T) {
	users := Grid(city(t), 10)
	study := newStudy(t, published(), users, users)
	last := 0
	study.Progress = func(done, total int) {
		if done != last+1 || total != 3*len(users) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	rowsOf(t, study)
	if last != 3*len(users) {
		t.Errorf("%d", last)
	}
}

// The quartiles are those of single users. Users without points of interest are left out.
func TestUserOverheads(t *testing.T) {
	s := published()
	s.Levels, s.Confidences, s.Reports = []float64{math.Ln2}, []float64{0.9}, 3
	other, lonely := notreDame.north(10_000), notreDame.north(-10_000)
	study := newStudy(t, s, []Place{notreDame, notreDame.north(400), other, lonely.north(400)}, []Place{notreDame, other, lonely})
	study.reporting(far(0))
	for _, r := range rowsOf(t, study) {
		if r.UserOverheads != (stats.Quartiles{Low: 1, High: 2}) || r.Overhead != 2 {
			t.Errorf("%s: %+v, %v", r.Radius, r.UserOverheads, r.Overhead)
		}
	}
}
