package bound

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A candidate is a score before it is fitted to draws.
type candidate struct {
	name  string
	parts int  // how many numbers it looks at: its cost
	ratio bool // whether it is the log likelihood ratio of one feature
	fit   func([2][]Outcome) func(Outcome) float64
}

func unfitted(f func(Outcome) float64) func([2][]Outcome) func(Outcome) float64 {
	return func([2][]Outcome) func(Outcome) float64 { return f }
}

// A feature is something to look at in an answer. It is NaN where the answer does not have it.
type feature struct {
	name  string
	plain bool // whether it is one of the answer's numbers as it stands
	of    func(Outcome) float64
}

// candidates returns the scores that are tried on every mechanism; draws tell the numbers to
// look at.
func candidates(draws [2][]Outcome) []candidate {
	draws = first(draws, 2*2000)
	cs := []candidate{
		atoms("answer", func(o Outcome) string { return o.Text }),
		atoms("shape of the answer", func(o Outcome) string { return shape(o.Text) }),
		atoms("order of values", order),
	}
	var numbers []candidate
	for _, f := range features(draws) {
		ratio := candidate{"likelihood of " + f.name, 1, true,
			func(fit [2][]Outcome) func(Outcome) float64 { return histogram(f.of, fit) }}
		cs = append(cs, candidate{name: f.name, parts: 1, fit: unfitted(f.of)}, ratio)
		if f.plain {
			numbers = append(numbers, ratio)
		}
	}
	if len(numbers) > 1 {
		cs = append(cs, sum("likelihood of all numbers", numbers),
			candidate{name: "nearer to the medians of input 0", parts: len(numbers), fit: nearer})
	}
	return cs
}

// sum takes candidates together as if they did not depend on each other (naive Bayes).
func sum(name string, of []candidate) candidate {
	return candidate{name: name, parts: len(of), fit: func(fit [2][]Outcome) func(Outcome) float64 {
		var terms []func(Outcome) float64
		for _, c := range of {
			terms = append(terms, c.fit(fit))
		}
		return func(o Outcome) float64 {
			s := 0.0
			for _, t := range terms {
				s += t(o)
			}
			return s
		}
	}}
}

const (
	most   = 64 // of so many numbers of an answer each is looked at by itself
	closer = 8  // and so many are looked at closely
)

// features returns the features of answers like these.
func features(draws [2][]Outcome) []feature {
	width := 0
	for _, d := range draws {
		for _, o := range d {
			width = max(width, len(o.Values))
		}
	}
	fs := []feature{
		{"length of the text", false, func(o Outcome) float64 { return float64(len(o.Text)) }},
		{"number of values", false, func(o Outcome) float64 { return float64(len(o.Values)) }},
	}
	for j := range min(width, most) {
		value := nth(j)
		add := func(name string, f func(float64) float64) {
			fs = append(fs, feature{fmt.Sprintf("%s %d", name, j+1), false, func(o Outcome) float64 {
				v := value(o)
				if math.IsNaN(v) {
					return v
				}
				return f(v)
			}})
		}
		fs = append(fs, feature{fmt.Sprintf("value %d", j+1), true, value})
		add("trailing zero bits of value", trailing)
		add("place of the lowest bit of value", lowest)
		add("printed digits of value", func(v float64) float64 { n, _ := digits(v); return n })
		if j >= closer {
			continue
		}
		add("last printed digit of value", func(v float64) float64 { _, d := digits(v); return d })
		add("low bits of value", func(v float64) float64 { return float64(math.Float64bits(v) & 63) })
		for i := range 2 {
			if vs := sorted(value, draws[i]); len(vs) > 0 {
				m := vs[len(vs)/2]
				add(fmt.Sprintf("distance from the median of input %d of value", i),
					func(v float64) float64 { return math.Abs(v - m) })
			}
		}
		vs := sorted(value, draws[0], draws[1])
		if step, ok := lattice(vs); ok {
			for _, m := range []float64{3, 10, 16} {
				add(fmt.Sprintf("lattice index modulo %v of value", m),
					func(v float64) float64 {
						k := math.Round((v - vs[0]) / step)
						return k - m*math.Floor(k/m)
					})
			}
		} else {
			for _, m := range []float64{1, 1e-3, 1e-6} {
				add(fmt.Sprintf("fraction modulo %v of value", m),
					func(v float64) float64 { return v/m - math.Floor(v/m) })
			}
		}
		if j > 0 {
			before := nth(j - 1)
			fs = append(fs, feature{fmt.Sprintf("value %d less value %d", j+1, j), false,
				func(o Outcome) float64 { return value(o) - before(o) }})
		}
	}
	if width > 1 {
		fs = append(fs,
			feature{"rising steps", false, steps(func(a, b float64) bool { return a < b })},
			feature{"equal steps", false, steps(func(a, b float64) bool { return a == b })},
			feature{"place of the largest", false, place(func(a, b float64) bool { return a > b })},
			feature{"place of the smallest", false, place(func(a, b float64) bool { return a < b })},
			feature{"fewest trailing zero bits of a value", false, smallest(trailing)},
			feature{"place of the lowest bit of all values", false, smallest(lowest)},
		)
	}
	return fs
}

// nth returns a function that returns number j of an outcome, counted from 0.
func nth(j int) func(Outcome) float64 {
	return func(o Outcome) float64 {
		if j >= len(o.Values) {
			return math.NaN()
		}
		return o.Values[j]
	}
}

// trailing returns how many low bits of the significand are zero: a sum that was rounded to a
// multiple of the precision of its larger term has more of them (Mironov, "On significance of
// the least significant bits for differential privacy", 2012).
func trailing(v float64) float64 {
	if v == 0 {
		return 53
	}
	return float64(bits.TrailingZeros64(math.Float64bits(v) | 1<<52))
}

// lowest returns the binary exponent of the lowest bit that is set.
func lowest(v float64) float64 {
	_, e := math.Frexp(v)
	return float64(e) - 53 + trailing(v)
}

func smallest(f func(float64) float64) func(Outcome) float64 {
	return func(o Outcome) float64 {
		s := math.NaN()
		for _, v := range o.Values {
			if w := f(v); !(w >= s) {
				s = w
			}
		}
		return s
	}
}

// digits returns how many significant digits a number has when printed, and the last of them.
func digits(v float64) (n, last float64) {
	var b [32]byte
	for _, c := range strconv.AppendFloat(b[:0], v, 'e', -1, 64) {
		if c == 'e' {
			break
		}
		if c >= '0' && c <= '9' {
			n++
			last = float64(c - '0')
		}
	}
	return n, last
}

// lattice returns the step that divides all differences of sorted values, if there is one that is not much smaller than
// the differences themselves.
func lattice(vs []float64) (step float64, ok bool) {
	vs = slices.Compact(slices.Clone(vs))
	if len(vs) < 3 || math.IsInf(vs[0], 0) || math.IsInf(vs[len(vs)-1], 0) {
		return 0, false
	}
	step = math.Inf(1)
	for k := 1; k < len(vs); k++ {
		step = min(step, vs[k]-vs[k-1])
	}
	for k := 1; k < len(vs); k++ {
		d := (vs[k] - vs[k-1]) / step
		if math.Abs(d-math.Round(d)) > 1e-3 {
			return 0, false
		}
	}
	return step, true
}

func steps(is func(a, b float64) bool) func(Outcome) float64 {
	return func(o Outcome) float64 {
		n := 0
		for j := 1; j < len(o.Values); j++ {
			if is(o.Values[j-1], o.Values[j]) {
				n++
			}
		}
		return float64(n)
	}
}

func place(better func(a, b float64) bool) func(Outcome) float64 {
	return func(o Outcome) float64 {
		at := -1
		for j, v := range o.Values {
			if at < 0 || better(v, o.Values[at]) {
				at = j
			}
		}
		return float64(at)
	}
}

// order returns the order of the first numbers of an answer, as their places by size.
func order(o Outcome) string {
	places := make([]int, min(len(o.Values), 5))
	for j := range places {
		places[j] = j
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(o.Values[a], o.Values[b]) })
	return fmt.Sprint(places)
}

// shape returns a text with all digits made alike.
func shape(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9'
		}
		return r
	}, text)
}

// atoms is the log likelihood ratio of single texts, as far as it can be relied on: nearly all
// of it for values that are seen often, and 0 for values with counts that chance explains.
func atoms(name string, key func(Outcome) string) candidate {
	return candidate{"likelihood of the " + name, 1, true, func(fit [2][]Outcome) func(Outcome) float64 {
		counts := map[string][2]int{}
		for i, d := range fit {
			for _, o := range d {
				k := key(o)
				c := counts[k]
				c[i]++
				counts[k] = c
			}
		}
		ratios := map[string]float64{}
		for k, c := range counts {
			ratios[k] = certain(c, fit)
		}
		return func(o Outcome) float64 { return ratios[key(o)] }
	}}
}

// certain returns the part of the log likelihood ratio of counts that is beyond about two
// standard deviations.
func certain(c [2]int, draws [2][]Outcome) float64 {
	a, b := float64(c[0])/float64(len(draws[0])), float64(c[1])/float64(len(draws[1]))
	sign := 1.0
	if a < b {
		a, b, sign = b, a, -1
	}
	return sign * max(0, logit(chernoffBelow(a/(a+b), 2.5/float64(c[0]+c[1]))))
}

// ratio returns the log likelihood ratio of something that was counted in draws.
func ratio(c [2]int, draws [2][]Outcome) float64 {
	return math.Log((float64(c[0]) + 0.5) / (float64(c[1]) + 0.5) * float64(len(draws[1])+1) / float64(len(draws[0])+1))
}

// sorted returns a feature of draws in order, without draws that lack it.
func sorted(f func(Outcome) float64, draws ...[]Outcome) []float64 {
	var vs []float64
	for _, d := range draws {
		for _, o := range d {
			if v := f(o); !math.IsNaN(v) {
				vs = append(vs, v)
			}
		}
	}
	slices.Sort(vs)
	return vs
}

// bins divide numbers: bin k holds those from bins[k-1] on that are below bins[k].
type bins []float64

// newBins returns at most n bins with as many of some sorted numbers in each.
func newBins(sorted []float64, n int) (b bins) {
	for k := 1; k < n && len(sorted) > 0; k++ {
		if x := sorted[k*len(sorted)/n]; len(b) == 0 || x > b[len(b)-1] {
			b = append(b, x)
		}
	}
	return b
}

// of returns the bin of a number.
func (b bins) of(x float64) int {
	k, found := slices.BinarySearch(b, x)
	if found {
		k++
	}
	return k
}

// histogram returns the log likelihood ratio of a feature by bins with quantiles as borders.
func histogram(f func(Outcome) float64, fit [2][]Outcome) func(Outcome) float64 {
	vs := sorted(f, fit[0], fit[1])
	borders := newBins(vs, min(64, 2+int(math.Sqrt(float64(len(vs)))/2)))
	bin := func(o Outcome) int {
		if v := f(o); !math.IsNaN(v) {
			return borders.of(v)
		}
		return len(borders) + 1
	}
	counts := make([][2]int, len(borders)+2)
	for i, d := range fit {
		for _, o := range d {
			counts[bin(o)][i]++
		}
	}
	ratios := make([]float64, len(counts))
	for b, c := range counts {
		ratios[b] = ratio(c, fit)
	}
	return func(o Outcome) float64 { return ratios[bin(o)] }
}

// nearer is how much nearer a point is to the medians of input 0 than to those of input 1, each
// coordinate in units of its own spread.
func nearer(fit [2][]Outcome) func(Outcome) float64 {
	width := min(len(fit[0][0].Values), most)
	centre := [2][]float64{make([]float64, width), make([]float64, width)}
	spread := make([]float64, width)
	for j := range width {
		for i := range 2 {
			if vs := sorted(nth(j), fit[i]); len(vs) > 0 {
				centre[i][j] = vs[len(vs)/2]
				spread[j] += vs[len(vs)*3/4] - vs[len(vs)/4]
			}
		}
	}
	distance := func(values, c []float64) float64 {
		s := 0.0
		for j, m := range c {
			if spread[j] > 0 {
				d := (values[j] - m) / spread[j]
				s += d * d
			}
		}
		return math.Sqrt(s)
	}
	return func(o Outcome) float64 {
		if len(o.Values) < width {
			return math.NaN()
		}
		return distance(o.Values, centre[1]) - distance(o.Values, centre[0])
	}
}
