package reading

import (
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// Notes that functions over sealed values share.
const (
	sealedNotes = unseal.RowNote + "epsilon and metric must be constant within a group. " +
		"Under nd1 and dh how many values there are is public, so that no epsilon pays for it: a sum has noise for hi - lo, and averages and variances are divided by the number itself. " +
		"dx_person(sealed, lo, hi) in place of the value asks about one number of each account, under dh. Under d1 an" + sealedCharges
	sealedCharges = " account is charged, for all groups and functions of a statement together, the largest sum of epsilon for any of its values, which may be in several groups or repeated in one. " +
		"Everything else is as over plain readings."
	chargesSealed      = "epsilon to each account: for its values together in the universe's unit (d1), or for each value in unit record (nd1, dh)"
	chargesSealedUnits = "epsilon to each account: for its values together in the universe's unit (d1), once per group (dinf), or for each value in unit record (nd1, dh)"
)

// sealedQueryForm is a query over sealed readings, or over one number of each account.
//
// # Privacy
//
// Which sealed rows there are is public, and so is which accounts are in the group: readings are replaced, and none is added
// or removed. For one number of each account see [scalar.Totals]: accounts are those of the ledger, however many
// pseudonyms they have, and a row that is repeated is added as often as it is there.
type sealedQueryForm struct {
	row      *row
	universe *unseal.Universe
	query    *scalar.Query
	acc      scalar.Accumulator

	persons *scalar.Totals // nil unless accounts have one number each
	totals  map[int]scalar.Total
}

func (r *row) newSealedGroup(*frame.Session) frame.Group {
	return unseal.NewGroup(&sealedQueryForm{row: r})
}

func (f *sealedQueryForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	if f.universe, f.persons, err = unseal.TotalsOf(c.Session, of); err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.query, err = f.newQuery(c); err != nil {
		return price, err
	}
	f.Clear()
	price.Price = f.query.Price()
	switch {
	case f.persons != nil:
		price.Per = unseal.PerAccount
	case f.query.Disjoint():
		price.Per = unseal.PerValue
	case f.query.PerRow():
		price.Per = unseal.PerRow
	}
	return price, nil
}

var errPersonMetric = errors.New("one number a person is a record: the metric is 'dh', or left out")

// newQuery returns the query for the settings of a call.
func (f *sealedQueryForm) newQuery(c frame.Call) (*scalar.Query, error) {
	over := f.universe.Universe
	if f.persons != nil {
		over = f.persons.Universe
	}
	key, err := f.row.keyOn(c, over)
	if err != nil {
		return nil, err
	}
	key.known = true
	if f.persons != nil && f.row.metric != nil {
		if c.Given(f.row.metric) && key.metric != budget.DH {
			return nil, errPersonMetric
		}
		key.metric = budget.DH
	}
	q, err := queries.Get(c.Session, key, key.newQuery)
	if err == nil && f.persons != nil && !q.PerRow() { // it has no such metric
		err = errPersonMetric
	}
	return q, err
}

func (f *sealedQueryForm) Add(account int, d sealed.Data) {
	k := f.universe.Index(d)
	if f.persons == nil {
		f.query.AddIndex(&f.acc, k)
		return
	}
	t := f.totals[account]
	t.Add(k)
	f.totals[account] = t
}

func (f *sealedQueryForm) Clear() {
	f.query.Reset(&f.acc)
	if f.persons != nil {
		f.totals = map[int]scalar.Total{}
	}
}

// totalSize is the memory of an account's total.
const totalSize = 128

func (f *sealedQueryForm) Bytes(values int64) int64 {
	if f.persons == nil {
		return f.query.Bytes(values)
	}
	accounts := int64(len(f.totals)) + 1
	return f.query.Bytes(accounts) + totalSize*accounts
}

func (f *sealedQueryForm) Draw(c frame.Call, paid frame.Receipt) frame.Answer {
	if f.persons != nil {
		f.query.Reset(&f.acc)
		for _, t := range f.totals {
			f.query.AddIndex(&f.acc, f.persons.IndexOf(t))
		}
	}
	return answerTo(drawReading(c, paid, f.query, &f.acc))
}

func (f *sealedQueryForm) Interval(rows int64) (interval.Interval, budget.Unit) {
	if f.persons != nil {
		rows = int64(len(f.totals))
	}
	return intervalOf(f.query, rows), f.universe.Unit()
}
