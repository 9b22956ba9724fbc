package release

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/printable"
)

// A location of a row may be NULL.
type location struct {
	lat, lon float64
	null     bool
}

// everyone is the name in the ledger that stands for every account.
const everyone = "*"

// longestAccount bounds the length of an account's name in bytes, since many names are held
// in memory.
const longestAccount = 1000

// A rowReader reads the rows of batches for one of the passes. Each worker has one.
type rowReader struct {
	plan     *plan
	at       []location
	doubtful []int // kept columns of a batch with cells that the output perhaps cannot hold
	digester digester
}

func newRowReader(p *plan) rowReader { return rowReader{plan: p, at: make([]location, len(p.points))} }

// begin prepares to read the rows of a batch.
func (r *rowReader) begin(rows *dataset.Rows) {
	r.doubtful = r.doubtful[:0]
	for _, o := range r.plan.output {
		if o.kept() && !r.plan.formats.holdsAll(r.plan.fields[o.column].Kind, &rows.Columns[o.column]) {
			r.doubtful = append(r.doubtful, o.column)
		}
	}
}

// readRow reads the locations of a row, one for each pair of columns, and returns their
// number. A location with a NULL coordinate does not count, and a row without locations
// needs no account. An error says why the row is invalid, which depends on the text of its
// cells alone.
func (r *rowReader) readRow(rows *dataset.Rows, i int) (locations int64, err error) {
	p := r.plan
	if p.weight >= 0 {
		if err := p.checkWeight(rows, i); err != nil {
			return 0, err
		}
	}
	for k, point := range p.points {
		lat, noLat, err := p.coordinate(rows, i, point.Lat, 90)
		if err != nil {
			return 0, err
		}
		lon, noLon, err := p.coordinate(rows, i, point.Lon, 180)
		if err != nil {
			return 0, err
		}
		r.at[k] = location{lat, lon, noLat || noLon}
		if !r.at[k].null {
			locations++
		}
	}
	if p.account >= 0 && locations > 0 {
		if err := p.checkAccount(rows, i); err != nil {
			return 0, err
		}
	}
	if p.whole && locations > 0 && locations < int64(len(p.points)) {
		return 0, fmt.Errorf("it has only %d of its %d locations, and --max-rows-per-account needs rows that cost the same", locations, len(p.points))
	}
	return locations, r.checkKept(rows, i)
}

// checkWeight returns an error if a row has no valid weight. A row with one is read as rows with a weight of 1 ([dataset.Repeat]).
func (p *plan) checkWeight(rows *dataset.Rows, i int) error {
	c := &rows.Columns[p.weight]
	if w, _, ok := c.Integer(i); ok && w == 1 { // NULL is 0
		return nil
	}
	text, _ := c.At(i)
	return fmt.Errorf("column %s: the weight %s is not a whole number from 0 to %d", printable.Text(p.fields[p.weight].Name), quote(text), dataset.MostRepeats)
}

// checkAccount returns an error if a row has no valid account.
func (p *plan) checkAccount(rows *dataset.Rows, i int) error {
	switch account, null := rows.Columns[p.account].At(i); {
	case null || len(account) == 0:
		return fmt.Errorf("column %s: the location has no account", printable.Text(p.fields[p.account].Name))
	case string(account) == everyone:
		return fmt.Errorf(`column %s: "*" stands for all accounts and is not an account`, printable.Text(p.fields[p.account].Name))
	case len(account) > longestAccount:
		return fmt.Errorf("column %s: the account has %d bytes, which is more than %d", printable.Text(p.fields[p.account].Name), len(account), longestAccount)
	}
	return nil
}

// checkKept returns an error if the output cannot hold the kept cells of a row. It is called
// before anybody is charged.
func (r *rowReader) checkKept(rows *dataset.Rows, i int) error {
	for _, column := range r.doubtful {
		if f := r.plan.fields[column]; !r.plan.formats.holds(f.Kind, &rows.Columns[column], i) {
			return fmt.Errorf("column %s: %w", printable.Text(f.Name), rows.Columns[column].MisfitError(i, f.Kind))
		}
	}
	return nil
}

func (p *plan) coordinate(rows *dataset.Rows, i, column int, limit float64) (x float64, null bool, err error) {
	c := &rows.Columns[column]
	if c.Kind() == dataset.Real {
		if x, null, _ = c.Real(i); math.Abs(x) <= limit { // NULL is 0
			return x, null, nil
		}
	}
	text, null := c.At(i)
	if null {
		return 0, true, nil
	}
	x, err = coordinate(text, p.fields[column].Name, limit)
	return x, false, err
}

// read reads a batch: it records the invalid rows. For every other row that is not dropped it
// calls each with the row's locations, and how many are not NULL.
func (r *rowReader) read(b *batch, each func(i int, at []location, count int64)) {
	r.begin(&b.rows)
	b.invalid = b.invalid[:0]
	dropped := b.dropped
	for i := range b.rows.Len() {
		locations, err := r.readRow(&b.rows, i)
		if err != nil {
			b.invalid = append(b.invalid, invalid{i, err})
			continue
		}
		if len(dropped) > 0 && dropped[0] == i {
			dropped = dropped[1:]
			continue
		}
		each(i, r.at, locations)
	}
}
