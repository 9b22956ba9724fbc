package exact_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// hostile is an endless reader of words which float64 finds hard: one of edges
// or a neighbour half of the time, random ones otherwise.
type hostile struct {
	random *exact.Source
	edges  []uint32
}

func newHostile(seed uint64, edges ...uint32) io.Reader {
	edges = append(edges, 0, 0, 1, 1<<31, math.MaxUint32)
	return &hostile{random: exact.NewSource(pseudorandom(seed)), edges: edges}
}

// Read yields whole words, as a Source asks for whole buffers.
func (h *hostile) Read(p []byte) (int, error) {
	n := len(p) / 4 * 4
	for i := 0; i < n; i += 4 {
		w := h.random.Uint32()
		if h.random.Bool() {
			w = h.edges[h.random.Below(uint64(len(h.edges)))] + w%3 - 1
		}
		binary.BigEndian.PutUint32(p[i:], w)
	}
	return n, nil
}

// edges are the leading words of the probabilities at which |k| changes.
func edges(tail tailFunc, rate float64) []uint32 {
	var edges []uint32
	for _, t := range []float64{0, 0.01, 0.1, 0.5, 1, 2, 5, 10} {
		n := int64(min(t/rate+1, 1<<62))
		edges = append(edges, uint32(min(tail(rate, n)*0x1p32, math.MaxUint32)))
	}
	return edges
}

// secondHalves returns words that leave the second magnitude of a planar proposal open: it has the 27 bits from
// the 27th on of a word of 64.
func secondHalves(edges []uint32) (words []uint32) {
	for _, e := range edges {
		words = append(words, e>>27, e<<5|e>>27)
	}
	return words
}

// disagreement runs draw n times on a Source with float64 shortcuts, and
// reference on one without, over the same bits. Every value has to be the same,
// and so has the number of bits read.
func disagreement[T comparable](n int, entropy func() io.Reader, draw, reference func(s *exact.Source) T) error {
	fast := exact.NewSource(entropy())
	certified := exact.NewSource(entropy()).Certify()
	for i := range n {
		if got, want := draw(fast), reference(certified); got != want {
			return fmt.Errorf("draw %d is %v, in integer arithmetic %v", i, got, want)
		}
	}
	if fast.Uint64() != certified.Uint64() {
		return errors.New("the two paths read a different number of bits")
	}
	return nil
}

func checkAgreement[T comparable](t *testing.T, n int, entropy func() io.Reader, draw func(s *exact.Source) T) {
	t.Helper()
	if err := disagreement(n, entropy, draw, draw); err != nil {
		t.Error(err)
	}
}

// TestDisagreement demands that a draw decided by its first 32 bits alone,
// which random bits would not show in a lifetime of tests, is noticed.
func TestDisagreement(t *testing.T) {
	const rate = math.Ln2 / 100
	d := must(exact.NewDiscreteLaplace(rate))
	offset := math.Log(2 / (1 + math.Exp(-rate)))
	hasty := func(s *exact.Source) int64 {
		k := int64((offset - math.Log((float64(s.Uint32())+0.5)*0x1p-32)) / rate)
		if s.Bool() {
			return -k
		}
		return k
	}
	hard := func() io.Reader { return newHostile(8, edges(laplaceTail, rate)...) }
	if disagreement(1000, hard, hasty, d.Draw) == nil {
		t.Error("a draw decided too early was not noticed")
	}
}

// agreementRates go with as many draws as integer arithmetic does in little time.
var agreementRates = []struct {
	rate  float64
	draws int
}{
	{math.SmallestNonzeroFloat64, 100},
	{1e-24, 100},
	{1e-18, 300},
	{1e-15, 1_000},
	{1e-13, 5_000},
	{1e-12, 10_000},
	{1e-9, 10_000},
	{1e-6, 10_000},
	{1e-3, 10_000},
	{math.Ln2 / 100, 10_000},
	{0.1, 10_000},
	{math.Ln2, 10_000},
	{1, 10_000},
	{5, 10_000},
	{40, 5_000},
	{1e3, 5_000},
	{1e6, 5_000},
	{math.MaxFloat64, 1_000},
}

func TestDiscreteLaplaceAgrees(t *testing.T) {
	for _, c := range trials.Some(t, 5, agreementRates...) {
		d := must(exact.NewDiscreteLaplace(c.rate))
		random := func() io.Reader { return pseudorandom(7) }
		checkAgreement(t, c.draws/2, random, d.Draw)
		hard := func() io.Reader { return newHostile(8, edges(laplaceTail, c.rate)...) }
		checkAgreement(t, c.draws/2, hard, d.Draw)
	}
}

func TestGeometricAgrees(t *testing.T) {
	for _, c := range trials.Some(t, 5, agreementRates...) {
		g := must(exact.NewGeometric(c.rate))
		random := func() io.Reader { return pseudorandom(7) }
		checkAgreement(t, c.draws/2, random, g.Draw)
		hard := func() io.Reader { return newHostile(8, edges(geometricTail, c.rate)...) }
		checkAgreement(t, c.draws/2, hard, g.Draw)
	}
}

func TestBernoulliExpRatioAgrees(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		num, den uint64
	}{
		{math.SmallestNonzeroFloat64, math.MaxUint64, 1}, // subnormal exponent
		{math.SmallestNonzeroFloat64, 1, math.MaxUint64}, // underflow
		{1e-18, math.MaxUint64, 1},
		{1e-12, 1, 1},
		{0.00693, 300, 7},
		{1, 1, 3},
		{0.1, 1<<60 + 1, 1<<60 - 1},
		{22.18, 1<<53 + 1, 1 << 53},
		{1e21, 1, math.MaxUint64},
		{700, math.MaxUint64, math.MaxUint64},
		{math.MaxFloat64, math.MaxUint64, 1}, // overflow
		{math.MaxFloat64, 2, 3},
	} {
		x := c.rate * (float64(c.num) / float64(c.den))
		edge := uint32(min(math.Exp(-x)*0x1p32, math.MaxUint32))
		toss := func(s *exact.Source) bool { return s.BernoulliExpRatio(c.rate, c.num, c.den) }
		checkAgreement(t, 2_000, func() io.Reader { return pseudorandom(9) }, toss)
		checkAgreement(t, 2_000, func() io.Reader { return newHostile(10, edge) }, toss)
	}
}

func TestPlanarLaplaceAgrees(t *testing.T) {
	for _, rate := range []float64{1e-18, 1e-9, math.Ln2 / 100, 1, 30} {
		a := 0.7071 * rate
		l := must(exact.NewPlanarLaplace(rate, a))
		planar := func(s *exact.Source) [2]int64 {
			i, j := l.Draw(s)
			return [2]int64{i, j}
		}
		draws := 2_000
		if rate < 1e-12 {
			draws = 50
		}
		checkAgreement(t, draws, func() io.Reader { return pseudorandom(11) }, planar)
		checkAgreement(t, draws, func() io.Reader { return newHostile(12, edges(laplaceTail, a)...) }, planar)
		checkAgreement(t, draws, func() io.Reader { return newHostile(12, secondHalves(edges(laplaceTail, a))...) }, planar)
	}
}

func TestLaplaceTestAgrees(t *testing.T) {
	for _, rate := range trials.Some(t, 2, 1e-18, 1e-9, math.Ln2/100, 1, 30) {
		d := must(exact.NewDiscreteLaplace(rate))
		for _, c := range []float64{0, 2.01, 15} {
			test := func(s *exact.Source) bool { return s.LaplaceTest(rate, c, d.Draw(s), d.Draw(s)) }
			draws := 1_000
			if rate < 1e-12 {
				draws = 50
			}
			checkAgreement(t, draws, func() io.Reader { return pseudorandom(13) }, test)
			edge := uint32(min(math.Exp(-c), 0.5) * 0x1p32)
			checkAgreement(t, draws, func() io.Reader { return newHostile(14, edge) }, test)
		}
	}
}

func TestRoundedNormalAgrees(t *testing.T) {
	for _, c := range trials.Some(t, 4, []struct{ c, sigma float64 }{
		{0, 1},
		{0.5, 0x1p-20},
		{-3.5, 64},
		{-1e6 - 0.25, 100},
		{1 << 40, 1 << 40},
		{1<<53 - 1, 0.5},
		{0.5, 1e-300},                      // halves
		{0, math.SmallestNonzeroFloat64},   // underflow
		{math.MaxFloat64, math.MaxFloat64}, // overflow
	}...) {
		draw := func(s *exact.Source) int64 { return s.RoundedNormal(c.c, c.sigma) }
		checkAgreement(t, 1_000, func() io.Reader { return pseudorandom(15) }, draw)
		checkAgreement(t, 1_000, func() io.Reader { return newHostile(16, edges(geometricTail, 1./64)...) }, draw)
	}
}
