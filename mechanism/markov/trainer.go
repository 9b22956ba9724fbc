package markov

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/geosql/geosql/internal/decimal"
)

// A Trainer counts the moves of traces. It keeps all fixes, at 16 bytes each, until
// Model is called. It is not safe for concurrent use.
//
// The time of a trace is divided into slots of one period, from its first fix on. The
// first fix in a slot counts as one visit. Two successive slots that both have fixes
// give one transition; a gap gives none. Of fixes at the same time, the one in the cell
// with the least index counts as the first, so the order in which fixes are added makes
// no difference.
type Trainer struct {
	grid   *Grid
	period time.Duration
	traces map[string]*[]fix
	fixes  int64
}

// A fix is the cell of a trace at a time, in microseconds.
type fix struct {
	at   int64
	cell uint32
}

// NewTrainer returns a trainer without fixes. The period must be a positive whole number
// of microseconds; Model checks that.
func NewTrainer(g *Grid, period time.Duration) *Trainer {
	return &Trainer{grid: g, period: period, traces: map[string]*[]fix{}}
}

// Add adds a fix of a trace: a time in microseconds since any epoch, and a location
// in degrees as [Grid.Index] takes it.
func (t *Trainer) Add(trace string, at int64, lat, lon float64) {
	fixes := t.traces[trace]
	if fixes == nil {
		fixes = new([]fix)
		t.traces[trace] = fixes
	}
	*fixes = append(*fixes, fix{at, uint32(t.grid.Index(lat, lon))})
	t.fixes++
}

var (
	errPeriod = errors.New("period must be a positive whole number of microseconds")
	errEmpty  = errors.New("there are no points to train a model on")
	errMany   = errors.New("there are more than 2^32-1 points to train a model on")
)

// maxPeriod is the longest period that PeriodOf returns, in seconds: some thirty years.
const maxPeriod = 1e9

// PeriodOf returns a number of seconds as a period, rounded to whole microseconds. It
// returns an error, which states the range, if that is less than one
// microsecond or more than 1e9 seconds.
func PeriodOf(seconds float64) (time.Duration, error) {
	micros := math.Round(seconds * 1e6)
	if !(micros >= 1 && seconds <= maxPeriod) {
		return 0, fmt.Errorf("must be at least 0.000001 and at most %.0f, got %s",
			maxPeriod, decimal.Format(seconds))
	}
	return time.Duration(micros) * time.Microsecond, nil
}

func validPeriod(period time.Duration) bool {
	return period > 0 && period%time.Microsecond == 0
}

// Model returns the model of the fixes added so far, or an error if there are none.
func (t *Trainer) Model() (*Model, error) {
	switch {
	case !validPeriod(t.period):
		return nil, errPeriod
	case t.fixes == 0:
		return nil, errEmpty
	case t.fixes > math.MaxUint32:
		return nil, errMany
	}
	c := counter{visits: make([]uint32, t.grid.Len())}
	for _, fixes := range t.traces {
		c.add(*fixes, uint64(t.period/time.Microsecond))
	}
	rows, moves := c.sparse()
	return newModel(t.grid, t.period, int64(len(t.traces)), rows, moves), nil
}

// A counter counts visits of each cell and lists the transitions.
type counter struct {
	visits []uint32
	pairs  []pair
}

// A pair of cells, from*2^32 + to: their order is that of a model's moves.
type pair uint64

func newPair(from, to uint32) pair { return pair(from)<<32 | pair(to) }

func (p pair) from() uint32 { return uint32(p >> 32) }
func (p pair) to() uint32   { return uint32(p) }

// add counts a trace. It sorts the fixes.
func (c *counter) add(fixes []fix, period uint64) {
	slices.SortFunc(fixes, func(a, b fix) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cell, b.cell))
	})
	var slot uint64
	var cell uint32
	for n, f := range fixes {
		at := (uint64(f.at) - uint64(fixes[0].at)) / period // uint64 holds every difference
		if n > 0 && at == slot {
			continue
		}
		c.visits[f.cell]++
		if n > 0 && at == slot+1 {
			c.pairs = append(c.pairs, newPair(cell, f.cell))
		}
		slot, cell = at, f.cell
	}
}

// sparse returns the counts as rows without shares, and their moves.
func (c *counter) sparse() (rows []row, moves []move) {
	slices.Sort(c.pairs)
	next := 0
	for cell, visits := range c.visits {
		if visits == 0 {
			continue
		}
		for begin := len(moves); next < len(c.pairs) && c.pairs[next].from() == uint32(cell); next++ {
			to := c.pairs[next].to()
			if last := len(moves) - 1; last >= begin && moves[last].cell == to {
				moves[last].count++
			} else {
				moves = append(moves, move{to, 1})
			}
		}
		rows = append(rows, row{cell: uint32(cell), visits: visits, end: len(moves)})
	}
	return rows, moves
}
