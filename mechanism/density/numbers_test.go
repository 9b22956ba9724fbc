package density

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/golden"
	"github.com/geosql/geosql/mechanism/scalar"
)

// Estimates are the same to the last bit on every platform.
func TestNumbers(t *testing.T) {
	var n golden.Numbers
	add := func(name string, l law, bins int) {
		r := rand.New(rand.NewPCG(1, 2))
		counts := make([]int64, l.bins())
		for range 2000 {
			counts[(r.IntN(bins)+r.IntN(bins))%l.bins()]++
		}
		estimate, steps, err := population(t.Context(), l, nil, counts)
		if err != nil {
			t.Fatal(err)
		}
		h := golden.NewHash()
		for _, x := range estimate {
			h.Add(x)
		}
		n.AddHash(fmt.Sprintf("%s after %d steps", name, steps), h)
	}
	d := square(t, 3, 1)
	for _, mechanism := range []string{"laplace", "laplace_l1", "gauss"} {
		l := lawOf(plane(t, d, mechanism, map[string]string{"laplace": "0.005", "laplace_l1": "0.02", "gauss": "0.00002"}[mechanism], 250))
		add(mechanism, l, l.bins()/2)
	}
	u, err := scalar.NewUniverse("u", 0, 10, 0.001, budget.Unit("kWh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []string{"0.1", "3"} {
		l, err := NewLine(u, number(epsilon))
		if err != nil {
			t.Fatal(err)
		}
		add("line at "+epsilon, &l.truncated, 300)
	}
	n.Check(t, "testdata/numbers.txt")
}
