package sqlitefn

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/geosql/geosql/internal/moment"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// An argument is an argument of one or several functions. Its place in a call follows from
// the list of the function that is called.
type argument struct {
	name     string
	is       string // type and meaning
	kind     kind
	optional bool

	// setting tells of a public argument that rows mostly repeat. It is constant within a
	// group, and a statement keeps what was made of the settings while they stay the same.
	setting bool
}

// A kind says which SQL values an argument takes. No message of a kind shows a secret.
type kind struct {
	expects  string // of the type, as in "must be TEXT"
	nullable bool   // NULL is taken too, and is not decoded
	decode   func(in *sqlite.Value, out *value) error
}

// value is the decoded value of an argument.
type value struct {
	given  bool // passed, and not NULL
	number float64
	text   []byte // valid during the call
	time   time.Time

	digits [20]byte // room for the text of an account that is a number
}

// errType is the error of a value whose type is not the one that its kind expects.
var errType = errors.New("wrong type")

// The kinds of arguments.
var (
	kindNumber      = kind{expects: "a number", decode: decodeNumber}
	kindPositive    = number(func(x float64) bool { return x > 0 }, "must be above 0")
	kindNotNegative = number(func(x float64) bool { return x >= 0 }, "must not be below 0")
	kindProbability = number(func(x float64) bool { return 0 <= x && x < 1 }, "must be at least 0 and less than 1")

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
	kindWindow = kind{decode: decodeWindow}

	// kindAccount is an account that pays: TEXT, or INTEGER meaning its decimal text.
	// For kindContributor NULL stands for nobody, as in rows that contribute nothing, and
	// kindAnyAccount takes '*', which stands for every account.
	kindAccount     = kind{expects: "TEXT or INTEGER", decode: decodeAccount}
	kindContributor = orNull(kindAccount)
	kindAnyAccount  = kind{expects: "TEXT or INTEGER", decode: decodeAnyAccount}
)

// orNull is a kind that takes NULL too.
func orNull(k kind) kind {
	k.nullable = true
	return k
}

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

// number is a kind of public numbers.
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

// degrees is a kind of coordinates.
func degrees(limit float64) kind {
	err := errors.New("must lie between -" + formatNumber(limit) + " and " + formatNumber(limit))
	return kind{expects: "a number", decode: func(in *sqlite.Value, out *value) error {
		if err := decodeNumber(in, out); err != nil {
			return err
		}
		if math.Abs(out.number) > limit {
			return err
		}
		return nil
	}}
}

func decodeText(in *sqlite.Value, out *value) error {
	if in.Type() != sqlite.Text {
		return errType
	}
	out.text = in.Bytes()
	return nil
}

// printableText is a kind of texts that are not empty and can be shown as they are.
func printableText(rule string) kind {
	return kind{expects: "TEXT", decode: func(in *sqlite.Value, out *value) error {
		err := decodeText(in, out)
		if err == nil && !isName(out.text) {
			err = errors.New(rule)
		}
		return err
	}}
}

func decodeFile(in *sqlite.Value, out *value) error {
	err := decodeText(in, out)
	if err == nil && len(out.text) == 0 {
		err = errors.New("must name a file")
	}
	return err
}

// answerOf is a kind of the blobs that an aggregate answers: NULL where it had no rows.
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

// decodeWindow decodes the length of a window in seconds.
func decodeWindow(in *sqlite.Value, out *value) error {
	if in.Type() != sqlite.Integer || in.Int() < 1 || in.Int() > ledger.MaxWindow {
		return errors.New("must be a whole number of seconds from 1 to " + strconv.Itoa(ledger.MaxWindow))
	}
	out.number = float64(in.Int())
	return nil
}

// isName reports whether text is not empty and can be shown as it is.
func isName(text []byte) bool { return len(text) > 0 && printable.Is(string(text)) }

// quoted is text as a message shows it, on one line.
func quoted[T string | []byte](text T) string { return "'" + printable.Text(string(text)) + "'" }

// plain prints a number without an exponent.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
