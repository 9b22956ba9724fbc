package scalar

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

func drawReadings(t *rapid.T, d declared) []float64 {
	return rapid.SliceOfN(rapid.Custom(d.drawReading), 0, 40).Draw(t, "readings")
}

// answering returns a query for its answers: any epsilon and metric does.
func answering(t fataler, d declared, agg Aggregate) *Query {
	return query(t, agg, d.u, budget.ND1, big.NewRat(1, 1))
}

func TestSumIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		q := answering(t, d, Sum)
		readings := drawReadings(t, d)
		want := new(big.Rat)
		for _, x := range readings {
			want.Add(want, d.decimal(d.index(x)))
		}
		z := q.answer(collect(q, readings))
		got := new(big.Rat).SetFrac(z.big(), integer(q.noised().lattice.scale))
		got.Mul(got, new(big.Rat).SetInt64(q.noised().lattice.step))
		if got.Cmp(want) != 0 {
			t.Fatalf("%v: sum of %v is %v, want %v", d.u, readings, got, want)
		}
		if nearest, _ := want.Float64(); q.noised().lattice.number(z) != nearest {
			t.Fatalf("%v: sum prints %v, want %v", d.u, q.noised().lattice.number(z), nearest)
		}
	})
}

// As many rows as there can be, all at one end of the widest universes.
func TestSumsAndAveragesDoNotOverflow(t *testing.T) {
	const rows = 1<<63 - 1
	for _, u := range []*Universe{
		universe(t, -999999999999999, 999999999999999, 999999999999999),
		universe(t, 99999999999999.8, 99999999999999.9, 0.1),
		universe(t, -99999999999999.9, -99999999999999.8, 0.1),
		universe(t, 0, 1<<40-1, 1),
	} {
		for _, k := range []int64{0, 1, u.last} {
			indices := uint128{0, uint64(k)}.times(rows)
			sum := uint128{uint64(indices.hi), indices.lo}
			want := big.NewInt((u.first + k*u.stride) / u.grain())
			want.Mul(want, big.NewInt(rows))
			if got := u.total(rows, sum); got.big().Cmp(want) != 0 {
				t.Errorf("%v: 2^63-1 times value %d is %v, want %v", u, k, got.big(), want)
			}
			if got := u.quotient(sum.times(1).big(), big.NewInt(rows), 1e-9); got != u.Value(k) {
				t.Errorf("%v: average of 2^63-1 times value %v is %v", u, u.Value(k), got)
			}
		}
	}
}

func TestPercentileIsTheSortedReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		readings := drawReadings(t, d)
		p := big.NewRat(rapid.Int64Range(0, 1000).Draw(t, "p in tenths"), 10)
		agg := rapid.SampledFrom([]Aggregate{percentileOf(p), Median, Min, Max}).Draw(t, "aggregate")
		switch agg {
		case Median:
			p = big.NewRat(50, 1)
		case Min:
			p = new(big.Rat)
		case Max:
			p = big.NewRat(100, 1)
		}
		q := answering(t, d, agg)
		if got, want := q.answer(collect(q, readings)), readingAt(d, readings, p); got != fromInt64(want) {
			t.Fatalf("%v: %v at %v of %v is index %v, want %d", d.u, agg, p, readings, got.big(), want)
		}
	})
}

// readingAt sorts and takes rank min(m, floor(p*m/100)+1).
func readingAt(d declared, readings []float64, p *big.Rat) int64 {
	if len(readings) == 0 {
		return 0
	}
	var indices []int64
	for _, x := range readings {
		indices = append(indices, d.index(x))
	}
	slices.Sort(indices)
	r := new(big.Rat).Mul(p, big.NewRat(int64(len(indices)), 100))
	rank := new(big.Int).Quo(r.Num(), r.Denom()).Int64() + 1
	return indices[min(rank, int64(len(indices)))-1]
}

func TestSortIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 40).Draw(t, "width")
		n := rapid.SampledFrom([]int{0, 1, 2, 1023, 1024, 3000}).Draw(t, "n")
		word := rapid.Uint64().Draw(t, "seed")
		s := make([]int64, n)
		for i := range s {
			word = word*0x5851f42d4c957f2d + 1
			s[i] = int64(word >> (64 - width))
		}
		want := slices.Sorted(slices.Values(s))
		spare := make([]int64, rapid.SampledFrom([]int{0, 5000}).Draw(t, "spare"))
		sorted, rest := sortIndices(s, spare, width)
		if !slices.Equal(sorted, want) {
			t.Fatalf("%d indices of %d bits are not sorted", n, width)
		}
		if n > 0 && len(rest) > 0 && &rest[0] == &sorted[0] {
			t.Fatal("the memory to spare is that of the sorted indices")
		}
	})
}

func TestCountsSaturate(t *testing.T) {
	q := query(t, Count, nil, budget.D1, rational("9000000"))
	src := exact.NewSource(nil)
	for rows, want := range map[int64]float64{0: 0, 12: 12, maxCount: 1 << 53, math.MaxInt64: 1 << 53} {
		// The noise is 0 but for a probability below e^-8999999.
		if got := q.Draw(src, &Accumulator{rows: rows}); got != want {
			t.Errorf("count of %d rows is %v", rows, got)
		}
		if got := q.answer(&Accumulator{rows: rows}); fromInt64(maxCount).less(got) {
			t.Errorf("count of %d rows answers %v", rows, got.big())
		}
	}
}

// A sum is clamped at 0 when no reading is negative, and nowhere else: a bound that
// depended on the readings would show how many there are.
func TestSumsAreClampedAtZeroOnly(t *testing.T) {
	for _, c := range []struct {
		lo, hi  float64
		clamped bool
	}{{0, 3, true}, {2, 4, true}, {-1, 2, false}, {-3, -1, false}} {
		q := query(t, Sum, universe(t, c.lo, c.hi, 1), budget.D1, big.NewRat(1, 1))
		low := fromInt64(-5)
		if c.clamped {
			low = int128{}
		}
		if got := q.noised().lattice.clamp(fromInt64(-5)); got != low {
			t.Errorf("sum over %v..%v: -5 becomes %v", c.lo, c.hi, got.big())
		}
		if got := q.noised().lattice.clamp(highest); got != highest {
			t.Errorf("sum over %v..%v is clamped at %v", c.lo, c.hi, got.big())
		}
	}
}

// 28 percent of 25 is 7 exactly, while 25*(28/100) is above 7 in float64 and 100*0.29
// below 29: ranks must not come from floats.
func TestPercentileRanksAreExact(t *testing.T) {
	u := universe(t, 0, 99, 1)
	for _, c := range []struct {
		p    string
		m    int
		want int64 // the readings are 0..m-1, so this is the rank less one
	}{
		{"28", 25, 7}, {"29", 100, 29}, {"57", 100, 57}, {"0.1", 10, 0}, {"99.9", 10, 9},
		{"33.333333333333336", 3, 1}, {"33.3333333333333", 3, 0}, {"100", 1, 0}, {"50", 2, 1}, {"50", 4, 2},
	} {
		q := query(t, percentileOf(rational(c.p)), u, budget.D1, big.NewRat(1, 1))
		var a Accumulator
		for i := range c.m {
			q.Add(&a, float64((i*7+3)%c.m)) // each once unless 7 divides m
		}
		if got := q.answer(&a); got != fromInt64(c.want) {
			t.Errorf("percentile %s of 0..%d is %v, want %d", c.p, c.m-1, got.big(), c.want)
		}
	}
}

func TestReadingsAndReleasesDoNotAllocate(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	src := exact.NewSource(nil)
	for _, agg := range []Aggregate{Value, Count, Sum, Avg, Min, Max, Median} {
		of := u
		if agg == Count {
			of = nil
		}
		q := query(t, agg, of, budget.D1, big.NewRat(1, 10))
		a := Accumulator{indices: make([]int64, 0, 2)}
		allocs := testing.AllocsPerRun(200, func() {
			q.Reset(&a)
			q.Add(&a, 0.0345)
			q.Add(&a, 9.9995) // halfway: not the float64 path of Index
			if agg != Avg {   // which divides whole numbers of any size
				q.Draw(src, &a)
			}
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations", agg, allocs)
		}
	}
}
