package sqlitefn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
)

// bound is a function on one connection.
type bound struct {
	*function
	session *session
	values  []value // of the arguments of the current call

	// The settings that values holds, with the texts of these, and a number that no others of the
	// session have. They are nil before the first call, and after one that failed.
	last    settings
	version int
}

// bind returns the function on the connection of s.
func (f *function) bind(s *session) *bound {
	return &bound{function: f, session: s, values: make([]value, len(f.args))}
}

// call is one call of a function with its decoded arguments.
type call struct {
	*sqlite.Call
	*bound
	own *statement // of a table-valued form, which SQLite ties to no statement; otherwise nil
}

// enter admits a call and decodes its arguments. If kept is not nil, the settings must
// equal it and are not decoded. No function calls itself: see admit.
func (b *bound) enter(c *sqlite.Call, own *statement, kept settings) (call, error) {
	if err := b.session.admit(b.function); err != nil {
		return call{}, err
	}
	in := call{c, b, own}
	if err := in.decode(len(in.args), kept); err != nil {
		return call{}, err
	}
	return in, nil
}

// decode decodes the first n arguments, see enter. Settings that equal those of the last call are
// decoded already.
func (c call) decode(n int, kept settings) error {
	values, passed := c.values, c.Args()
	known := kept
	if kept == nil {
		known = c.last
	}
	for i, a := range c.args[:n] {
		if a.setting && known != nil {
			same := known[0].equals(c.Call, i)
			known = known[1:]
			if same {
				continue
			}
			if kept != nil {
				return c.argErrorf(a, "changes within a group")
			}
			c.last = nil
		}
		out := &values[i]
		if i >= len(passed) || (a.optional || a.kind.nullable) && passed[i].Type() == sqlite.Null {
			out.given, out.number, out.text = false, 0, nil
			continue
		}
		out.given = true
		if err := a.kind.decode(&passed[i], out); err != nil {
			return c.kindError(a, &passed[i], err)
		}
	}
	if kept == nil && c.last == nil {
		c.keepSettings()
	}
	return nil
}

// keepSettings keeps the settings of the call for the next.
func (c call) keepSettings() {
	c.session.versions++
	c.last, c.version = c.copySettings(), c.session.versions
	list := c.last
	for i, a := range c.args {
		if a.setting {
			c.values[i].text = list[0].text
			list = list[1:]
		}
	}
}

// kindError returns the error for an argument that its kind does not accept.
func (c call) kindError(a *argument, got *sqlite.Value, err error) error {
	if err == errType {
		return c.typeError(a, got)
	}
	return c.argErrorf(a, "%w", err)
}

// nullError returns the error for an argument that must not be NULL in this call.
func (c call) nullError(a *argument) error { return c.wrongType(a, sqlite.Null, "NULL") }

// argErrorf returns an error about an argument.
func (c call) argErrorf(a *argument, format string, v ...any) error {
	return fmt.Errorf("%s "+format, append([]any{a.name}, v...)...)
}

// value returns the value of an argument, which must be one of the function's.
func (c call) value(a *argument) *value {
	for i, other := range c.args {
		if other == a {
			return &c.values[i]
		}
	}
	panic(c.name + " has no argument " + a.name)
}

// given reports whether an argument was passed and is not NULL.
func (c call) given(a *argument) bool { return c.value(a).given }

// number returns a number, 0 where none is given.
func (c call) number(a *argument) float64 { return c.value(a).number }

// decimal returns a number as the decimal that the user wrote.
func (c call) decimal(a *argument) *big.Rat { return budget.Decimal(c.number(a)) }

// bytes returns a text, which is valid during the call, or nil where none is given.
func (c call) bytes(a *argument) []byte { return c.value(a).text }

// text returns a copy of a text.
func (c call) text(a *argument) string { return string(c.bytes(a)) }

// unit returns the unit of a budget.
func (c call) unit(a *argument) budget.Unit { return budget.Unit(c.bytes(a)) }

// time returns a time.
func (c call) time(a *argument) time.Time { return c.value(a).time }

// reading returns a secret number; absent reports that it is NULL.
func (c call) reading(a *argument) (x float64, absent bool) {
	v := c.value(a)
	return v.number, !v.given
}

// location returns a secret location in degrees; absent reports that a coordinate is NULL.
func (c call) location(latitude, longitude *argument) (lat, lon float64, absent bool) {
	y, x := c.value(latitude), c.value(longitude)
	return y.number, x.number, !y.given || !x.given
}

// resultPoint sets cell i to a WKT point.
func (c call) resultPoint(i int, lat, lon float64) {
	if d := c.session.dry; d != nil && lat == d.place.lat && lon == d.place.lon && d.place.text != nil {
		c.ResultText(i, d.place.text)
		return
	}
	var room [64]byte
	c.ResultText(i, appendPoint(room[:0], lat, lon))
}

// appendPoint appends a WKT point to b. Released coordinates have 7 decimals.
func appendPoint(b []byte, lat, lon float64) []byte {
	b = append(b, "POINT("...)
	b = appendDegrees(b, lon)
	b = append(b, ' ')
	b = appendDegrees(b, lat)
	return append(b, ')')
}

// appendDegrees appends a number of degrees with 7 decimals to b. One that has no more is printed
// as the integer that it is in units of 1e-7.
func appendDegrees(b []byte, degrees float64) []byte {
	const perDegree = 1e7
	units := math.RoundToEven(degrees * perDegree)
	if units == 0 || math.Abs(degrees) > 180 || units/perDegree != degrees {
		return strconv.AppendFloat(b, degrees, 'f', 7, 64)
	}
	if units < 0 {
		b = append(b, '-')
	}
	return decimal.AppendFixed(b, uint64(math.Abs(units)))
}

// resultBool sets cell i to 1 or 0.
func (c call) resultBool(i int, yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	c.ResultInt(i, n)
}

// resultTime sets cell i to a time as ISO 8601 text in UTC, or to NULL for none.
func (c call) resultTime(i int, t time.Time) {
	if t.IsZero() {
		c.ResultNull(i)
		return
	}
	c.ResultString(i, t.UTC().Format(time.RFC3339))
}

// resultJSON sets the result to a JSON object, on one line.
func (c call) resultJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	c.ResultText(0, bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return nil
}
