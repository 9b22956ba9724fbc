package chart

import (
	"bytes"
	"cmp"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A page has the width of one column of an A4 paper or of both: at that size its text can be read.
const (
	columnWidth = 88 * vg.Millimeter
	leastWidth  = 55 * vg.Millimeter // of a panel
	panelHeight = 52 * vg.Millimeter // below its title and legend
	panelGap    = 4 * vg.Millimeter
	pageMargin  = 2 * vg.Millimeter
)

// Page returns a drawing of panels in lines. The last line may be shorter than the others. If the
// legend of one panel has the names of all it is there once, above them.
func Page(panels [][]Panel) (io.WriterTo, error) {
	page := page{columns: len(panels[0])}
	for _, line := range panels {
		plots, legends := make([]*plot.Plot, page.columns), make([]legend, page.columns)
		for j, p := range line {
			var err error
			if plots[j], legends[j], err = p.plot(page.panelWidth()); err != nil {
				return nil, err
			}
		}
		page.panels, page.plots, page.legends = append(page.panels, line), append(page.plots, plots), append(page.legends, legends)
	}
	return page.draw(), nil
}

// A page lays out panels.
type page struct {
	columns int
	panels  [][]Panel
	plots   [][]*plot.Plot // nil where a line is short
	legends [][]legend
}

// panelWidth returns the width of a panel with all of its text.
func (p *page) panelWidth() vg.Length {
	if p.columns == 1 {
		return columnWidth - 2*pageMargin
	}
	columns := vg.Length(p.columns)
	return max(leastWidth, (2*columnWidth-2*pageMargin-(columns-1)*panelGap)/columns)
}

// common returns the legend that has all names of several panels.
func (p *page) common() (legend, bool) {
	all := slices.Concat(p.legends...)
	longest := slices.MaxFunc(all, func(a, b legend) int { return cmp.Compare(len(a), len(b)) })
	for _, l := range all {
		if !longest.has(l) {
			return nil, false
		}
	}
	return longest, len(all) > 1
}

func (p *page) draw() io.WriterTo {
	width := p.panelWidth()*vg.Length(p.columns) + panelGap*vg.Length(p.columns-1)
	top, header := vg.Length(0), vg.Length(lineHeight) // above all panels, above each
	common, isCommon := p.common()
	if isCommon {
		top = common.height(width) + legendSpace
	} else {
		most := vg.Length(0)
		for _, line := range p.legends {
			for _, l := range line {
				most = max(most, l.height(p.panelWidth()))
			}
		}
		header += most
	}
	header += legendSpace
	tiles := draw.Tiles{
		Rows: len(p.plots), Cols: p.columns, PadX: panelGap, PadY: panelGap + header,
		PadTop: pageMargin + top + header, PadBottom: pageMargin, PadLeft: pageMargin, PadRight: pageMargin,
	}
	rows := vg.Length(tiles.Rows)
	canvas, area := newCanvas(2*pageMargin+width, 2*pageMargin+top+rows*(header+panelHeight)+(rows-1)*panelGap)
	if isCommon {
		common.draw(draw.Crop(area, pageMargin, -pageMargin, 0, -pageMargin))
	}
	cells := plot.Align(p.plots, tiles, area)
	for k, line := range p.panels {
		for j, panel := range line {
			cell := cells[k][j]
			p.plots[k][j].Draw(cell)
			place := tiles.At(area, j, k)
			place.Min.Y, place.Max.Y = place.Max.Y, place.Max.Y+header
			drawTitle(place, panel.Title)
			if !isCommon {
				place.Max.Y -= lineHeight
				p.legends[k][j].draw(place)
			}
		}
	}
	return newDrawing(canvas)
}

// newCanvas returns a white canvas.
func newCanvas(width, height vg.Length) (*vgsvg.Canvas, draw.Canvas) {
	canvas := vgsvg.New(width, height)
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Rectangle.Path())
	return canvas, area
}

// drawTitle draws a line of text in the middle of the top of a canvas.
func drawTitle(c draw.Canvas, title string) {
	style := textStyle()
	style.XAlign = draw.XCenter
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - 0.9*fontSize}, title)
}

// A drawing is SVG.
type drawing []byte

// newDrawing returns the drawing on a canvas. Where its font is missing, others of the same widths
// replace it.
func newDrawing(c *vgsvg.Canvas) drawing {
	var svg bytes.Buffer
	c.WriteTo(&svg) // a buffer has no errors
	const family = "font-family:Liberation Sans"
	return bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
}

// WriteTo writes the drawing.
func (d drawing) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(d)
	return int64(n), err
}

// textStyle returns the style of all text.
func textStyle() draw.TextStyle {
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return draw.TextStyle{Color: color.Black, Font: font.From(sans, fontSize), Handler: plot.DefaultTextHandler}
}

// newPlot returns an empty plot in the style of all figures. It has no title and no legend.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = textStyle().Font, textStyle().Font
		axis.LineStyle.Width, axis.Tick.LineStyle.Width = axisWidth, axisWidth
		axis.Tick.Length = 3
		axis.Padding = 2
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticker(6.5), ticker(8)
	return p
}

// ticker returns a function that returns the marks of an axis with at most so many intervals.
func ticker(most float64) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick { return ticks(lo, hi, most) })
}

// ticks returns marks at multiples of 1, 2 or 5 times a power of ten, all with as many decimals.
func ticks(lo, hi, most float64) (marks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if factor*step*most >= hi-lo {
			step *= factor
			break
		}
	}
	const margin = 1e-9                                                // for rounding, of a step
	for k := math.Ceil(lo/step-margin) + 0; k <= hi/step+margin; k++ { // -0 + 0 is 0
		marks = append(marks, plot.Tick{Value: k * step, Label: tickLabel(k*step, step)})
	}
	return marks
}

// tickLabel returns a multiple of a step as text.
func tickLabel(x, step float64) string {
	const fewest, longest = 1e-6, 1e6 // that are written out
	if step < fewest || math.Abs(x) >= longest {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, -int(math.Floor(math.Log10(step)+0.01))), 64)
}

// wordTicks returns words as marks at 0, 1, 2, ... If they do not fit into a width, all but every
// second, third, .. is left out.
func wordTicks(words []string, width vg.Length) plot.Ticker {
	widest := vg.Length(0)
	for _, word := range words {
		widest = max(widest, textStyle().Width(word+" "))
	}
	every := max(1, int(math.Ceil(float64(widest*vg.Length(len(words))/width))))
	var marks plot.ConstantTicks
	for k, word := range words {
		if k%every == 0 {
			marks = append(marks, plot.Tick{Value: float64(k), Label: word})
		}
	}
	return marks
}
