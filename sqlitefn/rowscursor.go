package sqlitefn

import "github.com/geosql/geosql/internal/sqlite"

// rowsCursor iterates over rows that were all read at the start.
type rowsCursor[T any] struct {
	read func(call) ([]T, error)
	show func(call, T)
	rows []T
}

func (r *rowsCursor[T]) filter(c call, _ uint) (sqlite.Rows, error) {
	var err error
	if r.rows, err = r.read(c); err != nil {
		return sqlite.NoRow, err
	}
	return r.next(c)
}

func (r *rowsCursor[T]) next(c call) (sqlite.Rows, error) {
	if len(r.rows) == 0 {
		return sqlite.NoRow, nil
	}
	r.show(c, r.rows[0])
	r.rows = r.rows[1:]
	return sqlite.OneRow, nil
}

func (r *rowsCursor[T]) close() {}
