package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Box is a named series of box plots (Tukey, Exploratory Data Analysis, 1977): the
// quartiles, and whiskers to the last values within one and a half times their distance.
type Box struct {
	Name   string
	Style  Style
	Groups [][]float64 // at 0, 1, 2, .. of the horizontal axis, none of them empty
}

// A Bar is a named series of bars, at 0, 1, 2, .. of the horizontal axis.
type Bar struct {
	Name    string
	Style   Style
	Heights []float64
}

const (
	groupShare = 0.8 // of the distance of two groups, that bars or boxes cover
	placeShare = 0.8 // of its place, that a bar or box covers
)

// addBoxes adds series of boxes to a plot, side by side in each group, and returns their legend.
// The argument width is the distance between one group and the next.
func addBoxes(p *plot.Plot, series []Box, width vg.Length) (l legend, err error) {
	place := width * groupShare / vg.Length(len(series))
	for k, b := range series {
		offset := place * (vg.Length(k) - vg.Length(len(series)-1)/2)
		for at, values := range b.Groups {
			drawn, err := plotter.NewBoxPlot(place*placeShare, float64(at), plotter.Values(values))
			if err != nil {
				return nil, err
			}
			drawn.Offset, drawn.FillColor = offset, b.Style.light()
			for _, line := range []*draw.LineStyle{&drawn.BoxStyle, &drawn.MedianStyle, &drawn.WhiskerStyle} {
				*line = draw.LineStyle{Color: color.Black, Width: axisWidth}
			}
			drawn.MedianStyle.Width = curveWidth
			drawn.GlyphStyle.Radius = cloudRadius
			p.Add(drawn)
		}
		l = append(l, legendEntry{b.Name, []plot.Thumbnailer{swatch{b.Style.light(), true}}})
	}
	return l, nil
}

// addBars adds series of bars to a plot, side by side in each group, and returns their legend.
func addBars(p *plot.Plot, series []Bar) (l legend) {
	for k, b := range series {
		p.Add(bars{b, k, len(series)})
		l = append(l, legendEntry{b.Name, []plot.Thumbnailer{swatch{b.Style.light(), true}}})
	}
	return l
}

// bars are the k-th of n series.
type bars struct {
	Bar
	k, n int
}

// Plot draws the bars.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for group, height := range b.Heights {
		left, right := b.place(group)
		bar := c
		bar.Min, bar.Max = vg.Point{X: x(left), Y: y(0)}, vg.Point{X: x(right), Y: y(height)}
		swatch{b.Style.light(), true}.Thumbnail(&bar)
	}
}

// place returns where the bar of a group begins and ends.
func (b bars) place(group int) (left, right float64) {
	width := groupShare / float64(b.n)
	left = float64(group) - groupShare/2 + width*(float64(b.k)+(1-placeShare)/2)
	return left, left + placeShare*width
}

// A swatch is a coloured rectangle.
type swatch struct {
	colour   color.Color
	outlined bool
}

// Thumbnail fills its place.
func (s swatch) Thumbnail(c *draw.Canvas) {
	r := c.Rectangle
	corners := []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}}
	c.FillPolygon(s.colour, corners)
	if s.outlined {
		c.StrokeLines(draw.LineStyle{Color: color.Black, Width: axisWidth}, append(corners, r.Min))
	}
}
