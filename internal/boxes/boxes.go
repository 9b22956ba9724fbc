// Package boxes has boxes of latitudes and longitudes that everybody knows: those of countries
// and of large cities. A domain's box is public. One that was taken from secret locations, such
// as their extent, shows where the outermost of them are; one from this list shows nothing of
// them but the place that was chosen.
package boxes

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Box is the box of a place, in degrees. West exceeds East if it crosses the antimeridian.
type Box struct {
	Name                     string
	City                     bool
	South, West, North, East float64
}

// countries is written by countries.mjs.
//
//go:embed countries.csv
var countries string

// cities has boxes of some hundred kilometres around the middle of a city, rounded outward to
// 0.1 degrees.
//
//go:embed cities.csv
var cities string

// All returns the boxes, the smallest first, so that the first one that holds a place is the
// best.
var All = sync.OnceValue(func() []Box {
	all := append(parse(cities, true), parse(countries, false)...)
	slices.SortStableFunc(all, func(a, b Box) int { return cmp.Compare(a.area(), b.area()) })
	return all
})

// Find returns the box of the place with that name, in upper or lower case.
func Find(name string) (Box, bool) {
	for _, b := range All() {
		if strings.EqualFold(b.Name, name) {
			return b, true
		}
	}
	return Box{}, false
}

// area returns the box's size in square degrees, which is enough to put boxes in an order.
func (b Box) area() float64 {
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	return width * (b.North - b.South)
}

// parse parses a list. The lists are part of the program, so that an error is a mistake in it.
func parse(list string, city bool) []Box {
	rows, err := csv.NewReader(strings.NewReader(list)).ReadAll()
	if err != nil {
		panic(err)
	}
	var all []Box
	for _, row := range rows[1:] {
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i+1], 64); err != nil {
				panic(fmt.Sprintf("box of %s: %v", row[0], err))
			}
		}
		all = append(all, Box{row[0], city, v[0], v[1], v[2], v[3]})
	}
	return all
}
