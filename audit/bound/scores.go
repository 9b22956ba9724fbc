package bound

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// candidates returns the scores that are tried on every mechanism; those with parameters are
// fitted to draws.
func candidates(fit [2][]Outcome) []Score {
	features := features(fit)
	scores := []Score{atoms("answer", fit, func(o Outcome) string { return o.Text }),
		atoms("shape", fit, func(o Outcome) string { return shape(o.Text) })}
	var all, numbers []func(Outcome) float64
	for _, f := range features {
		scores = append(scores, f.Score)
		ratio := histogram(f.Of, fit)
		scores = append(scores, Score{"likelihood of " + f.Name, ratio})
		all = append(all, ratio)
		if f.plain {
			numbers = append(numbers, ratio)
		}
	}
	if len(numbers) > 1 {
		scores = append(scores, Score{"likelihood of all numbers", sum(numbers)})
		scores = append(scores, Score{"likelihood of all that is known", sum(all)})
	}
	if s, ok := nearer(fit); ok {
		scores = append(scores, s)
	}
	return scores
}

func sum(terms []func(Outcome) float64) func(Outcome) float64 {
	return func(o Outcome) float64 {
		s := 0.0
		for _, t := range terms {
			s += t(o)
		}
		return s
	}
}

// A feature is a score that has no direction yet.
type feature struct {
	Score
	plain bool // whether it is a number of the answer as it stands
}

// features returns what is looked at in the answers.
func features(fit [2][]Outcome) []feature {
	width := 0
	for _, d := range fit {
		for _, o := range d {
			width = max(width, len(o.Values))
		}
	}
	fs := []feature{
		{Score: Score{"length of the text", func(o Outcome) float64 { return float64(len(o.Text)) }}},
		{Score: Score{"number of values", func(o Outcome) float64 { return float64(len(o.Values)) }}},
	}
	for j := range min(width, 64) {
		at := func(f func(float64) float64) func(Outcome) float64 {
			return func(o Outcome) float64 {
				if j >= len(o.Values) {
					return math.NaN()
				}
				return f(o.Values[j])
			}
		}
		add := func(name string, f func(float64) float64) {
			fs = append(fs, feature{Score: Score{fmt.Sprintf("%s %d", name, j+1), at(f)}})
		}
		fs = append(fs, feature{Score{fmt.Sprintf("value %d", j+1), at(func(v float64) float64 { return v })}, true})
		add("trailing zero bits of value", trailing)
		add("low bits of value", func(v float64) float64 { return float64(math.Float64bits(v) & 255) })
		add("printed digits of value", func(v float64) float64 { n, _ := digits(v); return float64(n) })
		add("last printed digit of value", func(v float64) float64 { _, d := digits(v); return float64(d) })
		for i := range 2 {
			m := median(fit[i], j)
			add(fmt.Sprintf("distance from the median of input %d of value", i), func(v float64) float64 { return math.Abs(v - m) })
		}
	}
	if width > 1 {
		fs = append(fs,
			feature{Score: Score{"rising steps", func(o Outcome) float64 { return steps(o, func(a, b float64) bool { return a < b }) }}},
			feature{Score: Score{"equal steps", func(o Outcome) float64 { return steps(o, func(a, b float64) bool { return a == b }) }}},
			feature{Score: Score{"place of the largest", func(o Outcome) float64 { return float64(place(o.Values, 1)) }}},
			feature{Score: Score{"place of the smallest", func(o Outcome) float64 { return float64(place(o.Values, -1)) }}},
		)
	}
	return fs
}

func trailing(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return 64
	}
	return float64(bits.TrailingZeros64(math.Float64bits(v) | 1<<52))
}

// digits returns how many significant digits a number has when printed, and the last of them.
func digits(v float64) (n, last int) {
	var b [32]byte
	for _, c := range strconv.AppendFloat(b[:0], v, 'e', -1, 64) {
		if c == 'e' {
			break
		}
		if c >= '0' && c <= '9' {
			n++
			last = int(c - '0')
		}
	}
	return n, last
}

func steps(o Outcome, is func(a, b float64) bool) float64 {
	n := 0
	for j := 1; j < len(o.Values); j++ {
		if is(o.Values[j-1], o.Values[j]) {
			n++
		}
	}
	return float64(n)
}

func place(values []float64, sign float64) int {
	at := -1
	for j, v := range values {
		if at < 0 || sign*v > sign*values[at] {
			at = j
		}
	}
	return at
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

// atoms returns the log likelihood ratio of single texts, which is 0 for those seen rarely.
func atoms(name string, fit [2][]Outcome, key func(Outcome) string) Score {
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
		if c[0]+c[1] >= 3 {
			ratios[k] = logRatio(c, fit)
		}
	}
	return Score{"likelihood of the " + name, func(o Outcome) float64 { return ratios[key(o)] }}
}

func logRatio(c [2]int, fit [2][]Outcome) float64 {
	return math.Log((float64(c[0]) + 0.5) / float64(len(fit[0])+1) / (float64(c[1]) + 0.5) * float64(len(fit[1])+1))
}

// sorted returns the values of a feature over outcomes in order, without those that have none.
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

func median(d []Outcome, j int) float64 {
	vs := sorted(func(o Outcome) float64 {
		if j >= len(o.Values) {
			return math.NaN()
		}
		return o.Values[j]
	}, d)
	if len(vs) == 0 {
		return math.NaN()
	}
	return vs[len(vs)/2]
}

// histogram returns the log likelihood ratio of a feature by bins, whose borders are quantiles.
func histogram(f func(Outcome) float64, fit [2][]Outcome) func(Outcome) float64 {
	vs := sorted(f, fit[0], fit[1])
	bins := int(math.Sqrt(float64(len(vs)))/2) + 1
	bins = min(bins, 64)
	var borders []float64 // bin b holds borders[b-1] <= v < borders[b]
	for b := 1; b < bins; b++ {
		v := vs[b*len(vs)/bins]
		if len(borders) == 0 || v > borders[len(borders)-1] {
			borders = append(borders, v)
		}
	}
	bin := func(o Outcome) int {
		v := f(o)
		if math.IsNaN(v) {
			return len(borders) + 1
		}
		b, found := slices.BinarySearch(borders, v)
		if found {
			b++
		}
		return b
	}
	counts := make([][2]int, len(borders)+2)
	for i, d := range fit {
		for _, o := range d {
			counts[bin(o)][i]++
		}
	}
	ratios := make([]float64, len(counts))
	for b, c := range counts {
		ratios[b] = logRatio(c, fit)
	}
	return func(o Outcome) float64 { return ratios[bin(o)] }
}

// nearer returns how much nearer a point is to the medians of input 0 than to those of input 1,
// each coordinate in units of its own spread.
func nearer(fit [2][]Outcome) (Score, bool) {
	width := len(fit[0][0].Values)
	if width < 2 || width > 64 {
		return Score{}, false
	}
	var centre [2][]float64
	scale := make([]float64, width)
	for j := range width {
		for i := range 2 {
			m := median(fit[i], j)
			centre[i] = append(centre[i], m)
			vs := sorted(func(o Outcome) float64 {
				if j >= len(o.Values) {
					return math.NaN()
				}
				return math.Abs(o.Values[j] - m)
			}, fit[i])
			if len(vs) > 0 {
				scale[j] += vs[len(vs)/2]
			}
		}
	}
	distance := func(values, c []float64) float64 {
		s := 0.0
		for j, v := range values {
			if scale[j] > 0 {
				d := (v - c[j]) / scale[j]
				s += d * d
			}
		}
		return math.Sqrt(s)
	}
	return Score{"nearer to the medians of input 0", func(o Outcome) float64 {
		if len(o.Values) != width {
			return math.NaN()
		}
		return distance(o.Values, centre[1]) - distance(o.Values, centre[0])
	}}, true
}
