package sealing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// columnsOf returns a public and a secret column of numbers, for measure.
func columnsOf(x, y []float64) (*publicColumn, *secretColumn) {
	p := &publicColumn{name: "p", class: make([]uint32, len(x)), numbers: x}
	known := map[float64]uint32{}
	for i, v := range x {
		class, there := known[v]
		if !there {
			class = uint32(len(known))
			known[v] = class
		}
		p.class[i] = class
	}
	p.distinct = len(known)
	s := &secretColumn{name: "s", width: 1, absent: make([]bool, len(y)), class: make([]uint32, len(y))}
	s.axes = [2][]float64{y, make([]float64, len(y))}
	s.classify()
	return p, s
}

func TestMeasure(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 20_000
	for _, c := range []struct {
		name string
		pair func() (x, y float64)
		want string // "" if nothing is said
	}{
		{"independent", func() (x, y float64) { return float64(r.IntN(24)), r.ExpFloat64() }, ""},
		{"independent, all different", func() (x, y float64) { return r.Float64(), math.Round(10 * r.ExpFloat64()) }, ""},
		{"constant secret", func() (x, y float64) { return float64(r.IntN(24)), 5 }, ""},
		{"constant public", func() (x, y float64) { return 1, r.Float64() }, ""},
		{"mostly zeros", func() (x, y float64) { return float64(r.IntN(5000)), math.Max(0, math.Round(r.NormFloat64()-2)) }, ""},
		{"hour, weakly", func() (x, y float64) { h := float64(r.IntN(24)); return h, math.Sin(h/4)/6 + r.ExpFloat64() }, ""},
		{"function", func() (x, y float64) { k := r.IntN(1000); return float64(k), float64(k * 7919 % 1000) }, "p determines s"},
		{"function, with errors", func() (x, y float64) {
			k := r.IntN(300)
			if r.IntN(50) == 0 {
				return float64(k), -1
			}
			return float64(k), float64(k * 7919 % 300)
		}, "p determines s"},
		{"cost, all different", func() (x, y float64) { y = r.Float64(); return 0.27 * y, y }, "p rises with s: rank correlation 1.00"},
		{"cost falls, with noise", func() (x, y float64) { y = r.Float64(); return -y + r.Float64()/2, y }, "p falls with s: rank correlation -0."},
		{"zone", func() (x, y float64) { z := float64(r.IntN(50)); return z, math.Mod(z*17, 50) + 3*r.Float64() }, "p narrows down s: it takes away"},
		{"bent", func() (x, y float64) { x = r.Float64(); return x, math.Abs(x-0.5) + r.Float64()/10 }, "p narrows down s: it takes away"},
	} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = c.pair()
		}
		p, s := columnsOf(x, y)
		f := measure(p, s)
		if got := f.text("p", "s"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q of %+v, want %q", c.name, got, f, c.want)
		}
	}
}

func TestRanks(t *testing.T) {
	got := ranks([]float64{3, 1, 3, 2, 3})
	for i, want := range []float64{3, 0, 3, 1, 3} {
		if got[i] != want {
			t.Fatalf("ranks %v", got)
		}
	}
	if u := uncertainty([]uint32{0, 0, 1, 1}, []uint32{5, 5, 7, 7}, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}); math.Abs(u-1) > 1e-12 {
		t.Errorf("uncertainty %v, want 1", u)
	}
	if u := uncertainty([]uint32{0, 0, 1, 1}, []uint32{5, 7, 5, 7}, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}); math.Abs(u) > 1e-12 {
		t.Errorf("uncertainty %v, want 0", u)
	}
}
