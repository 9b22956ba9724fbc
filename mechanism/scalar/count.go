package scalar

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Count is the number of rows. It takes neither universe nor metric; its epsilon is per record.
var Count Aggregate = counting{}

type counting struct{}

func (counting) String() string      { return "count" }
func (counting) TakesUniverse() bool { return false }

// law has a sensitivity of one row. (Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy
// mechanisms, 2009.)
func (counting) law(s setting) (law, error) {
	if err := s.noMetric("count"); err != nil {
		return nil, err
	}
	s.universe, s.metric = new(Universe), budget.DH // all readings are its one value
	n, err := s.newNoised(counts, math.Inf(1), big.NewInt(1))
	return &count{s, n}, err
}

type count struct {
	setting
	noised
}

func (*count) add(*Accumulator, int64) {}

// answer saturates, which only brings counts closer.
func (*count) answer(a *Accumulator) int128 { return fromInt64(min(a.rows, maxCount)) }

func (c *count) draw(src *exact.Source, a *Accumulator) Release { return c.release(src, c.answer(a)) }

func (*count) standIn() Release { return zero }
