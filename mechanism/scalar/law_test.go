package scalar

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// R18: the truncated geometric mechanism at epsilon ln 2 on 0..4, and on two points
// at any epsilon; rows and expected absolute error under the uniform prior are also
// the optimum of a linear program.
func TestTruncatedGeometricR18(t *testing.T) {
	ln2 := rational("0.69314718055994530941723212145818")
	q := query(t, Value, universe(t, 0, 4, 1), budget.D1, ln2)
	row := noisedLaw(outcome{fromInt64(0), q.noised().lattice}, q.noised().noise.rate, 1)
	for z, want := range []float64{2. / 3, 1. / 6, 1. / 12, 1. / 24, 1. / 24} {
		if math.Abs(row[int64(z)]-want) > 1e-14 {
			t.Errorf("P(%d|0) = %v, want %v", z, row[int64(z)], want)
		}
	}
	if got := meanError(q); math.Abs(got-0.8166666666666667) > 1e-12 {
		t.Errorf("mean error on five points is %v, want 0.8166666667", got)
	}
	for _, eps := range []float64{0.1, math.Ln2, 2} {
		q := query(t, Value, universe(t, 0, 1, 1), budget.D1, budget.Decimal(eps))
		if got, want := meanError(q), 1/(1+math.Exp(eps)); math.Abs(got-want) > 1e-12 {
			t.Errorf("mean error on two points at %v is %v, want %v", eps, got, want)
		}
	}
}

func meanError(q *Query) float64 {
	sum := 0.0
	for k := range q.universe.last + 1 {
		for z, p := range noisedLaw(outcome{fromInt64(k), q.noised().lattice}, q.noised().noise.rate, 1) {
			sum += p * math.Abs(float64(z-k))
		}
	}
	return sum / float64(q.universe.last+1)
}

// Releases follow the law that the enumeration of privacy_test.go proves private.
//
// 150,000 draws per case. A case fails when some outcome's frequency f has
// n*KL(f, p) > ln(2*outcomes/1e-10): by Chernoff's bound a false alarm has
// probability below 1e-10 per case and 1e-9 in all.
func TestReleaseFollowsItsLaw(t *testing.T) {
	const draws = 150_000
	src := exact.NewSource(nil)
	for _, c := range releaseCases(t) {
		a := collect(c.query, c.db)
		got := make(map[int64]int)
		for range draws {
			got[pointOf(c.query, c.query.Draw(src, a))]++
		}
		want := lawOfNoise(outcome{c.query.answer(a), c.query.noised().lattice}, c.query.noised().noise, 1)
		if err := fits(got, want, draws, 1e-10); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The test above must see a sampler that is wrong: some outcome is 14 standard
// deviations or more beyond the bound.
func TestLawTestCatchesPlantedSamplers(t *testing.T) {
	const draws = 150_000
	src := exact.NewSource(nil)
	q := query(t, Value, universe(t, 0, 5, 1), budget.D1, rational("0.7"))
	a := collect(q, []float64{1})
	want := noisedLaw(outcome{q.answer(a), q.noised().lattice}, q.noised().noise.rate, 1)
	coarse, err := exact.NewDiscreteLaplace(1.1 * q.noised().noise.rate)
	if err != nil {
		t.Fatal(err)
	}
	clamped := func(z int64) int64 { return min(max(z, 0), 5) }
	for name, sample := range map[string]func() int64{
		"rate a tenth too high": func() int64 { return clamped(1 + coarse.Draw(src)) },
		"drawn again until inside": func() int64 {
			for {
				if z := 1 + q.noised().noise.Draw(src); z == clamped(z) {
					return z
				}
			}
		},
		"reflected at the ends": func() int64 {
			z := 1 + q.noised().noise.Draw(src)
			return clamped(max(z, -z))
		},
		"geometric without rejecting -0": func() int64 {
			z := q.noised().noise.drawGeometric(src)
			if src.Bool() {
				z = -z
			}
			return clamped(1 + z)
		},
		"biased sign": func() int64 {
			z := q.noised().noise.Draw(src)
			if src.Below(10) == 0 {
				z = max(z, -z)
			}
			return clamped(1 + z)
		},
		"off by one": func() int64 { return clamped(2 + q.noised().noise.Draw(src)) },
	} {
		got := make(map[int64]int)
		for range draws {
			got[sample()]++
		}
		if fits(got, want, draws, 1e-10) == nil {
			t.Errorf("%s: not caught", name)
		}
	}
}

// At a rate of 2^-64 most draws leave the range of int64 and are continued by the
// memoryless rule, for four rounds on average. 3,000 draws in bins of 2^64 steps;
// a false alarm has probability below 1e-10, as above.
func TestFarDrawsFollowTheGeometricTail(t *testing.T) {
	const draws = 3_000
	src := exact.NewSource(nil)
	q := query(t, Sum, universe(t, -1, 1, 1), budget.D1, new(big.Rat).SetFloat64(0x1p-64))
	if q.noised().noise.rate != 0x1p-64 {
		t.Fatalf("rate is %v", q.noised().noise.rate)
	}
	want := make(map[int64]float64)
	for bin := int64(-4); bin <= 3; bin++ { // the law is all but continuous here
		near := float64(max(bin, -bin-1))
		want[bin] = (math.Exp(-near) - math.Exp(-near-1)) / 2
	}
	got := make(map[int64]int)
	for range draws {
		got[q.noised().noise.add(src, int128{}).hi]++
	}
	if err := fits(got, want, draws, 1e-10); err != nil {
		t.Error(err)
	}
}

type releaseCase struct {
	name  string
	query *Query
	db    []float64
}

func releaseCases(t *testing.T) []releaseCase {
	tenths, temperature := universe(t, 0, 1, 0.1), universe(t, -2, 3, 0.5)
	return []releaseCase{
		{"value at an end", query(t, Value, tenths, budget.D1, rational("5")), []float64{0}},
		{"value inside", query(t, Value, tenths, budget.D1, rational("5")), []float64{0.34}},
		{"count of none", query(t, Count, nil, budget.D1, rational("0.5")), nil},
		{"count of two", query(t, Count, nil, budget.D1, rational("0.5")), []float64{7, 7}},
		{"sum above 0", query(t, Sum, tenths, budget.ND1, rational("3")), []float64{0.1, 0.2}},
		{"sum of both signs", query(t, Sum, temperature, budget.D1, rational("1")), []float64{-2, 0.5}},
		{"median of none", query(t, Median, temperature, budget.DInf, rational("2")), nil},
		{"maximum", query(t, Max, temperature, budget.DInf, rational("1")), []float64{-2, 3}},
	}
}

func collect(q *Query, db []float64) *Accumulator {
	a := new(Accumulator)
	for _, x := range db {
		q.Add(a, x)
	}
	return a
}

// pointOf returns the lattice point that a released number stands for.
func pointOf(q *Query, x float64) int64 {
	return int64(math.Round((x*q.noised().lattice.scale - float64(q.noised().lattice.first)) / float64(q.noised().lattice.step)))
}

// fits checks counts against a law; all that the law does not list is one more outcome,
// with the probability that is left.
func fits(counts map[int64]int, law map[int64]float64, draws int, falseAlarm float64) error {
	allowed := math.Log(2 * float64(len(law)+1) / falseAlarm)
	rest, restP := draws, 1.0
	for z, p := range law {
		rest -= counts[z]
		restP -= p
		if n := float64(draws) * divergence(float64(counts[z])/float64(draws), p); n > allowed {
			return fmt.Errorf("outcome %d: %d of %d draws, probability %v", z, counts[z], draws, p)
		}
	}
	if n := float64(draws) * divergence(float64(rest)/float64(draws), max(restP, 1e-15)); n > allowed {
		return fmt.Errorf("%d of %d draws off the list, probability %v", rest, draws, restP)
	}
	return nil
}

// divergence returns the Kullback-Leibler divergence of a coin f from a coin p.
func divergence(f, p float64) float64 {
	term := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return term(f, p) + term(1-f, 1-p)
}
