package scalar

import (
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

var (
	indexSink  int64
	floatSink  float64
	floatsSink [][]float64
)

// benchReadings are values of the universe in no order that a branch could learn.
func benchReadings(u *Universe) []float64 {
	readings := make([]float64, 1<<12)
	for i := range readings {
		readings[i] = u.Value(int64(uint32(i)*2654435761) % (u.last + 1)) // Knuth's multiplicative hash
	}
	return readings
}

func BenchmarkIndex(b *testing.B) {
	u := universe(b, 0, 10, 0.001)
	grid := benchReadings(u)
	halves := make([]float64, len(grid))
	for i := range halves {
		halves[i] = u.steps().Midpoint(u.Index(grid[i]))
	}
	for _, c := range []struct {
		name     string
		readings []float64
	}{{"grid", grid}, {"halfway", halves}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				indexSink = u.Index(c.readings[i&(len(c.readings)-1)])
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	u := universe(b, 0, 10, 0.001)
	readings := benchReadings(u)
	for _, agg := range []Aggregate{Count, Sum, Avg, Min, Max, Median} {
		b.Run(agg.String(), func(b *testing.B) {
			q := benchQuery(b, agg, u)
			a := Accumulator{indices: make([]int64, 0, len(readings))}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i & (len(readings) - 1)
				if at == 0 {
					q.Reset(&a)
				}
				q.Add(&a, readings[at])
			}
		})
	}
}

func BenchmarkRelease(b *testing.B) {
	u := universe(b, 0, 10, 0.001)
	src := exact.NewSource(nil)
	for _, agg := range []Aggregate{Value, Count, Sum, Avg, Max} {
		b.Run(agg.String(), func(b *testing.B) {
			q := benchQuery(b, agg, u)
			a := collect(q, benchReadings(u))
			b.ReportAllocs()
			for b.Loop() {
				floatSink = q.Draw(src, a)
			}
		})
	}
}

// BenchmarkMedian takes the median of 4,096 readings; sorting them is the obvious
// other way.
func BenchmarkMedian(b *testing.B) {
	u := universe(b, 0, 10, 0.001)
	q := query(b, Median, u, budget.DInf, big.NewRat(1, 10))
	unordered := collect(q, benchReadings(u)).indices
	scratch := make([]int64, len(unordered))
	b.Run("select", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			copy(scratch, unordered)
			indexSink = q.answer(&Accumulator{indices: scratch}).hi
		}
	})
	b.Run("sort", func(b *testing.B) {
		for b.Loop() {
			copy(scratch, unordered)
			slices.Sort(scratch)
			indexSink = scratch[len(scratch)/2]
		}
	})
}

// BenchmarkDrawByScore takes the median of 1,000,000 readings in a universe of 50,000
// values, and in one where nearly all readings differ.
func BenchmarkDrawByScore(b *testing.B) {
	src := exact.NewSource(nil)
	for _, c := range []struct {
		name string
		hi   float64
	}{{"50,000 values", 50_000}, {"2^39 values", 1 << 39}} {
		u := universe(b, 0, c.hi, 1)
		unordered := make([]int64, 1_000_000)
		for i := range unordered {
			unordered[i] = int64(uint64(i)*0x9e3779b97f4a7c15>>24) % (u.last + 1) // in no order
		}
		for _, metric := range []budget.Metric{budget.D1, budget.ND1, budget.DH} {
			b.Run(c.name+"/"+metric.String(), func(b *testing.B) {
				q := query(b, Median, u, metric, big.NewRat(1, 1))
				a := Accumulator{indices: make([]int64, len(unordered))}
				b.ReportAllocs()
				for b.Loop() {
					copy(a.indices, unordered)
					floatSink = q.Draw(src, &a)
				}
			})
		}
	}
}

// BenchmarkWay chooses how to draw the median of so many readings.
func BenchmarkWay(b *testing.B) {
	q := benchQuery(b, Median, universe(b, 0, 10, 0.001))
	for _, rows := range []int{48, 1488, 77_821, 1_000_000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			for b.Loop() {
				floatsSink = q.scored().errors(rows)
			}
		})
	}
}

func benchQuery(b *testing.B, agg Aggregate, u *Universe) *Query {
	if agg == Count {
		u = nil
	}
	return query(b, agg, u, budget.D1, big.NewRat(1, 10))
}
