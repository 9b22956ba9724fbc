package pgfunc

import (
	"regexp"
	"strings"
)

// addPatterns adds the functions of regular expressions.
func (l *library) addPatterns() {
	patterns := map[string]*regexp.Regexp{}
	compiled := func(pattern string) (*regexp.Regexp, error) {
		if re := patterns[pattern]; re != nil {
			return re, nil
		}
		re, err := compile(pattern)
		if err == nil {
			if len(patterns) >= 64 {
				clear(patterns)
			}
			patterns[pattern] = re
		}
		return re, err
	}
	l.add("regexp", "bool", true, []int{2}, func(a []any) (any, error) { // x REGEXP pattern calls regexp(pattern, x)
		re, err := compiled(Text(a[0]))
		if err != nil {
			return nil, err
		}
		return re.MatchString(Text(a[1])), nil
	})
	l.add("regexp_replace", "text", true, []int{3, 4}, func(a []any) (any, error) {
		pattern, flags := Text(a[1]), ""
		if len(a) == 4 {
			flags = Text(a[3])
		}
		if strings.Contains(flags, "i") {
			pattern = "(?i)" + pattern
		}
		re, err := compiled(pattern)
		if err != nil {
			return nil, err
		}
		s, with := Text(a[0]), backReferences(Text(a[2]))
		if len(s)*(len(with)+1) > 100*maxText {
			return nil, tooLong("regexp_replace")
		}
		if !strings.Contains(flags, "g") {
			at := re.FindStringSubmatchIndex(s)
			if at == nil {
				return s, nil
			}
			return s[:at[0]] + string(re.ExpandString(nil, with, s, at)) + s[at[1]:], nil
		}
		if out := re.ReplaceAllString(s, with); len(out) <= maxText {
			return out, nil
		}
		return nil, tooLong("regexp_replace")
	})
}

// compile compiles a regular expression of PostgreSQL of bounded length. Go's matching takes time in proportion to
// the text and to the expression.
func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > 1000 {
		return nil, &Error{Code: CodeBadPattern, Message: "the regular expression is longer than 1000 bytes"}
	}
	pattern = strings.TrimPrefix(pattern, "***:")
	pattern = strings.NewReplacer(`\\`, `\\`, `\y`, `\b`, `\m`, `\b`, `\M`, `\b`, `\Y`, `\B`, `\Z`, `\z`).Replace(pattern)
	re, err := regexp.Compile("(?s)" + pattern)
	if err != nil {
		return nil, &Error{Code: CodeBadPattern, Message: "invalid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	return re, nil
}

// backReferences returns a replacement with \1 as Go has it.
func backReferences(s string) string {
	return reference.ReplaceAllStringFunc(s, func(m string) string {
		switch c := m[len(m)-1:]; {
		case m == "$":
			return "$$"
		case "0" <= c && c <= "9":
			return "${" + c + "}"
		case c == "&":
			return "${0}"
		}
		return m[1:]
	})
}

var reference = regexp.MustCompile(`(?s)\\.|\$`)
