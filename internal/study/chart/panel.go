package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/geosql/geosql/internal/study/stats"
)

// A Panel is a plot of curves, bars and boxes over one vertical scale, with its legend above.
// The axes fit its contents.
type Panel struct {
	Title string
	X, Y  Axis
	Names []string // printed at 0, 1, 2, .. of the horizontal axis; nil for numbers
	Whole bool     // the vertical axis is 0 to 100, in per cent

	Curves []Curve
	Bars   []Bar  // side by side
	Boxes  []Box  // side by side
	Spread string // the name of the curves' intervals, for the legend

	scale extent // of other panels with the same vertical axis
}

// An Axis is an axis of a panel.
type Axis struct {
	Name string
	Unit string // empty for an axis of names
}

// Percent is the unit of shares.
const Percent = "%"

func (a Axis) label() string {
	if a.Unit == "" {
		return a.Name
	}
	return a.Name + " (" + a.Unit + ")"
}

// A Curve is a named line through points, or points alone. One without points is left out.
type Curve struct {
	Name   string
	Style  Style
	Plain  bool // without a mark at every point
	Loose  bool // without a line
	Points plotter.XYs
	Spread []Interval  // in ascending order of X; nil for none
	Cloud  plotter.XYs // small discs that no line joins: the data behind the points
}

// An Interval is the spread of the values at a point of the horizontal axis.
type Interval struct{ X, Low, High float64 }

// Add adds a point, and the quartiles around it unless they are NaN or infinite.
func (c *Curve) Add(x, y float64, around stats.Quartiles) {
	c.Points = append(c.Points, plotter.XY{X: x, Y: y})
	if !math.IsNaN(around.Low) && !math.IsInf(around.High, 0) {
		c.Spread = append(c.Spread, Interval{x, around.Low, around.High})
	}
}

// Curve returns the curve with a name. If there is none it adds one, in the next of the numbered styles.
func (p *Panel) Curve(name string) *Curve {
	at := slices.IndexFunc(p.Curves, func(c Curve) bool { return c.Name == name })
	if at < 0 {
		at = len(p.Curves)
		p.Curves = append(p.Curves, Curve{Name: name, Style: Numbered(at)})
	}
	return &p.Curves[at]
}

// SameScale gives the panels of some lines the same vertical axis.
func SameScale(lines ...[]Panel) {
	var all extent
	for _, line := range lines {
		for k := range line {
			_, y := line[k].extents()
			all.merge(y)
		}
	}
	for _, line := range lines {
		for k := range line {
			line[k].scale = all
		}
	}
}

// An extent is the least interval that holds some numbers. The zero value holds none.
type extent struct {
	some   bool
	lo, hi float64
}

func (e *extent) add(values ...float64) {
	for _, x := range values {
		if !e.some {
			*e = extent{true, x, x}
		}
		e.lo, e.hi = min(e.lo, x), max(e.hi, x)
	}
}

func (e *extent) merge(o extent) {
	if o.some {
		e.add(o.lo, o.hi)
	}
}

// extents returns the extents of the panel's contents.
func (p *Panel) extents() (x, y extent) {
	for _, c := range p.Curves {
		for _, xy := range slices.Concat(c.Points, c.Cloud) {
			x.add(xy.X)
			y.add(xy.Y)
		}
		for _, b := range c.Spread {
			x.add(b.X)
			y.add(b.Low, b.High)
		}
	}
	for _, b := range p.Bars {
		y.add(0)
		y.add(b.Heights...)
	}
	for _, b := range p.Boxes {
		for _, values := range b.Groups {
			y.add(values...)
		}
	}
	return x, y
}

const (
	axisMargin  = 0.04 // how far an axis extends beyond its values, relative to its length
	nameMargin  = 0.2  // how far an axis of names extends, relative to their distance
	groupMargin = 0.5  // the same, for names of bars and boxes
)

// widths returns the limits of the horizontal axis.
func (p *Panel) widths() (lo, hi float64) {
	if p.Names != nil {
		margin := nameMargin
		if p.Bars != nil || p.Boxes != nil {
			margin = groupMargin
		}
		return -margin, float64(len(p.Names)-1) + margin
	}
	x, _ := p.extents()
	if x.lo == x.hi {
		return x.lo - 0.5, x.hi + 0.5
	}
	margin := axisMargin * (x.hi - x.lo)
	return x.lo - margin, x.hi + margin
}

// heights returns the limits of the vertical axis. It begins at 0 unless something is below, or
// all is nearer to the top than to 0. Shares do not go beyond 0 and 100 %.
func (p *Panel) heights() (lo, hi float64) {
	if p.Whole {
		return 0, 100
	}
	_, y := p.extents()
	y.merge(p.scale)
	if y.lo >= 0 && (y.lo <= y.hi/2 || y.lo == y.hi) {
		y.lo = 0
	}
	if y.lo == y.hi {
		if y.lo == 0 {
			return 0, 1
		}
		return 2 * y.lo, 0 // below 0
	}
	margin := axisMargin * (y.hi - y.lo)
	lo, hi = y.lo, y.hi+margin
	if lo != 0 {
		lo -= margin
	}
	if p.Y.Unit == Percent && y.lo >= 0 && y.hi <= 100 {
		lo, hi = max(lo, 0), min(hi, 100)
	}
	return lo, hi
}

// axisShare is the approximate share of the horizontal axis in a panel's width.
const axisShare = 0.8

// plot returns the drawn panel, of about the given width, and its legend.
func (p *Panel) plot(width vg.Length) (*plot.Plot, legend, error) {
	drawn := newPlot()
	drawn.X.Label.Text, drawn.Y.Label.Text = p.X.label(), p.Y.label()
	if p.Names != nil {
		drawn.X.Tick.Marker = wordTicks(p.Names, width*axisShare)
	}
	drawn.Add(grid())
	var l legend
	lo, hi := p.widths()
	group := width * axisShare / vg.Length(hi-lo) // from one name to the next
	spread := slices.ContainsFunc(p.Curves, func(c Curve) bool { return len(c.Spread) > 0 })
	for k, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		if p.Names != nil && spread {
			c = c.shifted(float64(curveShift/group) * (float64(k) - float64(len(p.Curves)-1)/2))
		}
		marks, err := c.addTo(drawn, p.Names != nil)
		if err != nil {
			return nil, nil, err
		}
		l = append(l, legendEntry{c.Name, marks})
	}
	l = append(l, addBars(drawn, p.Bars)...)
	boxes, err := addBoxes(drawn, p.Boxes, group)
	if err != nil {
		return nil, nil, err
	}
	l = append(l, boxes...)
	if spread {
		var mark plot.Thumbnailer = swatch{Grey.band(), false}
		if p.Names != nil {
			mark = whiskers{style: Grey}
		}
		l = append(l, legendEntry{p.Spread, []plot.Thumbnailer{mark}})
	}
	drawn.X.Min, drawn.X.Max = lo, hi
	drawn.Y.Min, drawn.Y.Max = p.heights()
	return drawn, l, nil
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Width, g.Horizontal.Width = gridWidth, gridWidth
	return g
}

// curveShift is how far curves stand apart where the horizontal axis has names: there intervals are
// drawn one by one, and would lie on each other.
const curveShift = 3

// shifted returns the curve, moved to the right.
func (c Curve) shifted(by float64) Curve {
	c.Points, c.Cloud, c.Spread = slices.Clone(c.Points), slices.Clone(c.Cloud), slices.Clone(c.Spread)
	for k := range c.Points {
		c.Points[k].X += by
	}
	for k := range c.Cloud {
		c.Cloud[k].X += by
	}
	for k := range c.Spread {
		c.Spread[k].X += by
	}
	return c
}

// addTo adds the curve to a plot, with its intervals as whiskers or in one band, and returns its
// marks in the legend.
func (c Curve) addTo(p *plot.Plot, asWhiskers bool) ([]plot.Thumbnailer, error) {
	line, marks, err := plotter.NewLinePoints(c.Points)
	if err != nil {
		return nil, err
	}
	line.LineStyle, marks.GlyphStyle = c.Style.line(), c.Style.marks(markRadius)
	switch {
	case len(c.Spread) == 0:
	case asWhiskers:
		p.Add(whiskers{c.Spread, c.Style})
	default:
		p.Add(band{c.Spread, c.Style})
	}
	if c.Cloud != nil {
		cloud, err := plotter.NewScatter(c.Cloud)
		if err != nil {
			return nil, err
		}
		cloud.GlyphStyle = draw.GlyphStyle{Color: c.Style.colour, Radius: cloudRadius, Shape: draw.CircleGlyph{}}
		p.Add(cloud)
	}
	switch {
	case c.Loose:
		p.Add(marks)
		return []plot.Thumbnailer{marks}, nil
	case c.Plain:
		p.Add(line)
		return []plot.Thumbnailer{line}, nil
	}
	p.Add(line, marks)
	return []plot.Thumbnailer{line, marks}, nil
}

// whiskers are intervals that are drawn one by one.
type whiskers struct {
	intervals []Interval
	style     Style
}

const whiskerCap = 1.5 // half of its width

// Plot draws the whiskers.
func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, at := range w.intervals {
		w.draw(&c, x(at.X), y(at.Low), y(at.High))
	}
}

// Thumbnail draws one.
func (w whiskers) Thumbnail(c *draw.Canvas) { w.draw(c, c.Center().X, c.Min.Y, c.Max.Y) }

func (w whiskers) draw(c *draw.Canvas, x, low, high vg.Length) {
	style := draw.LineStyle{Color: w.style.colour, Width: axisWidth}
	c.StrokeLine2(style, x, low, x, high)
	for _, y := range []vg.Length{low, high} {
		c.StrokeLine2(style, x-whiskerCap, y, x+whiskerCap, y)
	}
}

// A band draws intervals, from each to the next.
type band struct {
	intervals []Interval
	style     Style
}

// bandEnd is how far a band extends beyond its first and last interval, so that one alone is seen.
const bandEnd = markRadius

// Plot fills the band.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var outline, low []vg.Point
	add := func(at Interval, shift vg.Length) {
		outline = append(outline, vg.Point{X: x(at.X) + shift, Y: y(at.High)})
		low = append(low, vg.Point{X: x(at.X) + shift, Y: y(at.Low)})
	}
	add(b.intervals[0], -bandEnd)
	for _, at := range b.intervals {
		add(at, 0)
	}
	add(b.intervals[len(b.intervals)-1], bandEnd)
	slices.Reverse(low)
	outline = append(outline, low...)
	c.FillPolygon(b.style.band(), outline)
}
