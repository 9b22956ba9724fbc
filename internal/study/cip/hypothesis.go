package cip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/mechanism/cip"
)

// HypothesisFigure draws, as SVG, figure 2 (b) of the paper: an example of a trace with the
// worst hypothesis about the worst set of each family and length scale, a line of panels for
// each family, at the first variance of the noise. The example is drawn from the prior, always with the same seed; a hypothesis
// does not depend on the trace. The rows are all those of a Run.
func (s *Study) HypothesisFigure(ctx context.Context, rows []Row) (io.WriterTo, error) {
	var lines [][]chart.Panel
	times := slices.Sorted(slices.Values(s.times))
	for k := 0; k < len(rows); k += s.variances {
		if k%(s.variances*s.scales) == 0 {
			lines = append(lines, nil)
		}
		trace, err := example(ctx, s.policies[k], times)
		if err != nil {
			return nil, err
		}
		last := &lines[len(lines)-1]
		*last = append(*last, hypothesisPanel(rows[k], times, trace))
	}
	chart.SameScale(lines...)
	return chart.Page(lines)
}

// hypothesisPanel draws a trace, and the same trace with its points moved by the shift of a row.
func hypothesisPanel(r Row, times, trace []float64) chart.Panel {
	before := chart.Curve{Name: "trace", Style: chart.Blue, Plain: true}
	after := chart.Curve{Name: "hypothesis", Style: chart.Red, Plain: true}
	secrets := chart.Curve{Name: "secrets", Style: chart.Black, Loose: true}
	p := chart.Panel{
		Title: fmt.Sprintf("%s, l = %g, variance %g", r.Family, r.LengthScale, r.Sigma2),
		X:     chart.Axis{Name: "time", Unit: "units"}, Y: chart.Axis{Name: "position", Unit: "units"},
	}
	for k, t := range times {
		x, moved := plotter.XY{X: t, Y: trace[k]}, plotter.XY{X: t, Y: trace[k] + r.Shift[k]}
		before.Points, after.Points = append(before.Points, x), append(after.Points, moved)
		if slices.Contains(r.Loss.Set, k) {
			secrets.Points = append(secrets.Points, x, moved)
		}
	}
	p.Curves = []chart.Curve{before, after, secrets}
	return p
}

// example returns one coordinate of a trace that is drawn from the prior. Eigenvalues that
// rounding makes negative count as 0: for points close to each other some are tiny.
func example(ctx context.Context, prior cip.Policy, times []float64) ([]float64, error) {
	covariances, err := prior.Covariances(ctx, times)
	if err != nil {
		return nil, err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariances, true) {
		return nil, errors.New("no example of a trace was found")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	random := rand.New(rand.NewPCG(1, 2))
	trace := mat.NewVecDense(len(times), nil)
	for k, variance := range eigen.Values(nil) {
		trace.AddScaledVec(trace, math.Sqrt(max(0, variance))*random.NormFloat64(), vectors.ColView(k))
	}
	return trace.RawVector().Data, nil
}
