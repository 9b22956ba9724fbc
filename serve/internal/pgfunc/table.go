package pgfunc

import (
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// Tables returns the set-returning functions.
func Tables() (list []sqlite.Table) {
	for _, t := range []struct {
		name, columns, hidden string
		required              int
		open                  listing
	}{
		{"unnest", "value,ordinality INTEGER", "list", 1, elements},
		{"generate_series", "value INTEGER,ordinality INTEGER", "start,stop,step", 2, series},
		{"pg_series", "value TEXT,ordinality INTEGER", "start,stop,step", 3, timeSeries},
		{"aclexplode", "grantor INTEGER,grantee INTEGER,privilege_type TEXT,is_grantable INTEGER", "acl", 1, nothing},
		{"pg_partition_ancestors", "relid INTEGER,depth INTEGER", "relation", 1, nothing},
		{"pg_options_to_table", "option_name TEXT,option_value TEXT", "options", 1, nothing},
	} {
		list = append(list, sqlite.Table{Name: t.name, Columns: strings.Split(t.columns, ","),
			Hidden: strings.Split(t.hidden, ","), Required: t.required, Open: func() sqlite.Cursor { return &listCursor{open: t.open} }})
	}
	return list
}

// A listing begins the rows of a set-returning function: next returns their values.
type listing func(c *sqlite.Call) (next func() (any, bool), err error)

// listCursor iterates over a listing and numbers the values.
type listCursor struct {
	open listing
	next func() (any, bool)
	n    int64
}

func (l *listCursor) Filter(c *sqlite.Call, _ uint) (rows sqlite.Rows, err error) {
	if l.next, err = l.open(c); err != nil {
		return sqlite.NoRow, err
	}
	l.n = 0
	return l.Next(c)
}

func (l *listCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	v, ok := l.next()
	if !ok {
		return sqlite.NoRow, nil
	}
	l.n++
	Result(c, 0, v)
	c.ResultInt(1, l.n)
	return sqlite.OneRow, nil
}

func (l *listCursor) Close() {}

// noMore is the end of a listing.
func noMore() (any, bool) { return nil, false }

// nothing lists no rows, as aclexplode does here.
func nothing(*sqlite.Call) (func() (any, bool), error) { return noMore, nil }

// elements lists the elements of an array.
func elements(c *sqlite.Call) (func() (any, bool), error) {
	list, _, err := parseArray(Text(c.Arg(0).Copy()))
	return func() (any, bool) {
		if len(list) == 0 {
			return nil, false
		}
		v := Typed(list[0])
		list = list[1:]
		return v, true
	}, err
}

// series lists the numbers of generate_series.
func series(c *sqlite.Call) (func() (any, bool), error) {
	next, stop, step := int64(0), int64(0), int64(1)
	for i, to := range []*int64{&next, &stop, &step}[:c.Len()] {
		v := c.Arg(i).Copy()
		n, isWhole := Typed(v).(int64)
		switch {
		case isWhole:
			*to = n
		case v != nil:
			return nil, &Error{Code: CodeNotSupported, Message: "generate_series takes whole numbers here"}
		case i < 2:
			return noMore, nil
		}
	}
	if step == 0 {
		return nil, &Error{Code: CodeBadParameter, Message: "generate_series: the step must not be 0"}
	}
	done := false
	return func() (any, bool) {
		if done || step > 0 && next > stop || step < 0 && next < stop {
			return nil, false
		}
		v := next
		next += step
		done = (next > v) != (step > 0) // an overflow
		return v, true
	}, nil
}

// timeSeries lists the times of generate_series with an interval.
func timeSeries(c *sqlite.Call) (func() (any, bool), error) {
	for i := range 3 {
		if c.Arg(i).Copy() == nil {
			return noMore, nil
		}
	}
	next, err := timeOf(c.Arg(0).Copy())
	if err != nil {
		return nil, err
	}
	stop, err := timeOf(c.Arg(1).Copy())
	if err != nil {
		return nil, err
	}
	step, err := intervalOf(c.Arg(2).Copy())
	if err == nil && step.span() == 0 {
		err = &Error{Code: CodeBadParameter, Message: "generate_series: the step must not be 0"}
	}
	next.form = max(next.form, asTimestamp)
	return func() (any, bool) {
		if step.span() > 0 && next.After(stop.Time) || step.span() < 0 && next.Before(stop.Time) {
			return nil, false
		}
		v := next.String()
		next = next.shift(1, step)
		return v, true
	}, err
}
