package reading

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// Notes that functions over sealed values share.
const (
	sealedNotes = unseal.RowNote + "epsilon and metric must be constant within a group. A group charges all its accounts or none. " +
		"Under d1 an account is charged, for all groups and functions of a statement together, the largest sum of epsilon for any of its values, which may be in several groups or repeated in one. " +
		"Everything else is as over plain readings."
	chargesSealed      = "epsilon to each account: for its values together in the universe's unit (d1), or for each value in unit record (nd1, dh)"
	chargesSealedUnits = "epsilon to each account: for its values together in the universe's unit (d1), once per group (dinf), or for each value in unit record (nd1, dh)"
)

// sealedQueryForm is a query over sealed readings.
type sealedQueryForm struct {
	row      *row
	universe *unseal.Universe
	query    *scalar.Query
	acc      scalar.Accumulator
}

func (r *row) newSealedGroup(*frame.Session) frame.Group {
	return unseal.NewGroup(&sealedQueryForm{row: r})
}

func (f *sealedQueryForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	if f.universe, err = unseal.UniverseOf(c.Session, of); err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.query, err = f.row.newQueryOn(c, f.universe.Universe); err != nil {
		return price, err
	}
	f.Clear()
	price.Price = f.query.Price()
	switch {
	case f.query.Disjoint():
		price.Per = unseal.PerValue
	case f.query.PerRow():
		price.Per = unseal.PerRow
	}
	return price, nil
}

func (f *sealedQueryForm) Add(_ int, d sealed.Data) { f.query.AddIndex(&f.acc, f.universe.Index(d)) }
func (f *sealedQueryForm) Clear()                   { f.query.Reset(&f.acc) }
func (f *sealedQueryForm) Bytes(values int64) int64 { return f.query.Bytes(values) }

func (f *sealedQueryForm) Draw(c frame.Call, paid frame.Receipt) frame.Answer {
	return answerTo(drawReading(c, paid, f.query, &f.acc))
}

func (f *sealedQueryForm) Interval(rows int64) (interval.Interval, budget.Unit) {
	return intervalOf(f.query, rows), f.universe.Unit()
}
