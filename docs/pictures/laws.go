package main

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// plain writes a number with thousands apart.
func plain(x float64) string {
	if x >= 1000 {
		return decimal.Grouped(int(x))
	}
	return fmt.Sprint(x)
}

// A square panel is a map of streets around a place, 2.3 km across.
const (
	panel       = 230.0 // pixels, where there are three
	panelMetres = 2300.0
	reports     = 120
)

// reportsOf draws a panel with reports of the place in its middle, and returns within how many metres half and 95 % of them are. The points
// are no draws: the n-th lies at the quantile (n-1/2)/120 of the distance, each a golden angle further around, so that
// they are as dense as reports are on average.
func reportsOf(c *canvas, name string, left, top, side, eps float64) (half, most float64, err error) {
	middle, centre := left+side/2, top+side/2
	fmt.Fprintf(c, `<clipPath id="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath>`+"\n", name, left, top, side, side)
	fmt.Fprintf(c, `<g clip-path="url(#%s)"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", name, left, top, side, side, ground)
	for street := side / 10; street < side; street += side / 5 {
		c.line(left+street, top, left+street, top+side, rule)
		c.line(left, top+street, left+side, top+street, rule)
	}
	accuracy := planar.LaplaceLaw.Plane(eps)
	for n := range reports {
		r, err := accuracy.Radius((float64(n) + 0.5) / reports)
		if err != nil {
			return 0, 0, err
		}
		angle := float64(n) * math.Pi * (3 - math.Sqrt(5))
		c.dot(middle+r*side/panelMetres*math.Cos(angle), centre+r*side/panelMetres*math.Sin(angle), 2, colours[0])
	}
	if half, err = accuracy.Radius(0.5); err != nil {
		return 0, 0, err
	}
	if most, err = accuracy.Radius(0.95); err != nil {
		return 0, 0, err
	}
	c.ring(middle, centre, half*side/panelMetres, colours[1])
	c.ring(middle, centre, most*side/panelMetres, colours[1])
	c.dot(middle, centre, 4, ink)
	c.WriteString("</g>\n")
	return half, most, nil
}

// noiseOnAMap draws where reports of one place lie, at three epsilons.
func noiseOnAMap() (string, error) {
	c := newCanvas(3*panel+40, panel+104, "Where reports of one place lie, at three epsilons")
	for i, eps := range []float64{0.02, 0.005, 0.002} {
		left, top := 10+float64(i)*(panel+10), 34.0
		half, most, err := reportsOf(c, fmt.Sprintf("panel%d", i), left, top, panel, eps)
		if err != nil {
			return "", err
		}
		c.text(left+panel/2, 22, "middle", ink, fmt.Sprintf("epsilon %v per metre", eps))
		c.text(left+panel/2, top+panel+20, "middle", colours[1], fmt.Sprintf("half: %s m, 95 %%: %s m", plain(math.Round(half)), plain(math.Round(most))))
	}
	c.line(10, 308, 10+500*panel/panelMetres, 308, ink)
	c.text(10, 328, "start", faint, "500 m; black: the true place; rings: half, and 95 %, of the reports")
	return c.done(), nil
}

// answers draws reports of a place and sums of a month's readings, with the interval that 95 % of them are in. The sums are no draws either:
// the n-th lies at the quantile (n-1/2)/60 of the error, on both sides of the truth.
func answers() (string, error) {
	const (
		eps, truth = 1.0, 412.6 // kWh
		side       = 160.0
		left, top  = 190.0, 32.0
		width      = 280.0
		span       = 10.0 // kWh across the axis
		bin        = 0.5  // kWh
	)
	c := newCanvas(480, side+90, "Answers: a location, and the sum of a month")
	c.WriteString(`<g font-size="15">` + "\n") // as it is shown on telephones too
	_, most, err := reportsOf(c, "place", 10, top, side, 0.01)
	if err != nil {
		return "", err
	}
	c.text(10+side/2, 22, "middle", ink, "Where? epsilon 0.01/m")
	c.text(10+side/2, top+side+20, "middle", colours[1], fmt.Sprintf("95 %% within %s m", plain(math.Round(most))))

	radius := sumRadius(eps)
	x := func(kWh float64) float64 { return left + width/2 + kWh*width/span }
	heights := map[float64]int{}
	for n := range reports / 2 {
		r, err := radius((float64(n) + 0.5) / (reports / 2))
		if err != nil {
			return "", err
		}
		for _, sign := range []float64{-1, 1} {
			at := sign * (math.Floor(r/bin) + 0.5) * bin
			c.dot(x(at), top+side-30-float64(heights[at])*5.2, 2.4, colours[0])
			heights[at]++
		}
	}
	within, err := radius(0.95)
	if err != nil {
		return "", err
	}
	axis := top + side - 20
	c.line(left, axis, left+width, axis, ink)
	for kWh := -4.0; kWh <= 4; kWh += 2 {
		c.line(x(kWh), axis, x(kWh), axis+5, ink)
		c.text(x(kWh), axis+20, "middle", faint, fmt.Sprintf("%.1f", truth+kWh))
	}
	fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="6" fill="%s" fill-opacity="0.4"/>`+"\n", x(-within), axis-3, x(within)-x(-within), colours[1])
	c.dot(x(0), axis, 4, ink)
	c.text(left+width/2, 22, "middle", ink, "kWh this month? epsilon 1/kWh")
	c.text(left+width/2, top+side+20, "middle", colours[1], fmt.Sprintf("95 %% within %.1f kWh", within))
	c.text(10, top+side+48, "start", faint, "black: the truth; blue: equally likely answers")
	c.WriteString("</g>\n")
	return c.done(), nil
}

// errorAgainstEpsilon draws how far a report is off.
func errorAgainstEpsilon() (string, error) {
	radius := func(p float64) func(float64) (float64, error) {
		return func(eps float64) (float64, error) { return planar.LaplaceLaw.Plane(eps).Radius(p) }
	}
	return chart("How far reports are from the true place, against epsilon", "epsilon per metre", "metres",
		scale{low: 0.0005, high: 0.1, logarithmic: true, ticks: []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
		scale{low: 10, high: 10000, logarithmic: true, ticks: []float64{10, 100, 1000, 10000}}, plain,
		curve{radius(0.95), "95 of 100 reports are nearer", 0.004, false},
		curve{radius(0.5), "half of the reports are nearer", 0.008, true})
}

// sumErrorAgainstEpsilon draws how far a sum of readings is off under d1 and dinf.
func sumErrorAgainstEpsilon() (string, error) {
	radius := func(p float64) func(float64) (float64, error) {
		return func(eps float64) (float64, error) { return sumRadius(eps)(p) }
	}
	return chart("How far a sum of readings is from the truth, against epsilon", "epsilon per kWh", "kWh",
		scale{low: 0.1, high: 10, logarithmic: true, ticks: []float64{0.1, 0.2, 0.5, 1, 2, 5, 10}},
		scale{low: 0.05, high: 50, logarithmic: true, ticks: []float64{0.1, 1, 10}}, plain,
		curve{radius(0.95), "95 of 100 sums are nearer", 0.7, false},
		curve{radius(0.5), "half of the sums are nearer", 1, true})
}

// sumRadius returns the function from a probability to how far a sum of readings is off at most with it.
func sumRadius(eps float64) func(p float64) (float64, error) {
	return func(p float64) (float64, error) {
		halfhour, err := scalar.NewUniverse("halfhour", 0, 10, 0.001, "kWh")
		if err != nil {
			return 0, err
		}
		query, err := scalar.NewQuery(scalar.Sum, halfhour, budget.D1, new(big.Rat).SetFloat64(eps))
		if err != nil {
			return 0, err
		}
		return query.Radius(p, 0)
	}
}

// sumErrorAgainstUniverse draws how far a sum of readings from 0 on is off, under d1 and dh.
func sumErrorAgainstUniverse() (string, error) {
	return chart("How far 95 of 100 sums are from the truth at most at epsilon 1, against the end of the universe", "end of the universe, kWh", "kWh",
		scale{low: 1, high: 100, logarithmic: true, ticks: []float64{1, 10, 100}},
		scale{low: 1, high: 500, logarithmic: true, ticks: []float64{1, 10, 100}}, plain,
		curve{sumErrorTo(budget.DH), "dh hides whether a reading is there", 14, false},
		curve{sumErrorTo(budget.D1), "d1 hides how much it is", 14, true})
}

// cutAgainstUniverse draws the noise of a sum under dh and the kWh that the end of the universe takes from it, of the made-up homes of
// docs/skewed.md.
func cutAgainstUniverse() (string, error) {
	cut := func(end float64) (float64, error) {
		taken := 0.0
		for i := 1; i <= 1600; i++ {
			kwh := 8 + 6*math.Sin(float64(i)*1.7)
			if i%100 == 0 {
				kwh += 30 + float64(i%37)
			}
			taken += max(0, kwh-end)
		}
		return taken, nil
	}
	return chart("The noise of a sum and the part that is cut off, against the end of the universe", "end of the universe, kWh a day", "kWh",
		scale{low: 15, high: 200, logarithmic: true, ticks: []float64{20, 50, 100, 200}},
		scale{low: 0, high: 800, ticks: []float64{0, 200, 400, 600, 800}}, plain,
		curve{sumErrorTo(budget.DH), "noise, 95 of 100 are less", 150, false},
		curve{cut, "cut off", 17, false})
}

// sumErrorTo returns the function from the end of a universe to how far 95 of 100 sums are off at most, at epsilon 1.
func sumErrorTo(metric budget.Metric) func(end float64) (float64, error) {
	return func(end float64) (float64, error) {
		universe, err := scalar.NewUniverse("readings", 0, math.Round(1000*end)/1000, 0.001, "kWh")
		if err != nil {
			return 0, err
		}
		query, err := scalar.NewQuery(scalar.Sum, universe, metric, big.NewRat(1, 1))
		if err != nil {
			return 0, err
		}
		return query.Radius(0.95, 0)
	}
}

// belief draws the most that a belief of one half, between two places, can become after one report.
func belief() (string, error) {
	var curves []curve
	for i, eps := range []float64{0.02, 0.005, 0.002} {
		curves = append(curves, curve{func(d float64) (float64, error) { return 1 / (1 + math.Exp(-eps*d)), nil },
			fmt.Sprintf("epsilon %v", eps), []float64{60, 260, 330}[i], true})
	}
	return chart("A belief of 50 % after one report at most, against the distance of two places",
		"metres between the two places", "belief in the true one, at most",
		scale{low: 0, high: 500, ticks: []float64{0, 100, 200, 300, 400, 500}},
		scale{low: 0.5, high: 1, ticks: []float64{0.5, 0.6, 0.7, 0.8, 0.9, 1}},
		func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }, curves...)
}
