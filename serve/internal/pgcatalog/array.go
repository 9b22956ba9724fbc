package pgcatalog

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// An element of an array is quoted, or a text without commas. A comma follows it, unless it is the last one.
var (
	element = regexp.MustCompile(`(?s)^ *(?:("(?:[^"\\]|\\.)*") *|([^,]*))(,|$)`)
	escape  = regexp.MustCompile(`(?s)\\(.)`)
)

// parseArray returns the elements of an array, {1,2} or, as of an int2vector, 1 2. A NULL element
// is nil.
func parseArray(s string) (elements []any, vector bool, err error) {
	s = strings.TrimSpace(s)
	body, braced := strings.CutPrefix(s, "{")
	if !braced {
		for _, f := range strings.Fields(s) {
			elements = append(elements, f)
		}
		return elements, true, nil
	}
	bad := &Error{Code: codeBadText, Message: "malformed array literal: an array is written as {1,2}"}
	body, closed := strings.CutSuffix(body, "}")
	if !closed {
		return nil, false, bad
	}
	for more := strings.TrimSpace(body) != ""; more; {
		m := element.FindStringSubmatch(body)
		text := strings.TrimSpace(m[2])
		switch {
		case m[1] != "":
			elements = append(elements, escape.ReplaceAllString(m[1][1:len(m[1])-1], "$1"))
		case strings.EqualFold(text, "null"):
			elements = append(elements, nil)
		case text == "" || strings.ContainsAny(text, `{}"`):
			return nil, false, bad
		default:
			elements = append(elements, text)
		}
		body, more = body[len(m[0]):], m[3] != ""
	}
	return elements, false, nil
}

// formatArray returns an array as a text.
func formatArray(elements []any) string {
	parts := make([]string, len(elements))
	for i, e := range elements {
		switch e := e.(type) {
		case nil:
			parts[i] = "NULL"
		case string:
			if e == "" || strings.EqualFold(e, "null") || strings.ContainsAny(e, "{},\"\\ \t\n\r") {
				e = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e) + `"`
			}
			parts[i] = e
		default:
			parts[i] = fmt.Sprint(e)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// fromJSON returns the array of a JSON array of scalars.
func fromJSON(s string) (string, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var elements []any
	if err := d.Decode(&elements); err != nil {
		return "", &Error{Code: codeBadText, Message: "ARRAY takes plain values"}
	}
	for i, e := range elements {
		switch e := e.(type) {
		case json.Number:
			elements[i] = typed(e.String())
		case []any, map[string]any:
			return "", &Error{Code: codeNotSupported, Message: "the dialect is SQLite's: it has no arrays of arrays"}
		}
	}
	return formatArray(elements), nil
}

// arrayGroup is array_agg over one group.
type arrayGroup struct {
	elements []any
	size     int
}

func (g *arrayGroup) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	if b, ok := v.([]byte); ok {
		v = fmt.Sprintf(`\x%x`, b)
	}
	if s, ok := v.(string); ok {
		g.size += len(s)
	}
	if g.size += 16; g.size > maxText {
		return tooLong("array_agg")
	}
	g.elements = append(g.elements, v)
	return nil
}

func (g *arrayGroup) Final(c *sqlite.Call) error {
	if g.elements == nil {
		c.ResultNull(0)
	} else {
		c.ResultString(0, formatArray(g.elements))
	}
	return nil
}

// boolGroup is bool_and or bool_or over one group.
type boolGroup struct {
	or    bool
	value any // nil before the first value
}

func (g *boolGroup) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	if v == nil {
		return nil
	}
	b, err := truth(v)
	if g.value == nil || b == g.or {
		g.value = b
	}
	return err
}

func (g *boolGroup) Final(c *sqlite.Call) error {
	result(c, 0, g.value)
	return nil
}

// A listing begins the rows of a set-returning function: next returns their values.
type listing func(c *sqlite.Call) (next func() (any, bool), err error)

// listCursor iterates over a listing and numbers the values.
type listCursor struct {
	open listing
	next func() (any, bool)
	n    int64
}

func (l *listCursor) Filter(c *sqlite.Call, _ uint) (rows sqlite.Rows, err error) {
	if l.next, err = l.open(c); err != nil {
		return sqlite.NoRow, err
	}
	l.n = 0
	return l.Next(c)
}

func (l *listCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	v, ok := l.next()
	if !ok {
		return sqlite.NoRow, nil
	}
	l.n++
	result(c, 0, v)
	c.ResultInt(1, l.n)
	return sqlite.OneRow, nil
}

func (l *listCursor) Close() {}

// noMore is the end of a listing.
func noMore() (any, bool) { return nil, false }

// nothing lists no rows, as aclexplode does here.
func nothing(*sqlite.Call) (func() (any, bool), error) { return noMore, nil }

// elements lists the elements of an array.
func elements(c *sqlite.Call) (func() (any, bool), error) {
	list, _, err := parseArray(textOf(c.Arg(0).Copy()))
	return func() (any, bool) {
		if len(list) == 0 {
			return nil, false
		}
		v := typed(list[0])
		list = list[1:]
		return v, true
	}, err
}

// series lists the numbers of generate_series.
func series(c *sqlite.Call) (func() (any, bool), error) {
	next, stop, step := int64(0), int64(0), int64(1)
	for i, to := range []*int64{&next, &stop, &step}[:c.Len()] {
		v := c.Arg(i).Copy()
		n, isWhole := typed(v).(int64)
		switch {
		case isWhole:
			*to = n
		case v != nil:
			return nil, &Error{Code: codeNotSupported, Message: "generate_series takes whole numbers here"}
		case i < 2:
			return noMore, nil
		}
	}
	if step == 0 {
		return nil, &Error{Code: codeBadParameter, Message: "generate_series: the step must not be 0"}
	}
	done := false
	return func() (any, bool) {
		if done || step > 0 && next > stop || step < 0 && next < stop {
			return nil, false
		}
		v := next
		next += step
		done = (next > v) != (step > 0) // an overflow
		return v, true
	}, nil
}
