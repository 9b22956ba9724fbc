package meters

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// The scopes of totals.
const (
	OneMeter = "meter"
	District = "district" // all meters
)

// A TotalRow holds the results about sums at one epsilon.
type TotalRow struct {
	Scope   string // OneMeter or District
	Span    string // "day" or "month"
	Epsilon float64
	Groups  int // sums, of one reading or more
	Zeros   int // sums of 0, left out of the relative errors

	MeanSum                     float64
	Errors                      Errors
	RelativeMedian, RelativeP95 float64 // errors relative to the sum; NaN without a sum
	Relative                    stats.Quartiles
}

// A span is a length of time to sum over. Times are numbered by it, in ascending order.
type span struct {
	name   string
	number func(t int64) int64
}

var spans = []span{
	{"day", func(t int64) int64 { return floor(t, (24 * time.Hour).Microseconds()) }},
	{"month", func(t int64) int64 {
		date := time.UnixMicro(t).UTC()
		return 12*int64(date.Year()) + int64(date.Month())
	}},
}

// Totals releases sums of the readings of meters, and calls row for each scope, span and
// epsilon; epsilons vary fastest. It ends early with the cause of ctx, or with the error of
// row.
func (s *Study) Totals(ctx context.Context, meters []Meter, row func(TotalRow) error) error {
	parts := partition(meters)
	work := 0
	for _, p := range parts {
		work += len(p.groups) * len(s.sums)
	}
	if work == 0 {
		return errors.New("there are no readings")
	}
	s.Begin(work)
	for _, p := range parts {
		if err := parallel.Report(s.sums, func(m mechanism) (TotalRow, error) { return s.totalRow(ctx, p, m) }, row); err != nil {
			return err
		}
	}
	return nil
}

// A part holds the groups of readings that are summed for the rows of a scope and span.
type part struct {
	scope, span string
	groups      [][]Reading
}

// partition returns the parts in the order of their rows.
func partition(meters []Meter) (parts []part) {
	var district []Reading
	for _, m := range meters {
		district = append(district, m.Readings...)
	}
	sortByTime(district)
	for _, x := range spans {
		parts = append(parts, part{OneMeter, x.name, groups(meters, x.number)})
	}
	for _, x := range spans {
		parts = append(parts, part{District, x.name, groups([]Meter{{Readings: district}}, x.number)})
	}
	return parts
}

// groups divides the readings of each meter by the numbers of their times.
func groups(meters []Meter, number func(t int64) int64) (all [][]Reading) {
	for _, m := range meters {
		all = append(all, stats.Runs(m.Readings, func(r Reading) int64 { return number(r.T) })...)
	}
	return all
}

// A total is a true sum and the errors of its releases.
type total struct {
	sum    float64
	errors []float64
}

// totalRow releases the sum of each group of a part.
func (s *Study) totalRow(ctx context.Context, p part, m mechanism) (TotalRow, error) {
	totals := make([]total, len(p.groups))
	if err := s.Each(ctx, len(totals), func(worker, k int) error {
		totals[k] = s.releaseSum(m.query, s.Sources[worker], p.groups[k])
		return nil
	}); err != nil {
		return TotalRow{}, err
	}
	r := TotalRow{Scope: p.scope, Span: p.span, Epsilon: m.epsilon, Groups: len(totals)}
	var all, relative []float64
	for _, x := range totals {
		r.MeanSum += x.sum / float64(len(totals))
		all = append(all, x.errors...)
		if x.sum == 0 {
			r.Zeros++
			continue
		}
		for _, e := range x.errors {
			relative = append(relative, e/math.Abs(x.sum))
		}
	}
	r.Errors = newErrors(all, m.radius)
	slices.Sort(relative)
	r.RelativeMedian, r.RelativeP95 = stats.Quantile(relative, 0.5), stats.Quantile(relative, 0.95)
	r.Relative = stats.NewQuartiles(relative)
	return r, nil
}

// releaseSum releases the sum of some readings repeatedly.
func (s *Study) releaseSum(q *scalar.Query, src *exact.Source, readings []Reading) total {
	var a scalar.Accumulator
	for _, r := range readings {
		q.Add(&a, r.Value)
	}
	t := total{sum(s.settings.Universe, readings), make([]float64, 0, s.settings.Repeat)}
	for range s.settings.Repeat {
		t.errors = append(t.errors, distance(q.Draw(src, &a), t.sum))
	}
	return t
}

// sum returns the float64 nearest to the sum of readings as moved to the universe's grid.
func sum(u *scalar.Universe, readings []Reading) float64 {
	steps := new(big.Int)
	for _, r := range readings {
		steps.Add(steps, big.NewInt(u.Index(r.Value)))
	}
	exact := new(big.Rat).SetInt(steps)
	exact.Mul(exact, u.Step())
	lo := budget.Decimal(u.Value(0))
	exact.Add(exact, lo.Mul(lo, new(big.Rat).SetInt64(int64(len(readings)))))
	nearest, _ := exact.Float64()
	return nearest
}
