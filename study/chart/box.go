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
	Colour color.Color
	Groups [][]float64 // at 0, 1, 2, .. of the horizontal axis, none of them empty
}

// boxShare is the share of the axis, between one group and the next, that boxes cover.
const boxShare = 0.8

// addBoxes adds series of boxes to a plot, side by side in each group. The argument width is
// the distance between one group and the next.
func addBoxes(p *plot.Plot, series []Box, width vg.Length) error {
	place := width * boxShare / vg.Length(len(series))
	for k, b := range series {
		offset := place * (vg.Length(k) - vg.Length(len(series)-1)/2)
		for at, values := range b.Groups {
			drawn, err := plotter.NewBoxPlot(place*boxShare, float64(at), plotter.Values(values))
			if err != nil {
				return err
			}
			drawn.Offset, drawn.FillColor = offset, b.Colour
			drawn.WhiskerStyle.Dashes = nil
			drawn.GlyphStyle.Radius = 1.5
			p.Add(drawn)
		}
		p.Legend.Add(b.Name, swatch{b.Colour})
	}
	return nil
}

// A swatch is the mark of a series in the legend.
type swatch struct{ colour color.Color }

// Thumbnail fills its place.
func (s swatch) Thumbnail(c *draw.Canvas) {
	r := c.Rectangle
	c.FillPolygon(s.colour, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}
