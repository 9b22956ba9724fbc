package sqlitefn

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// call is one call of a function, whose declared arguments name the errors.
type call struct {
	*sqlite.Call
	f *function
}

// bad is an error about argument i.
func (c call) bad(i int, format string, v ...any) error {
	return fmt.Errorf("%s %s", c.f.args[i].name, fmt.Sprintf(format, v...))
}

// given reports whether the optional argument i was passed. NULL counts as not
// passed.
func (c call) given(i int) bool { return i < c.Len() && c.Arg(i).Type() != sqlite.Null }

func (c call) null(i int) bool { return c.Arg(i).Type() == sqlite.Null }

// number decodes a finite number.
func (c call) number(i int) (float64, error) {
	v := c.Arg(i)
	switch v.Type() {
	case sqlite.Float:
		x := v.Float()
		if math.IsInf(x, 0) {
			return 0, c.bad(i, "must be finite")
		}
		return x, nil
	case sqlite.Integer:
		return float64(v.Int()), nil
	}
	return 0, c.bad(i, "must be a number, got %s", v.Type())
}

// decimal is a number as the decimal that was written.
func (c call) decimal(i int) (*big.Rat, error) {
	x, err := c.number(i)
	if err != nil {
		return nil, err
	}
	return budget.Decimal(x), nil
}

// epsilon decodes a number above 0.
func (c call) epsilon(i int) (float64, error) {
	x, err := c.number(i)
	if err == nil && x <= 0 {
		err = c.bad(i, "must be above 0, got %s", plain(x))
	}
	return x, err
}

// secret decodes a number that may be NULL. No message shows its value.
func (c call) secret(i int) (x float64, null bool, err error) {
	if c.null(i) {
		return 0, true, nil
	}
	x, err = c.number(i)
	return x, false, err
}

// location decodes latitude and longitude at i and i+1, degrees, which may be
// NULL. No message shows their values.
func (c call) location(i int) (lat, lon float64, null bool, err error) {
	lat, noLat, err := c.secret(i)
	if err != nil {
		return 0, 0, false, err
	}
	lon, noLon, err := c.secret(i + 1)
	if err != nil {
		return 0, 0, false, err
	}
	if math.Abs(lat) > 90 {
		return 0, 0, false, c.bad(i, "must lie between -90 and 90")
	}
	if math.Abs(lon) > 180 {
		return 0, 0, false, c.bad(i+1, "must lie between -180 and 180")
	}
	return lat, lon, noLat || noLon, nil
}

// probability decodes a number that is at least 0 and less than 1.
func (c call) probability(i int) (float64, error) {
	p, err := c.number(i)
	if err == nil && (p < 0 || p >= 1) {
		err = c.bad(i, "must be at least 0 and less than 1, got %s", plain(p))
	}
	return p, err
}

// text decodes a text; it is valid during the call.
func (c call) text(i int) ([]byte, error) {
	v := c.Arg(i)
	if v.Type() != sqlite.Text {
		return nil, c.bad(i, "must be TEXT, got %s", v.Type())
	}
	return v.Bytes(), nil
}

// account decodes the account of a charge: TEXT, or INTEGER meaning its decimal
// text, which is written to room. It is valid during the call.
func (c call) account(i int, room *[20]byte) ([]byte, error) {
	v := c.Arg(i)
	switch v.Type() {
	case sqlite.Integer:
		return strconv.AppendInt(room[:0], v.Int(), 10), nil
	case sqlite.Text:
		name := v.Bytes()
		if len(name) == 1 && name[0] == '*' {
			return nil, c.bad(i, "'*' stands for every account and cannot be charged")
		}
		return name, nil
	}
	return nil, c.bad(i, "must be TEXT or INTEGER, got %s", v.Type())
}

// file decodes the name of a file.
func (c call) file(i int) (string, error) {
	name, err := c.text(i)
	if err == nil && len(name) == 0 {
		err = c.bad(i, "must name a file")
	}
	return string(name), err
}

// timeLayouts are the forms of ISO 8601 that a time may have; all are UTC.
var timeLayouts = []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z",
	"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

// time decodes a time, to the microsecond: seconds since 1970, or ISO 8601 text in UTC.
func (c call) time(i int) (time.Time, error) {
	v := c.Arg(i)
	if v.Type() != sqlite.Text {
		x, err := c.number(i)
		if err == nil && math.Abs(x) > 1<<40 {
			err = c.bad(i, "is too far from 1970")
		}
		return time.UnixMicro(int64(math.Round(x * 1e6))).UTC(), err
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, string(v.Bytes())); err == nil {
			return t, nil
		}
	}
	return time.Time{}, c.bad(i, "must be seconds since 1970 or a time like 2026-03-01T12:00:00Z")
}

// unit decodes the unit of a budget.
func (c call) unit(i int) (budget.Unit, error) {
	name, err := c.text(i)
	if err != nil {
		return "", err
	}
	if !isName(name) {
		return "", c.bad(i, "must be the name of a unit, such as 'm' or 'kWh'")
	}
	return budget.Unit(name), nil
}

// isName reports whether text is not empty and can be shown as it is.
func isName(text []byte) bool { return len(text) > 0 && printable.Is(string(text)) }

// quoted is text as a message shows it, on one line.
func quoted(text []byte) string { return "'" + printable.Text(string(text)) + "'" }

// plain prints a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
