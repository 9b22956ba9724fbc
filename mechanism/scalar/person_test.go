package scalar

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"pgregory.net/rapid"
)

func totals(t fataler, u *Universe, lo, hi float64) *Totals {
	t.Helper()
	of, err := u.Totals(lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// A total is the sum of the readings, in whatever order, moved into its universe.
func TestTotalsAreExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bounds := rapid.SampledFrom(append(tinyUniverses, struct{ lo, hi, step float64 }{-1e5, 1e5, 1e-6})).Draw(r, "universe")
		u := universe(r, bounds.lo, bounds.hi, bounds.step)
		grain := budget.Decimal(u.decimal(u.grain()))
		first := rapid.Int64Range(-60, 60).Draw(r, "lo")
		at := func(grains int64) *big.Rat { return new(big.Rat).Mul(grain, new(big.Rat).SetInt64(grains)) }
		lo, hi := at(first), at(first+rapid.Int64Range(1, 90).Draw(r, "width"))
		l, _ := lo.Float64()
		h, _ := hi.Float64()
		of := totals(r, u, l, h)
		var total Total
		want := new(big.Rat)
		for _, k := range rapid.SliceOfN(rapid.Int64Range(0, u.last), 0, 40).Draw(r, "readings") {
			total.Add(k)
			want.Add(want, new(big.Rat).Add(budget.Decimal(u.lo), new(big.Rat).Mul(u.Step(), new(big.Rat).SetInt64(k))))
		}
		if want.Cmp(lo) < 0 {
			want = lo
		}
		if want.Cmp(hi) > 0 {
			want = hi
		}
		if got := of.Value(of.IndexOf(total)); budget.Decimal(got).Cmp(want) != 0 {
			r.Fatalf("%v of %v: %v, want %s", total, of, got, want.FloatString(9))
		}
	})
}

// No number of rows overflows.
func TestTotalsDoNotOverflow(t *testing.T) {
	for _, c := range []struct{ lo, hi, step float64 }{{0, 1e9, 0.001}, {-1e9, 0, 0.001}, {999e9, 1e12, 1}, {-1e12, -999e9, 1}} {
		u := universe(t, c.lo, c.hi, c.step)
		of := totals(t, u, -500, 500)
		most := Total{math.MaxInt64, uint128{0, uint64(u.last)}.timesRows(math.MaxInt64)}
		least := Total{rows: math.MaxInt64}
		low, high := of.IndexOf(least), of.IndexOf(most)
		wantLow, wantHigh := of.last/2, of.last/2 // where the universe ends at 0
		if c.lo < 0 {
			wantLow = 0
		} else if c.lo > 0 {
			wantLow = of.last
		}
		if c.hi > 0 {
			wantHigh = of.last
		} else if c.hi < 0 {
			wantHigh = 0
		}
		if low != wantLow || high != wantHigh {
			t.Errorf("%v: %d and %d, want %d and %d", u, low, high, wantLow, wantHigh)
		}
	}
}

// timesRows returns a sum so many times.
func (a uint128) timesRows(rows uint64) uint128 {
	p := a.times(rows)
	return uint128{uint64(p.hi), p.lo}
}

func TestWhatTotalsMayBe(t *testing.T) {
	u := universe(t, 1.5, 10.5, 1) // sums are multiples of 0.5
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 50, ""}, {-3, -0.5, ""}, {100, 1000.5, ""},
		{0.25, 50, "0.25 is not a multiple of 0.5, as all sums of readings are"},
		{0, 0.75, "0.75 is not a multiple of 0.5"}, {0.25, 1.25, "0.25 is not a multiple"},
		{5, 5, "hi 5 is not above lo 5"}, {5, 4, "hi 4 is not above lo 5"}, {0, math.NaN(), "NaN is not finite"},
		{math.Inf(-1), 0, "-Inf is not finite"}, {0, 1e12, "more than 2^40 values"}, {0, 1e18, "more than"},
	} {
		_, err := u.Totals(c.lo, c.hi)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v..%v: %v, want %q", c.lo, c.hi, err, c.want)
		}
	}
}

// personWorlds returns all lists of up to three readings.
func personWorlds(u *Universe) (worlds [][]int64) {
	worlds = [][]int64{nil}
	for at := 0; at < len(worlds); at++ {
		if len(worlds[at]) == 3 {
			break
		}
		for k := range u.last + 1 {
			worlds = append(worlds, append(append([]int64{}, worlds[at]...), k))
		}
	}
	return worlds
}

// Worlds in which a person has any other readings, repeated in any way, are one record apart: the answers keep epsilon
// once. Two people have one record each, and the other one's does not change.
func TestPersonsKeepEpsilonOnce(t *testing.T) {
	for _, bounds := range trials.Some(t, 4, tinyUniverses...) {
		u := universe(t, bounds.lo, bounds.hi, bounds.step)
		grain := u.decimal(u.grain())
		for _, ends := range [][2]int64{{0, 6}, {-2, 3}, {3, 5}} {
			of := totals(t, u, u.decimal(u.grain()*ends[0]), u.decimal(u.grain()*ends[1]))
			worlds := personWorlds(u)
			eps := rational("0.5")
			for _, agg := range []Aggregate{Sum, Avg, Variance} {
				q := queryOfKnownRows(t, agg, of.Universe, budget.DH, eps)
				collect := func(world []int64, add func(q *Query, a *Accumulator, world []int64)) *Accumulator {
					a := new(Accumulator)
					q.AddIndex(a, 1) // of another person
					add(q, a, world)
					return a
				}
				worst := func(add func(q *Query, a *Accumulator, world []int64)) *big.Rat {
					worst := new(big.Rat)
					for _, x := range worlds[1:] {
						for _, y := range worlds[1:] {
							if spent := spentByPair(q, collect(x, add), collect(y, add)); spent.Cmp(worst) > 0 {
								worst = spent
							}
						}
					}
					return worst
				}
				once := worst(func(q *Query, a *Accumulator, world []int64) {
					var total Total
					for _, k := range world {
						total.Add(k)
					}
					q.AddIndex(a, of.IndexOf(total))
				})
				if once.Cmp(eps) > 0 {
					t.Errorf("%v of %v in %v: spends %s", agg, of, u, once.FloatString(4))
				}
				moved := worst(func(q *Query, a *Accumulator, world []int64) { // a record of each reading
					for _, k := range world {
						var total Total
						total.Add(k)
						q.AddIndex(a, of.IndexOf(total))
					}
				})
				if ends == [2]int64{-2, 3} && u.lo <= -grain && u.hi >= 3*grain && agg == Sum && moved.Cmp(eps) <= 0 {
					t.Errorf("%v of %v: readings that are moved before they are added are not caught", agg, of)
				}
			}
		}
	}
}

// spentByPair returns the loss of a query between two accumulators, by its own rates.
func spentByPair(q *Query, a, b *Accumulator) *big.Rat {
	switch l := q.law.(type) {
	case *sum:
		return l.noise.spends(new(big.Int).Abs(l.answer(a).add(l.answer(b).neg()).big()))
	case *recordsVariance:
		return q.spentOnVariance(a, b)
	default:
		return spentByMean(l, a, b)
	}
}
