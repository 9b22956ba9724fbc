package main

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// recoveredDensity draws 12,000 people of a made-up town, the points that they have released, and the population that
// geoind_density recovers from these. The people and the noise are the same in every run.
func recoveredDensity() (string, error) {
	const (
		cell  = 250.0
		panel = 230.0
	)
	domain, err := planar.NewDomain("town", 47.34, 8.49, 47.412, 8.596, 1)
	if err != nil {
		return "", err
	}
	noise, err := domain.Laplace(big.NewRat(69315, 10_000_000)) // ln 4 within 200 m
	if err != nil {
		return "", err
	}
	plane, err := density.NewPlane(noise, cell)
	if err != nil {
		return "", err
	}
	grid, err := domain.Grid(cell)
	if err != nil {
		return "", err
	}
	columns, rows := grid.Size()
	maps := [3][]float64{make([]float64, columns*rows), make([]float64, columns*rows)}
	points := map[int]int64{}
	people, source := rand.New(rand.NewPCG(1, 2)), exact.NewSource(rand.NewChaCha8([32]byte{3}))
	for range 12_000 {
		lat, lon := townsman(people)
		maps[0][grid.Cell(lat, lon)]++
		lat, lon = noise.Draw(source, lat, lon)
		maps[1][grid.Cell(lat, lon)]++
		points[plane.Bin(lat, lon)]++
	}
	population, err := plane.Population(context.Background(), points)
	if err != nil {
		return "", err
	}
	population.Each(2*cell, func(_, _, n float64) { maps[2] = append(maps[2], n) })

	side := panel / float64(columns)
	height := side * float64(rows)
	c := newCanvas(3*panel+40, int(height)+76, "Where people are, the points that they release, and the population that is recovered from these")
	for i, name := range []string{"the people, a secret", "their released points", "recovered from the points"} {
		var squares []square
		for at, n := range maps[i] {
			squares = append(squares, square{int64(at) % columns, int64(at) / columns, 1, n})
		}
		c.shaded(10+float64(i)*(panel+10), panel, name, columns, rows, squares)
	}
	c.legend(height+50, "people or points in 250 m x 250 m, at least")
	return c.done(), nil
}

// A square has its south-west corner and its side in cells, and a number that a shade stands for.
type square struct {
	column, row, side int64
	n                 float64
}

// shaded draws a map of squares.
func (c *canvas) shaded(left, width float64, name string, columns, rows int64, squares []square) {
	c.text(left+width/2, 22, "middle", ink, name)
	fmt.Fprintf(c, `<g transform="translate(%.1f 34) scale(%.3f)" shape-rendering="crispEdges"><path d="M0 0h%dv%dH0z" fill="%s"/>`+"\n", left, width/float64(columns), columns, rows, ground)
	for class, shade := range shades {
		var path strings.Builder
		for _, s := range squares {
			if s.n >= shade.least && (class == len(shades)-1 || s.n < shades[class+1].least) {
				fmt.Fprintf(&path, "M%d %dh%dv%[3]dh-%[3]dz", s.column, rows-s.row-s.side, s.side)
			}
		}
		fmt.Fprintf(c, `<path d="%s" fill="%s"/>`+"\n", path.String(), shade.colour)
	}
	c.WriteString("</g>\n")
}

// legend draws the shades from a height on.
func (c *canvas) legend(top float64, unit string) {
	at := 10.0
	for _, shade := range shades {
		fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="20" height="14" fill="%s"/>`+"\n", at, top, shade.colour)
		c.text(at+26, top+12, "start", faint, plain(shade.least))
		at += 70
	}
	c.text(at, top+12, "start", faint, unit)
}

// shades are the colours of counts.
var shades = []struct {
	least  float64
	colour string
}{{3, "#d3e3f1"}, {10, "#9cc0de"}, {30, "#5b94c4"}, {100, "#1a5a93"}, {300, "#0b2f52"}}

// townsman returns where somebody lives: around the station, at the university, along the lake, or anywhere.
func townsman(r *rand.Rand) (lat, lon float64) {
	about := func(middle, reach float64) float64 { return middle + reach*(r.Float64()+r.Float64()-1) }
	switch n := r.IntN(10); {
	case n < 4:
		return about(47.378, 0.006), about(8.540, 0.008)
	case n < 6:
		return about(47.398, 0.003), about(8.518, 0.004)
	case n < 8:
		along := r.Float64()
		return about(47.365-0.015*along, 0.0015), about(8.545+0.03*along, 0.002)
	}
	return 47.34 + 0.072*r.Float64(), 8.49 + 0.106*r.Float64()
}
