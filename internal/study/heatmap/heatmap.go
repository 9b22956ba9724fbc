// Package heatmap measures how far heat maps are from the truth: the number of locations in a square, as their readers add it up from
// the GeoJSON of flat maps and of adaptive ones. It imports mechanism/planar. Start at Study.
package heatmap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/mechanism/planar"
)

// Settings are the settings of a study.
type Settings struct {
	Domain    *planar.Domain
	Epsilons  []float64 // per location
	Cells     []float64 // sides of the cells of flat maps, metres
	Least     float64   // side of the least squares of adaptive maps, metres
	Sides     []float64 // of the squares that are asked for, metres
	Whole     bool      // whether these are made of whole squares of side Least, to within some metres
	Draws     int       // of each map
	Questions int       // squares of each side for each draw
}

// A Study measures heat maps. [New] returns one. It is not safe for concurrent use, and uses all processors.
type Study struct {
	parallel.Workers // Progress counts draws

	settings Settings
	least    planar.Grid
	trials   []trial
}

// A trial is a map and its settings.
type trial struct {
	heatmap        *planar.Heatmap
	kind           string
	epsilon, cellM float64
}

// A Row holds the mean of the absolute errors of a map, in locations.
type Row struct {
	Map            string // Flat or Adaptive
	CellM, Epsilon float64
	Side, Error    float64 // of the squares that were asked for
}

// Kinds of maps.
const (
	Flat     = "flat"
	Adaptive = "adaptive"
)

// A Point is a location in degrees.
type Point struct{ Lat, Lon float64 }

// New returns a study. Errors are about the settings.
func New(s Settings) (*Study, error) {
	if s.Draws < 1 || s.Questions < 1 {
		return nil, errors.New("draws and questions must be at least 1")
	}
	least, err := s.Domain.Grid(s.Least)
	if err != nil {
		return nil, err
	}
	study := &Study{Workers: parallel.NewWorkers(), settings: s, least: least}
	for _, epsilon := range s.Epsilons {
		add := func(kind string, cellM float64, of func(*big.Rat, float64) (*planar.Heatmap, error)) error {
			eps := new(big.Rat).SetFloat64(epsilon)
			if eps == nil {
				return fmt.Errorf("epsilon %v is not finite", epsilon)
			}
			h, err := of(eps, cellM)
			study.trials = append(study.trials, trial{h, kind, epsilon, cellM})
			return err
		}
		for _, cellM := range s.Cells {
			if err := add(Flat, cellM, s.Domain.Heatmap); err != nil {
				return nil, err
			}
		}
		if err := add(Adaptive, s.Least, s.Domain.AdaptiveHeatmap); err != nil {
			return nil, err
		}
	}
	return study, nil
}

// Run calls row with the results over some locations for each epsilon, map and side. It ends early with the cause of ctx, or
// with the error of row.
func (s *Study) Run(ctx context.Context, points []Point, row func(Row) error) error {
	if len(points) == 0 {
		return errors.New("there are no locations")
	}
	north := slices.SortedFunc(slices.Values(points), func(a, b Point) int { return cmp.Compare(a.Lat, b.Lat) })
	s.Begin(len(s.trials) * s.settings.Draws)
	for _, t := range s.trials {
		sums, err := s.measure(ctx, t, north)
		if err != nil {
			return err
		}
		for i, side := range s.settings.Sides {
			if err := row(Row{t.kind, t.cellM, t.epsilon, side, sums[i] / float64(s.settings.Draws*s.settings.Questions)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure returns the sums of the errors of a trial for each side.
func (s *Study) measure(ctx context.Context, t trial, points []Point) ([]float64, error) {
	errs := make([][]float64, s.settings.Draws)
	err := s.Each(ctx, len(errs), func(worker, k int) error {
		src := s.Sources[worker]
		var counts planar.CellCounts
		for _, p := range points {
			t.heatmap.Add(&counts, p.Lat, p.Lon)
		}
		released, err := read(t.heatmap.AppendGeoJSON(nil, t.heatmap.Draw(src, &counts)))
		errs[k] = make([]float64, len(s.settings.Sides))
		for i, side := range s.settings.Sides {
			for range s.settings.Questions {
				b := around(points[src.Below(uint64(len(points)))], side)
				if s.settings.Whole {
					if b, err = s.whole(b); err != nil {
						return err
					}
				}
				errs[k][i] += math.Abs(estimate(released, b) - float64(b.holds(points)))
			}
		}
		return err
	})
	sums := make([]float64, len(s.settings.Sides))
	for _, of := range errs {
		for i := range of {
			sums[i] += of[i]
		}
	}
	return sums, err
}

// A box is a rectangle of degrees.
type box struct{ south, west, north, east float64 }

// around returns the square of a side in metres around a location.
func around(p Point, side float64) box {
	const perDegree = 111_195
	lat := side / 2 / perDegree
	lon := lat / math.Cos(p.Lat*math.Pi/180)
	return box{p.Lat - lat, p.Lon - lon, p.Lat + lat, p.Lon + lon}
}

// whole returns the box from the south-west corner of the least square at the box's to that of the square at its north-east.
func (s *Study) whole(b box) (box, error) {
	text := []byte(`{"features":[`)
	text = s.least.AppendFeature(text, s.least.Cell(b.south, b.west), "0")
	text = s.least.AppendFeature(append(text, ','), s.least.Cell(b.north, b.east), "0")
	corners, err := read(append(text, "]}"...))
	if err != nil {
		return box{}, err
	}
	return box{corners[0].south, corners[0].west, corners[1].south, corners[1].west}, nil
}

// holds returns how many of some locations, from south to north, are in the box.
func (b box) holds(points []Point) (n int) {
	first, _ := slices.BinarySearchFunc(points, b.south, func(p Point, south float64) int { return cmp.Compare(p.Lat, south) })
	for _, p := range points[first:] {
		if p.Lat >= b.north {
			break
		}
		if p.Lon >= b.west && p.Lon < b.east {
			n++
		}
	}
	return n
}

// A counted box has a released number of locations.
type counted struct {
	box
	n float64
}

// read returns the squares of a heat map.
func read(text []byte) (all []counted, err error) {
	var m struct {
		Features []struct {
			Geometry   struct{ Coordinates [][][2]float64 }
			Properties struct{ Count float64 }
		}
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	for _, f := range m.Features {
		c := f.Geometry.Coordinates[0]
		all = append(all, counted{box{c[0][1], c[0][0], c[2][1], c[2][0]}, f.Properties.Count})
	}
	return all, nil
}

// estimate adds up the parts of squares in a box, in which locations are taken to be even.
func estimate(released []counted, b box) (n float64) {
	for _, s := range released {
		if s.south >= b.north || s.north <= b.south || s.west >= b.east || s.east <= b.west {
			continue
		}
		height := (min(s.north, b.north) - max(s.south, b.south)) / (s.north - s.south)
		width := (min(s.east, b.east) - max(s.west, b.west)) / (s.east - s.west)
		n += s.n * height * width
	}
	return n
}
