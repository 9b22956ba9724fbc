package pgfunc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// badText returns the error about a text that is no value of a type.
func badText(kind, s string) error {
	return &Error{Code: CodeBadText, Message: fmt.Sprintf("invalid input syntax for type %s: %q", kind, s)}
}

func outOfRange(kind string) error {
	return &Error{Code: CodeOutOfRange, Message: kind + " out of range"}
}

// addStrictCasts adds the casts to numbers, dates and times. A text that is none is an error, as in PostgreSQL.
func (l *library) addStrictCasts() {
	for bits, t := range map[int][2]string{16: {"int2", "smallint"}, 32: {"int4", "integer"}, 64: {"int8", "bigint"}} {
		l.add("pg_"+t[0], t[0], true, []int{1}, func(a []any) (any, error) {
			n, isWhole := a[0].(int64)
			if f, is := a[0].(float64); is {
				if f = math.RoundToEven(f); f != f || math.Abs(f) >= 1<<63 {
					return nil, outOfRange(t[1])
				}
				n = int64(f)
			} else if !isWhole {
				s, _ := a[0].(string)
				parsed, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
				if e, is := err.(*strconv.NumError); is && e.Err == strconv.ErrRange {
					return nil, outOfRange(t[1])
				} else if err != nil {
					return nil, badText(t[1], Text(a[0]))
				}
				n = parsed
			}
			if n>>(bits-1) != 0 && n>>(bits-1) != -1 {
				return nil, outOfRange(t[1])
			}
			return n, nil
		})
	}
	l.add("pg_float8", "float8", true, []int{1}, func(a []any) (any, error) {
		switch v := a[0].(type) {
		case int64:
			return float64(v), nil
		case float64:
			return v, nil
		}
		return parseFloat("double precision", a[0])
	})
	l.add("pg_numeric", "numeric", true, []int{1, 2, 3}, numeric)
	l.add("pg_date", "date", true, []int{1}, func(a []any) (any, error) { return Date(a[0]) })
	for name, layout := range map[string]string{"timestamp": "2006-01-02 15:04:05.999999", "timestamptz": "2006-01-02 15:04:05.999999", "time": "15:04:05.999999"} {
		l.add("pg_"+name, name, true, []int{1}, func(a []any) (any, error) {
			t, err := timeValue(name, a[0])
			if err != nil {
				return nil, err
			}
			if name == "timestamptz" {
				t = t.UTC()
			}
			return t.Format(layout), nil
		})
	}
	for name, sign := range map[string]int64{"pg_plus": 1, "pg_minus": -1} {
		l.add(name, "any", true, []int{2}, func(a []any) (any, error) { return compute(a[0], a[1], sign) })
	}
}

// compute adds days to a date, or takes them from it. Of two dates the difference is their days.
func compute(a, b any, sign int64) (any, error) {
	t, err := timeValue("date", a)
	if err != nil {
		return nil, err
	}
	n, isWhole := b.(int64)
	if !isWhole && sign < 0 {
		from, err := timeValue("date", b)
		const day = 24 * 60 * 60
		return (t.Unix()-t.Unix()%day)/day - (from.Unix()-from.Unix()%day)/day, err
	}
	if !isWhole {
		return nil, badText("integer", Text(b))
	}
	if t = t.AddDate(0, 0, int(sign*max(-1e7, min(n, 1e7)))); t.Year() < 1 || t.Year() > 9999 {
		return nil, outOfRange("date")
	}
	return t.Format(time.DateOnly), nil
}

// parseFloat reads a text as a float, which is a number to SQLite.
func parseFloat(kind string, v any) (any, error) {
	s, _ := v.(string)
	s = strings.TrimSpace(s)
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case f != f && s != "":
		return nil, &Error{Code: CodeNotSupported, Message: "the dialect is SQLite's: it has no NaN", Hint: "Write NULL."}
	case err != nil && math.IsInf(f, 0):
		return nil, outOfRange(kind)
	case err != nil || strings.ContainsAny(s, "xX_pP"):
		return nil, badText(kind, Text(v))
	}
	return f, nil
}

// Number returns the number that a text is.
func Number(s string) (any, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	return parseFloat("numeric", s)
}

// numeric is the cast to numeric, with the number of digits, and of those behind the point: a whole number, or a float.
func numeric(a []any) (any, error) {
	v := a[0]
	if _, isWhole := v.(int64); !isWhole {
		if _, isFloat := v.(float64); !isFloat {
			var err error
			if v, err = Number(strings.TrimSpace(Text(v))); err != nil {
				return nil, badNumeric(err, a[0])
			}
		}
	}
	f, isFloat := v.(float64)
	if !isFloat {
		f = float64(v.(int64))
	}
	if math.IsInf(f, 0) {
		return nil, &Error{Code: CodeNotSupported, Message: "the dialect is SQLite's: it has no infinite numeric"}
	}
	if len(a) > 1 {
		digits, scale := Whole(a[1]), int64(0)
		if len(a) > 2 {
			scale = Whole(a[2])
		}
		if isFloat && scale >= 0 && scale <= 15 {
			f = roundDecimal(f, int(scale))
			v = f
		}
		if math.Abs(f) >= math.Pow(10, float64(digits-scale)) {
			return nil, &Error{Code: CodeOutOfRange, Message: "numeric field overflow"}
		}
	}
	if isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), nil
	}
	return v, nil
}

func badNumeric(err error, v any) error {
	if e, is := err.(*Error); is && e.Code == CodeBadText {
		return badText("numeric", Text(v))
	}
	return err
}

// roundDecimal rounds a float as its shortest decimals are rounded, halves away from zero.
func roundDecimal(f float64, scale int) float64 {
	s := strconv.FormatFloat(math.Abs(f), 'f', -1, 64)
	point := strings.IndexByte(s, '.')
	if point < 0 || len(s)-point-1 <= scale {
		return f
	}
	up := s[point+1+scale] >= '5'
	cut, _ := strconv.ParseFloat(s[:point+1+scale], 64)
	if up {
		cut, _ = strconv.ParseFloat(strconv.FormatFloat(cut+math.Pow(10, -float64(scale)), 'f', scale, 64), 64)
	}
	return math.Copysign(cut, f)
}

// Date returns the day of a date or time.
func Date(v any) (any, error) {
	t, err := timeValue("date", v)
	if err != nil {
		return nil, err
	}
	return t.Format(time.DateOnly), nil
}

// How dates and times are read.
var (
	readClocks = []string{"15:04:05", "15:04"}
	readDates  = []string{"2006-01-02", "2006-1-2", "20060102"}
	readTimes  = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05Z07", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00"}
)

// timeValue reads a date or time.
func timeValue(kind string, v any) (time.Time, error) {
	text, _ := v.(string)
	s := strings.Replace(strings.TrimSpace(text), "T", " ", 1)
	layouts := readTimes
	if len(s) <= len(time.DateOnly) {
		layouts = readDates
	}
	if kind == "time" {
		layouts = slices.Concat(layouts, readClocks)
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, s)
		if err == nil {
			return t, nil
		}
		if e, is := errors.AsType[*time.ParseError](err); is && strings.HasSuffix(e.Message, "out of range") {
			return time.Time{}, &Error{Code: CodeTimeRange, Message: fmt.Sprintf("date/time field value out of range: %q", text)}
		}
	}
	return time.Time{}, &Error{Code: CodeBadTime, Message: fmt.Sprintf("invalid input syntax for type %s: %q", kind, Text(v)),
		Hint: "Write it as 2024-01-31 or 2024-01-31 12:00:00; the day of now is current_date."}
}
