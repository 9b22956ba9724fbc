package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// readColumns reads a file and calls row for each of its rows with the cells of some
// columns, in the order of these, and the line where the row begins. A column is the
// first of the names it may have. Cells are valid only during the call.
func readColumns(ctx context.Context, path string, columns [][]string, row func(line int, cells []string) error) error {
	file, err := openCSV(path)
	if err != nil {
		return err
	}
	defer file.close()
	at, err := findColumns(file, columns)
	if err != nil {
		return err
	}
	picked := make([]string, len(at))
	_, err = file.each(ctx, "reading", func(cells []string) error {
		for k, column := range at {
			picked[k] = cells[column]
		}
		line, _ := file.reader.FieldPos(0)
		if err := row(line, picked); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		return nil
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

// findColumns returns where columns are in a file.
func findColumns(file *csvFile, columns [][]string) (at []int, err error) {
	for _, names := range columns {
		known := slices.IndexFunc(names, func(name string) bool { return slices.Contains(file.names, name) })
		if known < 0 {
			return nil, fmt.Errorf("%s has no column %s: it has %s", file.path, strings.Join(names, " or "), strings.Join(file.names, ", "))
		}
		at = append(at, slices.Index(file.names, names[known]))
	}
	return at, nil
}

// readPOIs reads points of interest, of which there must be some, from the columns of
// their latitude and longitude.
func readPOIs[P ~struct{ Lat, Lon float64 }](ctx context.Context, path string, columns []string) (pois []P, err error) {
	err = readColumns(ctx, path, named(columns), func(_ int, cells []string) error {
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
