package optimal_test

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
	"pgregory.net/rapid"
)

// checkCertificate checks with rationals of 200 bits the package's work with 64:
// it demands w_xz e^(-epsilon d) <= w_x'z, with an upper bound for the exponential.
func checkCertificate(t rapid.TB, m *optimal.Mechanism) {
	t.Helper()
	d, rate := m.Privacy(), new(big.Rat).SetFloat64(m.Epsilon())
	for x, row := range d {
		total := new(big.Int)
		for z := range m.Outputs() {
			total.Add(total, new(big.Int).SetUint64(m.Weight(x, z)))
		}
		if total.Cmp(new(big.Int).SetUint64(m.Total())) != 0 {
			t.Errorf("row %d adds up to %v, not %d", x, total, m.Total())
		}
		for y, v := range row {
			_, upper := exact.ExpBounds(new(big.Rat).Mul(rate, new(big.Rat).SetFloat64(v)), 200)
			if x == y {
				continue
			}
			for z := range m.Outputs() {
				least := new(big.Int).Mul(new(big.Int).SetUint64(m.Weight(x, z)), upper.Num())
				weight := new(big.Int).Mul(new(big.Int).SetUint64(m.Weight(y, z)), upper.Denom())
				if least.Cmp(weight) > 0 {
					t.Fatalf("output %d: weight %d for %d, %d for %d at distance %g", z, m.Weight(x, z), x, m.Weight(y, z), y, v)
				}
			}
		}
	}
}

// TestCertifiedEpsilon finds the epsilon of a channel of two places between
// an epsilon that is refused and one that is granted: ln(7/2), R20.
func TestCertifiedEpsilon(t *testing.T) {
	k := optimal.Matrix{{0.8, 0.2}, {0.3, 0.7}}
	least := math.Log(7. / 2)
	if e := optimal.RealisedEpsilon(k, line(2, 1)); !near(e, least, 1e-15) {
		t.Errorf("realised epsilon %g, want %g", e, least)
	}
	if _, err := optimal.New(least*(1+1e-12), line(2, 1), k); err != nil {
		t.Errorf("%v above the channel's epsilon", err)
	}
	if _, err := optimal.New(least*(1-1e-3), line(2, 1), k); err == nil {
		t.Error("mechanism made below the channel's epsilon")
	}
}

func TestRefusedMatrices(t *testing.T) {
	third := 1. / 3
	for _, c := range []struct {
		want string
		k    optimal.Matrix
	}{
		{"by more than epsilon", optimal.Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
		{"adds up to", optimal.Matrix{{1, 0, 0}, {1, 0, 0}, {1, 0.1, 0}}},
		{"not a probability", optimal.Matrix{{1, 0, 0}, {1.1, -0.1, 0}, {1, 0, 0}}},
		{"not a probability", optimal.Matrix{{1, 0, 0}, {math.NaN(), 0, 0}, {1, 0, 0}}},
		{"row 1 has 2", optimal.Matrix{{1, 0, 0}, {0, 1}, {0, 0, 1}}},
		{"has 2 rows", optimal.Matrix{{1, 0, 0}, {0, 1, 0}}},
	} {
		if _, err := optimal.New(ln2, line(3, 1), c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	// Zeros in whole columns are no reason to refuse.
	m, err := optimal.New(ln2, line(3, 1), optimal.Matrix{{1, 0, -1e-12}, {1, 0, 0}, {1, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Weight(0, 1) == 0 {
		t.Error("an output has weight 0")
	}
	checkCertificate(t, m)
	if _, err := optimal.New(ln2, line(3, 1), optimal.Matrix{{third, third, third}, {third, third, third}, {third, third, third}}); err != nil {
		t.Error(err)
	}
}

// example returns the optimal mechanism for a skewed prior on 3 x 3 places.
func example(t *testing.T) *optimal.Mechanism {
	t.Helper()
	d := grid(3)
	p := optimal.Problem{Prior: ramp(9), Quality: d, Privacy: d, Epsilon: ln2}
	return made(t, p)
}

// made returns the optimal mechanism for a problem.
func made(t *testing.T, p optimal.Problem) *optimal.Mechanism {
	t.Helper()
	m, err := optimal.New(p.Epsilon, p.Privacy, solved(t, p, optimal.Options{}).Matrix)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// columns returns some columns of a matrix, in any order.
func columns(m optimal.Matrix, which ...int) optimal.Matrix {
	out := optimal.NewMatrix(len(m), len(which))
	for x, row := range m {
		for z, column := range which {
			out[x][z] = row[column]
		}
	}
	return out
}

func TestBinaryForm(t *testing.T) {
	checkBinaryForm(t, example(t))
	d := grid(3)
	for _, which := range [][]int{{4}, {0, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 6}} {
		checkBinaryForm(t, made(t, optimal.Problem{Prior: ramp(9), Quality: columns(d, which...), Privacy: d, Epsilon: ln2}))
	}
}

// checkBinaryForm demands that a mechanism can be written and read again, and no other form.
func checkBinaryForm(t *testing.T, m *optimal.Mechanism) {
	t.Helper()
	data := must(m.AppendBinary([]byte("before")))[len("before"):]
	again, err := optimal.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(must(again.AppendBinary(nil)), data) {
		t.Error("the form is another after a round trip")
	}
	for x := range m.Len() {
		for z := range m.Outputs() {
			if again.Weight(x, z) != m.Weight(x, z) {
				t.Fatalf("weight (%d,%d) is %d, was %d", x, z, again.Weight(x, z), m.Weight(x, z))
			}
		}
	}
	for n := range data {
		if _, err := optimal.Parse(data[:n]); err == nil {
			t.Fatalf("%d of %d bytes were accepted", n, len(data))
		}
	}
	if _, err := optimal.Parse(append(bytes.Clone(data), 0)); err == nil {
		t.Error("a byte too many was accepted")
	}
}

// TestTamperedForm raises epsilon's protection or moves weight within a row: a mechanism that is
// not private any more must be refused.
func TestTamperedForm(t *testing.T) {
	data := must(example(t).AppendBinary(nil))
	for name, tamper := range map[string]func(b []byte){
		"a smaller epsilon":  func(b []byte) { b[6] ^= 0x40 },
		"a smaller distance": func(b []byte) { b[13+1] ^= 0x10 },
		"a zero": func(b []byte) {
			first := b[len(b)-8*81:]
			copy(first[:8], make([]byte, 8))
		},
		"another version": func(b []byte) { b[0]++ },
		"another size":    func(b []byte) { b[2]++ },
		"another output":  func(b []byte) { b[4]++ },
	} {
		spoilt := bytes.Clone(data)
		tamper(spoilt)
		if _, err := optimal.Parse(spoilt); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	m, err := optimal.New(ln2, line(3, 1), optimal.Exponential(ln2, line(3, 1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(must(m.AppendBinary(nil)))
	f.Add([]byte{1, 0, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := optimal.Parse(data)
		if err != nil {
			return
		}
		if !bytes.Equal(must(m.AppendBinary(nil)), data) {
			t.Error("the form is another after a round trip")
		}
		if m.Len() <= 8 {
			checkCertificate(t, m)
		}
	})
}

// falseAlarm is the probability with which the goodness-of-fit check of one row may
// fail on a correct sampler. There are 9 rows.
const falseAlarm = 1e-10

// TestDraw compares 150,000 draws of each row with its weights. Planted ones are 15
// standard deviations or more beyond the alarm.
func TestDraw(t *testing.T) {
	m := example(t)
	src := exact.NewSource(nil)
	for x := range m.Len() {
		if p := rowPvalue(m, x, func() int { return m.Draw(src, x) }); p < falseAlarm {
			t.Errorf("row %d: p-value %g", x, p)
		}
	}
	mode := 0
	for z := range m.Len() {
		if m.Weight(0, z) > m.Weight(0, mode) {
			mode = z
		}
	}
	for name, draw := range map[string]func() int{
		"the row of a neighbour": func() int { return m.Draw(src, 1) },
		"the mode":               func() int { return mode },
		"one in 20 redrawn": func() int {
			if z := m.Draw(src, 0); z != mode || src.Below(20) > 0 {
				return z
			}
			return m.Draw(src, 8)
		},
	} {
		if p := rowPvalue(m, 0, draw); p >= falseAlarm {
			t.Errorf("%s: not noticed, p-value %g", name, p)
		}
	}
}

// rowPvalue bounds the probability that draws diverge from row x as much as 150,000 of
// these do, by Agrawal's bound (Finite-sample concentration of the multinomial in
// relative entropy, 2020): for n samples in m cells, P(D >= t) <= e^(-nt) (e n
// t/(m-1))^(m-1) when nt > m-1.
func rowPvalue(m *optimal.Mechanism, x int, draw func() int) float64 {
	const n = 150_000
	counts := make([]int, m.Len())
	for range n {
		counts[draw()]++
	}
	nt := 0.0
	for z, c := range counts {
		if c > 0 {
			law := float64(m.Weight(x, z)) / float64(m.Total())
			nt += float64(c) * math.Log(float64(c)/(n*law))
		}
	}
	freedom := float64(m.Len() - 1)
	if nt <= freedom {
		return 1
	}
	return math.Exp(-nt + freedom*(1+math.Log(nt/freedom)))
}

func TestDrawDoesNotAllocate(t *testing.T) {
	m, src := example(t), exact.NewSource(nil)
	if n := testing.AllocsPerRun(1000, func() { m.Draw(src, 4) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
