package collect

import (
	"fmt"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/sealed"
)

// plainRows are the rows of a file before they are sealed. Secrets have the form that is sealed.
type plainRows struct {
	width    int // sealed columns
	accounts []string
	byName   map[string]int
	payer    []int32 // for each row, an index of accounts, or nobody
	secrets  []sealed.Data
	absent   []bool // for each secret
	public   []dataset.Column
	order    []int32 // rows in the order in which they are added
}

// nobody stands for the account of a row without secrets.
const nobody = -1

// read reads all rows of the file.
func (g *target) read(d *cli.DataSet) (*plainRows, error) {
	rows := &plainRows{byName: map[string]int{}, public: make([]dataset.Column, len(g.names))}
	for _, c := range g.columns {
		if c != nil {
			rows.width++
		}
	}
	_, err := d.Each("reading", g.chosen, func(batch *dataset.Rows, i int) error {
		any := false
		for k, c := range g.columns {
			if c == nil {
				if k != g.account {
					rows.keep(k, &batch.Columns[g.places[k].cells[0]], i)
				}
				continue
			}
			data, absent, err := g.secret(k, batch, i)
			if err != nil {
				return err
			}
			any = any || !absent
			rows.secrets, rows.absent = append(rows.secrets, data), append(rows.absent, absent)
		}
		name, null := batch.Columns[g.places[g.account].cells[0]].At(i)
		return rows.pays(string(name), null, any, g.names[g.account])
	})
	for i := range rows.payer {
		rows.order = append(rows.order, int32(i))
	}
	return rows, err
}

// keep keeps cell i of a public column.
func (r *plainRows) keep(column int, cells *dataset.Column, i int) {
	if text, null := cells.At(i); null {
		r.public[column].AppendNull()
	} else {
		r.public[column].Append(text)
	}
}

// pays adds a row with the account that pays for it.
func (r *plainRows) pays(name string, null, secrets bool, column string) error {
	if len(r.payer) == maxRows {
		return fmt.Errorf("more than %d rows: split the file", maxRows)
	}
	if null {
		if secrets {
			return fmt.Errorf("column %s, the account, is NULL, and the row has secrets", column)
		}
		r.payer = append(r.payer, nobody)
		return nil
	}
	account, known := r.byName[name]
	if !known {
		if err := sealed.CheckAccountName(name); err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		account = len(r.accounts)
		r.accounts, r.byName[name] = append(r.accounts, name), account
	}
	r.payer = append(r.payer, int32(account))
	return nil
}

// maxRows is the largest number of rows of a file.
const maxRows = 1 << 30

// secret returns the value of row i of a batch for a sealed column. An error does not show it.
func (g *target) secret(column int, batch *dataset.Rows, i int) (data sealed.Data, absent bool, err error) {
	c, cells := g.columns[column], g.places[column].cells
	var x [2]float64
	for k, at := range cells {
		v, null, ok := g.commas.Real(&batch.Columns[at], i)
		switch {
		case !ok:
			return 0, false, fmt.Errorf("column %s is not a number here", g.names[column])
		case null:
			absent = true
		}
		x[k] = v
	}
	if absent {
		return 0, true, nil
	}
	if c.IsLocation() {
		data, err = c.Location(x[0], x[1])
	} else {
		data, err = c.Reading(x[0])
	}
	if err != nil {
		err = fmt.Errorf("column %s %w", g.names[column], err)
	}
	return data, false, err
}

// paying returns the accounts of the rows that are added, by index, each once, in the order of
// the rows.
func (r *plainRows) paying() (all []int32) {
	seen := make([]bool, len(r.accounts))
	for _, row := range r.order {
		if a := r.payer[row]; a != nobody && !seen[a] {
			seen[a] = true
			all = append(all, a)
		}
	}
	return all
}

// shuffle puts the rows into random order.
func (r *plainRows) shuffle() {
	sealed.Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
}
