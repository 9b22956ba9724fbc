package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
)

// growthNumbers is the output of go run ./internal/benchmarks growth -write.
//
//go:embed growth.csv
var growthNumbers string

// A measured work took so many seconds for each size.
type measured struct {
	work           string
	sizes, seconds []float64
}

// readGrowth returns the measurements by the growing quantity.
func readGrowth() (map[string][]measured, error) {
	lines, err := csv.NewReader(strings.NewReader(growthNumbers)).ReadAll()
	if err != nil {
		return nil, err
	}
	all := map[string][]measured{}
	for _, line := range lines[1:] {
		var size, seconds float64
		if _, err := fmt.Sscan(line[2]+" "+line[3], &size, &seconds); err != nil {
			return nil, fmt.Errorf("growth.csv: %v: %w", line, err)
		}
		works := all[line[0]]
		i := slices.IndexFunc(works, func(m measured) bool { return m.work == line[1] })
		if i < 0 {
			i, works = len(works), append(works, measured{work: line[1]})
		}
		works[i].sizes, works[i].seconds = append(works[i].sizes, size), append(works[i].seconds, seconds)
		all[line[0]] = works
	}
	return all, nil
}

// growthWorks has the name of each work in the picture, and its colour.
var growthWorks = map[string]struct{ name, colour string }{
	"laplace":    {"geoind_laplace", colours[0]},
	"dx_sum":     {"dx_sum", colours[1]},
	"release":    {"geosql release", colours[2]},
	"reserve":    {"budget_reserve", colours[3]},
	"predictive": {"predictive_step", colours[0]},
	"pim":        {"pim_step", colours[1]},
	"optimal":    {"optimal mechanism", colours[0]},
}

// growth draws how time grows with rows, accounts, traces and places, each in a panel of its own. Both scales are
// logarithmic, so that a power of the size is a straight line.
func growth() (string, error) {
	all, err := readGrowth()
	if err != nil {
		return "", err
	}
	const (
		width, height = 420.0, 330.0
		left, right   = 68.0, 404.0
		top, bottom   = 36.0, 250.0
	)
	c := newCanvas(2*width, 2*height, "How time grows with rows, accounts, traces and places")
	for i, axis := range []string{"rows", "accounts", "traces", "places"} {
		works := all[axis]
		if len(works) == 0 {
			return "", fmt.Errorf("growth.csv has nothing about %s", axis)
		}
		dx, dy := float64(i%2)*width, float64(i/2)*height
		sizes, seconds := scale{logarithmic: true, low: math.Inf(1)}, scale{logarithmic: true, low: math.Inf(1)}
		var ticks []float64
		for _, m := range works {
			ticks = append(ticks, m.sizes...)
			sizes.low, sizes.high = min(sizes.low, m.sizes[0]), max(sizes.high, m.sizes[len(m.sizes)-1])
			seconds.low, seconds.high = min(seconds.low, slices.Min(m.seconds)), max(seconds.high, slices.Max(m.seconds))
		}
		slices.Sort(ticks)
		ticks = slices.Compact(ticks)
		sizes.from, sizes.to, seconds.from, seconds.to = dx+left, dx+right, dy+bottom, dy+top
		seconds.low, seconds.high = powerBelow(seconds.low), powerBelow(seconds.high)*10
		sizes.high = max(sizes.high, 2*sizes.low)
		c.text(dx+(left+right)/2, dy+22, "middle", ink, "time by "+axis)
		for _, tick := range ticks {
			c.line(sizes.at(tick), dy+top, sizes.at(tick), dy+bottom, rule)
			c.text(sizes.at(tick), dy+bottom+18, "middle", faint, shortNumber(tick))
		}
		for tick := seconds.low; tick <= seconds.high*1.01; tick *= 10 {
			c.line(dx+left, seconds.at(tick), dx+right, seconds.at(tick), rule)
			c.text(dx+left-6, seconds.at(tick)+5, "end", faint, shortTime(tick))
		}
		for n, m := range works {
			work := growthWorks[m.work]
			var path strings.Builder
			for k := range m.sizes {
				fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], sizes.at(m.sizes[k]), seconds.at(m.seconds[k]))
				c.dot(sizes.at(m.sizes[k]), seconds.at(m.seconds[k]), 3, work.colour)
			}
			fmt.Fprintf(c, `<path d="%s" stroke="%s" stroke-width="2" fill="none"/>`+"\n", path.String(), work.colour)
			c.text(dx+left+float64(n%2)*(right-left)/2, dy+bottom+42+20*float64(n/2), "start", work.colour, work.name)
		}
	}
	return c.done(), nil
}

// powerBelow returns the largest power of ten that is not above x.
func powerBelow(x float64) float64 { return math.Pow(10, math.Floor(math.Log10(x)+1e-9)) }

// shortNumber writes a size; powers of ten from 1000 on as such.
func shortNumber(x float64) string {
	if power := int(math.Round(math.Log10(x))); power >= 3 && power <= 9 && math.Pow(10, float64(power)) == x {
		return "10" + string([]rune("³⁴⁵⁶⁷⁸⁹")[power-3])
	}
	return fmt.Sprintf("%.0f", x)
}

// shortTime writes a power of ten of seconds.
func shortTime(seconds float64) string {
	switch {
	case seconds < 0.9e-3:
		return fmt.Sprintf("%.0f µs", seconds*1e6)
	case seconds < 0.9:
		return fmt.Sprintf("%.0f ms", seconds*1e3)
	default:
		return fmt.Sprintf("%.0f s", seconds)
	}
}
