package release

import (
	"github.com/geosql/geosql/dataset"
)

// rejectsSchema returns the schema of the file of invalid rows: the place of a row, the
// reason, and all of its cells that were read, unchanged.
func (p *plan) rejectsSchema() dataset.Schema {
	s := dataset.Schema{Name: "rejects", Fields: []dataset.Field{{Name: "rejected_at"}, {Name: "reason"}}}
	for _, f := range p.fields {
		s.Fields = append(s.Fields, dataset.Field{Name: f.Name})
	}
	return s
}

// setAside copies the invalid rows of a batch to its rejects.
func (d *drawer) setAside(b *batch) {
	b.rejects.Reset(0, 2+len(d.plan.fields))
	for _, x := range b.invalid {
		b.rejects.Columns[0].Append([]byte(b.rows.Where(x.row)))
		b.rejects.Columns[1].Append([]byte(x.why.Error()))
		for c := range b.rows.Columns {
			b.rejects.Columns[2+c].AppendCell(&b.rows.Columns[c], x.row)
		}
	}
}
