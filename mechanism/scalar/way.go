package scalar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
)

// A way to draw a percentile under d1.
type way int

const (
	byFacts  way = iota // whichever public facts choose: see reference.go
	byNoise             // the truncated geometric mechanism
	byScore             // see rank.go
	byWindow            // see window.go
)

var wayNames = []string{byNoise: "noise", byScore: "score", byWindow: "window"}

// ParseMetric returns the metric called s, as [budget.ParseMetric] does, and the aggregate under it. For a percentile s may
// also be d1/noise, d1/score or d1/window, and then the aggregate is always drawn in that way.
func ParseMetric(s string, a Aggregate) (budget.Metric, Aggregate, error) {
	name, by, named := strings.Cut(s, "/")
	m, err := budget.ParseMetric(name)
	if !named {
		return m, a, err
	}
	p, ranks := a.(percentile)
	if p.by = way(slices.Index(wayNames, by)); err != nil || m != budget.D1 || !ranks || p.by <= byFacts {
		return 0, nil, fmt.Errorf("metric %q is not one of d1, nd1, dh, dinf, nor of those of percentiles: d1/noise, d1/score, d1/window", s)
	}
	return m, p, nil
}

// way returns how a percentile of m readings is drawn. A window of one reading is noise, and so is lo, the answer without readings.
func (l *scored) way(m int) way {
	switch {
	case l.metric != budget.D1:
		return byScore
	case m == 0, l.by == byWindow && l.half(m) == 0:
		return byNoise
	case l.by != byFacts:
		return l.by
	}
	last := &l.choices[m%len(l.choices)]
	if c := last.Load(); c>>2 == uint64(m) {
		return way(c & 3)
	}
	best := byNoise + way(leastWorst(l.errors(m)))
	last.Store(uint64(m)<<2 | uint64(best))
	return best
}

// errors returns the expected errors of the ways over m readings, m > 0, in steps, for each reference: by noise, by score, and by
// window if that has more than one reading.
func (l *scored) errors(m int) (cases [][]float64) {
	before, h := l.below(m), l.half(m)
	for _, r := range references {
		s := sample{r, m, l.universe.last}
		errs := []float64{
			s.noisedError(l.noise.rate, before, 0),
			ranking{s, before, l.noise.rate / 2, false}.expectedError(before),
		}
		if h > 0 {
			errs = append(errs, s.noisedError(l.noise.rate, before, h))
		}
		cases = append(cases, errs)
	}
	return cases
}
