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

// noiseOnAMap draws where reports of one place lie, at three epsilons. The points are no draws: the
// n-th lies at the quantile (n-1/2)/120 of the distance, each a golden angle further around, so that
// they are as dense as reports are on average.
func noiseOnAMap() (string, error) {
	const (
		panel  = 230.0
		metres = 2300.0 // across a panel
		points = 120
	)
	c := newCanvas(3*panel+40, panel+104, "Where reports of one place lie, at three epsilons")
	for i, eps := range []float64{0.02, 0.005, 0.002} {
		left, top := 10+float64(i)*(panel+10), 34.0
		middle, centre := left+panel/2, top+panel/2
		fmt.Fprintf(c, `<clipPath id="panel%d"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath>`+"\n", i, left, top, panel, panel)
		fmt.Fprintf(c, `<g clip-path="url(#panel%d)"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#f4f4f1"/>`+"\n", i, left, top, panel, panel)
		for street := panel / 10; street < panel; street += panel / 5 {
			c.line(left+street, top, left+street, top+panel, rule)
			c.line(left, top+street, left+panel, top+street, rule)
		}
		accuracy := planar.LaplaceLaw.Plane(eps)
		for n := range points {
			r, err := accuracy.Radius((float64(n) + 0.5) / points)
			if err != nil {
				return "", err
			}
			angle := float64(n) * math.Pi * (3 - math.Sqrt(5))
			c.dot(middle+r*panel/metres*math.Cos(angle), centre+r*panel/metres*math.Sin(angle), 2, colours[0])
		}
		half, err := accuracy.Radius(0.5)
		if err != nil {
			return "", err
		}
		most, err := accuracy.Radius(0.95)
		if err != nil {
			return "", err
		}
		c.ring(middle, centre, half*panel/metres, colours[1])
		c.ring(middle, centre, most*panel/metres, colours[1])
		c.dot(middle, centre, 4, ink)
		c.WriteString("</g>\n")
		c.text(middle, 22, "middle", ink, fmt.Sprintf("epsilon %v per metre", eps))
		c.text(middle, top+panel+20, "middle", colours[1], fmt.Sprintf("half: %s m, 95 %%: %s m", plain(math.Round(half)), plain(math.Round(most))))
	}
	c.line(10, 308, 10+500*panel/metres, 308, ink)
	c.text(10, 328, "start", faint, "500 m; black: the true place; rings: half, and 95 %, of the reports")
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
	halfhour, err := scalar.NewUniverse("halfhour", 0, 10, 0.001, "kWh")
	if err != nil {
		return "", err
	}
	radius := func(p float64) func(float64) (float64, error) {
		return func(eps float64) (float64, error) {
			query, err := scalar.NewQuery(scalar.Sum, halfhour, budget.D1, new(big.Rat).SetFloat64(eps))
			if err != nil {
				return 0, err
			}
			return query.Radius(p, 0)
		}
	}
	return chart("How far a sum of readings is from the truth, against epsilon", "epsilon per kWh", "kWh",
		scale{low: 0.1, high: 10, logarithmic: true, ticks: []float64{0.1, 0.2, 0.5, 1, 2, 5, 10}},
		scale{low: 0.05, high: 50, logarithmic: true, ticks: []float64{0.1, 1, 10}}, plain,
		curve{radius(0.95), "95 of 100 sums are nearer", 0.7, false},
		curve{radius(0.5), "half of the sums are nearer", 1, true})
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
