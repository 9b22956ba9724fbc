package chart

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Curve is a named line through points, or points alone. One without points is left out.
type Curve struct {
	Name   string
	Colour color.Color
	Dashed bool // a baseline
	Plain  bool // without a disc at every point
	Loose  bool // without a line
	Points plotter.XYs
	Cloud  plotter.XYs // small discs that no line joins: what the points summarise
}

// A Panel is a plot of curves and boxes over one vertical scale.
type Panel struct {
	Title, X, Y string // above, and at the axes
	Left, Right float64
	Names       []string // printed at 0, 1, 2, .. of the horizontal axis; nil for numbers
	Bottom      float64  // smallest value to show
	Top         float64  // largest value to show; 0 for that of the curves and boxes
	Curves      []Curve
	Boxes       []Box // side by side
}

// legendRoom is the ratio of a panel's height to that of its data, to leave room for the
// legend.
const legendRoom = 1.6

// Top returns the largest value of the curves, at least 0.
func Top(curves []Curve) (top float64) {
	for _, c := range curves {
		for _, x := range slices.Concat(c.Points, c.Cloud) {
			top = max(top, x.Y)
		}
	}
	return top
}

func topOfBoxes(boxes []Box) (top float64) {
	for _, b := range boxes {
		for _, values := range b.Groups {
			top = max(top, slices.Max(values))
		}
	}
	return top
}

// axisShare is the approximate share of the horizontal axis in a panel's width.
const axisShare = 0.8

func (p Panel) plot() (*plot.Plot, error) {
	drawn := newPlot()
	drawn.Title.Text, drawn.X.Label.Text, drawn.Y.Label.Text = p.Title, p.X, p.Y
	if p.Names != nil {
		drawn.X.Tick.Marker = wordTicks(p.Names)
	}
	drawn.X.Min, drawn.X.Max = p.Left, p.Right
	drawn.Add(plotter.NewGrid())
	for _, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		if err := c.addTo(drawn); err != nil {
			return nil, err
		}
	}
	if err := addBoxes(drawn, p.Boxes, panelWidth*axisShare/vg.Length(p.Right-p.Left)); err != nil {
		return nil, err
	}
	top := cmp.Or(p.Top, max(Top(p.Curves), topOfBoxes(p.Boxes)), 1)
	drawn.Y.Min, drawn.Y.Max = p.Bottom, p.Bottom+(top-p.Bottom)*legendRoom
	return drawn, nil
}

func (c Curve) addTo(p *plot.Plot) error {
	line, discs, err := plotter.NewLinePoints(c.Points)
	if err != nil {
		return err
	}
	line.Color, line.Width = c.Colour, 1.5
	discs.GlyphStyle = disc(c.Colour, 2)
	if c.Cloud != nil {
		cloud, err := plotter.NewScatter(c.Cloud)
		if err != nil {
			return err
		}
		cloud.GlyphStyle = disc(c.Colour, 1)
		p.Add(cloud)
	}
	if c.Dashed {
		line.Dashes = []vg.Length{4, 3}
	}
	if c.Loose {
		discs.Radius = 3
		p.Add(discs)
		p.Legend.Add(c.Name, discs)
		return nil
	}
	if c.Plain {
		line.Width = 1
		p.Add(line)
		p.Legend.Add(c.Name, line)
		return nil
	}
	p.Add(line, discs)
	p.Legend.Add(c.Name, line, discs)
	return nil
}

func disc(colour color.Color, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colour, Radius: radius, Shape: draw.CircleGlyph{}}
}
