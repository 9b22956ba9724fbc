package meters

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/mechanism/trace"
)

// A PredictionRow holds the results of the predictive mechanism with one setting. Epsilons are
// per reading and per unit of the universe, errors in the unit.
type PredictionRow struct {
	Alpha, Eta float64
	Meters     int
	Readings   int // reported, of all meters

	PredictionRate      float64 // share of the tested predictions that passed
	MeanError, P95Error float64
	Beyond              float64 // share of the reports that are further off than alpha
	Epsilon             float64 // spent

	SameError   float64 // epsilon at which independent noise has this mean error; NaN if that is 0
	SameEpsilon float64 // mean error of independent noise at the epsilon spent
	Saving      int     // meters that spend less than independent noise of their own mean error

	// The spending of single meters, relative to independent noise of their own mean error.
	Shares stats.Quartiles
}

// A predictor is the predictive mechanism with one setting.
type predictor struct {
	alpha, eta float64
	mechanism  *trace.Mechanism
}

// predictors returns one for each eta and alpha. Their epsilon for a trace is the largest there
// is, so that runs go on to the end of their meter.
func (s *Settings) predictors() (all []predictor, err error) {
	for _, eta := range s.Etas {
		for _, alpha := range s.Alphas {
			p := predictor{alpha: alpha, eta: eta}
			if p.mechanism, err = trace.New(trace.NewLine(s.Universe), trace.Policy{
				Mechanism: trace.Predictive, Universe: s.Universe.Name(), Epsilon: budget.Max,
				Manager: trace.FixedUtility, Alpha: alpha, Eta: eta, Gamma: gamma,
				Predictor: trace.Parrot, After: trace.AfterStop,
			}); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// gamma is the ratio of a test's noise to its threshold, that of the published experiments.
const gamma = 0.8

// Predictions reports the readings of each meter as one trace, and calls row for each eta and
// alpha; alphas vary fastest. It ends early with the cause of ctx, or with the error of row.
func (s *Study) Predictions(ctx context.Context, meters []Meter, row func(PredictionRow) error) error {
	if len(meters) == 0 {
		return errors.New("there are no readings")
	}
	s.Begin(len(meters) * len(s.predictors))
	return parallel.Report(s.predictors, func(p predictor) (PredictionRow, error) { return s.predictionRow(ctx, p, meters) }, row)
}

// predictionRow measures one setting on all meters.
func (s *Study) predictionRow(ctx context.Context, p predictor, meters []Meter) (PredictionRow, error) {
	runs := make([]predicted, len(meters))
	if err := s.Each(ctx, len(runs), func(worker, k int) (err error) {
		runs[k], err = s.predict(p.mechanism, s.Sources[worker], meters[k])
		return err
	}); err != nil {
		return PredictionRow{}, err
	}
	r := PredictionRow{Alpha: p.alpha, Eta: p.eta, Meters: len(meters)}
	var all predicted
	var shares []float64
	for k := range runs { // in the order of the meters, not of the workers
		x := &runs[k]
		same := newIndependentNoise(s.settings.Universe, x.readings).epsilonFor(x.meanError())
		if x.epsilon() < same {
			r.Saving++
		}
		shares = append(shares, x.epsilon()/same)
		all.merge(x)
	}
	noise := newIndependentNoise(s.settings.Universe, all.readings)
	r.Readings = len(all.errors)
	r.Shares = stats.NewQuartiles(shares)
	r.PredictionRate = float64(all.easy) / float64(all.tested)
	r.MeanError, r.Epsilon = all.meanError(), all.epsilon()
	r.SameError, r.SameEpsilon = noise.epsilonFor(r.MeanError), noise.meanError(r.Epsilon)
	slices.Sort(all.errors)
	r.P95Error = stats.Quantile(all.errors, 0.95)
	within := sort.Search(len(all.errors), func(k int) bool { return all.errors[k] > p.alpha*(1+1e-9) })
	r.Beyond = 1 - float64(within)/float64(len(all.errors))
	return r, nil
}

// predicted is the outcome of the traces of some meters.
type predicted struct {
	tested, easy int
	spent        float64
	errors       []float64     // of the reports
	readings     map[int64]int // how often each index was to be reported
}

// predict reports a meter as often as the settings say. Of readings of the same time the first
// is reported.
func (s *Study) predict(m *trace.Mechanism, src *exact.Source, meter Meter) (predicted, error) {
	u := s.settings.Universe
	p := predicted{readings: map[int64]int{}}
	for range s.settings.Repeat {
		var run trace.Run
		for k, r := range meter.Readings {
			if k > 0 && r.T == meter.Readings[k-1].T {
				continue
			}
			plan, err := m.Plan(&run, r.T)
			if err != nil {
				return p, err
			}
			if plan.Action == trace.Stop {
				return p, errors.New("alpha is too small for so many readings")
			}
			x := trace.Cell{I: u.Index(r.Value)}
			q := m.Draw(src, plan, x)
			if err := m.Add(&run, q); err != nil {
				return p, err
			}
			p.readings[x.I]++
			p.errors = append(p.errors, distance(u.Value(q.Z.I), u.Value(x.I)))
		}
		h := run.History()
		p.tested, p.easy, p.spent = p.tested+int(h.Tested), p.easy+int(h.Easy), p.spent+h.Spent.Float64()
	}
	return p, nil
}

// merge adds the reports of o.
func (p *predicted) merge(o *predicted) {
	if p.readings == nil {
		p.readings = map[int64]int{}
	}
	p.tested += o.tested
	p.easy += o.easy
	p.spent += o.spent
	p.errors = append(p.errors, o.errors...)
	for index, n := range o.readings {
		p.readings[index] += n
	}
}

func (p *predicted) epsilon() float64 { return p.spent / float64(len(p.errors)) }

func (p *predicted) meanError() (mean float64) {
	for _, x := range p.errors {
		mean += x / float64(len(p.errors))
	}
	return mean
}

// independentNoise is the truncated geometric mechanism on some readings.
type independentNoise struct {
	step  float64
	last  int64
	spots []spot
}

// A spot is an index, and its share of the readings.
type spot struct {
	index int64
	share float64
}

// newIndependentNoise returns the mechanism on readings, by how often each index is among them.
func newIndependentNoise(u *scalar.Universe, readings map[int64]int) independentNoise {
	step, _ := u.Step().Float64()
	noise := independentNoise{step: step, last: u.Last()}
	total := 0
	for _, n := range readings {
		total += n
	}
	for index, n := range readings {
		noise.spots = append(noise.spots, spot{index, float64(n) / float64(total)})
	}
	slices.SortFunc(noise.spots, func(a, b spot) int { return cmp.Compare(a.index, b.index) })
	return noise
}

// meanError returns the expected error at an epsilon. With q = e^-rate, noise on a reading of
// index x is k or more with probability q^k/(1+q), for k of 1 or more, and the clamp leaves no
// more than last-x of it. Summed over k that is q(1-q^(last-x))/(1-q^2), and likewise below.
func (n independentNoise) meanError(epsilon float64) (mean float64) {
	rate := epsilon * n.step
	scale := math.Exp(-rate) / -math.Expm1(-2*rate)
	for _, x := range n.spots {
		below, above := -math.Expm1(-rate*float64(x.index)), -math.Expm1(-rate*float64(n.last-x.index))
		mean += x.share * scale * (below + above)
	}
	return mean * n.step
}

// epsilonFor returns the epsilon with a mean error, by bisection: the error falls with epsilon.
// It returns NaN for an error of 0, and 0 for one that no epsilon has.
func (n independentNoise) epsilonFor(meanError float64) float64 {
	if meanError == 0 {
		return math.NaN()
	}
	lo, hi := 1e-9/n.step, 700/n.step
	if meanError >= n.meanError(lo) {
		return 0
	}
	for hi > lo*(1+1e-12) {
		mid := math.Sqrt(lo * hi)
		if n.meanError(mid) > meanError {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
