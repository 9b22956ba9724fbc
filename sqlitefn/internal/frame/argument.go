package frame

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/geosql/geosql/internal/moment"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// An Arg is an argument of one or several functions. Its position in a call is that in
// the list of the function that is called.
type Arg struct {
	Name     string
	Is       string // type and meaning
	Kind     Kind
	Optional bool

	// Setting marks a public argument that mostly stays the same from row to row. It must be
	// constant within a group, and a statement keeps the plan built from the settings while
	// they stay the same.
	Setting bool
}

// A Kind defines which SQL values an argument accepts. No message of a kind shows a secret.
type Kind struct {
	Expects  string // of the type, as in "must be TEXT"
	nullable bool   // NULL is accepted too, and is not decoded
	Public   bool   // a value of the wrong type can be shown
	Sealed   bool   // it may be a sealed value
	Decode   func(in *sqlite.Value, out *Value) error
}

// Value holds the decoded value of an argument.
type Value struct {
	Given  bool // passed, and not NULL
	number float64
	Text   []byte // valid during the call
	time   time.Time
	Sealed bool // whether an argument that may be an account is a sealed value

	digits [20]byte // room for the text of an account that is a number
}

// ErrType reports that a value does not have the type that its kind expects.
var ErrType = errors.New("wrong type")

// The kinds of arguments.
var (
	Number      = Kind{Expects: "a number", Decode: decodeNumber}
	Positive    = number(func(x float64) bool { return x > 0 }, "must be above 0")
	NotNegative = number(func(x float64) bool { return x >= 0 }, "must not be below 0")
	Probability = number(func(x float64) bool { return 0 <= x && x < 1 }, "must be at least 0 and less than 1")
	Inside      = number(func(x float64) bool { return 0 < x && x < 1 }, "must be above 0 and less than 1")

	Reading         = OrNull(Number) // secret
	Latitude        = degrees(90)
	Longitude       = degrees(180)
	SecretLatitude  = OrNull(Latitude)
	SecretLongitude = OrNull(Longitude)

	Text   = Kind{Expects: "TEXT", Decode: decodeText}
	Name   = printableText("must be printable text") // of a declaration
	Unit   = printableText("must be the name of a unit, such as 'm' or 'kWh'")
	File   = Kind{Expects: "TEXT", Decode: decodeFile}
	Time   = Kind{Expects: "a number", Decode: decodeTime}
	Window = WholeNumber(ledger.MaxWindow, "of seconds ")
	Rows   = WholeNumber(1<<53, "")

	// Account is an account that pays: TEXT, or INTEGER meaning its decimal text.
	// For kindContributor NULL stands for nobody, as in rows that contribute nothing.
	// kindAnyAccount accepts '*', which stands for every account.
	Account     = Kind{Expects: "TEXT or INTEGER", Public: true, Decode: DecodeAccount}
	Contributor = OrNull(Account)
	AnyAccount  = Kind{Expects: "TEXT or INTEGER", Public: true, Decode: decodeAnyAccount}
)

// OrNull returns the kind that accepts NULL too.
func OrNull(k Kind) Kind {
	k.nullable = true
	return k
}

// decodeNumber decodes a finite number.
func decodeNumber(in *sqlite.Value, out *Value) error {
	switch in.Type() {
	case sqlite.Float:
		if out.number = in.Float(); math.IsInf(out.number, 0) {
			return errors.New("must be finite")
		}
		return nil
	case sqlite.Integer:
		out.number = float64(in.Int())
		return nil
	}
	return ErrType
}

// number returns a kind of public numbers for which valid holds.
func number(valid func(float64) bool, rule string) Kind {
	return Kind{Expects: "a number", Decode: func(in *sqlite.Value, out *Value) error {
		if err := decodeNumber(in, out); err != nil {
			return err
		}
		if !valid(out.number) {
			return errors.New(rule + ", got " + FormatNumber(out.number))
		}
		return nil
	}}
}

// degrees returns a kind of coordinates from -limit to limit.
func degrees(limit float64) Kind {
	err := errors.New("must lie between -" + FormatNumber(limit) + " and " + FormatNumber(limit))
	return Kind{Expects: "a number", Decode: func(in *sqlite.Value, out *Value) error {
		if in.Type() == sqlite.Float && math.Abs(in.Float()) <= limit { // nearly always, and a call less
			out.number = in.Float()
			return nil
		}
		if err := decodeNumber(in, out); err != nil {
			return err
		}
		if math.Abs(out.number) > limit {
			return err
		}
		return nil
	}}
}

// decodeText decodes any text.
func decodeText(in *sqlite.Value, out *Value) error {
	if in.Type() != sqlite.Text {
		return ErrType
	}
	out.Text = in.Bytes()
	return nil
}

// printableText returns a kind of texts that are not empty and can be shown as they are.
func printableText(rule string) Kind {
	return Kind{Expects: "TEXT", Decode: func(in *sqlite.Value, out *Value) error {
		err := decodeText(in, out)
		if err == nil && !IsPrintable(out.Text) {
			err = errors.New(rule)
		}
		return err
	}}
}

// decodeFile decodes the name of a file.
func decodeFile(in *sqlite.Value, out *Value) error {
	err := decodeText(in, out)
	if err == nil && len(out.Text) == 0 {
		err = errors.New("must name a file")
	}
	return err
}

// AnswerOf returns a kind of the blobs that an aggregate returns. For NULL, which it returns
// without rows, the error says ifNull.
func AnswerOf(aggregate, ifNull string) Kind {
	return Kind{Expects: "a BLOB that " + aggregate + " returned", Decode: func(in *sqlite.Value, out *Value) error {
		switch in.Type() {
		case sqlite.Null:
			return errors.New("is NULL: " + ifNull)
		case sqlite.Blob:
			out.Text = in.Bytes()
			return nil
		}
		return ErrType
	}}
}

// DecodeAccount decodes an account that can be charged.
func DecodeAccount(in *sqlite.Value, out *Value) error {
	switch in.Type() {
	case sqlite.Text:
		if out.Text = in.Bytes(); len(out.Text) == 1 && out.Text[0] == '*' {
			return errors.New("'*' stands for every account and cannot be charged")
		}
		return nil
	case sqlite.Integer:
		out.Text = strconv.AppendInt(out.digits[:0], in.Int(), 10)
		return nil
	}
	return ErrType
}

// decodeAnyAccount decodes an account, or '*' for every account.
func decodeAnyAccount(in *sqlite.Value, out *Value) error {
	if in.Type() == sqlite.Text {
		return decodeText(in, out)
	}
	return DecodeAccount(in, out)
}

// decodeTime decodes a time, to the microsecond: seconds or milliseconds since 1970, or ISO 8601 text in UTC.
func decodeTime(in *sqlite.Value, out *Value) (err error) {
	if in.Type() == sqlite.Text {
		out.time, err = moment.Parse(string(in.Bytes()))
		return err
	}
	if err := decodeNumber(in, out); err != nil {
		return err
	}
	out.time, err = moment.Number(out.number)
	return err
}

// WholeNumber returns the kind of integers from 1 to most.
func WholeNumber(most int64, what string) Kind {
	err := fmt.Errorf("must be a whole number %sfrom 1 to %d", what, most)
	return Kind{Decode: func(in *sqlite.Value, out *Value) error {
		if in.Type() != sqlite.Integer || in.Int() < 1 || in.Int() > most {
			return err
		}
		out.number = float64(in.Int())
		return nil
	}}
}

// IsPrintable reports whether text is not empty and can be shown as it is.
func IsPrintable(text []byte) bool { return len(text) > 0 && printable.Is(string(text)) }

// Quoted returns text as a message shows it, on one line.
func Quoted[T string | []byte](text T) string { return "'" + printable.Text(string(text)) + "'" }

// FormatNumber returns a number as text without an exponent.
func FormatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
