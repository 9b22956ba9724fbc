package chart

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
)

const (
	mapWidth   = columnWidth         // at most
	mapHeight  = 110 * vg.Millimeter // at most, without title and legend
	leastShare = 0.4                 // of both, that a map has at least
)

// A Map shows fixes in kilometres to the east and north of an origin, true to
// scale. Later layers lie above earlier ones.
type Map struct {
	title  string
	plot   *plot.Plot
	legend legend
	origin track.Fix
}

// NewMap returns an empty map.
func NewMap(title string, origin track.Fix) *Map {
	p := newPlot()
	p.X.Label.Text, p.Y.Label.Text = Axis{"to the east", "km"}.label(), Axis{"to the north", "km"}.label()
	p.Add(grid())
	return &Map{title: title, plot: p, origin: origin}
}

// Line adds a line through fixes, and its name, unless empty, to the legend.
func (m *Map) Line(name string, fixes []track.Fix, s Style) error {
	line, err := plotter.NewLine(m.project(fixes))
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: s.colour, Width: curveWidth}
	m.plot.Add(line)
	if name != "" {
		m.legend = append(m.legend, legendEntry{name, []plot.Thumbnailer{line}})
	}
	return nil
}

// Discs adds an outlined disc for each place, with the given radius for one fix, and larger
// for more.
func (m *Map) Discs(name string, fixes []track.Fix, s Style, radius vg.Length) error {
	var places plotter.XYs
	times := map[plotter.XY]float64{}
	for _, x := range m.project(fixes) {
		if times[x]++; times[x] == 1 {
			places = append(places, x)
		}
	}
	var marks []plot.Thumbnailer
	for _, style := range []draw.GlyphStyle{
		{Color: s.colour, Shape: draw.CircleGlyph{}}, {Color: color.Black, Shape: draw.RingGlyph{}},
	} {
		discs, err := plotter.NewScatter(places)
		if err != nil {
			return err
		}
		discs.GlyphStyle = style
		discs.GlyphStyle.Radius = radius
		discs.GlyphStyleFunc = func(k int) draw.GlyphStyle {
			style.Radius = radius * vg.Length(math.Sqrt(times[places[k]]))
			return style
		}
		m.plot.Add(discs)
		marks = append(marks, discs)
	}
	m.legend = append(m.legend, legendEntry{name, marks})
	return nil
}

// Draw returns the drawn layers.
func (m *Map) Draw() io.WriterTo {
	width, height := m.size()
	inside := width - 2*pageMargin
	header := lineHeight + m.legend.height(inside) + legendSpace
	canvas, area := newCanvas(width, height+header+2*pageMargin)
	area = draw.Crop(area, pageMargin, -pageMargin, pageMargin, -pageMargin)
	drawTitle(area, m.title)
	m.legend.draw(draw.Crop(area, 0, 0, 0, -lineHeight))
	area = draw.Crop(area, 0, 0, 0, -header)
	trueToScale(m.plot, area)
	m.plot.Draw(area)
	return newDrawing(canvas)
}

// size returns the size of a map without its title and legend: the greatest at which the layers
// fill it.
func (m *Map) size() (width, height vg.Length) {
	inside := mapWidth - 2*pageMargin
	data := m.plot.DataCanvas(draw.Canvas{Canvas: vgsvg.New(inside, mapHeight), Rectangle: vg.Rectangle{Max: vg.Point{X: inside, Y: mapHeight}}})
	size := data.Size()
	x, y := m.plot.X.Max-m.plot.X.Min, m.plot.Y.Max-m.plot.Y.Min // not 0 after DataCanvas
	scale := max(x/float64(size.X), y/float64(size.Y))
	unused := vg.Point{
		X: min(size.X-vg.Length(x/scale), (1-leastShare)*inside),
		Y: min(size.Y-vg.Length(y/scale), (1-leastShare)*mapHeight),
	}
	least := textStyle().Width(m.title) + 2*pageMargin
	for _, e := range m.legend {
		least = max(least, e.width()+2*pageMargin)
	}
	return max(mapWidth-unused.X, least), mapHeight - unused.Y
}

// project returns fixes in kilometres to the east and north of the origin.
func (m *Map) project(fixes []track.Fix) (points plotter.XYs) {
	for _, x := range fixes {
		east := planar.Distance(m.origin.Lat, m.origin.Lon, m.origin.Lat, x.Lon) / 1000
		north := planar.Distance(m.origin.Lat, m.origin.Lon, x.Lat, m.origin.Lon) / 1000
		points = append(points, plotter.XY{
			X: math.Copysign(east, math.Remainder(x.Lon-m.origin.Lon, 360)),
			Y: math.Copysign(north, x.Lat-m.origin.Lat),
		})
	}
	return points
}

// trueToScale widens the axes of a plot until a kilometre has the same length on both, and
// leaves a margin.
func trueToScale(p *plot.Plot, canvas draw.Canvas) {
	const margin = 1.1
	data := p.DataCanvas(canvas)
	width, height := float64(data.Max.X-data.Min.X), float64(data.Max.Y-data.Min.Y)
	scale := margin * max((p.X.Max-p.X.Min)/width, (p.Y.Max-p.Y.Min)/height)
	p.X.Min, p.X.Max = around(p.X.Min, p.X.Max, scale*width)
	p.Y.Min, p.Y.Max = around(p.Y.Min, p.Y.Max, scale*height)
}

// around returns the interval of the given length with the same middle as lo to hi.
func around(lo, hi, length float64) (newLo, newHi float64) {
	middle := lo + (hi-lo)/2
	return middle - length/2, middle + length/2
}
