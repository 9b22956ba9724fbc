package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/printable"
)

// A ReleasedCurve is the release of a query for a [Curve]. All its answers are functions of it alone, and so spend nothing. It is immutable and safe for concurrent use.
//
// The average reading of a block is its sum divided by its length, moved into the universe. Where averages fall from a block
// to the next, the blocks are pooled, since the true ones never fall. The curve runs straight from the middle of each block to that
// of the next, and is level beyond the outer ones. Without readings all answers are those of readings at lo.
type ReleasedCurve struct {
	universe *Universe
	epsilon  float64
	ends     []int64   // of blocks, from 0 to the number of readings
	sums     []int128  // of indices, with noise
	levels   []float64 // average indices of blocks, pooled
}

func newReleasedCurve(u *Universe, epsilon float64, ends []int64, sums []int128) *ReleasedCurve {
	inside := make([]int128, len(sums))
	for b, sum := range sums {
		possible := lattice{high: uint128{lo: uint64(ends[b+1] - ends[b])}.times(uint64(u.last))}
		inside[b] = possible.clamp(sum)
	}
	return &ReleasedCurve{u, epsilon, ends, sums, isotonic(ends, inside)}
}

// readings returns how many readings the curve is of.
func (c *ReleasedCurve) readings() int64 { return c.ends[len(c.ends)-1] }

// Percentile returns the p-percentile, a value of the universe: see [Percentile] for its rank, and [PercentileAt] for p.
func (c *ReleasedCurve) Percentile(p float64) (float64, error) {
	f, err := fractionAt(p)
	if err != nil {
		return 0, err
	}
	return c.percentile(f), nil
}

func (c *ReleasedCurve) percentile(f fraction) float64 {
	m := c.readings()
	if m == 0 {
		return c.universe.lo
	}
	return c.value(c.at(float64(f.below(int(m))) + 0.5))
}

// Share returns the share of readings that are at most v: of the ranks with such a percentile. It has one decimal more than the
// number of readings has digits.
func (c *ReleasedCurve) Share(v float64) float64 {
	m := c.readings()
	if m == 0 {
		if v < c.universe.lo {
			return 0
		}
		return 1
	}
	below := sort.Search(int(m), func(k int) bool { return c.value(c.at(float64(k)+0.5)) > v })
	grains := math.Pow10(len(strconv.FormatInt(m, 10)) + 1)
	return math.Round(float64(below)/float64(m)*grains) / grains
}

// Mean returns the average of the readings from one percentile up to, but without, another one that is not below it, or of one
// reading if there are none. 100 is beyond all readings. For whole blocks it is made of their noisy sums, for the rest of the
// curve.
func (c *ReleasedCurve) Mean(from, to float64) (float64, error) {
	begin, err := fractionAmong(from, max(from, to))
	if err != nil {
		return 0, fmt.Errorf("from_%w", err)
	}
	end, err := fractionAmong(to, max(from, to))
	if err != nil {
		return 0, fmt.Errorf("to_%w", err)
	}
	if to < from {
		return 0, errors.New("to_p is below from_p")
	}
	if c.readings() == 0 {
		return c.universe.lo, nil
	}
	first := min(c.before(begin), c.readings()-1)
	return c.mean(first, max(c.before(end), first+1)), nil
}

// mean returns the average of the readings between two numbers of them.
func (c *ReleasedCurve) mean(first, end int64) float64 {
	var whole int128
	parts := 0.
	for b, sum := range c.sums {
		start, stop := max(first, c.ends[b]), min(end, c.ends[b+1])
		switch {
		case start >= stop:
		case start == c.ends[b] && stop == c.ends[b+1]:
			whole = whole.add(sum)
		default:
			bend := min(max(c.middle(b), float64(start)), float64(stop))
			parts += c.area(float64(start), bend)
			parts += c.area(bend, float64(stop))
		}
	}
	return c.value((whole.float() + parts) / float64(end-first))
}

// before returns how many readings come before a percentile, all of them for 100.
func (c *ReleasedCurve) before(f fraction) int64 {
	if f.num == f.den {
		return c.readings()
	}
	return int64(f.below(int(c.readings())))
}

// middle returns how many readings there are up to the middle of a block.
func (c *ReleasedCurve) middle(block int) float64 {
	return float64(float64(c.ends[block]+c.ends[block+1]) / 2)
}

// at returns the index on the curve, which need not be whole, where there are r readings up to there, the last one by half.
func (c *ReleasedCurve) at(r float64) float64 {
	last := len(c.levels) - 1
	b := sort.Search(last+1, func(b int) bool { return c.middle(b) >= r })
	switch {
	case b == 0:
		return c.levels[0]
	case b > last:
		return c.levels[last]
	}
	from, to := c.middle(b-1), c.middle(b)
	return min(c.levels[b], c.levels[b-1]+float64((c.levels[b]-c.levels[b-1])*((r-from)/(to-from))))
}

// area returns the sum of the curve from r to s readings, between which it is straight.
func (c *ReleasedCurve) area(r, s float64) float64 {
	return float64((c.at(r) + c.at(s)) / 2 * (s - r))
}

// value returns the value of the universe that is nearest to an index.
func (c *ReleasedCurve) value(index float64) float64 {
	return c.universe.Value(int64(math.Floor(min(max(index, 0), float64(c.universe.last)) + 0.5)))
}

// String returns the curve as a JSON object on one line: the number m of readings, the universe, epsilon, how many readings
// there are up to each end of a block, and the sum of (x-lo)/step in each block, with noise.
func (c *ReleasedCurve) String() string {
	u := c.universe
	b := fmt.Appendf(nil, `{"m":%d,"lo":%s,"hi":%s,"step":%s,"epsilon":%s,"edges":[`,
		c.readings(), plain(u.lo), plain(u.hi), plain(u.decimal(u.stride)), plain(c.epsilon))
	for i, end := range c.ends {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, end, 10)
	}
	b = append(b, `],"sums":[`...)
	for i, sum := range c.sums {
		if i > 0 {
			b = append(b, ',')
		}
		b = sum.append(b)
	}
	return string(append(b, `]}`...))
}

// plain returns a number as JSON without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

const (
	mostCurveBytes = 1 << 20
	mostCurveEnds  = MaxBlocks + 128 // halves of the outer blocks included
)

// ParseCurve reads the JSON of a [ReleasedCurve]: its seven fields, once each and in any order. It returns an error for
// other texts.
func ParseCurve(text string) (*ReleasedCurve, error) {
	c, err := parseCurve(text)
	if err != nil {
		return nil, fmt.Errorf("is no release of dx_curve: %w", err)
	}
	return c, nil
}

func parseCurve(text string) (*ReleasedCurve, error) {
	if len(text) > mostCurveBytes {
		return nil, fmt.Errorf("it is longer than %d bytes", mostCurveBytes)
	}
	var (
		m                     curveCount
		lo, hi, step, epsilon curveNumber
		edges                 []curveCount
		sums                  []int128
	)
	fields := map[string]any{"m": &m, "lo": &lo, "hi": &hi, "step": &step, "epsilon": &epsilon, "edges": &edges, "sums": &sums}
	if err := decodeOnce(text, fields); err != nil {
		return nil, err
	}
	u, err := NewUniverse("curve", float64(lo), float64(hi), float64(step), "unit")
	if err != nil {
		return nil, err
	}
	if !(epsilon > 0) {
		return nil, errors.New("epsilon is not above 0")
	}
	n := len(edges)
	if n == 0 || n > mostCurveEnds || edges[0] != 0 || edges[n-1] != m {
		return nil, fmt.Errorf("edges are not 1 to %d numbers of readings from 0 to m", mostCurveEnds)
	}
	ends := make([]int64, n)
	for i, end := range edges {
		if ends[i] = int64(end); i > 0 && ends[i] <= ends[i-1] {
			return nil, errors.New("edges do not rise")
		}
	}
	if len(sums) != n-1 {
		return nil, errors.New("sums are not one for each block")
	}
	return newReleasedCurve(u, float64(epsilon), ends, sums), nil
}

// decodeOnce reads a JSON object with exactly these fields.
func decodeOnce(text string, fields map[string]any) error {
	errNone := errors.New("it is not a JSON object")
	d := json.NewDecoder(strings.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errNone
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return errNone
		}
		name := key.(string) // of an object
		field, wanted := fields[name]
		if !wanted {
			return fmt.Errorf("field '%s' is unknown, or twice", printable.Text(name))
		}
		delete(fields, name)
		if err := d.Decode(field); err != nil {
			return fmt.Errorf("field '%s' is of another type", name)
		}
	}
	if _, err := d.Token(); err != nil {
		return errNone
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("it goes on after the JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		return fmt.Errorf("field '%s' is missing", name)
	}
	return nil
}

// A curveCount is a number of readings in JSON.
type curveCount int64

func (n *curveCount) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || v < 0 || v > maxCount {
		return errors.New("not a number of readings")
	}
	*n = curveCount(v)
	return nil
}

// A curveNumber is a number in JSON, not null.
type curveNumber float64

func (n *curveNumber) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	*n = curveNumber(v)
	return err
}

// UnmarshalJSON reads the sum of a block.
func (a *int128) UnmarshalJSON(text []byte) error {
	const digits = 33 // few enough that a total of sums does not overflow, and more than noise reaches
	v, whole := new(big.Int).SetString(string(text[:min(len(text), digits)]), 10)
	if !whole || len(text) > digits {
		return errors.New("not a sum")
	}
	a.lo = new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	a.hi = v.Rsh(v, 64).Int64()
	return nil
}
