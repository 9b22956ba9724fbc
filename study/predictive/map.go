package predictive

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// mapSize is the side of a map.
const mapSize = 16 * vg.Centimeter

// Map draws an example as SVG, as figure 6 of the paper does: the original track,
// the query points, and the reports, the larger the more often the same one was
// made. A thin line leads from each query point to its report.
func Map(e Example) (io.WriterTo, error) {
	p := newPlot()
	p.Title.Text = "A trace, its query points and what was reported"
	p.X.Label.Text, p.Y.Label.Text = "km to the east", "km to the north"
	p.Add(plotter.NewGrid())
	origin := e.Track.Fixes[0]
	queries, reports := flat(origin, e.Queries), flat(origin, e.Reports)
	if err := addLine(p, "original", flat(origin, e.Track.Fixes), red); err != nil {
		return nil, err
	}
	for k := range queries {
		if err := addLine(p, "", plotter.XYs{queries[k], reports[k]}, grey); err != nil {
			return nil, err
		}
	}
	if err := addDiscs(p, "reported", reports, yellow, 4); err != nil {
		return nil, err
	}
	if err := addDiscs(p, "query point", queries, sky, 2); err != nil {
		return nil, err
	}
	canvas := vgsvg.New(mapSize, mapSize)
	area := draw.Crop(draw.New(canvas), panelGap, -panelGap, panelGap, -panelGap)
	trueToScale(p, area)
	p.Draw(area)
	return canvas, nil
}

// flat returns fixes as kilometres to the east and north of an origin.
func flat(origin Fix, fixes []Fix) (points plotter.XYs) {
	for _, x := range fixes {
		east := distance(origin.Lat, origin.Lon, origin.Lat, x.Lon) / 1000
		north := distance(origin.Lat, origin.Lon, x.Lat, origin.Lon) / 1000
		points = append(points, plotter.XY{
			X: math.Copysign(east, math.Remainder(x.Lon-origin.Lon, 360)),
			Y: math.Copysign(north, x.Lat-origin.Lat),
		})
	}
	return points
}

// addLine adds a line, and its name, unless empty, to the legend.
func addLine(p *plot.Plot, name string, points plotter.XYs, c color.Color) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = c, 0.5
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}

// addDiscs adds a disc with a rim for each place, of the given radius where there
// is one point, and larger where there are more.
func addDiscs(p *plot.Plot, name string, points plotter.XYs, c color.Color, radius vg.Length) error {
	var places plotter.XYs
	times := map[plotter.XY]float64{}
	for _, x := range points {
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
		p.Add(discs)
		legend = append(legend, discs)
	}
	p.Legend.Add(name, legend...)
	return nil
}

// trueToScale widens the axes of a plot until a kilometre is as long on both, and
// leaves a margin.
func trueToScale(p *plot.Plot, canvas draw.Canvas) {
	const margin = 1.1
	data := p.DataCanvas(canvas)
	width, height := float64(data.Max.X-data.Min.X), float64(data.Max.Y-data.Min.Y)
	scale := margin * max((p.X.Max-p.X.Min)/width, (p.Y.Max-p.Y.Min)/height)
	p.X.Min, p.X.Max = around(p.X.Min, p.X.Max, scale*width)
	p.Y.Min, p.Y.Max = around(p.Y.Min, p.Y.Max, scale*height)
}

// around returns the interval of some length with the middle of another one.
func around(lo, hi, length float64) (newLo, newHi float64) {
	middle := lo + (hi-lo)/2
	return middle - length/2, middle + length/2
}
