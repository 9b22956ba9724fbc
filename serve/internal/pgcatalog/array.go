package pgcatalog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// parseArray returns the elements of an array, {1,2} or, as of an int2vector, 1 2. A NULL element
// is nil.
func parseArray(s string) (elements []any, vector bool, err error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") {
		for _, f := range strings.Fields(s) {
			elements = append(elements, f)
		}
		return elements, true, nil
	}
	bad := &Error{Code: codeBadText, Message: "malformed array literal: an array is written as {1,2}"}
	if !strings.HasSuffix(s, "}") {
		return nil, false, bad
	}
	body := s[1 : len(s)-1]
	if strings.TrimSpace(body) == "" {
		return nil, false, nil
	}
	for i := 0; ; {
		for i < len(body) && body[i] == ' ' {
			i++
		}
		var b strings.Builder
		inQuotes := i < len(body) && body[i] == '"'
		if inQuotes {
			closed := false
			for i++; i < len(body); i++ {
				if body[i] == '"' {
					closed = true
					i++
					break
				}
				if body[i] == '\\' && i+1 < len(body) {
					i++
				}
				b.WriteByte(body[i])
			}
			if !closed {
				return nil, false, bad
			}
			elements = append(elements, b.String())
		} else {
			from := i
			for i < len(body) && body[i] != ',' {
				i++
			}
			e := strings.TrimSpace(body[from:i])
			switch {
			case strings.EqualFold(e, "null"):
				elements = append(elements, nil)
			case e == "" || strings.ContainsAny(e, `{}"`):
				return nil, false, bad
			default:
				elements = append(elements, e)
			}
		}
		for i < len(body) && body[i] == ' ' {
			i++
		}
		if i == len(body) {
			return elements, false, nil
		}
		if body[i] != ',' {
			return nil, false, bad
		}
		i++
	}
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

// typed returns a whole number as one.
func typed(e any) any {
	if s, ok := e.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
			return n
		}
	}
	return e
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
	or        bool
	seen, all bool
}

func (g *boolGroup) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	if v == nil {
		return nil
	}
	b, err := truth(v)
	if !g.seen {
		g.seen, g.all = true, b
	} else if g.or {
		g.all = g.all || b
	} else {
		g.all = g.all && b
	}
	return err
}

func (g *boolGroup) Final(c *sqlite.Call) error {
	if !g.seen {
		c.ResultNull(0)
	} else {
		c.ResultInt(0, number01(g.all))
	}
	return nil
}

func number01(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// elementsCursor iterates over the elements of an array.
type elementsCursor struct {
	elements []any
	i        int
	first    int64
}

func (u *elementsCursor) Filter(c *sqlite.Call, _ uint) (sqlite.Rows, error) {
	u.elements, u.i, u.first = nil, 0, 1
	v := c.Arg(0).Copy()
	if v == nil {
		return sqlite.NoRow, nil
	}
	elements, _, err := parseArray(textOf(v))
	if err != nil {
		return sqlite.NoRow, err
	}
	u.elements = elements
	return u.Next(c)
}

func (u *elementsCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	if u.i >= len(u.elements) {
		return sqlite.NoRow, nil
	}
	result(c, 0, typed(u.elements[u.i]))
	c.ResultInt(1, int64(u.i)+u.first)
	u.i++
	return sqlite.OneRow, nil
}

func (u *elementsCursor) Close() {}

// seriesCursor iterates over generate_series.
type seriesCursor struct {
	next, stop, step, n int64
	done                bool
}

func (s *seriesCursor) Filter(c *sqlite.Call, _ uint) (sqlite.Rows, error) {
	*s = seriesCursor{step: 1}
	for i, to := range []*int64{&s.next, &s.stop, &s.step} {
		if i >= c.Len() {
			break
		}
		v, ok := typed(c.Arg(i).Copy()).(int64)
		if !ok {
			if c.Arg(i).Copy() == nil {
				if i == 2 {
					continue
				}
				return sqlite.NoRow, nil
			}
			return sqlite.NoRow, &Error{Code: codeNotSupported, Message: "generate_series takes whole numbers here"}
		}
		*to = v
	}
	if s.step == 0 {
		return sqlite.NoRow, &Error{Code: codeBadParameter, Message: "generate_series: the step must not be 0"}
	}
	return s.Next(c)
}

func (s *seriesCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	if s.done || s.step > 0 && s.next > s.stop || s.step < 0 && s.next < s.stop {
		return sqlite.NoRow, nil
	}
	c.ResultInt(0, s.next)
	s.n++
	c.ResultInt(1, s.n)
	after := s.next + s.step
	s.done = (after > s.next) != (s.step > 0) // an overflow
	s.next = after
	return sqlite.OneRow, nil
}

func (s *seriesCursor) Close() {}

// noRows is a function without rows, such as aclexplode.
type noRows struct{}

func (noRows) Filter(*sqlite.Call, uint) (sqlite.Rows, error) { return sqlite.NoRow, nil }
func (noRows) Next(*sqlite.Call) (sqlite.Rows, error)         { return sqlite.NoRow, nil }
func (noRows) Close()                                         {}
