package release

import (
	"errors"
	"slices"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A drawer draws the locations of batches. Each worker has one.
type drawer struct {
	rowReader
	mechanism planar.Mechanism
	plane     *density.Plane // nil without an estimate of the population
	source    *exact.Source
	checked   []fingerprint // of the batches; nil if another process has checked them, and only their digest is known
	out       dataset.Writer
	kind      dataset.Kind   // of the cells that are drawn
	rejects   dataset.Writer // nil if no row is invalid
	owner     bool           // whether the report compares with the raw locations
	allowance *allowance     // nil if no row is dropped
	payer     []byte         // the account of all rows, if there is no column of accounts
	asking    []asking       // of a batch
	surveys   []survey       // one for each pair of columns
	tables    *tables        // nil without tables of the owner
}

// draw makes a batch of the output. Nobody may see it before its locations are charged.
func (d *drawer) draw(b *batch) error {
	b.released = slices.Grow(b.released[:0], 2*len(d.plan.points))[:2*len(d.plan.points)]
	for i := range b.released {
		b.released[i].Reset(d.kind)
	}
	d.drop(b)
	if d.checked == nil {
		b.hash = d.digester.sum(&b.rows)
	} else if b.number >= len(d.checked) || d.digester.fingerprint(&b.rows) != d.checked[b.number] {
		return errChanged
	}
	d.read(b, func(_ int, all []location, _ int64) { d.release(b, all) })
	b.setLeftOut()
	d.assemble(b)
	var err error
	if b.block, err = d.out.Encode(&b.out); err != nil || len(b.invalid) == 0 {
		return err
	}
	d.setAside(b)
	b.rejected, err = d.rejects.Encode(&b.rejects)
	return err
}

var errChanged = errors.New("the input has changed since it was checked; nothing is released")

// release draws the locations of a row.
func (d *drawer) release(b *batch, all []location) {
	for k, at := range all {
		lat, lon := &b.released[2*k], &b.released[2*k+1]
		if at.null {
			lat.AppendNull()
			lon.AppendNull()
			continue
		}
		zlat, zlon := d.mechanism.Draw(d.source, at.lat, at.lon)
		appendDegrees(lat, zlat)
		appendDegrees(lon, zlon)
		d.surveys[k].released.Add(zlat, zlon)
		if d.plane != nil {
			d.surveys[k].points[d.plane.Bin(zlat, zlon)]++
		}
		if outside(d.mechanism.Domain(), at.lat, at.lon) {
			d.surveys[k].outside++
		}
		if d.tables != nil {
			d.tables.add(k, all, location{lat: zlat, lon: zlon})
		}
		if d.owner {
			d.surveys[k].compare(at, zlat, zlon)
		}
	}
}

// assemble sets the columns of the output. Kept columns share the cells of the input, unless
// there are rows to leave out.
func (d *drawer) assemble(b *batch) {
	columns := b.out.Columns[:0]
	if len(b.leftOut) > 0 {
		b.kept = slices.Grow(b.kept[:0], len(d.plan.fields))[:len(d.plan.fields)]
	}
	for _, o := range d.plan.output {
		switch {
		case o.lon:
			columns = append(columns, b.released[2*o.point+1])
		case !o.kept():
			columns = append(columns, b.released[2*o.point])
		case len(b.leftOut) > 0:
			columns = append(columns, b.without(o.column))
		default:
			columns = append(columns, b.rows.Columns[o.column])
		}
	}
	b.out = b.rows
	b.out.Columns = columns
}

// setLeftOut sets which rows are left out.
func (b *batch) setLeftOut() {
	b.leftOut = append(b.leftOut[:0], b.dropped...)
	for _, x := range b.invalid {
		b.leftOut = append(b.leftOut, x.row)
	}
	if len(b.dropped) > 0 {
		slices.Sort(b.leftOut)
	}
}

// without returns a column without the rows that are left out.
func (b *batch) without(column int) dataset.Column {
	from, to, out := &b.rows.Columns[column], &b.kept[column], b.leftOut
	to.Reset(from.Kind())
	for i := range from.Len() {
		if len(out) > 0 && out[0] == i {
			out = out[1:]
			continue
		}
		to.AppendCell(from, i)
	}
	return *to
}
