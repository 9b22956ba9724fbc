package pgfunc

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
	_ "time/tzdata" // a session cannot read files
)

// addTimes adds the functions of times.
func (l *library) addTimes() {
	l.add("date_part", "float8", true, []int{2}, datePart)
	l.add("date_trunc", "timestamp", true, []int{2}, dateTrunc)
	l.add("date_bin", "timestamp", true, []int{3}, dateBin)
	l.add("timezone", "text", true, []int{2}, timeZone)
	l.add("make_date", "date", true, []int{3}, func(a []any) (any, error) {
		y, m, d := int(Whole(a[0])), int(Whole(a[1])), int(Whole(a[2]))
		t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		if t.Year() != y || int(t.Month()) != m || t.Day() != d || y < 1 || y > 9999 {
			return nil, &Error{Code: CodeTimeRange, Message: fmt.Sprintf("date field value out of range: %d-%02d-%02d", y, m, d)}
		}
		return moment{t, asDate}.String(), nil
	})
}

// A moment is a date or a time.
type moment struct {
	time.Time // in UTC
	form      form
}

// A form is how a moment is written.
type form int

const (
	asDate      form = iota
	asTimestamp      // without a time zone
	asInstant        // with one
)

// layouts are how moments are read.
var layouts = []struct {
	layout string
	form   form
}{{"2006-01-02 15:04:05.999999999Z07:00", asInstant}, {"2006-01-02 15:04:05.999999999-07", asInstant}, {"2006-01-02 15:04:05.999999999", asTimestamp},
	{"2006-01-02 15:04", asTimestamp}, {"2006-01-02", asDate}}

// momentOf reads a text as a moment.
func momentOf(v any) (m moment, ok bool) {
	s, _ := v.(string)
	if len(s) < len("2006-01-02") {
		return moment{}, false
	}
	s = strings.Replace(strings.TrimSpace(s), "T", " ", 1)
	for _, l := range layouts {
		if t, err := time.Parse(l.layout, s); err == nil {
			return moment{t.UTC().Round(time.Microsecond), l.form}, true
		}
	}
	return moment{}, false
}

// timeOf reads a moment that has to be one.
func timeOf(v any) (moment, error) {
	if m, ok := momentOf(v); ok {
		return m, nil
	}
	return moment{}, &Error{Code: CodeBadTime, Message: fmt.Sprintf("invalid input syntax for type timestamp: %q", Text(v)), Hint: "Write it as '2024-01-31 12:00:00'."}
}

// String returns the moment as PostgreSQL shows it.
func (m moment) String() string {
	return m.Format(map[form]string{asDate: "2006-01-02", asTimestamp: "2006-01-02 15:04:05.999999", asInstant: "2006-01-02 15:04:05.999999+00"}[m.form])
}

// Timestamp returns a time as PostgreSQL shows it, with its time zone.
func Timestamp(t time.Time) string { return moment{t.UTC(), asInstant}.String() }

// parseTime reads a time as SQLite writes it, or seconds since 1970.
func parseTime(v any) (t time.Time, ok bool) {
	if n, isNumber := v.(int64); isNumber {
		return time.Unix(n, 0).UTC(), true
	}
	m, ok := momentOf(v)
	return m.Time, ok
}

// timeZone is x AT TIME ZONE zone: the clock there of a time that has a zone, and the instant of a clock there otherwise.
func timeZone(a []any) (any, error) {
	m, err := timeOf(a[1])
	if err != nil {
		return nil, err
	}
	name := Text(a[0])
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, &Error{Code: CodeBadParameter, Message: fmt.Sprintf("time zone %q not recognized", name), Hint: "Write a name such as 'Europe/Paris', or 'UTC'."}
	}
	if m.form == asInstant {
		_, offset := m.In(zone).Zone()
		return moment{m.Add(time.Duration(offset) * time.Second), asTimestamp}.String(), nil
	}
	// A clock that is put back shows a time twice, of which the later one is meant. One that is put forward leaves times out:
	// they count from the time before.
	_, before := m.Add(-day).In(zone).Zone()
	_, after := m.Add(day).In(zone).Zone()
	t := m.Add(-time.Duration(min(before, after)) * time.Second)
	if early := m.Add(-time.Duration(max(before, after)) * time.Second); before != after {
		if _, offset := early.In(zone).Zone(); offset == max(before, after) {
			if _, later := t.In(zone).Zone(); later != min(before, after) {
				t = early
			}
		}
	}
	return moment{t, asInstant}.String(), nil
}

// dateBin is date_bin(stride, time, origin).
func dateBin(a []any) (any, error) {
	stride, err := intervalOf(a[0])
	if err != nil {
		return nil, err
	}
	t, err := timeOf(a[1])
	if err != nil {
		return nil, err
	}
	origin, err := timeOf(a[2])
	step := stride.span().Microseconds()
	if err != nil || step <= 0 || stride.months != 0 {
		return nil, cmp.Or[error](err, &Error{Code: CodeBadParameter, Message: "date_bin takes a stride above 0, without months"})
	}
	from := origin.UnixMicro()
	bins := int64(math.Floor(float64(t.UnixMicro()-from) / float64(step)))
	t.Time, t.form = time.UnixMicro(from+bins*step).UTC(), max(t.form, asTimestamp)
	return t.String(), nil
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
	"decade":  func(t time.Time) any { return t.Year() / 10 },
	"century": func(t time.Time) any { return (t.Year() + 99) / 100 },

	"millennium":   func(t time.Time) any { return (t.Year() + 999) / 1000 },
	"milliseconds": func(t time.Time) any { return float64(t.Second())*1e3 + float64(t.Nanosecond())/1e6 },
	"microseconds": func(t time.Time) any { return t.Second()*1e6 + t.Nanosecond()/1e3 },
	"timezone":     func(time.Time) any { return 0 },
}

// intervalParts are those of an interval. A month has 30 days, a year 365.25.
var intervalParts = map[string]func(i interval) any{
	"epoch": func(i interval) any {
		return float64(i.months/12)*31557600 + float64(i.months%12*30+i.days)*86400 + float64(i.rest.Microseconds())/1e6
	},
	"year":    func(i interval) any { return i.months / 12 },
	"quarter": func(i interval) any { return i.months%12/3 + 1 },
	"month":   func(i interval) any { return i.months % 12 },
	"day":     func(i interval) any { return i.days },
	"hour":    func(i interval) any { return int64(i.rest / time.Hour) },
	"minute":  func(i interval) any { return int64(i.rest / time.Minute % 60) },
	"second":  func(i interval) any { return float64((i.rest % time.Minute).Microseconds()) / 1e6 },
}

// datePart is extract(field FROM time), also of an interval. Any other value gives NULL, as in SQLite's own functions.
func datePart(a []any) (any, error) {
	field := strings.ToLower(Text(a[0]))
	t, ok := parseTime(a[1])
	i, err := intervalOf(a[1])
	switch {
	case ok && dateParts[field] != nil:
		return dateParts[field](t), nil
	case ok || intervalParts[field] == nil && err == nil: // an unknown field
	case err != nil:
		return nil, nil
	default:
		return intervalParts[field](i), nil
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
