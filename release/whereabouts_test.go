package release

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// lines is a data set of locations of one account each.
func lines(locations ...string) string {
	var b strings.Builder
	b.WriteString("user,lat,lon\n")
	for i, l := range locations {
		fmt.Fprintf(&b, "u%d,%s\n", i, l)
	}
	return b.String()
}

// times is a location n times.
func times(n int, location string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = location
	}
	return all
}

// Coordinates that cannot be meant stop the release before anybody is charged, and the error
// names the likely mistake, in one line and with counts alone. The same settings but for the
// mistake then have the same id.
func TestMistakenCoordinates(t *testing.T) {
	mixed := append(times(98, "48.85,2.35"), times(2, "48.85,-2.35")...)
	for _, c := range []struct {
		name, text string
		change     func(*Spec)
		want       string
	}{
		{"swapped", lines(times(30, "2.35,48.85")...), nil,
			"30 of 30 locations (100 %) lie outside the box, and --outside allows 1 %; of these, 30 would lie in the box with latitude and longitude swapped: are --lat and --lon swapped, or is --domain"},
		{"swapped flags", lines(times(30, "48.85,2.35")...), func(s *Spec) { s.Lat, s.Lon = s.Lon, s.Lat }, "latitude and longitude swapped"},
		{"swapped box", lines(times(30, "48.85,2.35")...), func(s *Spec) { s.Box = Box{South: 2.22, West: 48.8, North: 2.48, East: 48.91} }, "is --domain not SOUTH,WEST,NORTH,EAST,STEP?"},
		{"swapped, some of elsewhere", lines(append(times(20, "2.35,48.85"), times(80, "10,10")...)...), nil, "of these, 20 would lie in the box with latitude and longitude swapped"},
		{"sign of longitude", lines(times(30, "48.85,-2.35")...), nil, "of these, 30 would lie in the box with the other sign of the longitude: west is negative"},
		{"some signs", lines(mixed...), nil, "2 of 100 locations (2 %) lie outside the box, and --outside allows 1 %; of these, 2 would lie in the box with the other sign of the longitude"},
		{"sign of latitude", lines(times(30, "-48.85,2.35")...), nil, "the other sign of the latitude: south is negative"},
		{"both signs", lines(times(30, "-48.85,-2.35")...), nil, "with the other signs"},
		{"wrong box", lines(times(30, "40.7,-74")...), nil, "of these, 30 farther from the box than it is large: is --domain SOUTH,WEST,NORTH,EAST,STEP the right box?"},
		{"small box", lines(append(times(5, "48.95,2.35"), times(5, "48.85,2.35")...)...), nil, "the box is too small for the data: 5 lie north; nothing was charged"},
		{"stray ones", lines(append(times(5, "40.7,-74"), times(95, "48.85,2.35")...)...), nil, "leave out rows that are not about the area"},
		{"null island", lines(append(times(5, "0,0"), times(95, "48.85,2.35")...)...), nil, "of these, 5 at 0, 0, which often stands for no location: make them NULL"},
		{"projected", lines(times(30, "5411932.6,448251.7")...), nil,
			"in.csv: line 2, column lat: 5411932.6 is beyond 90 degrees (30 locations are beyond 90 or 180 degrees); of these, 30 with numbers too large for degrees, such as metres of a map projection: convert them to degrees of WGS 84 (EPSG:4326)"},
		{"projected, kilometres", lines(times(30, "5411.9,448.3")...), nil, "such as metres of a map projection"},
		{"projected, set aside", lines(times(30, "5411932.6,448251.7")...), func(s *Spec) { s.Rejects = s.Out + ".rejects.csv" }, "metres of a map projection"},
		{"degrees and minutes", lines(times(30, "4851.2,221.3")...), nil, "of these, 30 would lie in the box if read as degrees and minutes (4851.2 for 48° 51.2′): convert them to decimal degrees"},
		{"0 to 360", lines(times(30, "48.85,357.65")...), func(s *Spec) { s.Box = Box{South: 48.8, West: -2.48, North: 48.91, East: -2.22} }, "with 360 less in the longitude: longitudes go from -180 to 180"},
		{"swapped beyond 90", lines(times(30, "116.31,39.98")...), func(s *Spec) { s.Box = Box{South: 39.4, West: 115.4, North: 41.1, East: 117.6} }, "of these, 30 would lie in the box with latitude and longitude swapped"},
		{"second pair", "user,lat,lon,wlat,wlon\nana,48.85,2.35,2.35,48.85\n", func(s *Spec) { s.Lat, s.Lon = append(s.Lat, "wlat"), append(s.Lon, "wlon") },
			"1 of 2 locations (50 %) lie outside the box, and --outside allows 1 %; 1 of 1 in wlat and wlon; of these, 1 would lie in the box with latitude and longitude swapped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), c.text)
			l := openLedger(t, dir)
			s := newSpec(dir)
			s.ID, s.Outside = "spring", DefaultOutside
			if c.change != nil {
				c.change(&s)
			}
			_, err := attempt(s, defaultSizes, l)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			wantFolder(t, dir, "in.csv")
			for b, err := range ledger.AllBalances(l) {
				t.Errorf("the ledger has %+v, %v", b, err)
			}
			f, err := dryRun(s, l)
			if err != nil || f.Refused == nil || !strings.Contains(f.Refused.Error(), c.want) {
				t.Errorf("the dry run says %v, %v", f, err)
			}
			good := newSpec(dir)
			good.ID, good.Outside = "spring", 1
			write(t, good.In, lines(times(30, "48.85,2.35")...))
			_, err = attempt(good, defaultSizes, l)
			check(t, err)
		})
	}
}

// The share is of the locations alone, and one that is just allowed is allowed.
func TestOutsideAllowed(t *testing.T) {
	text := lines(append(times(1, ",2.35"), append(times(1, "48.85,2.6"), times(99, "48.85,2.35")...)...)...)
	for allowed, want := range map[float64]bool{0: false, 0.0099: false, 0.01: true, 0.5: true, 1: true} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), text)
		s := newSpec(dir)
		s.Outside = allowed
		_, err := attempt(s, small, openLedger(t, dir))
		var outside *OutsideError
		if got := err == nil; got != want || !want && (!errors.As(err, &outside) || outside.Outside != 1 || outside.Locations != 100) {
			t.Errorf("%v: got %v", allowed, err)
		}
	}
}

// A release that was charged before the check was there, or with another share, goes on with
// a share that allows it, under the same id.
func TestOutsideContinues(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), strings.ReplaceAll(manyPeople(500), "2.35", "2.6"))
	l := openLedger(t, dir)
	enough := errors.New("enough")
	s := newSpec(dir)
	s.Outside = 1
	ctx, cancel := withCause(t)
	s.Progress = func(p Progress) {
		if p.Stage == Charging && p.Done >= 40 {
			cancel(enough)
		}
	}
	if _, err := (&run{spec: &s, sizes: small, ledger: l}).run(ctx); err != enough {
		t.Fatal(err)
	}
	s.Progress, s.Outside = nil, DefaultOutside
	charged := len(spent(t, l))
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("an earlier attempt has charged %d accounts, which will not be charged again: repeat the command with --id ", charged)) {
		t.Errorf("got %v", err)
	}
	s.Outside = 1
	sum, err := attempt(s, small, l)
	check(t, err)
	if all := spent(t, l); len(all) != 500 || all["u000"] != cost || sum.Already != int64(charged) || sum.Outside != 500 {
		t.Errorf("%d spent, %+v", len(all), sum)
	}
}

// A release that is sealed and only lacks its name gets it, wherever its locations are.
func TestOutsideSealed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), lines(times(30, "48.85,2.6")...))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Outside = 1
	sealWithoutName(t, s, l)
	s.Outside = 0
	if f, err := DryRun(t.Context(), s, l); err != nil || f.Refused != nil || !f.Complete {
		t.Errorf("the dry run says %+v, %v", f, err)
	}
	sum, err := attempt(s, defaultSizes, l)
	check(t, err)
	if sum.Finished == nil {
		t.Error("it was drawn again")
	}
}

// Every location is counted once, in the direction in which the domain says that it is
// outside, and in the shares that workers count.
func TestSurveyor(t *testing.T) {
	boxes := []Box{city, {South: -10, West: 170, North: 10, East: -170}, {South: 60, West: -60, North: 90, East: 60}}
	rapid.Check(t, func(t *rapid.T) {
		box := rapid.SampledFrom(boxes).Draw(t, "box")
		d, err := planar.NewDomain("d", box.South, box.West, box.North, box.East, 100)
		check(t, err)
		a, b := newSurveyor(d, box, true), newSurveyor(d, box, true)
		var outside int64
		n := rapid.IntRange(0, 20).Draw(t, "n")
		for i := range n {
			lat := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{box.South, box.North, 0})).Draw(t, "lat")
			lon := rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{box.West, box.East, 0, 180, -180})).Draw(t, "lon")
			if d.Outside(lat, lon) {
				outside++
			}
			[]*surveyor{a, b}[i%2].add(lat, lon)
		}
		a.merge(b)
		if a.valid.total() != int64(n) || a.valid.outside() != outside || a.sketch.grid.Total() != int64(n)-outside {
			t.Fatalf("%d of %d outside, counted %+v", outside, n, a.valid)
		}
		if w := a.whereabouts("lat", "lon"); (w.Cause == "") != (outside == 0) {
			t.Fatalf("%d outside, cause %q", outside, w.Cause)
		}
	})
}

func TestDirections(t *testing.T) {
	d, err := planar.NewDomain("d", city.South, city.West, city.North, city.East, 10)
	check(t, err)
	for want, at := range map[string][2]float64{
		"south-west": {48, 2}, "south": {48, 2.3}, "south-east": {48, 3}, "west": {48.85, 2}, "inside": {48.85, 2.35},
		"east": {48.85, 3}, "north-west": {49, 2}, "north": {49, 2.3}, "north-east": {49, 3},
	} {
		s := newSurveyor(d, city, false)
		s.add(at[0], at[1])
		for dir, n := range s.valid.sides {
			if (n == 1) != (Direction(dir).String() == want) {
				t.Errorf("%v: %d in the %v, want %s", at, n, Direction(dir), want)
			}
		}
	}
}

func TestFromMinutes(t *testing.T) {
	for x, want := range map[float64]float64{4851.2: 48 + 51.2/60, -7400.6: -74.01, 0: 0, 12: 0.2} {
		if got := fromMinutes(x); got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
	if got := fromMinutes(4860); got == got {
		t.Errorf("60 minutes: %v", got)
	}
}
