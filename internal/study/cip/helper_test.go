package cip

import (
	"fmt"
	"math"
	"testing"
)

// published is figure 2 of the paper: ten points a unit apart, every other one secret.
func published() Settings {
	return Settings{
		Times: seq(10), Kernel: "rbf", Variance: 1, LengthScales: []float64{0.5, 1, 2},
		Radius: 1, Lambda: 2, Families: []string{"every-other"}, Sigma2: []float64{.25, 1, 2, 4},
	}
}

func seq(n int) []float64 {
	times := make([]float64, n)
	for k := range times {
		times[k] = float64(k)
	}
	return times
}

func rowsOf(t *testing.T, s Settings) (rows []Row) {
	t.Helper()
	study, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := study.Run(t.Context(), func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// reference is R45 and R46: figure 2 recomputed by another program, with as many digits as are
// given.
var reference = map[[2]float64]struct{ alpha, loss float64 }{ // by length scale and sigma2
	{1, .25}: {2.614788, 33.07394}, {1, 1}: {.834090, 9.17045}, {1, 2}: {.437226, 4.68613}, {1, 4}: {.224052, 2.37026},
	{2, .25}: {5.763284, 48.81642}, {2, 1}: {1.804318, 14.02159}, {2, 4}: {.484884, 3.67442},
	{.5, 1}: {.034850, 5.17425},
}

// checkRows compares rows with the reference, and says how many it had something for.
func checkRows(rows []Row) (compared int, err error) {
	for _, r := range rows {
		want, ok := reference[[2]float64{r.LengthScale, r.Sigma2}]
		if !ok {
			continue
		}
		compared++
		if math.Abs(r.Loss.Alpha-want.alpha) > 6e-7 || math.Abs(r.Loss.Loss-want.loss) > 6e-6 {
			return compared, fmt.Errorf("%+v, not %+v", r, want)
		}
	}
	return compared, nil
}
