package scalar

import (
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// treeOf returns the questions about percentiles by halving, whether it is the better way or not.
func treeOf(t fataler, percentiles []float64, eps string) *question {
	t.Helper()
	var fractions []fraction
	for _, p := range percentiles {
		fractions = append(fractions, percentileOf(budget.Decimal(p)).(percentile).fraction)
	}
	shares, whole, err := sharesOf(fractions)
	if err != nil {
		t.Fatal(err)
	}
	q, err := halve(shares, 0, 0, whole, rational(eps), true)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// definedScore returns the score of a value by its definition, in rows.
func definedScore(q *question, rows []int64, v int64) float64 {
	n, below, upTo := float64(len(rows)), 0., 0.
	for _, x := range rows {
		below += float64(whole(x < v))
		upTo += float64(whole(x <= v))
	}
	most := float64(q.cap())
	switch {
	case n == 0:
		return 0
	case q.num == 0:
		return min(max(0, below, 1-upTo), most)
	case q.num == q.den:
		return min(max(0, below+1-n, n-upTo), most)
	}
	target := n * float64(q.num) / float64(q.den)
	return min(max(0, below-target, target-upTo), most)
}

// A weigher returns the exponent of the weight of a value.
type weigher func(q *question, rows []int64, v int64, root bool) float64

// defined is as the tree says.
func defined(q *question, rows []int64, v int64, _ bool) float64 {
	return q.rate * float64(q.den) * definedScore(q, rows, v)
}

// lawOf returns the probability of each value from first to last as the answer to a question.
func (w weigher) lawOf(q *question, rows []int64, first, last int64, root bool) []float64 {
	law, sum := make([]float64, last-first+1), 0.
	for i := range law {
		law[i] = math.Exp(-w(q, rows, first+int64(i), root))
		sum += law[i]
	}
	for i := range law {
		law[i] /= sum
	}
	return law
}

// divide returns the rows below a value and the others.
func divide(rows []int64, v int64) (lower, upper []int64) {
	at, _ := slices.BinarySearch(rows, v)
	return rows[:at], rows[at:]
}

// loss returns the largest ln(P(answers|x)/P(answers|y)) over all answers to a question and those below it. Given an answer, those
// below it are independent, so that their losses add up.
func (w weigher) loss(q *question, x, y []int64, first, last int64, root bool) float64 {
	if q == nil || slices.Equal(x, y) {
		return 0
	}
	px, py := w.lawOf(q, x, first, last, root), w.lawOf(q, y, first, last, root)
	worst := math.Inf(-1)
	for i := range px {
		v := first + int64(i)
		lowerX, upperX := divide(x, v)
		lowerY, upperY := divide(y, v)
		worst = max(worst, math.Log(px[i]/py[i])+w.loss(q.lower, lowerX, lowerY, first, v, false)+w.loss(q.upper, upperX, upperY, v, last, false))
	}
	return worst
}

// smallLists are all lists of up to three percentiles out of eleven; some of them in a short run.
func smallLists(t *testing.T) (lists [][]float64) {
	for i := range 11 {
		lists = append(lists, []float64{float64(10 * i)})
		for j := range i {
			lists = append(lists, []float64{float64(10 * j), float64(10 * i)})
			for k := range j {
				lists = append(lists, []float64{float64(10 * k), float64(10 * j), float64(10 * i)})
			}
		}
	}
	return trials.Some(t, 40, lists...)
}

// smallRows are all groups of up to four rows on five values, each in order.
func smallRows() (groups [][]int64) {
	groups = append(groups, nil)
	for at := 0; at < len(groups); at++ {
		least := int64(0)
		if n := len(groups[at]); n > 0 {
			least = groups[at][n-1]
		}
		for v := least; v < 5 && len(groups[at]) < 4; v++ {
			groups = append(groups, append(slices.Clone(groups[at]), v))
		}
	}
	return groups
}

// neighbours returns the groups that have a row less, or another row of values below so many.
func neighbours(rows []int64, values int64) (groups [][]int64) {
	for at := range rows {
		fewer := slices.Delete(slices.Clone(rows), at, at+1)
		groups = append(groups, fewer)
		for v := range values {
			groups = append(groups, slices.Sorted(slices.Values(append(slices.Clone(fewer), v))))
		}
	}
	return groups
}

// Halving spends no more than epsilon for a row that is added, removed or replaced, by enumeration of all groups of up to four
// rows.
func TestHalvingKeepsEpsilon(t *testing.T) {
	worst := 0.
	for _, list := range smallLists(t) {
		tree := treeOf(t, list, "2")
		for _, x := range smallRows() {
			for _, y := range neighbours(x, 5) {
				loss := max(weigher(defined).loss(tree, x, y, 0, 4, true), weigher(defined).loss(tree, y, x, 0, 4, true))
				if loss > 2+1e-12 {
					t.Errorf("%v: loss %v between %v and %v at epsilon 2", list, loss, x, y)
				}
				worst = max(worst, loss)
			}
		}
	}
	t.Logf("the largest loss is %.3f", worst)
}

// heaps returns so many rows of each value.
func heaps(ofEach ...[2]int64) (rows []int64) {
	for _, heap := range ofEach {
		rows = append(rows, slices.Repeat([]int64{heap[0]}, int(heap[1]))...)
	}
	return rows
}

// Where rows lie so that epsilon is nearly spent, easy mistakes spend more.
func TestHalvingChecksCatchPlantedBugs(t *testing.T) {
	quartiles := []float64{25, 50, 75}
	x := heaps([2]int64{14, 3}, [2]int64{19, 26}, [2]int64{34, 13}, [2]int64{35, 14})
	y := heaps([2]int64{14, 2}, [2]int64{19, 26}, [2]int64{34, 13}, [2]int64{35, 14}, [2]int64{39, 1})
	if loss := weigher(defined).loss(treeOf(t, quartiles, "2"), x, y, 0, 39, true); loss < 1.9 || loss > 2 {
		t.Errorf("loss %v at epsilon 2", loss)
	}
	for _, bug := range []struct {
		name string
		list []float64
		w    weigher
		x, y []int64
	}{
		{"a row that leaves a question is free", quartiles, func(q *question, rows []int64, v int64, root bool) float64 {
			if root {
				return defined(q, rows, v, root)
			}
			return 2 * defined(q, rows, v, root)
		}, x, y},
		{"half of epsilon for a row everywhere", []float64{2, 50, 98}, func(q *question, rows []int64, v int64, _ bool) float64 {
			return definedScore(q, rows, v) / 2
		}, heaps([2]int64{1, 1}, [2]int64{10, 3}, [2]int64{11, 12}, [2]int64{27, 19}, [2]int64{39, 1}), heaps([2]int64{10, 3}, [2]int64{11, 12}, [2]int64{27, 19}, [2]int64{39, 2})},
		{"a target rounded to a rank", quartiles, func(q *question, rows []int64, v int64, _ bool) float64 {
			n, below, upTo := float64(len(rows)), 0., 0.
			for _, x := range rows {
				below += float64(whole(x < v))
				upTo += float64(whole(x <= v))
			}
			rank := min(n, math.Floor(n*float64(q.num)/float64(q.den))+1)
			return q.rate * float64(q.den) * max(0, below+1-rank, rank-upTo)
		}, heaps([2]int64{7, 1}, [2]int64{26, 3}, [2]int64{27, 2}, [2]int64{28, 1}), heaps([2]int64{2, 1}, [2]int64{7, 1}, [2]int64{26, 3}, [2]int64{27, 1}, [2]int64{28, 1})},
	} {
		tree := treeOf(t, bug.list, "2")
		if loss := max(bug.w.loss(tree, bug.x, bug.y, 0, 39, true), bug.w.loss(tree, bug.y, bug.x, 0, 39, true)); loss <= 2 {
			t.Errorf("%s: not caught, loss %v at epsilon 2", bug.name, loss)
		}
	}
}

// Runs of any rows have the scores that are defined, and every value once.
func TestRunsOfAnyShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(0, 1<<61).Draw(t, "first")
		last := first + rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 1<<61)).Draw(t, "more")
		rows := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(first, min(last, first+5)), rapid.Int64Range(first, last)), 0, 40).Draw(t, "rows")
		slices.Sort(rows)
		den := rapid.Uint64Range(1, 10_000_000_000_000_000_000).Draw(t, "den")
		q := &question{num: rapid.OneOf(rapid.SampledFrom([]uint64{0, den}), rapid.Uint64Range(0, den)).Draw(t, "num"), den: den}
		q.rate = 100 / float64(den) / rapid.Float64Range(0.5, 60).Draw(t, "largest score")
		all, values, runs := q.scores(new(choice), rows, first, last), int64(0), 0
		all.restart()
		least := math.Inf(1)
		for r, ok := all.next(); ok; r, ok = all.next() {
			if r.first != first+values || r.step != 1 || r.slope != 0 {
				t.Fatalf("%v: run %+v after %d values", rows, r, values)
			}
			values += r.n
			runs++
			for _, v := range []int64{r.first, r.first + r.n - 1} {
				score, want := r.score.float()/float64(den), definedScore(q, rows, v)
				if math.Abs(score-want) > 1e-12*max(1, want, float64(len(rows))) {
					t.Fatalf("%v, %d/%d: the score of %d is %v, want %v", rows, q.num, den, v, score, want)
				}
				least = min(least, score)
			}
		}
		if values != last-first+1 || least != 0 || runs > len(rows)+3 {
			t.Fatalf("%v: %d runs have %d values, the least score is %v", rows, runs, values, least)
		}
	})
}

// Draws follow the law that is enumerated above.
//
// 100,000 draws per case. By Chernoff's bound, as in TestReleaseFollowsItsLaw, a false alarm has probability below 1e-8 per
// case.
func TestHalvingFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	src := exact.NewSource(nil)
	for _, c := range []struct {
		list []float64
		rows []int64
	}{
		{[]float64{25, 50, 75}, []int64{0, 1, 1, 2, 3, 3, 3}},
		{[]float64{0, 10, 100}, []int64{1, 1, 2}},
		{[]float64{30, 50, 99.9}, nil},
	} {
		tree := treeOf(t, c.list, "3")
		want, got := map[int64]float64{}, map[int64]int{}
		w := weigher(defined)
		for v, p := range w.lawOf(tree, c.rows, 0, 3, true) {
			lower, upper := divide(c.rows, int64(v))
			for a, pa := range w.lawOf(tree.lower, lower, 0, int64(v), false) {
				for b, pb := range w.lawOf(tree.upper, upper, int64(v), 3, false) {
					want[int64(a)+10*int64(v)+100*(int64(v)+int64(b))] += p * pa * pb
				}
			}
		}
		var ch choice
		answers := make([]int64, 3)
		for range draws {
			tree.ask(src, &ch, c.rows, 0, 3, answers)
			got[answers[0]+10*answers[1]+100*answers[2]]++
		}
		if err := fits(got, want, draws, 1e-8); err != nil {
			t.Errorf("%v of %v: %v", c.list, c.rows, err)
		}
	}
}

// Draws without float64 are the same, draw by draw on the same bits, for scores that are not whole numbers of rows and
// for the widest grid.
func TestUndecidedShareChoicesAgree(t *testing.T) {
	tree := treeOf(t, []float64{12.3456789, 33.3, 99.999}, "0.7")
	rows := []int64{0, 1 << 10, 1 << 40, 1<<61 - 1, 1<<61 - 1, 1 << 61}
	for q := range tree.all() {
		var fast, certified choice
		fast.prepare(q.rate, q.scores(&fast, rows, 0, 1<<62-1))
		certified.prepare(q.rate, q.scores(&certified, rows, 0, 1<<62-1))
		certified.slack = math.Inf(1) // no bound in float64 is of use
		seed := trials.Seed(t)
		one, other := exact.NewSource(pseudorandom(seed)), exact.NewSource(pseudorandom(seed))
		for i := range 100 {
			if got, want := fast.draw(one), certified.draw(other); got != want {
				t.Fatalf("draw %d is %d, in integer arithmetic %d", i, got, want)
			}
		}
		if one.Uint64() != other.Uint64() {
			t.Error("the two paths read a different number of bits")
		}
	}
}

// all visits a question and those below it.
func (q *question) all() iter.Seq[*question] {
	return func(yield func(*question) bool) {
		if q != nil {
			yield(q)
			q.lower.all()(yield)
			q.upper.all()(yield)
		}
	}
}

// The epsilons on no way down a tree are more than epsilon together, and each question is answered in the order of percentiles.
func TestTreesSpendEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenths := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 60).Draw(t, "tenths of percent"))))
		list := make([]float64, len(tenths))
		for i, p := range tenths {
			list[i] = float64(p) / 10
		}
		tree := treeOf(t, list, "0.3")
		if n := tree.count(); n != len(list) {
			t.Fatalf("%d questions about %d percentiles", n, len(list))
		}
		var spend func(q *question, from, to float64, first, last int, root bool) *big.Rat
		spend = func(q *question, from, to float64, first, last int, root bool) *big.Rat {
			if q == nil {
				return new(big.Rat)
			}
			p := list[q.at]
			share := float64(q.num) / float64(q.den)
			if q.at < first || q.at > last || math.Abs(share-(p-from)/(to-from)) > 1e-12 {
				t.Fatalf("percentile %v of those from %v to %v is asked for by %d/%d", p, from, to, q.num, q.den)
			}
			perRow := int64(2)
			e := new(big.Rat).SetFloat64(q.rate)
			e.Mul(e, new(big.Rat).SetInt64(int64(q.den)*perRow))
			if !root {
				e.SetFloat64(q.rate)
				e.Mul(e, new(big.Rat).SetInt64(4*int64(max(q.num, q.den-q.num))))
			}
			lower, upper := spend(q.lower, from, p, first, q.at-1, false), spend(q.upper, p, to, q.at+1, last, false)
			if lower.Cmp(upper) < 0 {
				lower = upper
			}
			return e.Add(e, lower)
		}
		spent := spend(tree, 0, 100, 0, len(list)-1, true)
		if all, _ := spent.Float64(); spent.Cmp(rational("0.3")) > 0 || all < 0.3*(1-1e-14) {
			t.Fatalf("%v: %v of 0.3 is spent", list, all)
		}
	})
}

func BenchmarkPercentiles(b *testing.B) {
	u := universe(b, 0, 10, 0.001)
	unordered := make([]int64, 1_000_000)
	for i := range unordered {
		unordered[i] = int64(uint64(i)*0x9e3779b97f4a7c15>>24) % (u.last + 1) // in no order
	}
	src := exact.NewSource(nil)
	for _, eps := range []string{"0.001", "1"} {
		b.Run(eps, func(b *testing.B) {
			q := query(b, Percentiles(evenly(19)), u, budget.DH, rational(eps))
			a := Accumulator{indices: make([]int64, len(unordered))}
			b.ReportAllocs()
			for b.Loop() {
				copy(a.indices, unordered)
				q.Draw(src, &a)
			}
		})
	}
}
