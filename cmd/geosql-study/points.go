package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
)

// pointFlags are the flags that name the traces to measure on.
type pointFlags struct {
	path    string
	columns []string // user, trace (unless there are only four), t, lat, lon
}

func (f *pointFlags) register(fs *flag.FlagSet) {
	f.columns = []string{"user", "trace", "t", "lat", "lon"}
	fs.StringVar(&f.path, "points", "", "the traces: a `FILE` of points")
	cli.WordsVar(fs, &f.columns, "columns", "the `NAMES` of the columns; without a trace user,t,lat,lon")
}

func (f *pointFlags) check() error {
	switch {
	case f.path == "":
		return cli.UsageError("no file of points given: -points FILE")
	case len(f.columns) != 4 && len(f.columns) != 5:
		return cli.UsageError("-columns names user,trace,t,lat,lon, or without a trace user,t,lat,lon")
	}
	return nil
}

// A recording holds the tracks of a file of points.
type recording struct {
	path   string
	domain *planar.Domain // nil if it is not known yet
	tracks []track.Track

	fixes    int // in all tracks
	outside  int // left out because they are outside the domain
	repeated int // left out because their track has another fix at the same time
}

func newDomain(box []float64, step float64) (*planar.Domain, error) {
	return planar.NewDomain("study", box[0], box[1], box[2], box[3], step)
}

// givenDomain returns the domain of the flag -domain.
func givenDomain(flag []float64) (*planar.Domain, error) {
	d, err := newDomain(flag, flag[4])
	if err != nil {
		return nil, cli.UsageError("-domain: " + err.Error())
	}
	return d, nil
}

// An extent is the smallest box that contains some locations.
type extent struct{ south, west, north, east float64 }

// newExtent returns the extent of no locations.
func newExtent() *extent { return &extent{90, 180, -90, -180} }

func (e *extent) add(lat, lon float64) {
	e.south, e.north = min(e.south, lat), max(e.north, lat)
	e.west, e.east = min(e.west, lon), max(e.east, lon)
}

// domain returns a domain around the locations, with a margin, so that it is never flat.
func (e *extent) domain(step float64) (*planar.Domain, error) {
	const margin = 0.001
	return newDomain([]float64{
		max(e.south-margin, -90), max(e.west-margin, -180), min(e.north+margin, 90), min(e.east+margin, 180),
	}, step)
}

// setDomain sets the domain to one around the points.
func (r *recording) setDomain() (err error) {
	if r.fixes == 0 {
		return fmt.Errorf("%s has no points", r.path)
	}
	around := newExtent()
	for _, t := range r.tracks {
		for _, x := range t.Fixes {
			around.add(x.Lat, x.Lon)
		}
	}
	if r.domain, err = around.domain(1); err != nil {
		return fmt.Errorf("-domain must be given: around the points, %w", err)
	}
	return nil
}

// read reads the points in a domain, or all points if there is none. If the file has no traces,
// untraced names them.
func (f *pointFlags) read(ctx context.Context, d *planar.Domain, untraced func(track.Fix) string) (*recording, error) {
	r := &recording{path: f.path, domain: d}
	var c track.Collector
	if err := cli.ReadColumns(ctx, f.path, singleNames(f.columns), func(_ func() string, cells []string) error {
		names, rest := cells[:len(cells)-3], cells[len(cells)-3:]
		x, err := fix(rest[0], rest[1], rest[2])
		if err != nil {
			return err
		}
		if d != nil && d.Outside(x.Lat, x.Lon) {
			r.outside++
			return nil
		}
		r.fixes++
		if len(names) == 1 {
			c.Add(names[0], untraced(x), x)
		} else {
			c.Add(names[0], names[1], x)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r.tracks, r.repeated = c.Tracks()
	r.fixes -= r.repeated
	return r, nil
}

// utcDay returns the day of a fix in UTC.
func utcDay(x track.Fix) string { return time.UnixMicro(x.T).UTC().Format(time.DateOnly) }

// describe describes the recording on a terminal.
func (r *recording) describe() {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("%d traces, %d fixes; left out: %d outside the domain, %d at the time of another",
			len(r.tracks), r.fixes, r.outside, r.repeated)
	}
}

// fix reads a time and a location.
func fix(t, lat, lon string) (x track.Fix, err error) {
	if x.T, err = cli.Instant(t); err != nil {
		return x, err
	}
	x.Lat, x.Lon, err = location(lat, lon)
	return x, err
}
