package pgfunc

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// addCasts adds the functions that casts call.
func (l *library) addCasts() {
	l.add("pg_bool", "bool", true, []int{1}, func(a []any) (any, error) { return Truth(a[0]) })
	l.add("pg_bytea", "bytea", true, []int{1}, func(a []any) (any, error) {
		s, ok := a[0].(string)
		if !ok {
			return a[0], nil
		}
		if digits, is := strings.CutPrefix(s, `\x`); is {
			b, err := hex.DecodeString(digits)
			if err != nil {
				return nil, &Error{Code: CodeBadText, Message: `a bytea is written as '\x' and pairs of hexadecimal digits`}
			}
			return b, nil
		}
		return []byte(s), nil
	})
}

// addTexts adds the functions of texts.
func (l *library) addTexts() {
	l.add("split_part", "text", true, []int{3}, func(a []any) (any, error) {
		s, by := Text(a[0]), Text(a[1])
		parts := []string{s}
		if by != "" {
			parts = strings.Split(s, by)
		}
		n := Whole(a[2])
		if n < 0 {
			n += int64(len(parts)) + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return "", nil
		}
		return parts[n-1], nil
	})
	l.add("starts_with", "bool", true, []int{2}, func(a []any) (any, error) { return strings.HasPrefix(Text(a[0]), Text(a[1])), nil })
	cut := func(part func(s []rune, n int64) []rune) func(a []any) (any, error) {
		return func(a []any) (any, error) {
			s, n := []rune(Text(a[0])), Whole(a[1])
			if n < 0 {
				n = max(0, n+int64(len(s)))
			}
			return string(part(s, min(n, int64(len(s))))), nil
		}
	}
	l.add("left", "text", true, []int{2}, cut(func(s []rune, n int64) []rune { return s[:n] }))
	l.add("right", "text", true, []int{2}, cut(func(s []rune, n int64) []rune { return s[int64(len(s))-n:] }))
	l.add("pg_size_pretty", "text", true, []int{1}, func(a []any) (any, error) {
		n := Whole(a[0])
		for _, unit := range []string{"bytes", "kB", "MB", "GB"} {
			if n < 10240 {
				return fmt.Sprintf("%d %s", n, unit), nil
			}
			n /= 1024
		}
		return fmt.Sprintf("%d TB", n), nil
	})
}
