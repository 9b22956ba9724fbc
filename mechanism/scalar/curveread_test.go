package scalar

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// drawCurve returns a curve with any sums and noise that is not small.
func drawCurve(t *rapid.T) *ReleasedCurve {
	u := universe(t, float64(rapid.IntRange(-3, 3).Draw(t, "lo")), 7, []float64{1, 0.5, 0.1}[rapid.IntRange(0, 2).Draw(t, "step")])
	ends := []int64{0}
	var sums []int128
	for range rapid.IntRange(0, 6).Draw(t, "blocks") {
		n := rapid.Int64Range(1, 5).Draw(t, "length")
		ends = append(ends, ends[len(ends)-1]+n)
		sums = append(sums, fromInt64(rapid.Int64Range(-20, 20+n*u.last).Draw(t, "sum")))
	}
	return newReleasedCurve(u, rapid.Float64Range(1e-9, 1e6).Draw(t, "epsilon"), ends, sums)
}

// With a block for each reading and hardly any noise, all answers are those of the readings.
func TestCurveOfSingleReadings(t *testing.T) {
	src := exact.NewSource(nil)
	rapid.Check(t, func(t *rapid.T) {
		u := universe(t, -2, 7, 0.5)
		db := rapid.SliceOfN(rapid.Float64Range(-3, 8), 1, 12).Draw(t, "readings")
		l := sorted(t, u, "1000", Curve(MaxBlocks))
		a := l.kept(db)
		c, m := l.release(src, a), len(db)
		value := func(k int) float64 { return u.Value(a.indices[k]) }
		first, end := rapid.IntRange(0, m-1).Draw(t, "first"), rapid.IntRange(1, m).Draw(t, "end")
		p := func(rank int) float64 { return min(100, (float64(rank)+1e-9)*100/float64(m)) }
		if p(first) > 0 && p(first) < 1 {
			t.Skip("a fraction of 1")
		}
		if got, err := c.Percentile(p(first)); err != nil || got != value(first) {
			t.Fatalf("the reading of rank %d is %v, not %v, %v", first+1, got, value(first), err)
		}
		v := rapid.Float64Range(-3, 8).Draw(t, "v")
		below, sum := 0, 0.
		for k := range m {
			if value(k) <= v {
				below++
			}
			if k >= first && k < end {
				sum += value(k)
			}
		}
		if got, want := c.Share(v), float64(below)/float64(m); math.Abs(got-want) > 0.0051 {
			t.Fatalf("the share at most %v is %v, not %v", v, got, want)
		}
		if end > first {
			if got, err := c.Mean(p(first), p(end)); err != nil || math.Abs(got-sum/float64(end-first)) > 0.25+1e-9 {
				t.Fatalf("the average of ranks %d..%d is %v, not %v, %v", first+1, end, got, sum/float64(end-first), err)
			}
		}
	})
}

// Percentiles are values of the universe and never fall; a share counts the ranks with such percentiles; an average of whole
// blocks is that of their sums, and one of parts lies on the curve.
func TestCurveReaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		u, m := c.universe, c.readings()
		var values []float64
		for k := range m {
			x := c.percentile(fraction{uint64(2*k + 1), uint64(2 * m)})
			if u.Value(u.Index(x)) != x || k > 0 && x < values[k-1] {
				t.Fatalf("percentiles %v, %v", values, x)
			}
			values = append(values, x)
		}
		last := 0.
		for k := int64(-2); k <= u.last+2; k++ {
			v := u.lo + (u.hi-u.lo)*(float64(k)+0.25)/float64(u.last)
			got, want := c.Share(v), 1.
			if m > 0 {
				want = 0
				for _, x := range values {
					if x <= v {
						want += 1 / float64(m)
					}
				}
			} else if v < u.lo {
				want = 0
			}
			if got < last || math.Abs(got-want) > 0.0051 {
				t.Fatalf("the share at most %v of %v is %v, not %v", v, values, got, want)
			}
			last = got
		}
		if m == 0 {
			return
		}
		b := rapid.IntRange(0, len(c.sums)-1).Draw(t, "from")
		e := rapid.IntRange(b, len(c.sums)-1).Draw(t, "to") + 1
		total := int64(0)
		for _, sum := range c.sums[b:e] {
			v, _ := sum.int64()
			total += v
		}
		if got, want := c.mean(c.ends[b], c.ends[e]), c.value(float64(total)/float64(c.ends[e]-c.ends[b])); got != want {
			t.Fatalf("the average of blocks %d..%d is %v, not %v", b, e-1, got, want)
		}
		from := rapid.Int64Range(c.ends[b], c.ends[b+1]-1).Draw(t, "first")
		to := rapid.Int64Range(from+1, c.ends[b+1]).Draw(t, "end")
		if to-from == c.ends[b+1]-c.ends[b] {
			return
		}
		const parts = 10_000
		area := 0.
		for i := range parts {
			area += c.at(float64(from) + (float64(i)+0.5)/parts*float64(to-from))
		}
		if got, want := c.mean(from, to), u.lo+area/parts*(u.hi-u.lo)/float64(u.last); math.Abs(got-want) > (u.hi-u.lo)/float64(u.last)*0.501 {
			t.Fatalf("the average of ranks %d..%d is %v, of the curve %v", from+1, to, got, want)
		}
	})
}

// A curve is read as it is printed, in any order of the fields, and with sums of any size.
func TestCurvesAreReadAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		for b := range c.sums {
			if rapid.Bool().Draw(t, "large") {
				c.sums[b] = int128{rapid.Int64Range(-1<<40, 1<<40).Draw(t, "high"), rapid.Uint64().Draw(t, "low")}
			}
		}
		text := c.String()
		read, err := ParseCurve(text)
		if err != nil || read.String() != text {
			t.Fatalf("%s\nis read as %v, %v", text, read, err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.MarshalIndent(fields, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if read, err := ParseCurve(string(sorted)); err != nil || read.String() != text {
			t.Fatalf("%s\nis read as %v, %v", sorted, read, err)
		}
	})
}

func TestOtherTextsAreNoCurves(t *testing.T) {
	const good = `{"m":4,"lo":0,"hi":10,"step":1,"epsilon":0.1,"edges":[0,2,4],"sums":[-3,7]}`
	if _, err := ParseCurve(good); err != nil {
		t.Fatal(err)
	}
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for text, want := range map[string]string{
		"": "not a JSON object", "null": "not a JSON object", "[]": "not a JSON object", "{": "not a JSON object", "{7": "not a JSON object",
		good + "{}": "goes on", good + " 1": "goes on", good[:len(good)-1]: "not a JSON object", "{}": "field 'edges' is missing",
		with(`"m":4,`, ``): "field 'm' is missing", with(`"m":4`, `"m":4,"m":4`): "field 'm' is unknown, or twice", with(`"m"`, `"M"`): "field 'M' is unknown",
		with(`:4`, `:4.0`): "field 'm' is of", with(`:4`, `:null`): "field 'm' is of", with(`:4`, `:"4"`): "field 'm' is of", with(`:4`, `:-4`): "field 'm' is of",
		with(`:4`, `:9007199254740993`): "field 'm' is of", with(`:4`, `:5`): "edges are not",
		with(`:0,`, `:null,`): "field 'lo' is of", with(`:10`, `:1e999`): "field 'hi' is of", with(`:10`, `:0`): "hi 0 is not above lo 0", with(`:1,`, `:3,`): "step 3 does not divide",
		with(`0.1`, `0`): "epsilon is not above 0", with(`0.1`, `[]`): "field 'epsilon' is of",
		with(`[0,2,4]`, `[]`): "edges are not", with(`[0,2,4]`, `null`): "edges are not", with(`[0,2,4]`, `[null,2,4]`): "field 'edges' is of", with(`[0,`, `[1,`): "edges are not",
		with(`2,4]`, `4,4]`): "edges do not rise", with(`2,4]`, `3,2,4]`): "edges do not rise",
		with(`-3,7`, `3`): "sums are not one for each block", with(`[-3,7]`, `null`): "sums are not one for each block", with(`-3,`, `null,`): "field 'sums' is of",
		with(`-3`, `3.5`): "field 'sums' is of", with(`-3`, strings.Repeat("9", 34)): "field 'sums' is of",
		with(`0,2`, `0`+strings.Repeat(`,1`, mostCurveEnds)): "edges are not", strings.Repeat(" ", mostCurveBytes) + good: "longer than",
	} {
		if _, err := ParseCurve(text); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "is no release of dx_curve: ") {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseCurve(f *testing.F) {
	f.Add(`{"m":4,"lo":0,"hi":10,"step":1,"epsilon":0.1,"edges":[0,2,4],"sums":[-3,7]}`, 50., 99.5)
	f.Add(`{"edges":[0],"sums":[],"m":0,"lo":-1e-3,"hi":1e14,"step":0.001,"epsilon":9e6}`, 0., 100.)
	f.Add(`{"m":9007199254740992,"lo":0,"hi":1099511627775,"step":1,"epsilon":1,"edges":[0,9007199254740992],"sums":[999999999999999999999999999999999]}`, 5., 7.)
	f.Fuzz(func(t *testing.T, text string, p, q float64) {
		c, err := ParseCurve(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		if again, err := ParseCurve(c.String()); err != nil || again.String() != c.String() {
			t.Fatalf("%s is read as %v, %v", c, again, err)
		}
		if math.IsNaN(p) || math.IsInf(p, 0) || math.IsNaN(q) || math.IsInf(q, 0) {
			return
		}
		inside := func(name string, x float64, err error) {
			if err == nil && !(c.universe.lo <= x && x <= c.universe.hi) {
				t.Errorf("%s: %s of %v and %v is %v", c, name, p, q, x)
			}
		}
		x, err := c.Percentile(p)
		inside("percentile", x, err)
		if y, other := c.Percentile(q); err == nil && other == nil && p <= q && x > y {
			t.Errorf("%s: percentiles %v and %v are %v and %v", c, p, q, x, y)
		}
		x, err = c.Mean(p, q)
		inside("mean", x, err)
		if s := c.Share(p); !(0 <= s && s <= 1) || p <= q && s > c.Share(q) {
			t.Errorf("%s: shares %v and %v", c, s, c.Share(q))
		}
	})
}

// Blocks follow the rule of docs/accuracy.md, written once more in floating point.
func TestBlocksFollowTheirRule(t *testing.T) {
	r := trials.Rand(t)
	for range 2_000 {
		m := 1 + int64(math.Exp(r.Float64()*15))
		hi, eps := 1+r.Int64N(200), math.Exp(r.Float64()*16-8)
		l := sorted(t, universe(t, 0, float64(hi), 0.5), fmt.Sprint(eps), Curve(0))
		exactly := float64(m) * eps * float64(hi)
		blocks := min(max(1, int64(math.Round(math.Cbrt(exactly)))), m, MaxBlocks)
		if third := math.Cbrt(exactly) + 0.5; math.Abs(third-math.Round(third)) < 1e-9 {
			continue // too near to the next number for floats
		}
		var want []int64
		for b := range blocks + 1 {
			want = append(want, m*b/blocks)
		}
		split := func(length int64, end func(outer int64) int64) {
			for half := length / 2; half >= 1 && 1/(eps*float64(half)) <= float64(hi)/20; half /= 2 {
				want = append(want, end(half))
			}
		}
		first, last := want[1], m-want[blocks-1]
		split(first, func(outer int64) int64 { return outer })
		split(last, func(outer int64) int64 { return m - outer })
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(l.ends(m), want) {
			t.Fatalf("m %d, epsilon %v, 0..%d: %v, want %v", m, eps, hi, l.ends(m), want)
		}
	}
	tiny := sorted(t, universe(t, 0, 1, 1), "0.000000001", Curve(0))
	if got := tiny.ends(1000); !slices.Equal(got, []int64{0, 1000}) {
		t.Errorf("at a tiny epsilon: %v", got)
	}
	if got := len(sorted(t, universe(t, 0, 1e6, 1), "9000000", Curve(0)).ends(1e6)); got < MaxBlocks || got > mostCurveEnds {
		t.Errorf("at the largest epsilon: %d ends", got)
	}
	if _, err := NewQuery(CurveAt("[50]"), universe(t, 0, 1, 1), 0, big.NewRat(1, 1)); err != nil {
		t.Error(err)
	}
}
