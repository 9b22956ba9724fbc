package scalar

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
)

// Totals is the universe of one number for each person: the sum of the person's readings, moved into lo..hi.
//
// # Privacy
//
// A query over totals has one record of each person, with an index that is a function of that person's readings alone,
// exact and moved into the universe after all of them are added. Let two databases differ in readings of one person in
// whatever way, in how many of them there are or in how often each is repeated. Then one record is replaced by another value
// of the universe, or appears, or disappears: one step under dh, for which the query keeps epsilon. Readings that are moved into
// lo..hi before they are added would not do: a person with n of them would move a sum by n*(hi-lo).
type Totals struct {
	*Universe           // of the totals
	of        *Universe // of the readings
}

// Totals returns the totals from lo to hi of readings in u. The sum of any readings is a multiple of gcd(lo, step) of u, and
// so are both ends. They may lie outside u, and there are at most as many totals as a universe may have values.
func (u *Universe) Totals(lo, hi float64) (*Totals, error) {
	grain := u.decimal(u.grain())
	for _, end := range []float64{lo, hi} {
		if math.IsNaN(end) || math.IsInf(end, 0) {
			return nil, fmt.Errorf("%v is not finite", end)
		}
		if !new(big.Rat).Quo(budget.Decimal(end), budget.Decimal(grain)).IsInt() {
			return nil, fmt.Errorf("%s is not a multiple of %s, as all sums of readings are", decimal.Format(end), decimal.Format(grain))
		}
	}
	t, err := NewUniverse(u.name, lo, hi, grain, u.unit)
	if err != nil {
		return nil, err
	}
	return &Totals{t, u}, nil
}

// A Total is the exact sum of the readings of a person.
type Total struct {
	rows int64
	sum  uint128 // of the indices
}

// Add adds the reading with an index of the universe of readings.
func (t *Total) Add(k int64) {
	t.rows++
	t.sum = t.sum.add(uint64(k))
}

// IndexOf returns the index of a total, moved into lo..hi.
func (t *Totals) IndexOf(of Total) int64 {
	first, values := fromInt64(-t.first/t.stride), t.lattice() // a step of t is a grain of the readings
	k, _ := values.clamp(t.of.total(of.rows, of.sum).add(first)).int64()
	return k
}
