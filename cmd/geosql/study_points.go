package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/study/track"
)

// pointFlags are those that name the traces to measure on.
type pointFlags struct {
	path    string
	columns []string // user, trace (unless there are only four), t, lat, lon
}

func (f *pointFlags) register(fs *flag.FlagSet) {
	f.columns = []string{"user", "trace", "t", "lat", "lon"}
	fs.StringVar(&f.path, "points", "", "")
	wordsFlag(fs, "columns", &f.columns)
}

func (f *pointFlags) check() error {
	switch {
	case f.path == "":
		return usageError("study: no file of points given: -points FILE")
	case len(f.columns) != 4 && len(f.columns) != 5:
		return usageError("study: -columns names user,trace,t,lat,lon, or without a trace user,t,lat,lon")
	}
	return nil
}

// A recording is what was read from a file of points.
type recording struct {
	path   string
	domain *planar.Domain // nil: not known yet
	tracks []track.Track

	fixes    int // in all tracks
	outside  int // left out, because they are not in the domain
	repeated int // left out, because their track has another one for the same time
}

func newDomain(d [5]float64) (*planar.Domain, error) {
	return planar.NewDomain("study", d[0], d[1], d[2], d[3], d[4])
}

// around returns the smallest box that holds all fixes, but for a margin which
// keeps it from being flat, and a step of 1 m.
func around(tracks []track.Track) [5]float64 {
	const margin = 0.001
	south, west, north, east := 90.0, 180.0, -90.0, -180.0
	for _, t := range tracks {
		for _, x := range t.Fixes {
			south, north = min(south, x.Lat), max(north, x.Lat)
			west, east = min(west, x.Lon), max(east, x.Lon)
		}
	}
	return [5]float64{
		max(south-margin, -90), max(west-margin, -180), min(north+margin, 90), min(east+margin, 180), 1,
	}
}

// layDomain lays a domain around the points.
func (r *recording) layDomain() (err error) {
	if r.fixes == 0 {
		return fmt.Errorf("%s has no points", r.path)
	}
	if r.domain, err = newDomain(around(r.tracks)); err != nil {
		return fmt.Errorf("study: -domain must be given: around the points, %w", err)
	}
	return nil
}

// read reads the points of a domain, or all of them if there is none. Where the
// file has no traces, untraced names them.
func (f *pointFlags) read(ctx context.Context, d *planar.Domain, untraced func(track.Fix) string) (*recording, error) {
	file, err := openCSV(f.path)
	if err != nil {
		return nil, err
	}
	defer file.close()
	at, err := f.find(file)
	if err != nil {
		return nil, err
	}
	r := &recording{path: f.path, domain: d}
	var c track.Collector
	if _, err := file.each(ctx, "reading", func(cells []string) error {
		x, err := at.fix(cells)
		if err != nil {
			return inLine(file, err)
		}
		if d != nil && d.Outside(x.Lat, x.Lon) {
			r.outside++
			return nil
		}
		r.fixes++
		if at.trace < 0 {
			c.Add(cells[at.user], untraced(x), x)
		} else {
			c.Add(cells[at.user], cells[at.trace], x)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r.tracks, r.repeated = c.Tracks()
	r.fixes -= r.repeated
	return r, nil
}

// inLine says in which line of a file a row is wrong.
func inLine(file *csvFile, err error) error {
	line, _ := file.reader.FieldPos(0)
	return fmt.Errorf("line %d: %w", line, err)
}

// utcDay names the day of a fix.
func utcDay(x track.Fix) string { return time.UnixMicro(x.T).UTC().Format(time.DateOnly) }

// describe says on a terminal what was read.
func (r *recording) describe() {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "%d traces, %d fixes; left out: %d outside the domain, %d at the time of another\n",
			len(r.tracks), r.fixes, r.outside, r.repeated)
	}
}

// pointColumns says which cell of a row is what. trace is negative when there is
// none.
type pointColumns struct{ user, trace, t, lat, lon int }

// find finds the columns in a file.
func (f *pointFlags) find(file *csvFile) (at pointColumns, err error) {
	targets := []*int{&at.user, &at.trace, &at.t, &at.lat, &at.lon}
	if len(f.columns) < len(targets) {
		targets = slices.Delete(targets, 1, 2)
		at.trace = -1
	}
	return at, findColumns(file, f.columns, targets)
}

// findColumns sets where the columns of these names are.
func findColumns(file *csvFile, names []string, targets []*int) error {
	for k, name := range names {
		*targets[k] = slices.Index(file.names, name)
		if *targets[k] < 0 {
			return fmt.Errorf("%s has no column %s: it has %s", file.path, name, strings.Join(file.names, ", "))
		}
	}
	return nil
}

// fix reads a row.
func (at pointColumns) fix(cells []string) (x track.Fix, err error) {
	if x.T, err = instant(cells[at.t]); err != nil {
		return x, err
	}
	x.Lat, x.Lon, err = location(cells[at.lat], cells[at.lon])
	return x, err
}

// location reads a latitude and a longitude in degrees.
func location(latText, lonText string) (lat, lon float64, err error) {
	if lat, err = number(latText); err != nil {
		return 0, 0, err
	}
	if lon, err = number(lonText); err != nil {
		return 0, 0, err
	}
	if math.Abs(lat) > 90 || math.Abs(lon) > 180 {
		return 0, 0, fmt.Errorf("latitude %v, longitude %v is no location", lat, lon)
	}
	return lat, lon, nil
}

// instant reads a time, seconds since 1970 or ISO 8601 in UTC, in microseconds.
func instant(text string) (int64, error) {
	text = trimBlanks(text)
	if seconds, err := number(text); err == nil {
		if math.Abs(seconds) > 1<<40 {
			return 0, fmt.Errorf("time %s is too far from 1970", text)
		}
		return int64(math.Round(seconds * 1e6)), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%q is no time: seconds since 1970, or like 2026-03-01T12:00:00Z", text)
}
