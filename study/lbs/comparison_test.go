package lbs

import (
	"context"
	"errors"
	"math"
	"testing"
)

// TestComparison compares with R15 and R16, which were found when section 5.5 was
// checked, and with an integration of its own: a plain walk along 16,000 equally spaced
// rays from every place, through the lines between the regions. R15 has 0.0040 m less
// than that, the same at three epsilons, and agrees with it to five digits.
func TestComparison(t *testing.T) {
	rows, err := Comparison(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const r15 = 107.298381
	for k, want := range []struct {
		equal, mechanism    string
		printed             bool
		epsilon, loss       float64 // 0: unknown
		confidence, lossTol float64
	}{
		{EqualLoss, Cloaking, false, math.NaN(), r15, 1, 1e-6},
		{EqualLoss, PlanarLaplace, false, 0, r15, 0, 1e-6},
		{EqualLoss, PlanarLaplace, true, 0.0162, 107.059735, 0, 1e-6},
		{EqualAccuracy, Cloaking, false, math.NaN(), r15, 1, 1e-6},
		{EqualAccuracy, PlanarLaplace, false, 0.0312935, 0, 0.99, 0},
		{EqualAccuracy, PlanarLaplace, true, 0.016, 108.3679, 0.8525, 1e-6},
	} {
		r := rows[k]
		if r.Equal != want.equal || r.Mechanism != want.mechanism || r.Printed != want.printed {
			t.Errorf("row %d is %+v", k, r)
		}
		if math.IsNaN(want.epsilon) != math.IsNaN(r.Epsilon) || want.epsilon > 0 && math.Abs(r.Epsilon-want.epsilon) > 1e-7 {
			t.Errorf("row %d: epsilon %v, not %v", k, r.Epsilon, want.epsilon)
		}
		if want.loss > 0 && math.Abs(r.Loss-want.loss) > want.lossTol {
			t.Errorf("row %d: loss %v, not %v", k, r.Loss, want.loss)
		}
		if want.confidence > 0 && math.Abs(r.Confidence-want.confidence) > 5e-5 {
			t.Errorf("row %d: confidence %v, not %v", k, r.Confidence, want.confidence)
		}
		if math.Abs(r.AdversaryError-r.Loss) > 1e-9*r.Loss { // the uniform prior teaches nothing
			t.Errorf("row %d: adversary's error %v, loss %v", k, r.AdversaryError, r.Loss)
		}
	}
	// The walk finds 107.254262 m at 0.01617 and 107.059735 m at 0.0162, between which
	// the loss is nearly a straight line.
	if e := rows[1].Epsilon; math.Abs(e-0.0161632) > 1e-7 {
		t.Errorf("epsilon of equal loss is %v", e)
	}
	if len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestComparisonEnds(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Comparison(ctx); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
