package release

import (
	"fmt"
	"math"
	"strings"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release/internal/report"
)

// How many locations lie outside the box, and where, is a fact about secrets. It is shown to
// the user who runs the release, who has the raw data. It never goes into published files: no
// field of [report.Public] may hold it. One bit gets out all the same: a release that exists
// had at most a share of [Spec.Outside] outside. With a share of 1, nothing does.

// DefaultOutside is the share of locations outside the box up to which the command releases
// a data set, unless it is told another.
const DefaultOutside = 0.01

// A Direction is where a location lies, as seen from the box: south, level with it or north,
// times three, plus west, level with it or east.
type Direction uint8

// Inside is the direction of the locations in the box.
const Inside Direction = 4

const directionWest, directionEast = Inside - 1, Inside + 1

// directions is the number of directions.
const directions = 9

var directionNames = [directions]string{"south-west", "south", "south-east", "west", "inside", "east", "north-west", "north", "north-east"}

// String returns the name of the direction.
func (d Direction) String() string { return directionNames[d] }

// A tally counts where locations lie, and the faults of those outside. A tally of the
// locations with coordinates that are no degrees at all counts only faults.
type tally struct {
	sides [directions]int64
	// of those outside:
	far     int64                // farther away from the box than the box is wide or high
	fits    [len(readings)]int64 // inside in another reading
	metres  int64                // with a coordinate that is too large for degrees
	nowhere int64                // at 0, 0
}

func (t *tally) merge(other *tally) {
	for i, n := range other.sides {
		t.sides[i] += n
	}
	for i, n := range other.fits {
		t.fits[i] += n
	}
	t.far += other.far
	t.metres += other.metres
	t.nowhere += other.nowhere
}

// total returns the number of locations.
func (t *tally) total() (n int64) {
	for _, count := range t.sides {
		n += count
	}
	return n
}

// outside returns the number of locations outside the box.
func (t *tally) outside() int64 { return t.total() - t.sides[Inside] }

// A reading is another way in which the two numbers of a location may have been meant.
type reading struct {
	read func(lat, lon float64) (float64, float64)
	with string // completes "would lie in the box"
	cure string
}

// readings are the common mistakes, the commonest first.
var readings = [...]reading{
	{func(lat, lon float64) (float64, float64) { return lon, lat },
		"with latitude and longitude swapped", "are --lat and --lon swapped, or is --domain not SOUTH,WEST,NORTH,EAST,STEP?"},
	{func(lat, lon float64) (float64, float64) { return lat, -lon },
		"with the other sign of the longitude", "west is negative, in the data as in --domain"},
	{func(lat, lon float64) (float64, float64) { return -lat, lon },
		"with the other sign of the latitude", "south is negative, in the data as in --domain"},
	{func(lat, lon float64) (float64, float64) { return -lat, -lon },
		"with the other signs", "south and west are negative, in the data as in --domain"},
	{func(lat, lon float64) (float64, float64) { return lat, lon - 360 },
		"with 360 less in the longitude", "longitudes go from -180 to 180, not from 0 to 360"},
	{func(lat, lon float64) (float64, float64) { return fromMinutes(lat), fromMinutes(lon) },
		"if read as degrees and minutes (4851.2 for 48° 51.2′)", "convert them to decimal degrees"},
}

// fromMinutes converts degrees and minutes, written as one number with two digits of whole
// minutes, to degrees. It returns NaN if there are 60 minutes or more.
func fromMinutes(x float64) float64 {
	degrees, minutes := math.Trunc(x/100), math.Mod(x, 100)
	if math.Abs(minutes) >= 60 {
		return math.NaN()
	}
	return degrees + minutes/60
}

// mostDegrees is the largest number that stands for degrees anywhere.
const mostDegrees = 360

// A surveyor counts where the locations of a pair of columns lie. Each worker has one for
// each pair.
type surveyor struct {
	domain *planar.Domain
	box    Box
	width  float64 // of the box, degrees
	valid  tally
	beyond tally // of locations beyond 90 or 180 degrees, in invalid rows
	lats   grain // of the valid ones
	lons   grain

	// steps are those of the grid if the locations were seen in shards, which do not tell their
	// coordinates.
	steps *[2]int64

	sketch *sketch // shown besides by a dry run; nil in a release
}

// A sketch holds the counts of a dry run that show where the locations lie.
type sketch struct {
	grid             *report.Grid // of those in the box
	north, east      float64      // sums of degrees from the middle of the box
	outsideRegion    int64        // in the box
	middleLat, halfW float64
}

func newSurveyor(d *planar.Domain, box Box, dry bool) *surveyor {
	s := &surveyor{domain: d, box: box, width: box.East - box.West}
	if s.width < 0 { // it crosses the antimeridian
		s.width += 360
	}
	if dry {
		s.sketch = &sketch{grid: report.NewGrid(box), middleLat: (box.South + box.North) / 2, halfW: s.width / 2}
	}
	return s
}

// height returns the height of the box in degrees.
func (s *surveyor) height() float64 { return s.box.North - s.box.South }

// east returns how many degrees east of the middle of the box a longitude is: at most 180,
// so that a location outside lies to the nearer side.
func (s *surveyor) east(lon float64) float64 {
	return math.Remainder(lon-s.box.West-s.width/2, 360)
}

// add counts a valid location.
func (s *surveyor) add(lat, lon float64) {
	s.lats.add(lat)
	s.lons.add(lon)
	if s.domain.Outside(lat, lon) {
		s.addOutside(&s.valid, lat, lon)
	} else {
		s.valid.sides[Inside]++
	}
	if s.sketch != nil {
		s.draw(lat, lon)
	}
}

// addOutside counts a location outside the box.
func (s *surveyor) addOutside(t *tally, lat, lon float64) {
	east, height := s.east(lon), s.height()
	d := 3*side(lat, s.box.South, s.box.North) + side(east, -s.width/2, s.width/2)
	if d == Inside { // it is outside, but for rounding, or a longitude beyond 180 degrees
		d = directionEast
		if east < 0 {
			d = directionWest
		}
	}
	t.sides[d]++
	if math.Abs(east) > 1.5*s.width || lat < s.box.South-height || lat > s.box.North+height {
		t.far++
	}
	for i := range readings {
		if !s.domain.Outside(readings[i].read(lat, lon)) {
			t.fits[i]++
		}
	}
	if max(math.Abs(lat), math.Abs(lon)) > mostDegrees {
		t.metres++
	}
	if lat == 0 && lon == 0 {
		t.nowhere++
	}
}

// side returns 0 if x is below a range, 1 in it and 2 above.
func side(x, low, high float64) Direction {
	switch {
	case x < low:
		return 0
	case x > high:
		return 2
	}
	return 1
}

// draw adds a location to the sketch.
func (s *surveyor) draw(lat, lon float64) {
	k := s.sketch
	k.north += lat - k.middleLat
	k.east += s.east(lon)
	if s.domain.Outside(lat, lon) {
		return
	}
	k.grid.Add(lat, lon)
	if outside(s.domain, lat, lon) {
		k.outsideRegion++
	}
}

func (s *surveyor) merge(other *surveyor) {
	s.valid.merge(&other.valid)
	s.beyond.merge(&other.beyond)
	s.lats.merge(&other.lats)
	s.lons.merge(&other.lons)
	if s.sketch != nil {
		s.sketch.grid.Merge(other.sketch.grid)
		s.sketch.north += other.sketch.north
		s.sketch.east += other.sketch.east
		s.sketch.outsideRegion += other.sketch.outsideRegion
	}
}

// cause returns the likely cause of locations that are not in the box, and a cure for
// it, with counts alone: "of these, 5 would lie in the box with ..: ..".
func (t *tally) cause() string {
	out := t.outside()
	best := 0
	for i, n := range t.fits {
		if n > t.fits[best] {
			best = i
		}
	}
	switch n := t.fits[best]; {
	case out == 0:
		return ""
	case t.likely(n):
		return fmt.Sprintf("of these, %d would lie in the box %s: %s", n, readings[best].with, readings[best].cure)
	case 2*t.metres >= out:
		return fmt.Sprintf("of these, %d with numbers too large for degrees, such as metres of a map projection: convert them to degrees of WGS 84 (EPSG:4326)", t.metres)
	case 2*t.nowhere >= out:
		return fmt.Sprintf("of these, %d at 0, 0, which often stands for no location: make them NULL", t.nowhere)
	}
	return ""
}

// likely reports whether another reading, in which n of the locations outside lie in the box,
// is the likely meaning: it explains half of them, or more locations than lie in the box
// as they are.
func (t *tally) likely(n int64) bool {
	out := t.outside()
	return n > 0 && (2*n >= out || 10*n >= out && n > t.sides[Inside])
}

// boxCause returns the likely cause if the locations are right.
func (t *tally) boxCause() string {
	out := t.outside()
	switch {
	case 2*out < t.total() && 2*t.far >= out:
		return fmt.Sprintf("of these, %d farther from the box than it is large: leave out rows that are not about the area", t.far)
	case 2*t.far >= out:
		return fmt.Sprintf("of these, %d farther from the box than it is large: is --domain SOUTH,WEST,NORTH,EAST,STEP the right box?", t.far)
	}
	return "the box is too small for the data: " + t.sidesText()
}

// sidesText says how many locations lie in which direction.
func (t *tally) sidesText() string {
	var all []string
	for d, n := range t.sides {
		if n > 0 && Direction(d) != Inside {
			all = append(all, fmt.Sprintf("%d lie %s", n, Direction(d)))
		}
	}
	return strings.Join(all, ", ")
}

// An OutsideError reports that more locations lie outside the box than may.
type OutsideError struct {
	Outside, Locations int64   // of all pairs of columns
	Allowed            float64 // share
	Reason             string  // the likely cause, and a cure
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%d of %d locations (%s) lie outside the box, and --outside allows %s; %s",
		e.Outside, e.Locations, Percent(float64(e.Outside)/float64(e.Locations)), Percent(e.Allowed), e.Reason)
}

// Percent formats a share in percent, with four significant digits.
func Percent(share float64) string {
	return decimal.Format(decimal.Round(100*share, 4)) + " %"
}

// checkOutside returns an [*OutsideError] if more locations lie outside the box than the spec
// allows.
func (r *run) checkOutside() error {
	var all tally
	worst := 0
	for k, s := range r.found.surveyors {
		all.merge(&s.valid)
		if s.valid.outside() > r.found.surveyors[worst].valid.outside() {
			worst = k
		}
	}
	e := &OutsideError{Outside: all.outside(), Locations: all.total(), Allowed: r.spec.Outside}
	if float64(e.Outside) <= e.Allowed*float64(e.Locations) {
		return nil
	}
	t := &r.found.surveyors[worst].valid
	if e.Reason = t.cause(); e.Reason == "" {
		e.Reason = t.boxCause()
	}
	if len(r.found.surveyors) > 1 {
		e.Reason = fmt.Sprintf("%[3]d of %[4]d in %[1]s and %[2]s; %[5]s", printable.Text(r.spec.Lat[worst]), printable.Text(r.spec.Lon[worst]),
			t.outside(), t.total(), e.Reason)
	}
	return r.withCharged(e)
}
