package report

import (
	"fmt"
	"math"
	"slices"
)

// The layout of a histogram, in a picture of width 480, which the page scales.
const (
	plotLeft   = 52.
	plotRight  = 468.
	plotTop    = 10.
	plotBottom = 200.
	gap        = 0.5 // in bins, before the bar of all greater distances
)

// A histogramPicture is a histogram as the template draws it.
type histogramPicture struct {
	ID, Title, Summary       string
	Left, Right, Top, Bottom float64
	Bars                     []bar
	Line                     string // the outline of the expected shares; empty if the bars show these
	X, Y                     []tick
	Unit                     string  // of the horizontal axis
	More                     float64 // middle of the bar of all greater distances
	Rows                     []binRow
}

// Vertical positions below the bars.
func (h histogramPicture) UnderAt() float64 { return h.Bottom + 18 }
func (h histogramPicture) UnitAt() float64  { return h.Bottom + 36 }
func (h histogramPicture) KeyAt() float64   { return h.Bottom + 50 }
func (h histogramPicture) KeyLine() float64 { return h.Bottom + 55 }
func (h histogramPicture) KeyBase() float64 { return h.Bottom + 59 }
func (h histogramPicture) Height() float64  { return h.Bottom + 68 }

// Horizontal positions.
func (h histogramPicture) SideAt() float64   { return h.Left - 6 }
func (h histogramPicture) KeyText() float64  { return h.Left + 18 }
func (h histogramPicture) Middle() float64   { return (h.Left + h.Right) / 2 }
func (h histogramPicture) LineKey() float64  { return h.Right - 130 }
func (h histogramPicture) LineText() float64 { return h.LineKey() + 20 }

type bar struct{ X, Y, Width, Height float64 }

// A binRow holds the numbers that a bar shows.
type binRow struct{ From, To, Expected, Measured string }

// newHistogram draws bars of the measured shares and the outline of the expected ones, or
// bars of the expected shares if measured is nil.
func newHistogram(id, title string, width float64, expected [bins + 1]float64, measured *[bins + 1]float64) histogramPicture {
	h := histogramPicture{
		ID: id, Title: title,
		Left: plotLeft, Right: plotRight, Top: plotTop, Bottom: plotBottom,
	}
	shown := expected
	if measured != nil {
		shown = *measured
	}
	top := 0.
	for i := range shown {
		top = max(top, shown[i], expected[i])
	}
	step := tickStep(top, 5)
	p := plot{top: math.Ceil(top/step-1e-9) * step}
	for i, share := range shown {
		h.Bars = append(h.Bars, p.bar(i, share))
	}
	if measured != nil {
		h.Line = p.outline(expected)
	}
	h.setTicks(p, width, step)
	h.Rows = binRows(width, expected, measured)
	h.Summary = summary(width, shown)
	return h
}

// A plot converts bins and shares to positions in the picture.
type plot struct{ top float64 } // the largest share

// x returns the position of the left side of a bin, which may be a fraction.
func (p plot) x(bin float64) float64 {
	return plotLeft + (plotRight-plotLeft)*bin/(bins+gap+1)
}

func (p plot) y(share float64) float64 {
	return plotBottom - (plotBottom-plotTop)*share/p.top
}

// left returns the position of the left side of bin i. The last bin is set apart.
func (p plot) left(i int) float64 {
	if i == bins {
		return p.x(bins + gap)
	}
	return p.x(float64(i))
}

func (p plot) bar(i int, share float64) bar {
	return bar{X: p.left(i), Y: p.y(share), Width: p.x(1) - p.x(0) - 1, Height: plotBottom - p.y(share)}
}

// outline returns the path along the tops of the bins.
func (p plot) outline(shares [bins + 1]float64) string {
	width := p.x(1) - p.x(0)
	path := fmt.Sprintf("M%.1f %.1f", p.x(0), plotBottom)
	for i, share := range shares {
		if i == bins {
			path += fmt.Sprintf("V%.1fM%.1f %.1f", plotBottom, p.left(i), plotBottom)
		}
		path += fmt.Sprintf("V%.1fH%.1f", p.y(share), p.left(i)+width)
	}
	return path + fmt.Sprintf("V%.1f", plotBottom)
}

// setTicks sets the marks of both axes.
func (h *histogramPicture) setTicks(p plot, width, step float64) {
	for _, share := range multiples(0, p.top, step) {
		h.Y = append(h.Y, tick{At: p.y(share), Label: fixed(100*share, max(0, decimals(step)-2)) + noBreak + "%"})
	}
	span := width * (bins - 2) // the label of the last bar takes the room of two bars
	h.Unit = "metres"
	if span >= 10_000 {
		h.Unit = "kilometres"
		span, width = span/1000, width/1000
	}
	step = tickStep(span, 6)
	for _, d := range multiples(0, span, step) {
		h.X = append(h.X, tick{At: p.x(d / width), Label: fixed(d, decimals(step))})
	}
	h.More = p.left(bins) + (p.x(1)-p.x(0))/2
}

// binRows formats the bins. Measured is nil if nothing was measured.
func binRows(width float64, expected [bins + 1]float64, measured *[bins + 1]float64) []binRow {
	rows := make([]binRow, bins+1)
	for i := range rows {
		rows[i] = binRow{From: length(float64(i) * width), To: length(float64(i+1) * width), Expected: percent(expected[i])}
		if measured != nil {
			rows[i].Measured = percent(measured[i])
		}
	}
	rows[bins].To = "any distance"
	return rows
}

// summary describes a histogram in words.
func summary(width float64, shares [bins + 1]float64) string {
	peak := slices.Index(shares[:bins], slices.Max(shares[:bins]))
	return fmt.Sprintf("The highest bar, from %s to %s, has %s of the locations; %s are farther than %s.",
		length(float64(peak)*width), length(float64(peak+1)*width), percent(shares[peak]),
		percent(shares[bins]), length(bins*width))
}
