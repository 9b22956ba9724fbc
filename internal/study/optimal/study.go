package optimal

import (
	"context"
	"time"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/mechanism/optimal"
)

// Names of the mechanisms.
const (
	Optimal         = "optimal"
	PlanarGeometric = "planar-geometric"
	PlanarLaplace   = "planar-laplace"
	Exponential     = "exponential"
	MostPrivate     = "most-private"
)

// A Row holds the results for one mechanism.
type Row struct {
	Mechanism string
	Epsilon   float64       // as requested
	Solved    *Solved       // nil for mechanisms without a solver
	Measures                // of the certified mechanism
	Took      time.Duration // to find and certify it
}

// Solved describes how an optimal mechanism was found.
type Solved struct {
	Dilation     float64 // as requested
	TrueDilation float64 // actual dilation of the spanner
	Edges        int     // of the spanner
	Constraints  int     // two for each edge and output, and the sums of the rows
	Gap          float64 // (loss - bound)/loss
}

// Measures are those of a mechanism under a prior. Lengths are in the unit.
type Measures struct {
	Loss             float64 // average distance of report and truth (QL, thesis, section 3.1)
	AdversaryError   float64 // of an adversary who knows the prior (AdvError, ibid.)
	RemappedLoss     float64 // of reports remapped for the prior
	CertifiedEpsilon float64 // a proven bound, per unit
}

// A Study compares mechanisms on a set of places. [New] returns one. It is not safe for
// concurrent use.
type Study struct {
	// Progress, unless nil, is called repeatedly with how far the search for a mechanism
	// has come.
	Progress func(Progress)

	settings Settings
	places   []Place
	prior    []float64
	d        optimal.Matrix
}

// New returns a study of places. Errors are about the settings or the places, which they count
// from 1.
func New(s Settings, places []Place) (*Study, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := checkPlaces(places); err != nil {
		return nil, err
	}
	d, err := distances(places)
	if err != nil {
		return nil, err
	}
	study := &Study{settings: s, places: places, d: d}
	for _, p := range places {
		study.prior = append(study.prior, p.Weight)
	}
	return study, nil
}

// Run measures the mechanisms and calls row with each result: the optimal ones, in the order
// of the dilations, then the others. It ends early with the cause of ctx, or with the error of
// row or of a solver. It uses all processors.
func (s *Study) Run(ctx context.Context, row func(Row) error) error {
	return s.run(ctx, s.settings.Epsilon, s.settings.Dilations, row)
}

// run measures the mechanisms at an epsilon, as Run does at that of the settings.
func (s *Study) run(ctx context.Context, epsilon float64, dilations []float64, row func(Row) error) error {
	solve := func(dilation float64) (Row, error) { return s.optimal(ctx, epsilon, dilation) }
	if err := parallel.Report(dilations, solve, row); err != nil {
		return err
	}
	return s.others(ctx, epsilon, row)
}

// sweepFactors are the epsilons of a Sweep, divided by that of the settings.
var sweepFactors = []float64{0.25, 0.5, 2, 4}

// Sweep measures all mechanisms at smaller and greater epsilons than Run does, in ascending
// order, and calls row with each result. It solves for the optimal one at the first dilation. It
// ends early as Run does.
func (s *Study) Sweep(ctx context.Context, row func(Row) error) error {
	for _, factor := range sweepFactors {
		if err := s.run(ctx, factor*s.settings.Epsilon, s.settings.Dilations[:1], row); err != nil {
			return err
		}
	}
	return nil
}

// optimal solves for a mechanism and measures it.
func (s *Study) optimal(ctx context.Context, epsilon, dilation float64) (Row, error) {
	begin := time.Now()
	m, found, err := s.solve(ctx, epsilon, dilation)
	if err != nil {
		return Row{}, err
	}
	r := Row{Mechanism: Optimal, Epsilon: epsilon, Took: time.Since(begin), Measures: s.measure(m)}
	n := len(s.places)
	r.Solved = &Solved{
		Dilation: dilation, TrueDilation: found.Dilation, Gap: found.Gap(),
		Edges: found.Edges, Constraints: 2*found.Edges*n + n,
	}
	return r, nil
}

// solve returns an optimal mechanism and how it was found. It ends early with the
// cause of ctx.
func (s *Study) solve(ctx context.Context, epsilon, dilation float64) (*optimal.Mechanism, *optimal.Solution, error) {
	found, err := optimal.Solve(ctx,
		optimal.Problem{Prior: s.prior, Quality: s.d, Privacy: s.d, Epsilon: epsilon},
		optimal.Options{Dilation: dilation, Gap: s.settings.Gap, Progress: s.solverProgress(epsilon, dilation)})
	if err != nil {
		return nil, nil, causeOf(ctx, err)
	}
	m, err := optimal.New(epsilon, s.d, found.Matrix)
	return m, found, err
}

// causeOf returns the cause of ctx if it has ended, and err otherwise.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// others measures the mechanisms without a solver.
func (s *Study) others(ctx context.Context, epsilon float64, row func(Row) error) error {
	type other struct {
		name   string
		matrix func(context.Context, float64) (optimal.Matrix, error)
	}
	return parallel.Report([]other{{PlanarGeometric, s.planar}, {Exponential, s.exponential}}, func(o other) (Row, error) {
		begin := time.Now()
		k, err := o.matrix(ctx, epsilon)
		if err != nil {
			return Row{}, err
		}
		m, err := certify(epsilon, s.d, k)
		if err != nil {
			return Row{}, err
		}
		return Row{Mechanism: o.name, Epsilon: epsilon, Took: time.Since(begin), Measures: s.measure(m)}, nil
	}, row)
}

func (s *Study) exponential(_ context.Context, epsilon float64) (optimal.Matrix, error) {
	return optimal.Exponential(epsilon, s.d), nil
}

// planar returns the planar geometric mechanism of the lattice in which the places form a rectangle. If there is none,
// or it is too fine, it returns the limit of ever finer ones.
func (s *Study) planar(ctx context.Context, epsilon float64) (optimal.Matrix, error) {
	if g, ok := gridOf(s.places); ok {
		if k, err := g.planarGeometric(epsilon); err == nil {
			return k, nil
		}
	}
	return PlanarLaplaceMatrix(ctx, epsilon, s.places)
}

// certify returns the mechanism of a matrix that is epsilon*d-private, at the smaller epsilon
// that it realises, with a margin for rounding errors.
func certify(epsilon float64, d, k optimal.Matrix) (*optimal.Mechanism, error) {
	const margin = 0x1p-40
	realised := optimal.RealisedEpsilon(k, d) * (1 + margin)
	if realised < epsilon {
		if m, err := optimal.New(realised, d, k); err == nil {
			return m, nil
		}
	}
	return optimal.New(epsilon, d, k)
}

func (s *Study) measure(m *optimal.Mechanism) Measures {
	k := m.Matrix()
	return Measures{
		Loss:             optimal.Loss(s.prior, k, s.d),
		AdversaryError:   optimal.AdversaryError(s.prior, k, s.d),
		RemappedLoss:     optimal.Loss(s.prior, k.Remapped(optimal.Remap(s.prior, k, s.d)), s.d),
		CertifiedEpsilon: m.Epsilon(),
	}
}
