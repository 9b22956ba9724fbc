package pgfunc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// addFormats adds the functions that write and read times and numbers in a form.
func (l *library) addFormats() {
	l.add("to_char", "text", true, []int{2}, func(a []any) (any, error) {
		form := Text(a[1])
		if n, isNumber := number(a[0]); isNumber {
			return numberForm(n, form)
		}
		if m, ok := momentOf(a[0]); ok {
			return timeForm(clock{m.Year(), int(m.Month()), m.Day(), m.Sub(m.Truncate(day)), &m}, form)
		}
		i, err := intervalOf(a[0])
		if err != nil {
			return nil, err
		}
		return timeForm(clock{int(i.months / 12), int(i.months % 12), int(i.days), i.rest, nil}, form)
	})
	l.add("to_timestamp", "timestamptz", true, []int{1, 2}, func(a []any) (any, error) {
		if len(a) == 2 {
			t, err := readTime(Text(a[0]), Text(a[1]))
			return moment{t, asInstant}.String(), err
		}
		n, isNumber := number(a[0])
		if !isNumber || math.Abs(n) > 250e9 {
			return nil, &Error{Code: CodeTimeRange, Message: "to_timestamp takes seconds since 1970, or a text and its form"}
		}
		return Timestamp(time.UnixMicro(int64(math.RoundToEven(n * 1e6)))), nil
	})
	l.add("to_date", "date", true, []int{2}, func(a []any) (any, error) {
		t, err := readTime(Text(a[0]), Text(a[1]))
		return moment{t, asDate}.String(), err
	})
}

// A clock has the parts of a time that forms show, or of an interval, which is no moment.
type clock struct {
	year, month, day int
	time             time.Duration // of the day
	moment           *moment
}

// hour12 returns the hour on a dial.
func (c clock) hour12() int { return (int(c.time/time.Hour)+11)%12 + 1 }

// numbers are the patterns of numbers: the part, its digits, and whether of dates only.
var numbers = map[string]struct {
	of     func(c clock) int
	digits int
	dates  bool
}{
	"YYYY": {func(c clock) int { return c.year }, 4, false}, "YYY": {func(c clock) int { return c.year % 1000 }, 3, false},
	"YY": {func(c clock) int { return c.year % 100 }, 2, false}, "Y": {func(c clock) int { return c.year % 10 }, 1, false},
	"IYYY": {func(c clock) int { y, _ := c.moment.ISOWeek(); return y }, 4, true}, "IW": {func(c clock) int { _, w := c.moment.ISOWeek(); return w }, 2, true},
	"Q": {func(c clock) int { return (c.month + 2) / 3 }, 1, true}, "MM": {func(c clock) int { return c.month }, 2, false},
	"DDD": {func(c clock) int { return c.moment.YearDay() }, 3, true}, "DD": {func(c clock) int { return c.day }, 2, false},
	"D": {func(c clock) int { return int(c.moment.Weekday()) + 1 }, 1, true}, "ID": {func(c clock) int { return int(c.moment.Weekday()+6)%7 + 1 }, 1, true},
	"WW": {func(c clock) int { return (c.moment.YearDay()-1)/7 + 1 }, 2, true}, "W": {func(c clock) int { return (c.day-1)/7 + 1 }, 1, true},
	"CC":   {func(c clock) int { return (c.year + 99) / 100 }, 2, true},
	"HH24": {func(c clock) int { return int(c.time / time.Hour) }, 2, false}, "HH12": {clock.hour12, 2, false}, "HH": {clock.hour12, 2, false},
	"MI": {func(c clock) int { return int(c.time / time.Minute % 60) }, 2, false}, "SS": {func(c clock) int { return int(c.time / time.Second % 60) }, 2, false},
	"MS": {func(c clock) int { return int(c.time / time.Millisecond % 1000) }, 3, false}, "US": {func(c clock) int { return int(c.time / time.Microsecond % 1000000) }, 6, false},
	"SSSS": {func(c clock) int { return int(c.time / time.Second) }, 1, true}, "SSSSS": {func(c clock) int { return int(c.time / time.Second) }, 1, true},
}

// words are the patterns of names, in lower case: the name, and the letters to which it is filled up.
var words = map[string]struct {
	of      func(c clock) string
	letters int
}{
	"month": {func(c clock) string { return c.moment.Month().String() }, 9}, "mon": {func(c clock) string { return c.moment.Month().String()[:3] }, 0},
	"day": {func(c clock) string { return c.moment.Weekday().String() }, 9}, "dy": {func(c clock) string { return c.moment.Weekday().String()[:3] }, 0},
	"am": {half, 0}, "pm": {half, 0}, "a.m.": {halfDotted, 0}, "p.m.": {halfDotted, 0},
	"tz":  {func(c clock) string { return map[form]string{asInstant: "Utc"}[c.moment.form] }, 0},
	"tzh": {func(clock) string { return "+00" }, 0}, "tzm": {func(clock) string { return "00" }, 0}, "of": {func(clock) string { return "+00" }, 0},
}

func half(c clock) string {
	if c.time/time.Hour%24 < 12 {
		return "Am"
	}
	return "Pm"
}

func halfDotted(c clock) string { return half(c)[:1] + "." + half(c)[1:] + "." }

// patterns are the patterns of times, the longest ones first.
var patterns = func() (list []string) {
	for p := range numbers {
		list = append(list, p)
	}
	for p := range words {
		list = append(list, strings.ToUpper(p))
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
}()

// A piece of a form is a pattern or, with an empty one, a text.
type piece struct {
	pattern, text string // the text also of a pattern
	plain         bool   // not filled up: FM
	ordinal       string // TH or th
}

// pieces reads a form of times.
func pieces(form string) (list []piece) {
	for form != "" {
		p := piece{}
		if len(form) > 2 && strings.EqualFold(form[:2], "FM") {
			p.plain, form = true, form[2:]
		} else if strings.HasPrefix(form, "FX") {
			form = form[2:]
			continue
		}
		if i := slices.IndexFunc(patterns, func(s string) bool { return len(form) >= len(s) && strings.EqualFold(form[:len(s)], s) }); i >= 0 {
			p.pattern = patterns[i]
			p.text, form = form[:len(p.pattern)], form[len(p.pattern):]
			if len(form) >= 2 && (form[:2] == "TH" || form[:2] == "th") && numbers[p.pattern].digits > 0 {
				p.ordinal, form = form[:2], form[2:]
			}
		} else if quoted, is := strings.CutPrefix(form, `"`); is {
			p.text, form, _ = strings.Cut(quoted, `"`)
		} else {
			form = strings.TrimPrefix(form, `\`)
			n := min(len(form), len(string([]rune(form)[:min(1, len([]rune(form)))])))
			p.text, form = form[:n], form[n:]
		}
		list = append(list, p)
	}
	return list
}

// timeForm is to_char(time, form).
func timeForm(c clock, form string) (any, error) {
	var b strings.Builder
	if len(form) > 1000 {
		return nil, tooLong("to_char")
	}
	for _, p := range pieces(form) {
		n, isNumber := numbers[p.pattern]
		w, isWord := words[strings.ToLower(p.pattern)]
		switch {
		case c.moment == nil && (n.dates || isWord):
			return nil, &Error{Code: CodeBadTime, Message: "to_char: " + p.text + " is not for intervals", Hint: "Intervals are not tied to specific calendar dates."}
		case isNumber:
			digits := n.digits
			if p.plain {
				digits = 1
			}
			v := n.of(c)
			text := fmt.Sprintf("%0*d", digits, v)
			if v < 0 {
				text = fmt.Sprintf("%0*d", digits+1, v)
			}
			b.WriteString(text + ordinal(v, p.ordinal))
		case isWord:
			s := w.of(c)
			switch {
			case p.text == strings.ToUpper(p.text):
				s = strings.ToUpper(s)
			case p.text == strings.ToLower(p.text):
				s = strings.ToLower(s)
			}
			if !p.plain {
				s = fmt.Sprintf("%-*s", w.letters, s)
			}
			b.WriteString(s)
		default:
			b.WriteString(p.text)
		}
	}
	return b.String(), nil
}

// ordinal returns the ending of a number: th, or TH in capitals, and none where none is asked for.
func ordinal(n int, as string) string {
	if as == "" {
		return ""
	}
	s := map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
	if s == "" || n/10%10 == 1 {
		s = "th"
	}
	if as == "TH" {
		s = strings.ToUpper(s)
	}
	return s
}

// readTime is to_timestamp(text, form).
func readTime(s, form string) (time.Time, error) {
	read, err := readFields(s, form)
	if err != nil {
		return time.Time{}, err
	}
	year, known := read["YYYY"]
	if short, is := read["YY"]; is && !known {
		if year, known = 2000+short, true; short >= 70 {
			year = 1900 + short
		}
	}
	if !known {
		year = 1
	}
	hour := read["HH24"]
	if h, is := read["HH12"]; is {
		hour = h%12 + read["PM"]
	} else if h, is := read["HH"]; is {
		hour = h%12 + read["PM"]
	}
	or1 := func(field string) int {
		if n, known := read[field]; known {
			return n
		}
		return 1
	}
	m, d := or1("MM"), or1("DD")
	t := time.Date(year, time.Month(m), d, hour, read["MI"], read["SS"], read["MS"]*1e6+read["US"]*1e3, time.UTC)
	if int(t.Month()) != m || t.Day() != d || t.Hour() != hour || t.Minute() != read["MI"] || t.Second() != read["SS"] {
		return t, &Error{Code: CodeTimeRange, Message: fmt.Sprintf("date/time field value out of range in form %q", form)}
	}
	if n, is := read["DDD"]; is {
		t = t.AddDate(0, 0, n-t.YearDay())
	}
	return t, nil
}

// readFields returns the numbers of a text by the patterns of its form, and under PM the hours to add to those of 12.
func readFields(s, form string) (map[string]int, error) {
	bad := &Error{Code: CodeBadTime, Message: fmt.Sprintf("the time %q is not of the form %q", s, form)}
	read := map[string]int{}
	isMark := func(r rune) bool { return strings.ContainsRune(" \t-/:.,;_T", r) }
	for _, p := range pieces(form) {
		s = strings.TrimLeft(s, " ")
		n, isNumber := numbers[p.pattern]
		name := strings.ToLower(p.pattern)
		switch {
		case p.pattern == "" && p.text != "" && strings.TrimLeftFunc(p.text, isMark) == "":
			s = strings.TrimLeftFunc(s, isMark)
		case p.pattern == "":
			s = s[min(len(s), len(p.text)):]
		case isNumber:
			to := 0
			for to < len(s) && to < max(n.digits, 1) && '0' <= s[to] && s[to] <= '9' {
				to++
			}
			v, err := strconv.Atoi(s[:to])
			if err != nil {
				return nil, bad
			}
			if p.pattern == "MS" || p.pattern == "US" { // a fraction
				v *= int(math.Pow10(n.digits - to))
			}
			read[p.pattern], s = v, s[to:]
		case name == "mon" || name == "month":
			for m := time.January; m <= time.December; m++ {
				full := m.String()
				if name == "mon" {
					full = full[:3]
				}
				if len(s) >= len(full) && strings.EqualFold(s[:len(full)], full) {
					read["MM"], s = int(m), s[len(full):]
					break
				}
			}
			if read["MM"] == 0 {
				return nil, bad
			}
		case name == "day" || name == "dy":
			s = strings.TrimLeftFunc(s, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
		case len(name) >= 2 && strings.HasSuffix(strings.ReplaceAll(name, ".", ""), "m") && len(s) >= len(name):
			if s[0]|0x20 == 'p' {
				read["PM"] = 12
			}
			s = s[len(name):]
		default:
			return nil, &Error{Code: CodeNotSupported, Message: "to_timestamp has no pattern " + p.text + " here"}
		}
	}
	return read, nil
}

// numberForm is to_char(number, form).
func numberForm(n float64, form string) (any, error) {
	if len(form) > 1000 {
		return nil, tooLong("to_char")
	}
	upper := strings.ToUpper(form)
	if i := strings.IndexAny(foreign.Replace(upper), "VELRCB"); i >= 0 {
		return nil, &Error{Code: CodeNotSupported, Message: "to_char has no pattern " + form[i:i+1] + " of numbers here",
			Hint: "It has 9, 0, the point, the comma, D, G, FM, MI, PL, PR, S, SG and TH."}
	}
	plain := strings.Contains(upper, "FM")
	whole, decimals, first0, sawPoint := 0, 0, -1, false
	last0 := 0 // decimals up to the last 0
	for i := 0; i < len(upper); i++ {
		switch upper[i] {
		case '.', 'D':
			sawPoint = true
		case '9', '0':
			if sawPoint {
				if decimals++; upper[i] == '0' {
					last0 = decimals
				}
				continue
			}
			if upper[i] == '0' && first0 < 0 {
				first0 = whole
			}
			whole++
		}
	}
	text := strconv.FormatFloat(math.Abs(roundTo(n, decimals)), 'f', decimals, 64)
	integer, fraction, _ := strings.Cut(text, ".")
	negative := n < 0 && strings.Trim(text, "0.") != ""
	if integer == "0" && decimals > 0 {
		integer = ""
	}
	if len(integer) > whole {
		integer, fraction = strings.Repeat("#", whole), strings.Repeat("#", decimals)
	} else if plain {
		fraction = fraction[:max(last0, len(strings.TrimRight(fraction, "0")))]
		if integer+fraction == "" {
			integer = "0"
		}
	}
	w := numberWriter{upper: upper, negative: negative, plain: plain, integer: integer, fraction: fraction, whole: whole}
	if i := strings.IndexByte(upper, 'S'); i >= 0 && !strings.HasPrefix(upper[i:], "SG") {
		w.leadingS = i < strings.IndexAny(upper, "90")
	}
	w.blanks = whole - len(integer)
	if first0 >= 0 {
		w.blanks = min(w.blanks, first0)
	}
	return w.write(form, int(math.Abs(n))), nil
}

// foreign masks the patterns that have letters of patterns that are not there.
var foreign = strings.NewReplacer("PL", "..", "PR", "..")

// roundTo rounds half away from zero, as numerics are.
func roundTo(n float64, decimals int) float64 {
	p := math.Pow10(decimals)
	if r := math.Round(float64(n * p)); math.Abs(r) < 1<<52 {
		return r / p
	}
	return n
}

// A numberWriter writes a number by a form of to_char.
type numberWriter struct {
	strings.Builder
	upper             string // the form, in capitals
	negative, plain   bool   // plain: without blanks (FM)
	leadingS          bool   // the form's S is before the digits
	integer, fraction string // digits
	whole             int    // positions before the point
	blanks            int    // of them before the first digit
	at                int    // the next position, of those before the point or after it
	point             bool   // it was written
	signed            bool   // the sign was written, or has a place of its own
}

// sign writes the sign before the first digit, unless the form has a place of its own for it.
func (w *numberWriter) sign() {
	if w.signed {
		return
	}
	w.signed = true
	elsewhere := strings.Contains(w.upper, "S") && !strings.Contains(w.upper, "\"") || strings.Contains(w.upper, "MI")
	switch {
	case w.leadingS:
		w.affix("SG")
	case strings.Contains(w.upper, "PR"):
		w.bracket('<')
	case elsewhere:
	case w.negative:
		w.WriteByte('-')
	default:
		w.blank()
	}
}

// bracket writes a bracket of PR around a negative number, and a blank beside another.
func (w *numberWriter) bracket(b byte) {
	if w.negative {
		w.WriteByte(b)
	} else {
		w.blank()
	}
}

// blank writes a blank, unless the form is without them.
func (w *numberWriter) blank() {
	if !w.plain {
		w.WriteByte(' ')
	}
}

// affix writes the sign that MI, PL or SG stand for.
func (w *numberWriter) affix(pattern string) {
	switch {
	case w.negative && pattern != "PL":
		w.WriteByte('-')
	case !w.negative && pattern != "MI":
		w.WriteByte('+')
	default:
		w.blank()
	}
}

// digit writes the next position of a digit.
func (w *numberWriter) digit() {
	if w.point {
		if w.at < len(w.fraction) {
			w.WriteByte(w.fraction[w.at])
		}
		w.at++
		return
	}
	if w.at < w.blanks {
		w.blank()
	} else {
		w.sign()
		if k := w.at - (w.whole - len(w.integer)); k >= 0 {
			w.WriteByte(w.integer[k])
		} else {
			w.WriteByte('0')
		}
	}
	w.at++
}

// comma writes a separator of groups, or a blank before the first digit.
func (w *numberWriter) comma() {
	if w.at > w.blanks || w.at == w.blanks && w.at > 0 && w.signed {
		w.WriteByte(',')
	} else {
		w.blank()
	}
}

// write writes the number in the form. Its whole part is needed for TH.
func (w *numberWriter) write(form string, n int) string {
	for i := 0; i < len(form); i++ {
		switch rest := w.upper[i:]; {
		case strings.HasPrefix(rest, "FM"):
			i++
		case strings.HasPrefix(rest, "MI"), strings.HasPrefix(rest, "PL"), strings.HasPrefix(rest, "SG"):
			w.affix(rest[:2])
			i++
		case strings.HasPrefix(rest, "PR"):
			w.bracket('>')
			i++
		case strings.HasPrefix(rest, "TH"):
			if !w.negative && !strings.Contains(w.upper, ".") {
				w.WriteString(ordinal(n, form[i:i+2]))
			}
			i++
		case rest[0] == 'S':
			if !w.leadingS {
				w.affix("SG")
			}
		case rest[0] == '.' || rest[0] == 'D':
			w.sign()
			w.WriteByte('.')
			w.point, w.at = true, 0
		case rest[0] == '9' || rest[0] == '0':
			w.digit()
		case rest[0] == ',' || rest[0] == 'G':
			w.comma()
		case rest[0] == '"':
			quoted, _, _ := strings.Cut(form[i+1:], `"`)
			w.WriteString(quoted)
			i += len(quoted) + 1
		default:
			w.WriteByte(form[i])
		}
	}
	return w.String()
}
