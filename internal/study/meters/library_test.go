package meters

import (
	"cmp"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRecognise(t *testing.T) {
	known := library{
		{meter: 0, indices: []int64{0, 0}},
		{meter: 0, indices: []int64{0, 2}},
		{meter: 1, indices: []int64{2, 0}},
		{meter: 1, indices: []int64{2, 0}},
	}
	for _, c := range []struct {
		release []int64
		own     int
		want    recognition
	}{
		{[]int64{0, 0}, 0, recognition{1, 1, 1. / 3}},           // three others at 2
		{[]int64{1, 0}, 0, recognition{1. / 3, 1. / 3, 0}},      // three at 1, none of the others this device's
		{[]int64{2, 0}, 2, recognition{1. / 2, 1, 1}},           // two that are the same
		{[]int64{2, 2}, 1, recognition{1. / 3, 1. / 3, 0}},      // the same from all but the first
		{[]int64{2, 0}, 0, recognition{0, 0, 0}},                // taken for another's
		{[]int64{0, 0}, 1, recognition{0, 1, 1}},                // for another of the same device
		{[]int64{1, 1}, 3, recognition{1. / 4, 2. / 4, 1. / 3}}, // 2 from everything
	} {
		if got := known.recognise(c.release, c.own); got != c.want {
			t.Errorf("%v as a release of %d: %v, not %v", c.release, c.own, got, c.want)
		}
	}
}

// naiveRecognition measures the distances from all of the library, and then those
// from all but one.
func naiveRecognition(l library, release []int64, own int) (r recognition) {
	share := func(without int, counts func(k int) bool) float64 {
		least, all, good := math.Inf(1), 0., 0.
		for range 2 { // first the least distance, then the signatures there
			all, good = 0, 0
			for k, s := range l {
				if k == without {
					continue
				}
				d := 0.
				for j, x := range s.indices {
					d += math.Abs(float64(x - release[j]))
				}
				least = min(least, d)
				if d == least {
					all++
					if counts(k) {
						good++
					}
				}
			}
		}
		return good / all
	}
	device := func(k int) bool { return l[k].meter == l[own].meter }
	return recognition{share(-1, func(k int) bool { return k == own }), share(-1, device), share(own, device)}
}

func TestRecogniseProperty(t *testing.T) {
	indices := rapid.SliceOfN(rapid.Int64Range(0, 3), 3, 3)
	rapid.Check(t, func(t *rapid.T) {
		var l library
		for range rapid.IntRange(2, 12).Draw(t, "signatures") {
			l = append(l, signature{meter: rapid.IntRange(0, 2).Draw(t, "meter"), indices: indices.Draw(t, "indices")})
		}
		own := rapid.IntRange(0, len(l)-1).Draw(t, "own")
		release := indices.Draw(t, "release")
		if got, want := l.recognise(release, own), naiveRecognition(l, release, own); got != want {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}

// The nearest signature is the most likely one: of all pairs of two readings, for
// every release, the ends of the universe included. The squared distance, for one,
// would be another order.
func TestNearestIsMostLikely(t *testing.T) {
	const last, rate = 3, 0.37
	p := make([][]float64, last+1)
	for x := range p {
		p[x] = law(rate, x, last)
	}
	var pairs [][]int64
	for i := range int64(last + 1) {
		for j := range int64(last + 1) {
			pairs = append(pairs, []int64{i, j})
		}
	}
	likelihood := func(y, x []int64) float64 { return p[x[0]][y[0]] * p[x[1]][y[1]] }
	squares := func(y, x []int64) int64 { return (y[0]-x[0])*(y[0]-x[0]) + (y[1]-x[1])*(y[1]-x[1]) }
	orders, squaredOrders := 0, 0
	for _, y := range pairs {
		for _, a := range pairs {
			for _, b := range pairs {
				more := 0
				if ratio := likelihood(y, a) / likelihood(y, b); math.Abs(ratio-1) > 1e-9 {
					more = cmp.Compare(ratio, 1)
				}
				da, _ := manhattan(y, a, -1)
				db, _ := manhattan(y, b, -1)
				if more != cmp.Compare(db, da) {
					orders++
				}
				if more != cmp.Compare(squares(y, b), squares(y, a)) {
					squaredOrders++
				}
			}
		}
	}
	if orders != 0 || squaredOrders == 0 {
		t.Errorf("%d pairs in another order by distance, %d by its square", orders, squaredOrders)
	}
}
