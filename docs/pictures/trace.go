package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/smooth"
)

// smoothedTrace draws an invented ride of an hour, its independent reports minute by minute, and their estimates by
// geoind_smooth. The reports are draws of the law of planar Laplace noise, with fixed random numbers.
func smoothedTrace() (string, error) {
	const (
		minutes = 60
		speed   = 240.0 // metres a minute
		epsilon = 0.002
		width   = 640
		height  = 420
		perPx   = 22.0 // metres
	)
	random := rand.New(rand.NewPCG(44, 0))
	accuracy := planar.LaplaceLaw.Plane(epsilon)
	truth, points := make([]smooth.Position, minutes), make([]smooth.Point, minutes)
	at := smooth.Position{X: -5800, Y: -1800}
	for k := range truth {
		truth[k] = at
		r, err := accuracy.Radius(random.Float64())
		if err != nil {
			return "", err
		}
		angle := 2 * math.Pi * random.Float64()
		points[k] = smooth.Point{T: float64(60 * k), X: at.X + float64(r*math.Cos(angle)), Y: at.Y + float64(r*math.Sin(angle)), Epsilon: epsilon}
		heading := 1.1 * math.Sin(float64(k)/8)
		at.X += float64(speed * math.Cos(heading))
		at.Y += float64(speed * math.Sin(heading))
	}
	estimates := smooth.Course(points)
	raw := make([]smooth.Position, minutes)
	var off, left float64
	for k, p := range points {
		raw[k] = smooth.Position{X: p.X, Y: p.Y}
		off += math.Hypot(p.X-truth[k].X, p.Y-truth[k].Y) / minutes
		left += math.Hypot(estimates[k].X-truth[k].X, estimates[k].Y-truth[k].Y) / minutes
	}

	c := newCanvas(width, height, "A ride, its reports minute by minute, and their smoothed course")
	x := func(p smooth.Position) float64 { return width/2 + p.X/perPx }
	y := func(p smooth.Position) float64 { return height/2 + 24 - p.Y/perPx }
	draw := func(all []smooth.Position, colour string, thick float64) {
		var path strings.Builder
		for k, p := range all {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], x(p), y(p))
		}
		fmt.Fprintf(c, `<path d="%s" stroke="%s" stroke-width="%.1f" fill="none"/>`+"\n", path.String(), colour, thick)
	}
	draw(raw, rule, 1)
	for _, p := range raw {
		c.dot(x(p), y(p), 2.5, colours[0])
	}
	draw(truth, ink, 2)
	draw(estimates, colours[1], 2.5)
	c.text(12, 24, "start", ink, "the true ride, 4 m/s for an hour")
	c.text(12, 44, "start", colours[0], fmt.Sprintf("reports at epsilon %v per metre each: %s m off on average", epsilon, plain(math.Round(off/10)*10)))
	c.text(12, 64, "start", colours[1], fmt.Sprintf("smoothed, for nothing: %s m off", plain(math.Round(left/10)*10)))
	c.line(12, height-30, 12+2000/perPx, height-30, ink)
	c.text(12, height-12, "start", faint, "2 km")
	return c.done(), nil
}
