package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/study/predictive"
)

// A recording is what was read from a file of points.
type recording struct {
	domain *planar.Domain
	tracks []predictive.Track

	fixes    int // in all tracks
	outside  int // left out, because they are not in the domain
	repeated int // left out, because their track has another one for the same time
}

// record reads a file of points. Without a domain one is laid around them.
func record(ctx context.Context, f *studyFlags) (*recording, error) {
	r := &recording{}
	if f.domain != nil {
		var err error
		if r.domain, err = newDomain([5]float64(f.domain)); err != nil {
			return nil, usageError("study: -domain: " + err.Error())
		}
	}
	if err := r.read(ctx, f.points, f.columns); err != nil {
		return nil, err
	}
	if r.domain != nil {
		return r, nil
	}
	if r.fixes == 0 {
		return nil, fmt.Errorf("%s has no points", f.points)
	}
	var err error
	if r.domain, err = newDomain(around(r.tracks)); err != nil {
		return nil, fmt.Errorf("study: -domain must be given: around the points, %w", err)
	}
	return r, nil
}

func newDomain(d [5]float64) (*planar.Domain, error) {
	return planar.NewDomain("study", d[0], d[1], d[2], d[3], d[4])
}

// around returns the smallest box that holds all fixes, but for a margin which
// keeps it from being flat, and a step of 1 m.
func around(tracks []predictive.Track) [5]float64 {
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

// read fills in everything but the domain.
func (r *recording) read(ctx context.Context, path string, columns []string) error {
	file, err := openCSV(path)
	if err != nil {
		return err
	}
	defer file.close()
	at, err := findColumns(file, columns)
	if err != nil {
		return err
	}
	var c predictive.Collector
	if _, err := file.each(ctx, "reading", func(cells []string) error {
		x, err := at.fix(cells)
		if err != nil {
			line, _ := file.reader.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
		if r.domain != nil && r.domain.Outside(x.Lat, x.Lon) {
			r.outside++
			return nil
		}
		r.fixes++
		user, name := at.track(cells, x)
		c.Add(user, name, x)
		return nil
	}); err != nil {
		return err
	}
	r.tracks, r.repeated = c.Tracks()
	r.fixes -= r.repeated
	return nil
}

// pointColumns says which cell of a row is what. trace is negative when there is
// none: then a trace is a user's day, by UTC.
type pointColumns struct{ user, trace, t, lat, lon int }

func findColumns(file *csvFile, names []string) (at pointColumns, err error) {
	targets := []*int{&at.user, &at.trace, &at.t, &at.lat, &at.lon}
	if len(names) < len(targets) {
		targets = slices.Delete(targets, 1, 2)
		at.trace = -1
	}
	for k, name := range names {
		*targets[k] = slices.Index(file.names, name)
		if *targets[k] < 0 {
			return at, fmt.Errorf("%s has no column %s: it has %s", file.path, name, strings.Join(file.names, ", "))
		}
	}
	return at, nil
}

// track names the trace that a row belongs to.
func (at pointColumns) track(cells []string, x predictive.Fix) (user, name string) {
	if at.trace < 0 {
		return cells[at.user], time.UnixMicro(x.T).UTC().Format(time.DateOnly)
	}
	return cells[at.user], cells[at.trace]
}

// fix reads a row.
func (at pointColumns) fix(cells []string) (x predictive.Fix, err error) {
	if x.T, err = instant(cells[at.t]); err != nil {
		return x, err
	}
	if x.Lat, err = number(cells[at.lat]); err != nil {
		return x, err
	}
	if x.Lon, err = number(cells[at.lon]); err != nil {
		return x, err
	}
	if math.Abs(x.Lat) > 90 || math.Abs(x.Lon) > 180 {
		return x, fmt.Errorf("latitude %v, longitude %v is no location", x.Lat, x.Lon)
	}
	return x, nil
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
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05", time.DateTime} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%q is no time: seconds since 1970, or like 2026-03-01T12:00:00Z", text)
}
