package pgfunc

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// addCasts adds the functions that casts call.
func (l *library) addCasts() {
	l.addStrictCasts()
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
	pad := func(join func(s, fill string) string) func(a []any) (any, error) {
		return func(a []any) (any, error) {
			s, n, fill := []rune(Text(a[0])), Whole(a[1]), " "
			if len(a) == 3 {
				fill = Text(a[2])
			}
			if n > maxText {
				return nil, tooLong("lpad")
			}
			if missing := int(n) - len(s); missing > 0 && fill != "" {
				letters := []rune(strings.Repeat(fill, missing/len([]rune(fill))+1))
				return join(string(s), string(letters[:missing])), nil
			}
			return string(s[:max(0, min(int(n), len(s)))]), nil
		}
	}
	l.add("lpad", "text", true, []int{2, 3}, pad(func(s, fill string) string { return fill + s }))
	l.add("rpad", "text", true, []int{2, 3}, pad(func(s, fill string) string { return s + fill }))
	l.add("repeat", "text", true, []int{2}, func(a []any) (any, error) {
		s, n := Text(a[0]), max(0, Whole(a[1]))
		if s != "" && n > int64(maxText/len(s)) {
			return nil, tooLong("repeat")
		}
		return strings.Repeat(s, int(n)), nil
	})
	l.add("reverse", "text", true, []int{1}, func(a []any) (any, error) {
		s := []rune(Text(a[0]))
		slices.Reverse(s)
		return string(s), nil
	})
	l.add("initcap", "text", true, []int{1}, func(a []any) (any, error) {
		inWord := false
		return strings.Map(func(c rune) rune {
			first := !inWord
			if inWord = unicode.IsLetter(c) || unicode.IsDigit(c); first {
				return unicode.ToUpper(c)
			}
			return unicode.ToLower(c)
		}, Text(a[0])), nil
	})
}
