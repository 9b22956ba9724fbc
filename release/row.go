package release

import (
	"fmt"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/printable"
)

// A place is a location of a row, or none.
type place struct {
	lat, lon float64
	null     bool
}

// everyone is the account that stands for every account not named.
const everyone = "*"

// longestAccount bounds an account's name, in bytes, for there may be many in memory.
const longestAccount = 1000

// row reads the locations of a row, one for each pair of columns, and returns how many
// there are. An error says why the row is invalid, which depends on the text of its cells
// alone. A location with a NULL coordinate is none, and a row without any needs no
// account.
func (p *plan) row(rows *dataset.Rows, i int, places []place) (locations int64, err error) {
	for k, point := range p.points {
		lat, noLat, err := p.coordinate(rows, i, point.Lat, 90)
		if err != nil {
			return 0, err
		}
		lon, noLon, err := p.coordinate(rows, i, point.Lon, 180)
		if err != nil {
			return 0, err
		}
		places[k] = place{lat, lon, noLat || noLon}
		if !places[k].null {
			locations++
		}
	}
	if p.account >= 0 && locations > 0 {
		if err := p.payer(rows, i); err != nil {
			return 0, err
		}
	}
	return locations, p.keeps(rows, i)
}

// payer makes sure that a row has an account.
func (p *plan) payer(rows *dataset.Rows, i int) error {
	switch account, null := rows.Columns[p.account].At(i); {
	case null || len(account) == 0:
		return fmt.Errorf("column %s: a location without an account", printable.Text(p.fields[p.account].Name))
	case string(account) == everyone:
		return fmt.Errorf(`column %s: "*" stands for every account and is none`, printable.Text(p.fields[p.account].Name))
	case len(account) > longestAccount:
		return fmt.Errorf("column %s: an account of %d bytes, more than %d", printable.Text(p.fields[p.account].Name), len(account), longestAccount)
	}
	return nil
}

// keeps makes sure that the output can hold what is kept of a row, before anybody is
// charged for it.
func (p *plan) keeps(rows *dataset.Rows, i int) error {
	if !p.format.Typed() {
		return nil
	}
	for _, o := range p.output {
		if !o.kept() {
			continue
		}
		if f := p.fields[o.column]; !p.format.Holds(f.Kind, &rows.Columns[o.column], i) {
			return fmt.Errorf("column %s: %w", printable.Text(f.Name), rows.Columns[o.column].MisfitError(i, f.Kind))
		}
	}
	return nil
}

func (p *plan) coordinate(rows *dataset.Rows, i, column int, limit float64) (x float64, null bool, err error) {
	text, null := rows.Columns[column].At(i)
	if null {
		return 0, true, nil
	}
	x, err = coordinate(text, p.fields[column].Name, limit)
	return x, false, err
}

// clerk reads the rows of batches for one of the passes. A worker has one.
type clerk struct {
	plan     *plan
	places   []place
	digester digester
}

func newClerk(p *plan) clerk { return clerk{plan: p, places: make([]place, len(p.points))} }

// read reads a batch: it takes its digest and notes the rows that are invalid. Of the
// others each is called with its places, so many of which are locations.
func (c *clerk) read(b *batch, each func(i int, places []place, locations int64)) {
	b.hash = c.digester.sum(&b.rows)
	b.invalid = b.invalid[:0]
	for i := range b.rows.Len() {
		locations, err := c.plan.row(&b.rows, i, c.places)
		if err != nil {
			b.invalid = append(b.invalid, invalid{i, err})
			continue
		}
		each(i, c.places, locations)
	}
}
