package pgfunc

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An interval is a length of time as PostgreSQL has it. Months and days are no fixed lengths.
type interval struct {
	months, days int64
	rest         time.Duration // in whole microseconds
}

// day is the length of a day without a change of the clock.
const day = 24 * time.Hour

// span returns the length by which intervals are compared, with months of 30 days.
func (i interval) span() time.Duration { return time.Duration(i.months*30+i.days)*day + i.rest }

// plus returns i + n*j.
func (i interval) plus(n int64, j interval) interval {
	return interval{i.months + n*j.months, i.days + n*j.days, i.rest + time.Duration(n)*j.rest}
}

// times returns the interval n times. Parts of months become days, and parts of days hours.
func (i interval) times(n float64) interval {
	months, part := math.Modf(float64(i.months) * n)
	days, hours := math.Modf(micro(float64(float64(i.days)*n) + float64(part*30)))
	rest := float64(float64(i.rest.Microseconds())*n) + float64(hours*float64(day.Microseconds()))
	return interval{int64(months), int64(days), time.Duration(math.RoundToEven(rest)) * time.Microsecond}
}

// micro rounds days so that the error of a computation with binary numbers is no microsecond.
func micro(days float64) float64 { return math.Round(days*1e12) / 1e12 }

// String returns the interval as PostgreSQL shows it.
func (i interval) String() string {
	var parts []string
	negative := false
	for _, p := range []struct {
		n    int64
		unit string
	}{{i.months / 12, "year"}, {i.months % 12, "mon"}, {i.days, "day"}} {
		if p.n == 0 {
			continue
		}
		s := fmt.Sprintf("%d %s", p.n, p.unit)
		if p.n != 1 {
			s += "s"
		}
		if negative && p.n > 0 {
			s = "+" + s
		}
		negative = p.n < 0
		parts = append(parts, s)
	}
	if i.rest != 0 || len(parts) == 0 {
		sign := ""
		switch {
		case i.rest < 0:
			sign = "-"
		case negative:
			sign = "+"
		}
		us := i.rest.Abs().Microseconds()
		parts = append(parts, fmt.Sprintf("%s%02d:%02d:%02d", sign, us/3_600_000_000, us/60_000_000%60, us/1_000_000%60)+fraction(us%1_000_000))
	}
	return strings.Join(parts, " ")
}

// fraction returns microseconds as a fraction of a second, with as few digits as say it.
func fraction(us int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf(".%06d", us), "0"), ".")
}

// intervalUnits are the units of intervals by their names.
var intervalUnits = func() map[string]interval {
	m := map[string]interval{}
	for names, unit := range map[string]interval{
		"us usec usecs microsecond microseconds": {rest: time.Microsecond}, "ms msec msecs millisecond milliseconds": {rest: time.Millisecond},
		"s sec secs second seconds": {rest: time.Second}, "m min mins minute minutes": {rest: time.Minute}, "h hr hrs hour hours": {rest: time.Hour},
		"d day days": {days: 1}, "w week weeks": {days: 7}, "mon mons month months": {months: 1}, "y yr yrs year years": {months: 12},
		"dec decs decade decades": {months: 120}, "c cent century centuries": {months: 1200}, "mil mils millennium millennia": {months: 12000},
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = unit
		}
	}
	return m
}()

// isoUnits are the letters of intervals such as P1Y2M3DT4H5M6S, before and behind the T.
var isoUnits = [2]map[string]string{{"Y": "y", "M": "mon", "W": "w", "D": "d"}, {"H": "h", "M": "m", "S": "s"}}

var (
	part    = regexp.MustCompile(`^\s*([+-]?)(?:(\d+):(\d\d?)(?::(\d\d?(?:\.\d*)?))?|(\d+)-(\d+)|(\d*\.?\d+|\d+\.)\s*([A-Za-z]*))`)
	isoPart = regexp.MustCompile(`^([+-]?\d*\.?\d+)([A-Z])|^T`)
)

// parseInterval reads an interval such as 1 day 02:30, 7 days ago or P1DT2H.
func parseInterval(s string) (i interval, err error) {
	bad := &Error{Code: CodeBadTime, Message: fmt.Sprintf("invalid input syntax for type interval: %q", s), Hint: "Write it as '7 days' or '1 month 02:30:00'."}
	number := func(digits, unit string) error {
		n, err := strconv.ParseFloat(digits, 64)
		u, known := intervalUnits[unit]
		if err != nil || !known || math.Abs(n) > 1e9 {
			return bad
		}
		if u.months > 0 { // whole months, and a part of one in days
			months := math.Trunc(float64(n * float64(u.months)))
			if u.months > 1 {
				months = math.Round(float64(n * float64(u.months)))
				n = 0
			} else {
				n -= months
			}
			i.months += int64(months)
			i = i.plus(1, interval{days: 30}.times(n))
			return nil
		}
		i = i.plus(1, u.times(n))
		return nil
	}
	rest := strings.TrimSpace(s)
	if iso, is := strings.CutPrefix(rest, "P"); is {
		for half := 0; iso != ""; {
			m := isoPart.FindStringSubmatch(iso)
			switch {
			case m == nil:
				return i, bad
			case m[0] == "T":
				half = 1
			default:
				if err := number(m[1], isoUnits[half][m[2]]); err != nil {
					return i, err
				}
			}
			iso = iso[len(m[0]):]
		}
		return i, nil
	}
	rest = strings.TrimSpace(strings.TrimPrefix(rest, "@"))
	rest, ago := strings.CutSuffix(rest, " ago")
	if rest == "" {
		return i, bad
	}
	for rest != "" {
		m := part.FindStringSubmatch(rest)
		if m == nil {
			return i, bad
		}
		sign := map[string]string{"-": "-"}[m[1]]
		var err error
		switch {
		case m[2] != "":
			for k, unit := range []string{"h", "m", "s"} {
				if digits := m[2+k]; digits != "" && err == nil {
					err = number(sign+digits, unit)
				}
			}
		case m[5] != "":
			if err = number(sign+m[5], "y"); err == nil {
				err = number(sign+m[6], "mon")
			}
		default:
			err = number(sign+m[7], cmp.Or(strings.ToLower(m[8]), "s"))
		}
		if err != nil {
			return i, err
		}
		rest = strings.TrimSpace(rest[len(m[0]):])
	}
	if ago {
		i = interval{}.plus(-1, i)
	}
	return i, nil
}

// intervalOf reads a value as an interval.
func intervalOf(v any) (interval, error) {
	s, isText := v.(string)
	if !isText {
		s = Text(v) + ": a number is no interval"
	}
	return parseInterval(s)
}

// shift adds n intervals to a time: first months, of which the last day is the last one there, then days, then the rest.
func (m moment) shift(n int64, i interval) moment {
	months := int64(m.Month()) - 1 + n*i.months
	first := time.Date(m.Year(), time.Month(months+1), 1, 0, 0, 0, 0, time.UTC)
	day := min(m.Day(), first.AddDate(0, 1, -1).Day())
	clock := m.Sub(time.Date(m.Year(), m.Month(), m.Day(), 0, 0, 0, 0, time.UTC))
	m.Time = time.Date(first.Year(), first.Month(), day+int(n*i.days), 0, 0, 0, 0, time.UTC).Add(clock + time.Duration(n)*i.rest)
	if m.form == asDate {
		m.form = asTimestamp
	}
	return m
}

// since returns the interval from another time to m: days and a rest.
func (m moment) since(o moment) interval {
	us := m.UnixMicro() - o.UnixMicro()
	const perDay = int64(24 * time.Hour / time.Microsecond)
	return interval{0, us / perDay, time.Duration(us%perDay) * time.Microsecond}
}

// age returns the interval from another time to m in years, months and days of the calendar.
func (m moment) age(o moment) interval {
	later, earlier, sign := m, o, int64(1)
	if m.Before(o.Time) {
		later, earlier, sign = o, m, -1
	}
	clock := func(t moment) time.Duration {
		return t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
	}
	i := interval{int64(later.Year()-earlier.Year())*12 + int64(later.Month()-earlier.Month()), int64(later.Day() - earlier.Day()), clock(later) - clock(earlier)}
	if i.rest < 0 {
		i.rest += day
		i.days--
	}
	if i.days < 0 { // a month has the days of the month of the earlier time
		i.days += int64(time.Date(earlier.Year(), earlier.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		i.months--
	}
	return interval{}.plus(sign, i)
}

// add is x + y, or with a sign of -1 x - y, where one of them is a date, a time or an interval.
func add(sign int64) func(a []any) (any, error) {
	return func(a []any) (any, error) {
		x, isTime := momentOf(a[0])
		y, both := momentOf(a[1])
		n, isNumber := Typed(a[1]).(int64)
		switch {
		case isTime && both && sign < 0 && x.form == asDate && y.form == asDate:
			return x.since(y).days, nil
		case isTime && both && sign < 0:
			return x.since(y).String(), nil
		case isTime && both:
			return nil, &Error{Code: CodeNoFunction, Message: "two times cannot be added", Hint: "Add an interval, as in t + interval '1 day'."}
		case isTime && isNumber && x.form == asDate:
			x.Time = x.AddDate(0, 0, int(sign*n))
			return x.String(), nil
		case both && sign > 0:
			return add(sign)([]any{a[1], a[0]})
		case isTime:
			i, err := intervalOf(a[1])
			return x.shift(sign, i).String(), err
		}
		i, err := intervalOf(a[0])
		if err != nil {
			return nil, err
		}
		j, err := intervalOf(a[1])
		return i.plus(sign, j).String(), err
	}
}

// scale is x * y, or x / y, where one of them is an interval.
func scale(power float64) func(a []any) (any, error) {
	return func(a []any) (any, error) {
		n, isNumber := number(a[1])
		x := a[0]
		if first, is := number(a[0]); is && !isNumber && power > 0 {
			n, isNumber, x = first, true, a[1]
		}
		i, err := intervalOf(x)
		if err != nil {
			return nil, err
		}
		if !isNumber || power < 0 && n == 0 {
			return nil, &Error{Code: CodeBadParameter, Message: "an interval is multiplied and divided by a number that is not 0"}
		}
		return i.times(math.Pow(n, power)).String(), nil
	}
}

// addIntervals adds the functions of intervals, by which operators are written.
func (l *library) addIntervals() {
	l.add("pg_interval", "interval", true, []int{1, 2}, func(a []any) (any, error) {
		text := Text(a[0])
		if len(a) == 2 { // interval '7' day
			text += " " + Text(a[1])
		}
		i, err := parseInterval(text)
		return i.String(), err
	})
	l.add("pg_add", "text", true, []int{2}, add(1))
	l.add("pg_subtract", "text", true, []int{2}, add(-1))
	l.add("pg_multiply", "interval", true, []int{2}, scale(1))
	l.add("pg_divide", "interval", true, []int{2}, scale(-1))
	l.add("pg_span", "int8", true, []int{1}, func(a []any) (any, error) {
		i, err := intervalOf(a[0])
		return i.span().Microseconds(), err
	})
	l.add("age", "interval", true, []int{2}, func(a []any) (any, error) {
		x, err := timeOf(a[0])
		if err != nil {
			return nil, err
		}
		y, err := timeOf(a[1])
		return x.age(y).String(), err
	})
}
