package frame

import "github.com/geosql/geosql/internal/sqlite"

// RowsCursor iterates over rows that are read at the start, all or a page of them.
type RowsCursor[T any] struct {
	Read  func(Call) ([]T, error)
	Show  func(Call, T)
	After func(T) ([]T, error) // reads the rows after one, none at the end; nil if Read reads all
	rows  []T
}

func (r *RowsCursor[T]) Filter(c Call, _ uint) (sqlite.Rows, error) {
	var err error
	if r.rows, err = r.Read(c); err != nil {
		return sqlite.NoRow, err
	}
	return r.Next(c)
}

func (r *RowsCursor[T]) Next(c Call) (sqlite.Rows, error) {
	if len(r.rows) == 0 {
		return sqlite.NoRow, nil
	}
	row := r.rows[0]
	r.Show(c, row)
	r.rows = r.rows[1:]
	if len(r.rows) > 0 || r.After == nil {
		return sqlite.OneRow, nil
	}
	var err error
	r.rows, err = r.After(row)
	return sqlite.OneRow, err
}

func (r *RowsCursor[T]) Close() {}
