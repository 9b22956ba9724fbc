package sqlitefn

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

// An argument is an argument of one or several functions. Its position in a call is that in
// the list of the function that is called.
type argument struct {
	name     string
	is       string // type and meaning
	kind     kind
	optional bool

	// setting marks a public argument that mostly stays the same from row to row. It must be
	// constant within a group, and a statement keeps what was built from the settings while
	// they stay the same.
	setting bool
}

// A kind defines which SQL values an argument accepts. No message of a kind shows a secret.
type kind struct {
	expects  string // of the type, as in "must be TEXT"
	nullable bool   // NULL is accepted too, and is not decoded
	public   bool   // a value of the wrong type can be shown
	sealed   bool   // it may be a sealed value
	decode   func(in *sqlite.Value, out *value) error
}

// value holds the decoded value of an argument.
type value struct {
	given  bool // passed, and not NULL
	number float64
	text   []byte // valid during the call
	time   time.Time
	sealed bool // whether an argument that may be an account is a sealed value

	digits [20]byte // room for the text of an account that is a number
}

// errType reports that a value does not have the type that its kind expects.
var errType = errors.New("wrong type")

// The kinds of arguments.
var (
	kindNumber      = kind{expects: "a number", decode: decodeNumber}
	kindPositive    = number(func(x float64) bool { return x > 0 }, "must be above 0")
	kindNotNegative = number(func(x float64) bool { return x >= 0 }, "must not be below 0")
	kindProbability = number(func(x float64) bool { return 0 <= x && x < 1 }, "must be at least 0 and less than 1")
	kindInside      = number(func(x float64) bool { return 0 < x && x < 1 }, "must be above 0 and less than 1")

	kindReading         = orNull(kindNumber) // secret
	kindLatitude        = degrees(90)
	kindLongitude       = degrees(180)
	kindSecretLatitude  = orNull(kindLatitude)
	kindSecretLongitude = orNull(kindLongitude)

	kindText   = kind{expects: "TEXT", decode: decodeText}
	kindName   = printableText("must be printable text") // of a declaration
	kindUnit   = printableText("must be the name of a unit, such as 'm' or 'kWh'")
	kindFile   = kind{expects: "TEXT", decode: decodeFile}
	kindTime   = kind{expects: "a number", decode: decodeTime}
	kindWindow = wholeNumber(ledger.MaxWindow, "of seconds ")
	kindRows   = wholeNumber(1<<53, "")

	// kindAccount is an account that pays: TEXT, or INTEGER meaning its decimal text.
	// For kindContributor NULL stands for nobody, as in rows that contribute nothing.
	// kindAnyAccount accepts '*', which stands for every account.
	kindAccount     = kind{expects: "TEXT or INTEGER", public: true, decode: decodeAccount}
	kindContributor = orNull(kindAccount)
	kindAnyAccount  = kind{expects: "TEXT or INTEGER", public: true, decode: decodeAnyAccount}
)

// orNull returns the kind that accepts NULL too.
func orNull(k kind) kind {
	k.nullable = true
	return k
}

// decodeNumber decodes a finite number.
func decodeNumber(in *sqlite.Value, out *value) error {
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
	return errType
}

// number returns a kind of public numbers for which valid holds.
func number(valid func(float64) bool, rule string) kind {
	return kind{expects: "a number", decode: func(in *sqlite.Value, out *value) error {
		if err := decodeNumber(in, out); err != nil {
			return err
		}
		if !valid(out.number) {
			return errors.New(rule + ", got " + formatNumber(out.number))
		}
		return nil
	}}
}

// degrees returns a kind of coordinates from -limit to limit.
func degrees(limit float64) kind {
	err := errors.New("must lie between -" + formatNumber(limit) + " and " + formatNumber(limit))
	return kind{expects: "a number", decode: func(in *sqlite.Value, out *value) error {
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
func decodeText(in *sqlite.Value, out *value) error {
	if in.Type() != sqlite.Text {
		return errType
	}
	out.text = in.Bytes()
	return nil
}

// printableText returns a kind of texts that are not empty and can be shown as they are.
func printableText(rule string) kind {
	return kind{expects: "TEXT", decode: func(in *sqlite.Value, out *value) error {
		err := decodeText(in, out)
		if err == nil && !isName(out.text) {
			err = errors.New(rule)
		}
		return err
	}}
}

// decodeFile decodes the name of a file.
func decodeFile(in *sqlite.Value, out *value) error {
	err := decodeText(in, out)
	if err == nil && len(out.text) == 0 {
		err = errors.New("must name a file")
	}
	return err
}

// answerOf returns a kind of the blobs that an aggregate returns. For NULL, which it returns
// without rows, the error says ifNull.
func answerOf(aggregate, ifNull string) kind {
	return kind{expects: "a BLOB that " + aggregate + " returned", decode: func(in *sqlite.Value, out *value) error {
		switch in.Type() {
		case sqlite.Null:
			return errors.New("is NULL: " + ifNull)
		case sqlite.Blob:
			out.text = in.Bytes()
			return nil
		}
		return errType
	}}
}

// decodeAccount decodes an account that can be charged.
func decodeAccount(in *sqlite.Value, out *value) error {
	switch in.Type() {
	case sqlite.Text:
		if out.text = in.Bytes(); len(out.text) == 1 && out.text[0] == '*' {
			return errors.New("'*' stands for every account and cannot be charged")
		}
		return nil
	case sqlite.Integer:
		out.text = strconv.AppendInt(out.digits[:0], in.Int(), 10)
		return nil
	}
	return errType
}

// decodeAnyAccount decodes an account, or '*' for every account.
func decodeAnyAccount(in *sqlite.Value, out *value) error {
	if in.Type() == sqlite.Text {
		return decodeText(in, out)
	}
	return decodeAccount(in, out)
}

// decodeTime decodes a time, to the microsecond: seconds since 1970, or ISO 8601 text in UTC.
func decodeTime(in *sqlite.Value, out *value) (err error) {
	if in.Type() == sqlite.Text {
		out.time, err = moment.Parse(string(in.Bytes()))
		return err
	}
	if err := decodeNumber(in, out); err != nil {
		return err
	}
	out.time, err = moment.Seconds(out.number)
	return err
}

// wholeNumber returns the kind of integers from 1 to most.
func wholeNumber(most int64, what string) kind {
	err := fmt.Errorf("must be a whole number %sfrom 1 to %d", what, most)
	return kind{decode: func(in *sqlite.Value, out *value) error {
		if in.Type() != sqlite.Integer || in.Int() < 1 || in.Int() > most {
			return err
		}
		out.number = float64(in.Int())
		return nil
	}}
}

// isName reports whether text is not empty and can be shown as it is.
func isName(text []byte) bool { return len(text) > 0 && printable.Is(string(text)) }

// quoted returns text as a message shows it, on one line.
func quoted[T string | []byte](text T) string { return "'" + printable.Text(string(text)) + "'" }

// formatNumber returns a number as text without an exponent.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
