package main

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/optimal"
)

// placeFlags are the flags that name the places to measure on.
type placeFlags struct {
	path    string
	columns []string // lat, lon, weight; in the plane x, y, weight
	user    string   // column; empty if all rows are one user's
	unit    string   // of distances, losses, and epsilon is per unit
	plane   bool
}

// unitMetres are the known units of length, in metres.
var unitMetres = map[string]float64{"m": 1, "km": 1000}

func (f *placeFlags) register(fs *flag.FlagSet) {
	*f = placeFlags{columns: []string{"lat", "lon", "weight"}, unit: "km"}
	fs.StringVar(&f.path, "places", "", "the places: a `FILE`")
	fs.StringVar(&f.unit, "unit", f.unit, "the `UNIT` of lengths, m or km")
	cli.Switch(fs, "plane", "the columns are x, y and weight", func() { f.plane = true })
	fs.StringVar(&f.user, "user", "", "the `COLUMN` of users; otherwise all rows are of one user")
	cli.WordsVar(fs, &f.columns, "columns", "the `NAMES` of the columns")
}

func (f *placeFlags) check() error {
	switch {
	case f.path == "":
		return cli.UsageError("no file of places given: -places FILE")
	case len(f.columns) != 3:
		return cli.UsageError("-columns names lat,lon,weight, or with -plane x,y,weight")
	case unitMetres[f.unit] == 0:
		return cli.UsageError("-unit must be m or km, not " + f.unit)
	}
	return nil
}

// checkOptimal returns an error for settings that no optimal mechanism can be made with.
func (f *placeFlags) checkOptimal(s *optimal.Settings) error {
	if s.Epsilon <= 0 {
		return cli.UsageError("-epsilon must be given, above 0, per " + f.unit)
	}
	if err := s.Check(); err != nil {
		return cli.UsageError(err.Error())
	}
	return nil
}

// A placeRow is a row of a file of places.
type placeRow struct {
	place optimal.Place // X is the longitude and Y the latitude, unless in the plane
	more  []string      // cells of further columns, valid until the next row
	where func() string // returns its position in the file, until the next row
}

// each calls do with each place, and its cells in further columns.
func (f *placeFlags) each(ctx context.Context, further []string, do func(placeRow) error) error {
	return cli.ReadColumns(ctx, f.path, singleNames(slices.Concat(f.columns, further)), func(where func() string, cells []string) error {
		p, err := f.place(cells[0], cells[1], cells[2])
		if err != nil {
			return err
		}
		return do(placeRow{p, cells[3:], where})
	})
}

// place reads latitude and longitude, or in the plane x and y, and a weight.
func (f *placeFlags) place(first, second, weight string) (p optimal.Place, err error) {
	if !f.plane {
		p.Y, p.X, err = location(first, second)
	} else if p.X, err = cli.Number(first); err == nil {
		p.Y, err = cli.Number(second)
	}
	if err == nil {
		p.Weight, err = cli.Number(weight)
	}
	if err == nil && p.Weight < 0 {
		err = fmt.Errorf("the weight must be 0 or more, not %v", p.Weight)
	}
	return p, err
}

// A placeList holds places, none of them twice.
type placeList struct {
	places []optimal.Place
	where  map[[2]float64]string // position of each in its file
}

func (l *placeList) add(r placeRow) error {
	key := [2]float64{r.place.X, r.place.Y}
	if first, ok := l.where[key]; ok {
		return fmt.Errorf("the place of %s is given twice", first)
	}
	if l.where == nil {
		l.where = map[[2]float64]string{}
	}
	l.where[key] = r.where()
	l.places = append(l.places, r.place)
	return nil
}

// study projects places and returns a study of them.
func (f *placeFlags) study(s optimal.Settings, places []optimal.Place) (*optimal.Study, error) {
	if err := f.project(places); err != nil {
		return nil, err
	}
	return optimal.New(s, places)
}

// projectionStep is the step, in metres, to which projected places are rounded.
const projectionStep = 0.001

// project turns longitudes and latitudes into units to the east and to the north, in
// a domain around the places. In the plane there is nothing to do.
func (f *placeFlags) project(places []optimal.Place) error {
	if f.plane || len(places) == 0 {
		return nil
	}
	around := newExtent()
	for _, p := range places {
		around.add(p.Y, p.X)
	}
	d, err := around.domain(projectionStep)
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
