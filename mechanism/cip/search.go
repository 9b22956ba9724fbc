package cip

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/geosql/geosql/internal/workers"
)

const (
	// searchMargin is added, relatively, to the greatest loss over length scales. A
	// further search may change the loss by that much.
	searchMargin = 1e-6

	// nearlyNone is a sum of correlations that adds less than searchMargin to a loss: if
	// R_us and R_ss - I have that norm, sigma2*alpha <= |A|^2 <= (1e-8/(1-1e-8))^2.
	nearlyNone = 1e-8

	coarsest, finest = 2, 32 // length scales per octave
	maxOctaves       = 100
	maxHalvings      = 30 // between two length scales
)

// A worst is the greatest loss, and the number of the set that has it.
type worst struct {
	loss Loss
	set  int
}

// findWorst returns the greatest loss over the length scales.
func (q *problem) findWorst(ctx context.Context, sigma2 float64) (worst, error) {
	s := &search{problem: q, sigma2: sigma2}
	if q.LengthScale > 0 {
		if err := s.evaluate(ctx, []float64{q.LengthScale}); err != nil {
			return worst{}, err
		}
		return s.best, nil
	}
	if err := s.run(ctx); err != nil {
		return worst{}, err
	}
	s.best.loss.Loss = roundUp(s.best.loss.Loss * (1 + searchMargin))
	s.best.loss.Alpha = roundUp(s.best.loss.Alpha + searchMargin*(s.best.loss.Alpha+1/sigma2))
	return s.best, nil
}

// A search looks for the length scale and set with the greatest loss.
type search struct {
	*problem
	sigma2  float64
	columns []column // by length scale
	best    worst
}

// A column holds the losses of all sets at one length scale.
type column struct {
	l      float64
	losses []float64
}

// run halves the steps between length scales until that no longer changes the loss.
func (s *search) run(ctx context.Context) error {
	scales, err := s.firstScales(ctx)
	if err != nil {
		return err
	}
	for steps := coarsest; steps <= finest; steps *= 2 {
		before := s.best.loss.Loss
		if err := s.evaluate(ctx, scales); err != nil {
			return err
		}
		if err := s.refinePeaks(ctx); err != nil {
			return err
		}
		if s.best.loss.Loss <= before*(1+searchMargin/2) || len(s.columns) == 1 {
			return nil
		}
		scales = s.midpoints()
	}
	return fmt.Errorf("the loss changes too fast with the length scale to find its maximum up to %v", s.LengthScaleMax)
}

// firstScales returns the first length scales, in equal ratios: from one at which the
// points are practically independent up to the maximum.
func (s *search) firstScales(ctx context.Context) ([]float64, error) {
	last := s.LengthScaleMax
	first, err := s.kernel.decorrelatedScale(ctx, nearlyNone/float64(len(s.kernel.of)))
	switch {
	case err != nil:
		return nil, err
	case !(first < last):
		return []float64{last}, nil
	}
	octaves := math.Log2(last / first)
	if octaves > maxOctaves {
		return nil, fmt.Errorf("length_scale_max %v is too far above the length scale %v that tells the nearest points apart",
			last, first)
	}
	steps := int(math.Ceil(octaves * coarsest))
	var scales []float64
	for k := range steps {
		scales = append(scales, first*math.Exp2(octaves*float64(k)/float64(steps)))
	}
	return append(scales, last), nil
}

// midpoints returns the geometric means of neighbouring length scales.
func (s *search) midpoints() []float64 {
	var scales []float64
	for k := range s.columns[1:] {
		scales = append(scales, geometricMean(s.columns[k].l, s.columns[k+1].l))
	}
	return scales
}

func geometricMean(a, b float64) float64 { return a * math.Sqrt(b/a) }

// evaluate adds columns for length scales, on all processors.
func (s *search) evaluate(ctx context.Context, scales []float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	columns, bests := make([]column, len(scales)), make([]worst, len(scales))
	var next atomic.Int64
	workers.Run(min(len(scales), runtime.GOMAXPROCS(0)), func() {
		for k := int(next.Add(1)) - 1; k < len(scales) && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
			var err error
			if columns[k], bests[k], err = s.column(ctx, scales[k]); err != nil {
				cancel(err)
			}
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, b := range bests {
		s.keepWorst(b)
	}
	s.columns = append(s.columns, columns...)
	slices.SortFunc(s.columns, func(a, b column) int { return cmp.Compare(a.l, b.l) })
	return nil
}

func (s *search) column(ctx context.Context, l float64) (column, worst, error) {
	c, best := column{l, make([]float64, len(s.sets))}, worst{}
	t := s.kernel.tableAt(l)
	for set := range s.sets {
		if ctx.Err() != nil {
			return c, best, context.Cause(ctx)
		}
		loss, err := s.lossAt(ctx, t, set, s.sigma2)
		if err != nil {
			return c, best, err
		}
		c.losses[set] = loss.Loss
		if loss.Loss > best.loss.Loss {
			best = worst{loss, set}
		}
	}
	return c, best, nil
}

func (s *search) keepWorst(w worst) {
	if w.loss.Loss > s.best.loss.Loss {
		s.best = w
	}
}

// A peak is a loss of a set that its neighbours on the grid do not exceed, with these
// neighbours. The last one may have none to the right.
type peak struct {
	set  int
	l, y [3]float64 // length scales and losses: left, here, right
	last bool
}

// limit returns how high a smooth function might get near a peak. A parabola through the
// three points rises by no more than an eighth of the drop; limit allows a quarter.
func (p *peak) limit() float64 { return p.y[1] + (p.y[1]-min(p.y[0], p.y[2]))/4 }

// refinePeaks narrows the peaks that might exceed the best loss so far.
func (s *search) refinePeaks(ctx context.Context) error {
	peaks := s.peaks()
	slices.SortFunc(peaks, func(a, b peak) int { return cmp.Compare(b.y[1], a.y[1]) })
	for _, p := range peaks {
		for round := 0; round < maxHalvings && p.limit() > s.best.loss.Loss*(1+searchMargin/8); round++ {
			if err := s.narrow(ctx, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) peaks() []peak {
	var peaks []peak
	for set := range s.sets {
		for k := 1; k < len(s.columns); k++ { // at the first, points are as good as independent
			p := peak{set: set, last: k == len(s.columns)-1}
			for i := range p.y {
				c := s.columns[min(k-1+i, len(s.columns)-1)]
				p.l[i], p.y[i] = c.l, c.losses[set]
			}
			if p.y[1] < p.y[0] || p.y[1] < p.y[2] || p.last && s.stillRises(set) {
				continue
			}
			peaks = append(peaks, p)
		}
	}
	return peaks
}

// stillRises reports whether a set's loss rises at the last length scale, and would rise
// even if it bent down several times as much as it does.
func (s *search) stillRises(set int) bool {
	n := len(s.columns)
	if n < 3 {
		return false
	}
	a, b, c := s.columns[n-3].losses[set], s.columns[n-2].losses[set], s.columns[n-1].losses[set]
	return c-b+2*min(0, c-b-(b-a)) > 0
}

// narrow moves a peak's neighbours halfway towards it, or moves the peak to where that
// shows a greater loss.
func (s *search) narrow(ctx context.Context, p *peak) error {
	left, err := s.lossOfSet(ctx, p.set, geometricMean(p.l[0], p.l[1]))
	if err != nil {
		return err
	}
	right := left
	if p.last {
		right.LengthScale, right.Loss = p.l[1], p.y[1]
	} else if right, err = s.lossOfSet(ctx, p.set, geometricMean(p.l[1], p.l[2])); err != nil {
		return err
	}
	l := [5]float64{p.l[0], left.LengthScale, p.l[1], right.LengthScale, p.l[2]}
	y := [5]float64{p.y[0], left.Loss, p.y[1], right.Loss, p.y[2]}
	at := 2
	if y[1] > y[at] {
		at = 1
	}
	if y[3] > y[at] {
		at = 3
	}
	p.l, p.y = [3]float64(l[at-1:]), [3]float64(y[at-1:])
	p.last = p.last && at == 2
	return nil
}

// lossOfSet returns the loss of one set at a length scale, and keeps it if it is the
// worst.
func (s *search) lossOfSet(ctx context.Context, set int, l float64) (Loss, error) {
	loss, err := s.lossAt(ctx, s.kernel.tableAt(l), set, s.sigma2)
	if err == nil {
		s.keepWorst(worst{loss, set})
	}
	return loss, err
}
