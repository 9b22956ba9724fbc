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

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/study/track"
)

// mapSize is the side of a map.
const mapSize = 16 * vg.Centimeter

// A Map shows fixes in kilometres to the east and north of an origin, true to
// scale. Later layers lie above earlier ones.
type Map struct {
	plot   *plot.Plot
	origin track.Fix
}

// NewMap returns an empty map.
func NewMap(title string, origin track.Fix) *Map {
	p := newPlot()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "km to the east", "km to the north"
	p.Add(plotter.NewGrid())
	return &Map{p, origin}
}

// Line adds a line through fixes, and its name, unless empty, to the legend.
func (m *Map) Line(name string, fixes []track.Fix, c color.Color) error {
	line, err := plotter.NewLine(m.project(fixes))
	if err != nil {
		return err
	}
	line.Color, line.Width = c, 0.5
	m.plot.Add(line)
	if name != "" {
		m.plot.Legend.Add(name, line)
	}
	return nil
}

// Discs adds an outlined disc for each place, with the given radius for one fix, and larger
// for more.
func (m *Map) Discs(name string, fixes []track.Fix, c color.Color, radius vg.Length) error {
	var places plotter.XYs
	times := map[plotter.XY]float64{}
	for _, x := range m.project(fixes) {
		if times[x]++; times[x] == 1 {
			places = append(places, x)
		}
	}
	var legend []plot.Thumbnailer
	for _, style := range []draw.GlyphStyle{
		{Color: c, Shape: draw.CircleGlyph{}}, {Color: color.Black, Shape: draw.RingGlyph{}},
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
		legend = append(legend, discs)
	}
	m.plot.Legend.Add(name, legend...)
	return nil
}

// Draw returns the drawn layers.
func (m *Map) Draw() io.WriterTo {
	canvas := vgsvg.New(mapSize, mapSize)
	area := draw.Crop(draw.New(canvas), panelGap, -panelGap, panelGap, -panelGap)
	trueToScale(m.plot, area)
	m.plot.Draw(area)
	return canvas
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
