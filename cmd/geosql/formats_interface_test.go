package main

import (
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// interfaceLines lists the interface for scripts: the calls of all SQL functions, and the commands and flags.
func interfaceLines(t *testing.T) (lines []string) {
	t.Helper()
	names := strings.Fields(clitest.Query(t, "-csv", ":memory:", "SELECT geosql_help() AS name"))
	for _, name := range names[1:] {
		name = strings.Trim(name, `"`)
		help, err := topicHelp(name)
		check(t, err)
		for line := range strings.Lines(help) {
			if strings.HasPrefix(line, name+"(") {
				lines = append(lines, "call "+strings.TrimSpace(line))
			}
		}
	}
	for _, c := range append([]*cli.Command{program.Default}, program.Commands()...) {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		c.Setup(flags)
		lines = append(lines, strings.TrimSpace("command "+c.Name))
		flags.VisitAll(func(f *flag.Flag) { lines = append(lines, strings.TrimSpace("flag "+c.Name)+" --"+f.Name) })
	}
	return lines
}

// checkInterface checks that whatever could be written for an old version still can.
func checkInterface(t *testing.T) {
	now := interfaceLines(t)
	for _, old := range strings.Split(strings.TrimSpace(contentOf(t, "interface")), "\n") {
		if !slices.ContainsFunc(now, func(line string) bool { return line == old || extends(line, old) }) {
			t.Errorf("%s: there is nothing like it any more", old)
		}
	}
}

var callWord = regexp.MustCompile(`\w+|\[`)

// extends reports whether a call has all arguments of an old one in the same places, and demands no more.
func extends(call, old string) bool {
	now, was := callWord.FindAllString(call, -1), callWord.FindAllString(old, -1)
	if !strings.HasPrefix(call, "call ") {
		return false
	}
	named := func(words []string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "[" })
	}
	a, b := named(now), named(was)
	required := func(words []string) int {
		if i := slices.Index(words, "["); i >= 0 {
			return i
		}
		return len(words)
	}
	return len(a) >= len(b) && slices.Equal(a[:len(b)], b) && required(now) <= required(was)
}

func TestExtends(t *testing.T) {
	for _, c := range []struct {
		call, old string
		want      bool
	}{
		{"call f(a, b [, c])", "call f(a, b)", true},
		{"call f(a [, b])", "call f(a, b)", true},
		{"call f(a, b, c)", "call f(a, b)", false},
		{"call f(a, b)", "call f(a [, b])", false},
		{"call f(b, a)", "call f(a, b)", false},
		{"call f(a)", "call f(a, b)", false},
		{"call g(a)", "call f(a)", false},
		{"flag f --ab", "flag f --a", false},
	} {
		if extends(c.call, c.old) != c.want {
			t.Errorf("%s after %s: %v", c.call, c.old, !c.want)
		}
	}
}
