package pgfunc

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	bad := &Error{Code: CodeBadText, Message: "malformed array literal: an array is written as {1,2}"}
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
func FormatArray(elements []any) string {
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
		return "", &Error{Code: CodeBadText, Message: "ARRAY takes plain values"}
	}
	for i, e := range elements {
		switch e := e.(type) {
		case json.Number:
			elements[i] = Typed(e.String())
		case []any, map[string]any:
			return "", &Error{Code: CodeNotSupported, Message: "the dialect is SQLite's: it has no arrays of arrays"}
		}
	}
	return FormatArray(elements), nil
}

// addArrays adds the functions that read arrays.
func (l *library) addArrays() {
	l.addArray("pg_subscript", "any", []int{2}, func(list, a []any) (any, error) {
		_, vector, _ := parseArray(Text(a[0]))
		n, ok := Typed(a[1]).(int64)
		if vector { // counted from 0
			n++
		}
		if !ok || n < 1 || n > int64(len(list)) {
			return nil, nil
		}
		return Typed(list[n-1]), nil
	})
	l.addArray("array_to_string", "text", []int{2, 3}, func(list, a []any) (any, error) {
		if a[1] == nil {
			return nil, nil
		}
		var parts []string
		size := 0
		for _, e := range list {
			s := Text(e)
			if e == nil {
				if len(a) < 3 || a[2] == nil {
					continue
				}
				s = Text(a[2])
			}
			if size += len(s) + len(Text(a[1])); size > maxText {
				return nil, tooLong("array_to_string")
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, Text(a[1])), nil
	})
	length := func(list, a []any) (any, error) {
		if len(list) == 0 || len(a) > 1 && Whole(a[1]) != 1 {
			return nil, nil
		}
		return int64(len(list)), nil
	}
	l.addArray("array_length", "int4", []int{2}, length)
	l.addArray("array_upper", "int4", []int{2}, length)
	l.addArray("cardinality", "int4", []int{1}, func(list, _ []any) (any, error) { return int64(len(list)), nil })
	first := func(list, _ []any) (any, error) {
		if len(list) == 0 {
			return nil, nil
		}
		return int64(1), nil
	}
	l.addArray("array_lower", "int4", []int{2}, first)
	l.addArray("array_ndims", "int4", []int{1}, first)
}

// addElements adds the functions that find elements of arrays, change arrays, and read fields of rows.
func (l *library) addElements() {
	l.addArray("array_position", "int4", []int{2}, func(list, a []any) (any, error) {
		if i := slices.IndexFunc(list, func(e any) bool { return e != nil && Text(e) == Text(a[1]) }); i >= 0 {
			return i + 1, nil
		}
		return nil, nil
	})
	l.addArray("array_remove", "text", []int{2}, func(list, a []any) (any, error) {
		is := func(e any) bool { return (e == nil) == (a[1] == nil) && Text(e) == Text(a[1]) }
		return FormatArray(slices.DeleteFunc(list, is)), nil
	})
	l.addArray("array_append", "text", []int{2}, func(list, a []any) (any, error) { return FormatArray(append(list, a[1])), nil })
	l.add("string_to_array", "text", true, []int{2}, func(a []any) (any, error) {
		var list []any
		if s := Text(a[0]); s != "" {
			for _, p := range strings.Split(s, Text(a[1])) {
				list = append(list, p)
			}
		}
		return FormatArray(list), nil
	})
	l.add("pg_array", "text", true, []int{1}, func(a []any) (any, error) { return fromJSON(Text(a[0])) })
	l.add("pg_field", "text", true, []int{2}, func(a []any) (any, error) {
		x, n, ok := strings.Cut(strings.Trim(Text(a[0]), "()"), ",")
		switch Text(a[1]) {
		case "x":
			return Typed(x), nil
		case "n":
			if ok {
				return Typed(n), nil
			}
		}
		return nil, &Error{Code: CodeNotSupported, Message: fmt.Sprintf("the dialect is SQLite's: it has no field %s of a row", Text(a[1]))}
	})
}
