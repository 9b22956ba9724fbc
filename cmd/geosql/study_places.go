package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/geosql/geosql/study/optimal"
	"github.com/geosql/geosql/study/track"
)

// placeFlags are those that name the places to measure on.
type placeFlags struct {
	path    string
	columns []string // lat, lon, weight; in the plane x, y, weight
	unit    string   // of distances, losses, and epsilon is per unit
	plane   bool
}

// unitMetres are the units of length that there are.
var unitMetres = map[string]float64{"m": 1, "km": 1000}

func (f *placeFlags) register(fs *flag.FlagSet) {
	*f = placeFlags{columns: []string{"lat", "lon", "weight"}, unit: "km"}
	fs.StringVar(&f.path, "places", "", "")
	fs.StringVar(&f.unit, "unit", f.unit, "")
	boolFlag(fs, "plane", func() { f.plane = true })
	wordsFlag(fs, "columns", &f.columns)
}

func (f *placeFlags) check() error {
	switch {
	case f.path == "":
		return usageError("study: no file of places given: -places FILE")
	case len(f.columns) != 3:
		return usageError("study: -columns names lat,lon,weight, or with -plane x,y,weight")
	case unitMetres[f.unit] == 0:
		return usageError("study: -unit must be m or km, not " + f.unit)
	}
	return nil
}

// checkOptimal refuses what an optimal mechanism cannot be made with.
func (f *placeFlags) checkOptimal(s *optimal.Settings) error {
	if s.Epsilon <= 0 {
		return usageError("study: -epsilon must be given, above 0, per " + f.unit)
	}
	if err := s.Check(); err != nil {
		return usageError("study: " + err.Error())
	}
	return nil
}

// A placeRow is a row of a file of places.
type placeRow struct {
	line  int
	place optimal.Place // X is the longitude and Y the latitude, unless in the plane
	more  []string      // cells of further columns, valid until the next row
}

// each reads the places, and further columns.
func (f *placeFlags) each(ctx context.Context, further []string, do func(placeRow) error) error {
	file, err := openCSV(f.path)
	if err != nil {
		return err
	}
	defer file.close()
	var first, second, weight int
	if err := findColumns(file, f.columns, []*int{&first, &second, &weight}); err != nil {
		return err
	}
	at := make([]int, len(further))
	targets := make([]*int, len(further))
	for k := range at {
		targets[k] = &at[k]
	}
	if err := findColumns(file, further, targets); err != nil {
		return err
	}
	r := placeRow{more: make([]string, len(further))}
	_, err = file.each(ctx, "reading", func(cells []string) (err error) {
		r.line, _ = file.reader.FieldPos(0)
		if r.place, err = f.place(cells[first], cells[second], cells[weight]); err != nil {
			return inLine(file, err)
		}
		for k, column := range at {
			r.more[k] = cells[column]
		}
		if err := do(r); err != nil {
			return inLine(file, err)
		}
		return nil
	})
	return err
}

// place reads latitude and longitude, or in the plane x and y, and a weight.
func (f *placeFlags) place(first, second, weight string) (p optimal.Place, err error) {
	if !f.plane {
		p.Y, p.X, err = location(first, second)
	} else if p.X, err = number(first); err == nil {
		p.Y, err = number(second)
	}
	if err == nil {
		p.Weight, err = number(weight)
	}
	if err == nil && p.Weight <= 0 {
		err = fmt.Errorf("the weight must be above 0, not %v: leave the place out, or add a little to every weight", p.Weight)
	}
	return p, err
}

// A placeList holds places, none of them twice.
type placeList struct {
	places []optimal.Place
	lines  map[[2]float64]int // where they stand
}

func (l *placeList) add(r placeRow) error {
	key := [2]float64{r.place.X, r.place.Y}
	if line := l.lines[key]; line > 0 {
		return fmt.Errorf("the place of line %d again", line)
	}
	if l.lines == nil {
		l.lines = map[[2]float64]int{}
	}
	l.lines[key] = r.line
	l.places = append(l.places, r.place)
	return nil
}

// study projects places and lays out a study of them.
func (f *placeFlags) study(s optimal.Settings, places []optimal.Place) (*optimal.Study, error) {
	if err := f.project(places); err != nil {
		return nil, err
	}
	return optimal.New(s, places)
}

// projectionStep, in metres, is what projected places are rounded to.
const projectionStep = 0.001

// project turns longitudes and latitudes into units to the east and to the north, in
// a domain around the places. In the plane there is nothing to do.
func (f *placeFlags) project(places []optimal.Place) error {
	if f.plane || len(places) == 0 {
		return nil
	}
	var all track.Track
	for _, p := range places {
		all.Fixes = append(all.Fixes, track.Fix{Lat: p.Y, Lon: p.X})
	}
	box := around([]track.Track{all})
	box[4] = projectionStep
	d, err := newDomain(box)
	if err != nil {
		return fmt.Errorf("around the places, %w", err)
	}
	step := projectionStep / unitMetres[f.unit]
	for k, p := range places {
		c := d.Cell(p.Y, p.X)
		places[k].X, places[k].Y = float64(c.I)*step, float64(c.J)*step
	}
	return nil
}
