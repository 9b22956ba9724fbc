package optimal

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/geosql/geosql/mechanism/optimal"
)

// The rest of a solver's work is estimated right if its steps take equal times and, once the gap is less than 1, divide
// it by the same factor.
func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steps, step = 8, 3 * time.Second
		var got Progress
		s := newStudy(t, square(3, uniform), ln2, 1e-4, 1)
		s.Progress = func(p Progress) { got = p }
		report := s.solverProgress(1, 1.05)
		for _, bound := range []float64{math.Inf(-1), -3, 0} { // the gap is 1 or more
			report(optimal.Progress{Loss: 1, Bound: bound})
			if got != (Progress{Mechanism: Optimal, Epsilon: 1, Dilation: 1.05}) {
				t.Errorf("%+v", got)
			}
			time.Sleep(step)
		}
		for done := 1; done <= steps; done++ {
			report(optimal.Progress{Loss: 1, Bound: 1 - math.Pow(1e-4, float64(done)/steps)})
			want := time.Duration(steps-done) * step
			if (got.Left-want).Abs() > time.Millisecond || math.Abs(got.Share-float64(done)/steps) > 1e-9 {
				t.Errorf("after %d steps, %+v, not %v", done, got, want)
			}
			time.Sleep(step)
		}
	})
}

func TestShareDone(t *testing.T) {
	for _, c := range []struct{ gap, want float64 }{{1e9, 0}, {1, 0}, {1e-2, 0.5}, {1e-4, 1}, {1e-5, 1}, {0, 1}} {
		if got := shareDone(c.gap, 1e-4); got-c.want > 1e-12 || c.want-got > 1e-12 {
			t.Errorf("at a gap of %v a share of %v is done, not %v", c.gap, got, c.want)
		}
	}
}

// Every solver begins at nothing and comes to the end.
func TestProgress(t *testing.T) {
	s := newStudy(t, square(3, uniform), ln2, 1e-4, 1, 1.1)
	var begun, ended int
	s.Progress = func(p Progress) {
		if p.Mechanism != Optimal || p.Epsilon != ln2 || p.Share < 0 || p.Share > 1 || p.Left < 0 {
			t.Errorf("%+v", p)
		}
		if p.Share == 0 && begun == ended {
			begun++
		}
		if p.Share == 1 {
			ended = begun
		}
	}
	rowsOf(t, s)
	if begun != 2 || ended != 2 {
		t.Errorf("%d solvers began, %d ended", begun, ended)
	}
}
