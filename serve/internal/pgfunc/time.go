package pgfunc

import (
	"fmt"
	"strings"
	"time"
)

// addTimes adds the functions of times.
func (l *library) addTimes() {
	l.add("date_part", "float8", true, []int{2}, datePart)
	l.add("date_trunc", "timestamp", true, []int{2}, dateTrunc)
}

// parseTime reads a time as SQLite writes it, or seconds since 1970.
func parseTime(v any) (t time.Time, ok bool) {
	switch v := v.(type) {
	case int64:
		return time.Unix(v, 0).UTC(), true
	case string:
		for _, layout := range []string{"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02 15:04:05.999999999",
			"2006-01-02 15:04", "2006-01-02"} {
			if t, err := time.Parse(layout, strings.Replace(strings.TrimSpace(v), "T", " ", 1)); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// dateParts are the fields of extract.
var dateParts = map[string]func(t time.Time) any{
	"epoch":   func(t time.Time) any { return float64(t.UnixMicro()) / 1e6 },
	"year":    func(t time.Time) any { return t.Year() },
	"quarter": func(t time.Time) any { return int(t.Month()+2) / 3 },
	"month":   func(t time.Time) any { return int(t.Month()) },
	"week":    func(t time.Time) any { _, week := t.ISOWeek(); return week },
	"isoyear": func(t time.Time) any { year, _ := t.ISOWeek(); return year },
	"day":     func(t time.Time) any { return t.Day() },
	"doy":     func(t time.Time) any { return t.YearDay() },
	"dow":     func(t time.Time) any { return int(t.Weekday()) },
	"isodow":  func(t time.Time) any { return int(t.Weekday()+6)%7 + 1 },
	"hour":    func(t time.Time) any { return t.Hour() },
	"minute":  func(t time.Time) any { return t.Minute() },
	"second":  func(t time.Time) any { return float64(t.Second()) + float64(t.Nanosecond())/1e9 },
}

// datePart is extract(field FROM time). A value that is no time gives NULL, as in SQLite's own functions.
func datePart(a []any) (any, error) {
	t, ok := parseTime(a[1])
	if !ok {
		return nil, nil
	}
	if part := dateParts[strings.ToLower(Text(a[0]))]; part != nil {
		return part(t), nil
	}
	return nil, &Error{Code: CodeBadParameter, Message: fmt.Sprintf("extract has no field %q here", Text(a[0]))}
}

// truncated are the fields of date_trunc: how the time is written up to the field, and the rest.
var truncated = map[string][2]string{
	"year": {"2006", "-01-01 00:00:00"}, "month": {"2006-01", "-01 00:00:00"}, "day": {"2006-01-02", " 00:00:00"},
	"hour": {"2006-01-02 15", ":00:00"}, "minute": {"2006-01-02 15:04", ":00"}, "second": {"2006-01-02 15:04:05", ""},
}

// dateTrunc is date_trunc(field, time).
func dateTrunc(a []any) (any, error) {
	t, ok := parseTime(a[1])
	if !ok {
		return nil, nil
	}
	field := strings.ToLower(Text(a[0]))
	switch field {
	case "quarter":
		field, t = "month", time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "week":
		field, t = "day", t.AddDate(0, 0, -(int(t.Weekday()+6)%7))
	}
	if to, known := truncated[field]; known {
		return t.Format(to[0]) + to[1], nil
	}
	return nil, &Error{Code: CodeBadParameter, Message: fmt.Sprintf("date_trunc has no field %q here", Text(a[0]))}
}
