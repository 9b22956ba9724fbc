package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Every figure has the same text and strokes, so that figures fit each other and, at their own
// size, a paper of two columns.
const (
	fontSize    = 8
	curveWidth  = 0.75 // of lines in panels and maps
	axisWidth   = 0.5  // of axes and of the outlines of marks
	gridWidth   = 0.25
	markRadius  = 1.75
	cloudRadius = 1
	bandOpacity = 45 // of 255
)

// A Style tells a series apart by its colour, and without colours by its dashes and marks.
type Style struct {
	colour color.NRGBA
	dashes []vg.Length
	mark   draw.GlyphDrawer
}

// Styles in the palette of Okabe and Ito, with colours that colour-blind people can distinguish, and grey. No two have
// the same dashes or marks. Black and Grey are for references.
var (
	Blue   = Style{color.NRGBA{0, 114, 178, 255}, nil, draw.CircleGlyph{}}
	Red    = Style{color.NRGBA{213, 94, 0, 255}, []vg.Length{5, 2}, draw.BoxGlyph{}}
	Green  = Style{color.NRGBA{0, 158, 115, 255}, []vg.Length{5, 2, 1, 2}, draw.PyramidGlyph{}}
	Sky    = Style{color.NRGBA{86, 180, 233, 255}, []vg.Length{1, 1.5}, draw.PlusGlyph{}}
	Purple = Style{color.NRGBA{204, 121, 167, 255}, []vg.Length{8, 2}, draw.TriangleGlyph{}}
	Yellow = Style{color.NRGBA{230, 159, 0, 255}, []vg.Length{5, 2, 1, 2, 1, 2}, draw.CrossGlyph{}}
	Black  = Style{color.NRGBA{0, 0, 0, 255}, []vg.Length{2.5, 2}, draw.RingGlyph{}}
	Grey   = Style{color.NRGBA{130, 130, 130, 255}, []vg.Length{3, 1, 1, 1}, draw.SquareGlyph{}}
)

// numbered are the styles of series that have no style of their own.
var numbered = []Style{Blue, Red, Green, Sky, Purple, Yellow}

// Numbered returns the style of the k-th of several series, counted from 0. After the first six
// the colours come again with other dashes and marks.
func Numbered(k int) Style {
	n := len(numbered)
	s := numbered[(k+k/n)%n]
	s.colour = numbered[k%n].colour
	return s
}

// line returns the style of lines.
func (s Style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.colour, Width: curveWidth, Dashes: s.dashes}
}

// marks returns the style of marks of a radius.
func (s Style) marks(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.colour, Radius: radius, Shape: s.mark}
}

// band returns the colour of intervals.
func (s Style) band() color.Color {
	c := s.colour
	c.A = bandOpacity
	return c
}

// light returns the colour of areas, in which black lines can be seen.
func (s Style) light() color.Color {
	const white = 0.45 // share
	lighter := func(x uint8) uint8 { return uint8(white*255 + (1-white)*float64(x)) }
	return color.NRGBA{lighter(s.colour.R), lighter(s.colour.G), lighter(s.colour.B), 255}
}
