package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealing"
)

// A target is the table that rows are added to, and where its columns are in the file.
type target struct {
	table   string
	names   []string // of all columns of the table
	account int      // index among them
	columns []*sealing.Column
	places  []place
	chosen  []int // columns of the file that are read
	ignored []string
	commas  infer.Summary // reads numbers that may have decimal commas
}

// A place is where the file has a column of the table: among those chosen. A location has two.
type place struct {
	cells []int
	kind  dataset.Kind // of a public column
}

// findTable finds the table that rows are added to. It goes by the declarations of the database,
// once they are known to be unchanged since its sealing.
func (t *Append) findTable() (table sealed.Table, columns []*sealed.Column, account int, err error) {
	id, d, err := catalog.ReadDeclaration(t.conn)
	if err != nil {
		return table, nil, 0, fmt.Errorf("%s: %w", t.Path, err)
	}
	t.database = id
	table, columns, account, found := d.Table(t.Table)
	if !found {
		err = fmt.Errorf("append: %s has no sealed table %s: there is %s", t.Path, t.Table, strings.Join(d.TableNames(), ", "))
	}
	return table, columns, account, err
}

// newTarget finds the columns of the table in the file.
func (t *Append) newTarget(d *cli.DataSet) (*target, error) {
	table, columns, account, err := t.findTable()
	if err != nil {
		return nil, err
	}
	g := &target{table: table.Name, account: account}
	if form, csv := dataset.CSVFormOf(d.Reader); csv && form.Separator != ',' {
		g.commas.DecimalComma = true
	}
	fields := d.Fields()
	used := map[int]bool{}
	locations := 0
	find := func(names ...string) (int, error) {
		for _, name := range names {
			if i := slices.IndexFunc(fields, func(f dataset.Field) bool { return strings.EqualFold(f.Name, name) }); i >= 0 {
				used[i] = true
				if at := slices.Index(g.chosen, i); at >= 0 {
					return at, nil
				}
				g.chosen = append(g.chosen, i)
				return len(g.chosen) - 1, nil
			}
		}
		var there []string
		for _, f := range fields {
			there = append(there, f.Name)
		}
		return 0, fmt.Errorf("%s has no column %s, which table %s needs: it has %s", t.File, strings.Join(names, " or "), g.table, strings.Join(there, ", "))
	}
	for i, c := range columns {
		name := table.Columns[i].Name
		var column *sealing.Column
		if c != nil {
			if column, err = sealing.NewColumn(catalog.Column(*c)); err != nil {
				return nil, err
			}
		}
		wanted := [][]string{{name}}
		if c != nil && column.IsLocation() {
			locations++
			if wanted, err = t.coordinates(name, locations); err != nil {
				return nil, err
			}
		}
		var p place
		for _, names := range wanted {
			at, err := find(names...)
			if err != nil {
				return nil, err
			}
			p.cells = append(p.cells, at)
			p.kind = fields[g.chosen[at]].Kind
		}
		g.names, g.columns, g.places = append(g.names, name), append(g.columns, column), append(g.places, p)
	}
	if len(t.Lat) > locations {
		return nil, cli.UsageError(fmt.Sprintf("append: table %s has %s, and --lat is given for %d", g.table, cli.Count(int64(locations), "location"), len(t.Lat)))
	}
	for i, f := range fields {
		if !used[i] {
			g.ignored = append(g.ignored, f.Name)
		}
	}
	return g, nil
}

// coordinates returns the names that the columns of the n-th location may have in the file.
func (t *Append) coordinates(name string, n int) ([][]string, error) {
	switch {
	case n <= len(t.Lat):
		return [][]string{{t.Lat[n-1]}, {t.Lon[n-1]}}, nil
	case n > 1:
		return nil, cli.UsageError(fmt.Sprintf("append: say with --lat and --lon, once for each location, which columns have that of %s", name))
	}
	return [][]string{load.LatNames, load.LonNames}, nil
}
