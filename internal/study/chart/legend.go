package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend names the series of a panel, of a page or of a map. It stands above them.
type legend []legendEntry

type legendEntry struct {
	name  string
	marks []plot.Thumbnailer // drawn over each other
}

const (
	lineHeight  = 1.3 * fontSize
	legendMark  = 20 // width
	legendSpace = 3  // between a mark and its name
	legendGap   = 9  // between entries
)

func (e legendEntry) width() vg.Length {
	return legendMark + legendSpace + textStyle().Width(e.name)
}

// has reports whether the legend has all names of another.
func (l legend) has(other legend) bool {
	return !slices.ContainsFunc(other, func(a legendEntry) bool {
		return !slices.ContainsFunc(l, func(b legendEntry) bool { return a.name == b.name })
	})
}

// lines divides the entries into lines of at most a width, unless one entry is wider.
func (l legend) lines(width vg.Length) (lines []legend) {
	room := vg.Length(0)
	for _, e := range l {
		if room -= legendGap + e.width(); room < 0 {
			lines = append(lines, nil)
			room = width - e.width()
		}
		last := &lines[len(lines)-1]
		*last = append(*last, e)
	}
	return lines
}

// height returns the height of the legend in a width.
func (l legend) height(width vg.Length) vg.Length {
	return lineHeight * vg.Length(len(l.lines(width)))
}

// draw draws the legend at the top of a canvas.
func (l legend) draw(c draw.Canvas) {
	style := textStyle()
	y := c.Max.Y
	for _, line := range l.lines(c.Max.X - c.Min.X) {
		x := c.Min.X
		y -= lineHeight
		for _, e := range line {
			place := c
			place.Min = vg.Point{X: x, Y: y + 0.15*fontSize}
			place.Max = vg.Point{X: x + legendMark, Y: y + 0.85*fontSize}
			for _, m := range e.marks {
				m.Thumbnail(&place)
			}
			c.FillText(style, vg.Point{X: place.Max.X + legendSpace, Y: y + 0.2*fontSize}, e.name)
			x += e.width() + legendGap
		}
	}
}

// LevelName returns the name of a privacy level in a legend: "ln 4" for the logarithm of a
// whole number if that is shorter than the level itself, and otherwise "l = 8.6". Different
// levels have different names.
func LevelName(level float64) string {
	digits := strconv.FormatFloat(level, 'g', -1, 64)
	factor := math.Round(math.Exp(level))
	if text := strconv.FormatFloat(factor, 'f', -1, 64); math.Log(factor) == level && len(text) < len(digits) {
		return "ln " + text
	}
	return "l = " + digits
}
