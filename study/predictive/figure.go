package predictive

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The palette of Okabe and Ito, which colour-blind people can tell apart.
var (
	blue   = color.RGBA{0, 114, 178, 255}
	sky    = color.RGBA{86, 180, 233, 255}
	green  = color.RGBA{0, 158, 115, 255}
	red    = color.RGBA{213, 94, 0, 255}
	yellow = color.RGBA{240, 228, 66, 255}
	grey   = color.RGBA{130, 130, 130, 255}
)

const (
	panelWidth  = 9 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	panelGap    = 5 * vg.Millimeter
)

// A curve is a measure as a function of the jump.
type curve struct {
	name   string
	colour color.Color
	dashed bool // what it is compared with
	value  func(Row) float64
}

// A panel is a plot of curves of the same scale.
type panel struct {
	title, axis string
	curves      []curve
}

var panels = []panel{
	{"Statistics", "per cent", []curve{
		{"tests passed", blue, false, func(r Row) float64 { return 100 * r.Predictive.PredictionRate }},
		{"budget spent on tests", red, false, func(r Row) float64 { return 100 * r.Predictive.TestShare }},
		{"points skipped", green, false, func(r Row) float64 { return 100 * r.Predictive.Skipped }},
	}},
	{"Error", "metres", []curve{
		{"predictive, 90 % below", sky, false, func(r Row) float64 { return r.Predictive.P90Error }},
		{"predictive, average", blue, false, func(r Row) float64 { return r.Predictive.AverageError }},
		{"independent, 90 % below", grey, true, func(r Row) float64 { return r.Independent.P90Error }},
		{"independent, average", color.Black, true, func(r Row) float64 { return r.Independent.AverageError }},
	}},
	{"Budget rate", "per cent of epsilon per point", []curve{
		{"predictive", blue, false, func(r Row) float64 { return 100 * r.Predictive.Rate }},
		{"independent", color.Black, true, func(r Row) float64 { return 100 * r.Independent.Rate }},
	}},
}

// Figure draws, as SVG, what figures 4 and 5 of the paper show: statistics, error
// and budget rate against the probability of jumping. rows are those of one
// manager and predictor; each skip speed has a line of plots of its own.
func Figure(rows []Row) (io.WriterTo, error) {
	var lines [][]Row
	for _, r := range rows {
		if n := len(lines); n == 0 || lines[n-1][0].SkipSpeed != r.SkipSpeed {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], r)
	}
	plots := make([][]*plot.Plot, len(lines))
	for k, line := range lines {
		for _, p := range panels {
			drawn, err := p.plot(line, p.top(rows))
			if err != nil {
				return nil, err
			}
			plots[k] = append(plots[k], drawn)
		}
	}
	return page(plots), nil
}

// top returns the largest value of the curves.
func (p panel) top(rows []Row) (top float64) {
	for _, c := range p.curves {
		for _, x := range c.points(rows) {
			top = max(top, x.Y)
		}
	}
	return top
}

// plot draws the curves of a panel on a scale from 0 to top.
func (p panel) plot(rows []Row, top float64) (*plot.Plot, error) {
	drawn := newPlot()
	drawn.Title.Text = fmt.Sprintf("%s: %s", p.title, conditions(rows[0]))
	drawn.X.Label.Text = "probability of jumping"
	drawn.Y.Label.Text = p.axis
	drawn.X.Min, drawn.X.Max = 0, 1
	drawn.Add(plotter.NewGrid())
	for _, c := range p.curves {
		points := c.points(rows)
		if len(points) == 0 {
			continue
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = c.colour, 1.5
		glyphs.Color, glyphs.Shape, glyphs.Radius = c.colour, draw.CircleGlyph{}, 2
		if c.dashed {
			line.Dashes = []vg.Length{4, 3}
		}
		drawn.Add(line, glyphs)
		drawn.Legend.Add(c.name, line, glyphs)
	}
	drawn.Y.Min, drawn.Y.Max = 0, top*legendRoom
	return drawn, nil
}

// legendRoom is how much higher than its curves a plot is, for the legend.
const legendRoom = 1.6

// conditions names what a line of plots was measured under.
func conditions(r Row) string {
	if r.SkipSpeed == 0 {
		return r.Manager + ", no skip"
	}
	return fmt.Sprintf("%s, skip at %.4g km/h", r.Manager, r.SkipSpeed*3.6)
}

// points returns a curve's points, without those where nothing was measured.
func (c curve) points(rows []Row) (points plotter.XYs) {
	for _, r := range rows {
		if y := c.value(r); !math.IsNaN(y) {
			points = append(points, plotter.XY{X: r.Jump, Y: y})
		}
	}
	return points
}

// newPlot returns an empty plot in the style of all figures.
func newPlot() *plot.Plot {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, style := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
		&p.Legend.TextStyle,
	} {
		style.Font = font.From(sans, 10)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	p.Legend.Top = true
	p.Legend.YOffs = -vg.Millimeter
	p.Legend.XOffs = -vg.Millimeter
	p.Legend.Padding = vg.Millimeter / 2
	return p
}

// ticks marks a scale at multiples of 1, 2 or 5 times a power of ten.
func ticks(lo, hi float64) (marks []plot.Tick) {
	const least = 5 // intervals
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/least)))
	for _, factor := range []float64{5, 2} {
		if factor*step*least <= hi-lo {
			step *= factor
			break
		}
	}
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		marks = append(marks, plot.Tick{Value: k * step, Label: strconv.FormatFloat(k*step, 'g', 6, 64)})
	}
	return marks
}

// page lays out plots in lines and columns.
func page(plots [][]*plot.Plot) io.WriterTo {
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(plots[0]), PadX: panelGap, PadY: panelGap,
		PadTop: panelGap, PadBottom: panelGap, PadLeft: panelGap, PadRight: panelGap,
	}
	canvas := vgsvg.New(panelWidth*vg.Length(tiles.Cols), panelHeight*vg.Length(tiles.Rows))
	for k, cells := range plot.Align(plots, tiles, draw.New(canvas)) {
		for j, cell := range cells {
			plots[k][j].Draw(cell)
		}
	}
	return canvas
}
