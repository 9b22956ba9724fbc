package charttest

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
)

// The text and strokes of all figures. A paper prints nothing smaller.
const (
	fontSize   = 8
	curveWidth = 0.75
	axisWidth  = 0.5
	gridWidth  = 0.25
)

// mostRoom is the share of a vertical axis that may lie above everything that is drawn.
const mostRoom = 0.1

// Check fails the test unless a figure is fit for a paper:
//
//   - all text has one size, lies on the page, and not on other text or in a panel
//   - lines in panels have one stroke width, and so have axes, and grids
//   - all that is drawn lies in a panel or apart from all of them: no legend is over data
//   - curves of different colours in a panel have different dashes
//   - the axes fit: something reaches the top of a scale, and one that ends at 100 % ends there
//   - every axis has a label with a unit, unless its marks are words, and decimals are the same
//     along it
func Check(t *testing.T, figure io.WriterTo) {
	t.Helper()
	f, err := parse(svg(t, figure))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range f.problems() {
		t.Error(problem)
	}
}

// A rect is the area that something covers, in points from the lower left corner of the page.
type rect struct{ x0, y0, x1, y1 float64 }

func (r *rect) add(x, y float64) {
	r.x0, r.y0, r.x1, r.y1 = min(r.x0, x), min(r.y0, y), max(r.x1, x), max(r.y1, y)
}

var nowhere = rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// meets reports whether two rectangles have more in common than a margin.
func (r rect) meets(o rect, margin float64) bool {
	return min(r.x1, o.x1)-max(r.x0, o.x0) > margin && min(r.y1, o.y1)-max(r.y0, o.y0) > margin
}

// within reports whether the rectangle lies in another one that is larger by a margin.
func (r rect) within(o rect, margin float64) bool {
	return r.x0 >= o.x0-margin && r.x1 <= o.x1+margin && r.y0 >= o.y0-margin && r.y1 <= o.y1+margin
}

// A label is a piece of text.
type label struct {
	text    string
	size    string
	upright bool
	rect
}

// A path is drawn with a stroke, or filled.
type path struct {
	stroke, width, dashes string // the stroke is "" for a path that is only filled
	fill                  string
	rect
}

// A parsed figure.
type parsed struct {
	page   rect
	labels []label
	paths  []path
}

var (
	numbers = regexp.MustCompile(`-?[0-9.]+(?:e[-+]?[0-9]+)?`)
	steps   = regexp.MustCompile(`([MLA])([^MLAZ]*)`)
)

// parse reads a figure. Text may stand upright or be turned by 90 degrees.
func parse(svg string) (*parsed, error) {
	f := &parsed{}
	turned := []bool{false} // by open groups
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			attributes := attributesOf(e)
			switch e.Name.Local {
			case "svg":
				box := floats(attributes["viewBox"])
				f.page = rect{0, 0, box[2], box[3]}
			case "g":
				turned = append(turned, turned[len(turned)-1] != (attributes["transform"] == "rotate(90)"))
			case "path":
				f.paths = append(f.paths, newPath(attributes))
			case "text":
				var content string
				if err := d.DecodeElement(&content, &e); err != nil {
					return nil, err
				}
				f.labels = append(f.labels, newLabel(content, attributes, !turned[len(turned)-1]))
			}
		case xml.EndElement:
			if e.Name.Local == "g" {
				turned = turned[:len(turned)-1]
			}
		}
	}
}

// attributesOf returns the attributes of an element and the properties of its style.
func attributesOf(e xml.StartElement) map[string]string {
	all := map[string]string{}
	for _, a := range e.Attr {
		all[a.Name.Local] = a.Value
	}
	for _, property := range strings.Split(all["style"], ";") {
		if name, value, ok := strings.Cut(property, ":"); ok {
			all[name] = value
		}
	}
	return all
}

func floats(text string) (values []float64) {
	for _, word := range numbers.FindAllString(text, -1) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			panic(err) // numbers does not match it
		}
		values = append(values, x)
	}
	return values
}

func newPath(attributes map[string]string) path {
	p := path{rect: nowhere, fill: attributes["fill"]}
	if attributes["fill"] == "none" {
		p.fill, p.dashes = "", attributes["stroke-dasharray"]
		p.stroke, p.width = cmp.Or(attributes["stroke"], "#000000"), cmp.Or(attributes["stroke-width"], "1")
	}
	for _, step := range steps.FindAllStringSubmatch(attributes["d"], -1) {
		values := floats(step[2])
		p.add(values[len(values)-2], values[len(values)-1])
	}
	return p
}

var fonts = font.NewCache(liberation.Collection())

func newLabel(content string, attributes map[string]string, upright bool) label {
	at := []float64{floats(attributes["x"])[0], -floats(attributes["y"])[0]}
	size := strings.TrimSuffix(attributes["font-size"], "px")
	face := fonts.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, fontSize)
	width, height := face.Width(content).Points(), 0.7*fontSize // of capitals
	if upright {
		return label{content, size, true, rect{at[0], at[1], at[0] + width, at[1] + height}}
	}
	return label{content, size, false, rect{-at[1] - height, at[0], -at[1], at[0] + width}}
}

// problems returns the faults of the figure.
func (f *parsed) problems() (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	panels := f.panels()
	if len(panels) == 0 {
		report("there is no panel")
	}
	for k, l := range f.labels {
		if l.size != strconv.Itoa(fontSize) {
			report("%q has the size %s", l.text, l.size)
		}
		if !l.within(f.page, 0) {
			report("%q is not all on the page", l.text)
		}
		for _, p := range panels {
			if l.meets(p.rect, 0) {
				report("%q lies on a panel", l.text)
			}
		}
		for _, other := range f.labels[:k] {
			if l.meets(other.rect, 0) {
				report("%q lies on %q", l.text, other.text)
			}
		}
	}
	const rounding = 3 // marks at the end of an axis lie beyond it
	dashes := map[*panel]map[string]string{}
	for _, p := range f.paths {
		if p.stroke != "" && !slices.Contains([]string{format(curveWidth), format(axisWidth), format(gridWidth)}, p.width) {
			report("a stroke has the width %s", p.width)
		}
		if p.width != format(curveWidth) {
			continue
		}
		home := slices.IndexFunc(panels, func(x *panel) bool { return p.within(x.rect, rounding) })
		if home < 0 {
			if slices.ContainsFunc(panels, func(x *panel) bool { return p.meets(x.rect, 0) }) {
				report("a line from %v lies partly on a panel", p.rect)
			}
			continue
		}
		of := dashes[panels[home]]
		if of == nil {
			of = map[string]string{}
			dashes[panels[home]] = of
		}
		if other, ok := of[p.dashes]; ok && other != p.stroke && !panels[home].isMap() {
			report("curves of the colours %s and %s have the same dashes", other, p.stroke)
		}
		of[p.dashes] = p.stroke
	}
	for _, p := range panels {
		problems = append(problems, p.problems()...)
	}
	tops := map[string]float64{} // the least room above the drawing, by scale
	for _, p := range panels {
		if p.isMap() {
			continue // true to scale
		}
		scale := p.scale()
		room := (p.y1 - p.top) / (p.y1 - p.y0)
		if old, ok := tops[scale]; !ok || room < old {
			tops[scale] = room
		}
	}
	for scale, room := range tops {
		const nothing = 0.97 // of room: all is 0
		if room > mostRoom && room < nothing && !strings.HasSuffix(scale, " 100 %)") {
			report("nothing reaches the top of the scale %s: %.0f %% of it are above all", scale, 100*room)
		}
	}
	return problems
}

func format(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// A panel is a grid, and its contents.
type panel struct {
	rect
	top            float64 // of the drawing in it
	xMarks, yMarks []label
	x, y           label // of the axes
}

// panels returns the panels, which are where grids are.
func (f *parsed) panels() (panels []*panel) {
	var upright, level []rect
	for _, p := range f.paths {
		switch {
		case p.width != format(gridWidth):
		case p.x0 == p.x1:
			upright = append(upright, p.rect)
		default:
			level = append(level, p.rect)
		}
	}
	for _, h := range level {
		for _, v := range upright {
			r := rect{h.x0, v.y0, h.x1, v.y1}
			if v.within(r, 0) && h.within(r, 0) && !slices.ContainsFunc(panels, func(p *panel) bool { return p.rect == r }) {
				panels = append(panels, &panel{rect: r, top: r.y0})
			}
		}
	}
	for _, p := range panels {
		f.fill(p)
	}
	return panels
}

// fill finds the contents of a panel.
func (f *parsed) fill(p *panel) {
	const rounding = 3
	for _, x := range f.paths {
		outside := x.x1 < p.x0 || x.y1 < p.y0 // as the axes are
		if x.width != format(gridWidth) && !outside && x.within(p.rect, rounding) {
			p.top = max(p.top, x.y1)
		}
	}
	const reach = 45 // of marks and labels
	left := rect{p.x0 - reach, p.y0 - fontSize, p.x0, p.y1 + fontSize}
	below := rect{p.x0 - 2*reach, p.y0 - reach*2/3, p.x1 + 2*reach, p.y0}
	for _, l := range f.labels {
		centre := (l.x0 + l.x1) / 2
		switch {
		case !l.upright && l.x1 <= p.x0 && l.x1 > left.x0 && l.y1 > p.y0 && l.y0 < p.y1:
			p.y = l
		case l.upright && l.within(left, 0):
			p.yMarks = append(p.yMarks, l)
		case l.upright && l.within(below, 0) && centre >= p.x0-rounding && centre <= p.x1+rounding:
			if p.x.text == "" || l.y0 < p.x.y0 {
				p.x, l = l, p.x
			}
			if l.text != "" {
				p.xMarks = append(p.xMarks, l)
			}
		}
	}
}

// isMap reports whether lines are of a map, where all are solid.
func (p *panel) isMap() bool { return p.y.text == "to the north (km)" }

// scale returns the marks of the vertical axis and its unit.
func (p *panel) scale() string {
	var marks []string
	for _, l := range p.yMarks {
		marks = append(marks, l.text)
	}
	return strings.Join(marks, " ") + " " + p.y.text[strings.Index(p.y.text, "(")+1:]
}

var withUnit = regexp.MustCompile(`^[^()]+ \([^()]+\)$`)

// problems returns the faults of the axes.
func (p *panel) problems() (problems []string) {
	for _, axis := range []struct {
		label label
		marks []label
	}{{p.x, p.xMarks}, {p.y, p.yMarks}} {
		if len(axis.marks) < 2 {
			problems = append(problems, fmt.Sprintf("the axis %q has %d marks", axis.label.text, len(axis.marks)))
		}
		words := slices.ContainsFunc(axis.marks, func(l label) bool { return !numbers.MatchString(l.text) })
		if axis.label.text == "" || !words && !withUnit.MatchString(axis.label.text) {
			problems = append(problems, fmt.Sprintf("the axis of %q has no unit", axis.label.text))
		}
	}
	decimals := map[int]bool{}
	for _, l := range p.yMarks {
		if percent, err := strconv.ParseFloat(l.text, 64); err == nil && percent > 100 && strings.HasSuffix(p.y.text, "(%)") {
			problems = append(problems, fmt.Sprintf("%q goes to %s %%", p.y.text, l.text))
		}
		_, after, _ := strings.Cut(l.text, ".")
		decimals[len(after)] = true
	}
	if len(decimals) > 1 {
		problems = append(problems, fmt.Sprintf("the decimals of %q differ", p.scale()))
	}
	return problems
}
