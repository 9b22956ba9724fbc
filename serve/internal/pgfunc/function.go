package pgfunc

import (
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A Function is a scalar function. The same arguments give the same answer. A nil argument is NULL.
type Function struct {
	Name, Returns string // the type in PostgreSQL
	Args          []int  // numbers of arguments
	Strict        bool   // NULL for a NULL argument
	Call          func(a []any) (any, error)
}

// List returns the functions, for one connection.
func List() []Function {
	var l library
	l.addCasts()
	l.addPatterns()
	l.addTexts()
	l.addNumbers()
	l.addTimes()
	l.addIntervals()
	l.addFormats()
	l.addArrays()
	l.addElements()
	return l
}

type library []Function

func (l *library) add(name, returns string, strict bool, args []int, call func([]any) (any, error)) {
	*l = append(*l, Function{name, returns, args, strict, call})
}

// maxText bounds the texts that functions build.
const maxText = 1_000_000

func tooLong(function string) error {
	return &Error{Code: CodeLimitExceeded, Message: function + ": the result is longer than 1000000 bytes"}
}

// addArray adds a function of an array, which its call gets as a list. It is NULL for NULL.
func (l *library) addArray(name, returns string, args []int, call func(list, a []any) (any, error)) {
	l.add(name, returns, false, args, func(a []any) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		elements, _, err := parseArray(Text(a[0]))
		if err != nil {
			return nil, err
		}
		return call(elements, a)
	})
}

// Result sets the answer of a call, or value i of a row.
func Result(c *sqlite.Call, i int, v any) {
	switch v := v.(type) {
	case nil:
		c.ResultNull(i)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		c.ResultInt(i, n)
	case int:
		c.ResultInt(i, int64(v))
	case int64:
		c.ResultInt(i, v)
	case uint32:
		c.ResultInt(i, int64(v))
	case float64:
		c.ResultFloat(i, v)
	case string:
		c.ResultString(i, v)
	case []byte:
		c.ResultBlob(i, v)
	}
}

// Text returns a value as a text, NULL as an empty one.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []byte:
		return string(v)
	}
	return ""
}

// Typed returns a whole number as one.
func Typed(e any) any {
	if s, ok := e.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
			return n
		}
	}
	return e
}

// Whole returns a whole number, or 0 for anything else.
func Whole(v any) int64 {
	n, _ := Typed(v).(int64)
	return n
}

// Truth returns a value as a boolean.
func Truth(v any) (bool, error) {
	switch v := v.(type) {
	case int64:
		return v != 0, nil
	case float64:
		return v != 0, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "t", "true", "y", "yes", "on", "1":
			return true, nil
		case "f", "false", "n", "no", "off", "0":
			return false, nil
		}
	}
	return false, &Error{Code: CodeBadText, Message: "a boolean is written as true or false"}
}
