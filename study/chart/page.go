package chart

import (
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 9 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	panelGap    = 5 * vg.Millimeter
)

// Page returns a drawing of panels in lines, all of the same length.
func Page(panels [][]Panel) (io.WriterTo, error) {
	plots := make([][]*plot.Plot, len(panels))
	for k, line := range panels {
		for _, p := range line {
			drawn, err := p.plot()
			if err != nil {
				return nil, err
			}
			plots[k] = append(plots[k], drawn)
		}
	}
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
	return canvas, nil
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

// ticks returns marks at multiples of 1, 2 or 5 times a power of ten.
func ticks(lo, hi float64) (marks []plot.Tick) {
	const least = 5 // intervals
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/least)))
	for _, factor := range []float64{5, 2} {
		if factor*step*least <= hi-lo {
			step *= factor
			break
		}
	}
	for k := math.Ceil(lo/step) + 0; k*step <= hi; k++ { // -0 + 0 is 0
		marks = append(marks, plot.Tick{Value: k * step, Label: strconv.FormatFloat(k*step, 'g', 6, 64)})
	}
	return marks
}

// wordTicks returns words as marks at 0, 1, 2, ...
func wordTicks(words []string) plot.Ticker {
	var marks plot.ConstantTicks
	for k, word := range words {
		marks = append(marks, plot.Tick{Value: float64(k), Label: word})
	}
	return marks
}
