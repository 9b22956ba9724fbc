package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/release/table"
)

// readColumns reads a data set and calls row for each of its rows with the cells of some
// columns, in the order of these, and what tells people where the row stands. A column is
// the first of the names it may have; NULL is the empty text. The list of cells is valid
// only during the call, and so is where.
func readColumns(ctx context.Context, path string, columns [][]string, row func(where func() string, cells []string) error) error {
	d, err := openDataSet(ctx, path)
	if err != nil {
		return err
	}
	defer d.Close()
	chosen, places, err := d.find(columns)
	if err != nil {
		return err
	}
	cells := make([]string, len(columns))
	var batch *table.Rows
	var i int
	where := func() string { return batch.Where(i) }
	_, err = d.each("reading", chosen, func(b *table.Rows, n int) error {
		batch, i = b, n
		for k, place := range places {
			text, _ := batch.Columns[place].At(i)
			cells[k] = string(text)
		}
		return row(where, cells)
	})
	return err
}

// named returns columns that have one name each.
func named(names []string) (columns [][]string) {
	for _, name := range names {
		columns = append(columns, []string{name})
	}
	return columns
}

// find returns the numbers of columns, each once, and the place of every column there.
func (d *dataSet) find(columns [][]string) (chosen, places []int, err error) {
	var all []string
	for _, f := range d.Fields() {
		all = append(all, f.Name)
	}
	for _, names := range columns {
		known := slices.IndexFunc(names, func(name string) bool { return slices.Contains(all, name) })
		if known < 0 {
			return nil, nil, fmt.Errorf("%s has no column %s: it has %s", d.path, strings.Join(names, " or "), strings.Join(all, ", "))
		}
		number := slices.Index(all, names[known])
		if !slices.Contains(chosen, number) {
			chosen = append(chosen, number)
		}
		places = append(places, slices.Index(chosen, number))
	}
	return chosen, places, nil
}

// readPOIs reads points of interest, of which there must be some, from the columns of
// their latitude and longitude.
func readPOIs[P ~struct{ Lat, Lon float64 }](ctx context.Context, path string, columns []string) (pois []P, err error) {
	err = readColumns(ctx, path, named(columns), func(_ func() string, cells []string) error {
		lat, lon, err := location(cells[0], cells[1])
		if err != nil {
			return err
		}
		pois = append(pois, P{lat, lon})
		return nil
	})
	if err == nil && pois == nil {
		err = errors.New(path + " has no points of interest")
	}
	return pois, err
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
