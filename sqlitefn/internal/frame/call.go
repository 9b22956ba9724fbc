package frame

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

// Bound is a function on one connection.
type Bound struct {
	*Function
	Session *Session
	values  []Value // of the arguments of the current call

	// The settings that values holds, with the texts of these, and a number that no others of the
	// session have. They are nil before the first call, and after one that failed.
	last    Settings
	version int
}

// Bind returns the function on the connection of s.
func (f *Function) Bind(s *Session) *Bound {
	return &Bound{Function: f, Session: s, values: make([]Value, len(f.Args))}
}

// Call is one call of a function with its decoded arguments.
type Call struct {
	*sqlite.Call
	*Bound
	own *Statement // of a table-valued form, which SQLite ties to no statement; otherwise nil
}

// enter admits a call and decodes its arguments. If kept is not nil, the settings must
// equal it and are not decoded. No function calls itself: see admit.
func (b *Bound) enter(c *sqlite.Call, own *Statement, kept Settings) (Call, error) {
	if err := b.Session.admit(b.Function); err != nil {
		return Call{}, err
	}
	in := Call{c, b, own}
	if err := in.decode(len(in.Function.Args), kept); err != nil {
		return Call{}, err
	}
	return in, nil
}

// decode decodes the first n arguments, see enter. Settings that equal those of the last call are
// decoded already.
func (c Call) decode(n int, kept Settings) error {
	values, passed := c.values, c.Args()
	known := kept
	if kept == nil {
		known = c.last
	}
	for i, a := range c.Function.Args[:n] {
		if a.Setting && known != nil {
			same := known[0].equals(c.Call, i)
			known = known[1:]
			if same {
				continue
			}
			if kept != nil {
				return c.Errorf(a, "changes within a group")
			}
			c.last = nil
		}
		out := &values[i]
		if i >= len(passed) || (a.Optional || a.Kind.nullable) && passed[i].Type() == sqlite.Null {
			out.Given, out.number, out.Text = false, 0, nil
			continue
		}
		out.Given = true
		if err := a.Kind.Decode(&passed[i], out); err != nil {
			return c.kindError(a, &passed[i], err)
		}
	}
	if kept == nil && c.last == nil {
		c.keepSettings()
	}
	return nil
}

// keepSettings keeps the settings of the call for the next.
func (c Call) keepSettings() {
	c.Session.versions++
	c.last, c.version = c.CopySettings(), c.Session.versions
	list := c.last
	for i, a := range c.Function.Args {
		if a.Setting {
			c.values[i].Text = list[0].text
			list = list[1:]
		}
	}
}

// kindError returns the error for an argument that its kind does not accept.
func (c Call) kindError(a *Arg, got *sqlite.Value, err error) error {
	if err == ErrType {
		return c.typeError(a, got)
	}
	return c.Errorf(a, "%w", err)
}

// NullError returns the error for an argument that must not be NULL in this call.
func (c Call) NullError(a *Arg) error { return c.wrongType(a, sqlite.Null, "NULL") }

// Errorf returns an error about an argument.
func (c Call) Errorf(a *Arg, format string, v ...any) error {
	return fmt.Errorf("%s "+format, append([]any{a.Name}, v...)...)
}

// Value returns the value of an argument, which must be one of the function's.
func (c Call) Value(a *Arg) *Value {
	for i, other := range c.Function.Args {
		if other == a {
			return &c.values[i]
		}
	}
	panic(c.Name + " has no argument " + a.Name)
}

// Given reports whether an argument was passed and is not NULL.
func (c Call) Given(a *Arg) bool { return c.Value(a).Given }

// Number returns a number, 0 where none is given.
func (c Call) Number(a *Arg) float64 { return c.Value(a).number }

// Decimal returns a number as the decimal that the user wrote.
func (c Call) Decimal(a *Arg) *big.Rat { return budget.Decimal(c.Number(a)) }

// Bytes returns a text, which is valid during the call, or nil where none is given.
func (c Call) Bytes(a *Arg) []byte { return c.Value(a).Text }

// Text returns a copy of a text.
func (c Call) Text(a *Arg) string { return string(c.Bytes(a)) }

// Unit returns the unit of a budget.
func (c Call) Unit(a *Arg) budget.Unit { return budget.Unit(c.Bytes(a)) }

// Time returns a time.
func (c Call) Time(a *Arg) time.Time { return c.Value(a).time }

// Reading returns a secret number; absent reports that it is NULL.
func (c Call) Reading(a *Arg) (x float64, absent bool) {
	v := c.Value(a)
	return v.number, !v.Given
}

// Location returns a secret location in degrees; absent reports that a coordinate is NULL.
func (c Call) Location(latitude, longitude *Arg) (lat, lon float64, absent bool) {
	y, x := c.Value(latitude), c.Value(longitude)
	return y.number, x.number, !y.Given || !x.Given
}

// ResultPoint sets cell i to a WKT point.
func (c Call) ResultPoint(i int, lat, lon float64) {
	if d := c.Session.dry; d != nil && lat == d.place.lat && lon == d.place.lon && d.place.text != nil {
		c.ResultText(i, d.place.text)
		return
	}
	var room [64]byte
	c.ResultText(i, AppendPoint(room[:0], lat, lon))
}

// AppendPoint appends a WKT point to b. Released coordinates have 7 decimals.
func AppendPoint(b []byte, lat, lon float64) []byte {
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

// ResultBool sets cell i to 1 or 0.
func (c Call) ResultBool(i int, yes bool) {
	n := int64(0)
	if yes {
		n = 1
	}
	c.ResultInt(i, n)
}

// ResultTime sets cell i to a time as ISO 8601 text in UTC, or to NULL for none.
func (c Call) ResultTime(i int, t time.Time) {
	if t.IsZero() {
		c.ResultNull(i)
		return
	}
	c.ResultString(i, t.UTC().Format(time.RFC3339))
}

// ResultJSON sets the result to a JSON object, on one line.
func (c Call) ResultJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	c.ResultText(0, bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return nil
}

// ResultEpsilon sets the result to an epsilon, a decimal of few digits.
func (c Call) ResultEpsilon(eps *big.Rat) {
	e, _ := eps.Float64()
	c.ResultFloat(0, e)
}

// ResultRadius sets the result to a radius.
func (c Call) ResultRadius(r float64) { c.ResultFloat(0, RoundedRadius(r)) }

// RoundedRadius rounds a distance within which something holds up to four digits, if a float can hold that. The last bits
// of the distance are an error of floats.
func RoundedRadius(r float64) float64 {
	return min(decimal.RoundUp(float64(r*(1-1e-13)), 4), math.MaxFloat64)
}
