package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// The layout of a map, in a picture of width 480, which the page scales.
const (
	mapTop      = 8.
	mapWide     = 480.
	mapTall     = 4. / 3 // greatest height of a map, as a multiple of the room for its width
	letter      = 6.4    // width of a letter of a label, which may be less
	classes     = 5      // number of classes of counts, each with a colour
	swatch      = 64.    // width of a colour in the key
	shortestBar = 26.    // shortest bar of the scale; the longest is 2.5 times as long
	barRight    = 474.   // leaves room for the longest bar beside the key
)

// A mapPicture is a map as the template draws it.
type mapPicture struct {
	ID, Title, Summary    string
	Left, Top             float64
	Width, Rise           float64         // of the map
	Cells                 [classes]string // for each colour, the outlines of its squares
	CellWidth, CellHeight float64
	Lats, Lons            []tick
	Key                   []tick  // the counts that the colours start from
	Swatch                float64 // width of a colour in the key
	Bar                   float64 // length of the scale
	BarRight              float64
	BarLabel              string
	Square                string // the sides of a square
}

// Vertical positions below the map.
func (m mapPicture) Foot() float64     { return m.Top + m.Rise }
func (m mapPicture) LonsAt() float64   { return m.Foot() + 18 }
func (m mapPicture) KeyTitle() float64 { return m.Foot() + 41 }
func (m mapPicture) KeyTop() float64   { return m.Foot() + 48 }
func (m mapPicture) BarFoot() float64  { return m.Foot() + 66 }
func (m mapPicture) KeyFoot() float64  { return m.Foot() + 72 }
func (m mapPicture) Height() float64   { return m.Foot() + 80 }

// LatsAt returns the position at which the labels of latitudes end.
func (m mapPicture) LatsAt() float64 { return m.Left - 8 }

// newMap draws a grid. Each colour starts at one of the given counts.
func newMap(id, title string, g *Grid, starts [classes]int64) mapPicture {
	m := mapPicture{ID: id, Title: title, Top: mapTop, Swatch: swatch, BarRight: barRight}
	m.fit(g, 84, 436) // room for labels of five decimals
	for range 2 {     // a larger map may have longer labels
		m.setTicks(g)
		m.fit(g, math.Ceil(letter*longest(m.Lats))+13, math.Floor(mapWide-letter/2*longest(m.Lons))-3)
	}
	m.Cells = g.paths(starts)
	m.CellWidth, m.CellHeight = m.Width/float64(g.columns), m.Rise/float64(g.rows)
	m.setTicks(g)
	m.setScale(g)
	for i, n := range starts {
		m.Key = append(m.Key, tick{At: m.Left + swatch*float64(i), Label: count(n)})
	}
	m.Summary = fmt.Sprintf("%s locations in %s of %s squares, at most %s in one.",
		count(g.Total()), count(g.occupied()), count(int64(len(g.counts))), count(g.highest()))
	return m
}

// fit gives the map the shape of the grid, in the room between two positions.
func (m *mapPicture) fit(g *Grid, left, right float64) {
	room := right - left
	m.Left, m.Rise = left, math.Round(min(room/g.aspect(), room*mapTall))
	m.Width = min(room, math.Round(m.Rise*g.aspect()))
}

// longest returns the number of letters of the longest label.
func longest(ticks []tick) (n float64) {
	for _, t := range ticks {
		n = max(n, float64(utf8.RuneCountInString(t.Label)))
	}
	return n
}

// setTicks sets the marks of the latitudes and the longitudes.
func (m *mapPicture) setTicks(g *Grid) {
	m.Lats, m.Lons = nil, nil
	step := tickStep(g.height, max(2, int(m.Rise/70)))
	for _, lat := range multiples(g.box.South, g.box.North, step) {
		at := m.Top + m.Rise*(g.box.North-lat)/g.height
		m.Lats = append(m.Lats, tick{At: at, Label: angle(lat, decimals(step), "N", "S")})
	}
	step = tickStep(g.width, max(1, int(m.Width/85)))
	for _, lon := range multiples(g.box.West, g.box.West+g.width, step) {
		at := m.Left + m.Width*(lon-g.box.West)/g.width
		if lon > 180 {
			lon -= 360
		}
		m.Lons = append(m.Lons, tick{At: at, Label: angle(lon, decimals(step), "E", "W")})
	}
}

// angle formats degrees with the letter of their hemisphere.
func angle(degrees float64, decimals int, positive, negative string) string {
	text, side := fixed(math.Abs(degrees), decimals)+"°", positive
	switch {
	case strings.Trim(text, "0.°") == "":
		return text
	case degrees < 0:
		side = negative
	}
	return text + noBreak + side
}

// exactAngle formats degrees without rounding, with the letter of their hemisphere.
func exactAngle(degrees float64, positive, negative string) string {
	if degrees < 0 {
		return plainly(-degrees) + "°" + noBreak + negative
	}
	return plainly(degrees) + "°" + noBreak + positive
}

// setScale sets the scale, which is that from west to east through the centre.
func (m *mapPicture) setScale(g *Grid) {
	width, height := g.metres()
	metres := roundUp(width/m.Width*shortestBar, 1, 2, 5)
	m.Bar = metres / width * m.Width
	m.BarLabel = exactLength(metres)
	m.Square = length(width/float64(g.columns)) + " by " + length(height/float64(g.rows))
}

// colours returns the counts at which the colours start, given the largest count. They
// are powers of a round number.
func colours(highest int64) (starts [classes]int64) {
	base := int64(2)
	for math.Pow(float64(base), classes) <= float64(highest) {
		base = int64(roundUp(float64(base)+1, 1, 2, 3, 5))
	}
	start := int64(1)
	for i := range starts {
		starts[i] = start
		start *= base
	}
	return starts
}

// paths returns for each colour the outlines of its squares, in units of squares, row by
// row from the north.
func (g *Grid) paths(starts [classes]int64) (paths [classes]string) {
	var drawn [classes]strings.Builder
	for row := range g.rows {
		counts := g.counts[(g.rows-1-row)*g.columns:][:g.columns]
		for from := 0; from < g.columns; {
			class, to := colour(counts[from], starts), from+1
			for to < g.columns && colour(counts[to], starts) == class {
				to++
			}
			if class >= 0 {
				fmt.Fprintf(&drawn[class], "M%d %dh%dv1h-%dz", from, row, to-from, to-from)
			}
			from = to
		}
	}
	for i := range paths {
		paths[i] = drawn[i].String()
	}
	return paths
}

// colour returns the class of a count, or -1 for 0.
func colour(n int64, starts [classes]int64) int {
	class := -1
	for class+1 < classes && n >= starts[class+1] {
		class++
	}
	return class
}
