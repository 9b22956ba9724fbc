package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	paper  = "#ffffff"
	ground = "#f4f4f1" // of maps
	ink    = "#1b1b1b"
	faint  = "#5f5f5f"
	rule   = "#d8d8d8"
)

// colours of curves and places, told apart also by people who see few colours.
var colours = []string{"#1a5a93", "#b34700", "#2b7549", "#7a4a9e"}

// dark holds the colour that takes the place of another one on a dark page.
var dark = map[string]string{
	paper: "#1b1b1f", ground: "#26272c", ink: "#e4e4dc", faint: "#a9a9b2", rule: "#44464d",
	colours[0]: "#7db4e6", colours[1]: "#f0a06a", colours[2]: "#74c69a", colours[3]: "#c3a0e0",
	shades[0].colour: "#1e3448", shades[1].colour: "#28527a", shades[2].colour: "#3d7fb8", shades[4].colour: "#d3e8fb", // shades[3] is colours[0]
}

// night is a style that changes the colours of a picture where the page around it is dark, or the reader's system.
func night() string {
	var rules strings.Builder
	for _, light := range slices.Sorted(maps.Keys(dark)) {
		fmt.Fprintf(&rules, `[fill="%s"]{fill:%[2]s}[stroke="%[1]s"]{stroke:%[2]s}`, light, dark[light])
	}
	return "<style>@media(prefers-color-scheme:dark){" + rules.String() + "}</style>"
}

// A canvas is a picture on paper of its own, so that it can be read on any page.
type canvas struct{ strings.Builder }

// newCanvas returns an empty picture, with a title to be read out.
func newCanvas(width, height int, title string) *canvas {
	c := new(canvas)
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="14">
<title>%s</title>
%s
<rect width="%d" height="%d" rx="6" fill="%s"/>
`, width, height, width, height, title, night(), width, height, paper)
	return c
}

func (c *canvas) done() string { return c.String() + "</svg>\n" }

// text writes a text with anchor start, middle or end.
func (c *canvas) text(x, y float64, anchor, colour, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, text)
}

func (c *canvas) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(c, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" fill="none"/>`+"\n", x1, y1, x2, y2, colour)
}

func (c *canvas) dot(x, y, r float64, colour string) {
	fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`+"\n", x, y, r, colour)
}

func (c *canvas) ring(x, y, r float64, colour string) {
	fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" fill-opacity="0.08" stroke="%s"/>`+"\n", x, y, r, colour, colour)
}

// A scale maps numbers between low and high to pixels between from and to.
type scale struct {
	low, high, from, to float64
	logarithmic         bool
	ticks               []float64
}

func (s scale) at(x float64) float64 {
	low, high := s.low, s.high
	if s.logarithmic {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return s.from + (s.to-s.from)*(x-low)/(high-low)
}

// A curve is a function with a label above or below one of its points.
type curve struct {
	of      func(x float64) (float64, error)
	label   string
	labelAt float64
	below   bool
}

const (
	chartWidth, chartHeight = 640, 360
	chartLeft, chartRight   = 84, 620
	chartTop, chartBottom   = 24, 300
)

// chart draws curves over two scales, and sets their ends in pixels.
func chart(title, xName, yName string, x, y scale, number func(float64) string, curves ...curve) (string, error) {
	x.from, x.to, y.from, y.to = chartLeft, chartRight, chartBottom, chartTop
	c := newCanvas(chartWidth, chartHeight, title)
	for _, tick := range x.ticks {
		c.line(x.at(tick), chartTop, x.at(tick), chartBottom, rule)
		c.text(x.at(tick), chartBottom+20, "middle", faint, fmt.Sprint(tick))
	}
	for _, tick := range y.ticks {
		c.line(chartLeft, y.at(tick), chartRight, y.at(tick), rule)
		c.text(chartLeft-8, y.at(tick)+5, "end", faint, number(tick))
	}
	c.text((chartLeft+chartRight)/2, chartBottom+46, "middle", ink, xName)
	fmt.Fprintf(c, `<text transform="translate(20 %d) rotate(-90)" text-anchor="middle" fill="%s">%s</text>`+"\n", (chartTop+chartBottom)/2, ink, yName)
	const points = 60
	for i, curve := range curves {
		var path strings.Builder
		for n := range points + 1 {
			at := x.low + (x.high-x.low)*float64(n)/points
			if x.logarithmic {
				at = x.low * math.Pow(x.high/x.low, float64(n)/points)
			}
			value, err := curve.of(at)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(n, 1)], x.at(at), y.at(value))
		}
		fmt.Fprintf(c, `<path d="%s" stroke="%s" stroke-width="2" fill="none"/>`+"\n", path.String(), colours[i])
		value, err := curve.of(curve.labelAt)
		if err != nil {
			return "", err
		}
		next, err := curve.of(curve.labelAt * 1.01)
		if err != nil {
			return "", err
		}
		anchor, dx, dy := "start", 6.0, -6.0
		if curve.below {
			dy = 18
		}
		if curve.below != (next > value) { // the curve lies to the right
			anchor, dx = "end", -dx
		}
		c.text(x.at(curve.labelAt)+dx, y.at(value)+dy, anchor, colours[i], curve.label)
	}
	return c.done(), nil
}
