package frame

import "github.com/geosql/geosql/internal/sqlite"

// RowsCursor iterates over rows that were all read at the start.
type RowsCursor[T any] struct {
	Read func(Call) ([]T, error)
	Show func(Call, T)
	rows []T
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
	r.Show(c, r.rows[0])
	r.rows = r.rows[1:]
	return sqlite.OneRow, nil
}

func (r *RowsCursor[T]) Close() {}
