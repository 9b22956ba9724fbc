package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// outcome returns a row as the statistics see it.
func outcome(row []any) bound.Outcome {
	var text []byte
	var values []float64
	for i, v := range row {
		if i > 0 {
			text = append(text, '|')
		}
		text, values = appendValue(text, values, v)
	}
	return bound.Outcome{Text: string(text), Values: values}
}

// appendValue appends a value's type and text, and the numbers in it.
func appendValue(text []byte, values []float64, v any) ([]byte, []float64) {
	switch v := v.(type) {
	case nil:
		return append(text, "null"...), append(values, math.NaN())
	case int64:
		return strconv.AppendInt(append(text, "i:"...), v, 10), append(values, float64(v))
	case float64:
		return strconv.AppendFloat(append(text, "r:"...), v, 'g', -1, 64), append(values, v)
	case string:
		return append(append(text, "t:"...), v...), appendNumbers(values, v)
	case []byte:
		return fmt.Appendf(text, "b:%x", v), values
	default:
		panic(fmt.Sprintf("a host answered a %T", v))
	}
}

// appendNumbers appends the numbers in a text, such as the coordinates of a point.
func appendNumbers(values []float64, text string) []float64 {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !numeric(r) }) {
		if x, err := strconv.ParseFloat(word, 64); err == nil {
			values = append(values, x)
		}
	}
	return values
}

// numeric reports whether a character may be part of a number without exponent.
func numeric(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == '-' }

// kind returns the type of a value, as SQLite's typeof does.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case int64:
		return "integer"
	case float64:
		return "real"
	case string:
		return "text"
	default:
		return "blob"
	}
}
