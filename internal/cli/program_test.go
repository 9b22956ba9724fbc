package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// toy is a program with commands that tell how they were run.
func toy(told *string) *Program {
	tell := func(name string, modes ...string) Setup {
		return func(fs *flag.FlagSet) Run {
			mode, ledger := "", ""
			for _, m := range modes {
				Switch(fs, m, "", func() { mode = m })
			}
			var words []string
			if modes != nil {
				fs.StringVar(&ledger, "ledger", "", "")
				WordsVar(fs, &words, "keep", "")
			}
			return func(_ context.Context, operands []string) error {
				*told = fmt.Sprintf("%s %s %s %q %q", name, mode, ledger, words, operands)
				return nil
			}
		}
	}
	return &Program{
		Name: "toy", Noun: "command",
		Default: &Command{Max: -1, Setup: tell("sql", "table", "csv", "json"), Reject: func(operand string) string {
			if len(operand) < 6 { // a toy's database
				return ""
			}
			return "no file"
		}},
		Groups: []Group{{Commands: []*Command{
			{Name: "budget", Min: 1, Max: 1, Setup: tell("budget", "csv", "verify")},
			{Name: "import", Min: 3, Max: 3, Setup: tell("import")},
		}}},
	}
}

// A flag may take a value in some commands only, wherever it stands.
func TestMixedFlags(t *testing.T) {
	told := ""
	p := toy(&told)
	p.Groups[0].Commands = append(p.Groups[0].Commands, &Command{Name: "collect", Min: 1, Max: 2, Setup: func(fs *flag.FlagSet) Run {
		key := ""
		fs.StringVar(&key, "verify", "", "") // which takes no value in budget
		return func(_ context.Context, operands []string) error {
			told = fmt.Sprintf("collect %s %q", key, operands)
			return nil
		}
	}})
	for _, c := range []struct {
		want string
		args []string
	}{
		{`collect key ["db"]`, []string{"collect", "db", "--verify", "key"}},
		{`collect key ["db"]`, []string{"collect", "--verify=key", "db"}},
		{`collect key ["db"]`, []string{"--verify", "key", "collect", "db"}},
		{`collect key ["db"]`, []string{"-verify=key", "collect", "db"}},
		{`collect  ["--verify" "x"]`, []string{"collect", "--", "--verify", "x"}},
		{`budget verify  [] ["db"]`, []string{"budget", "db", "--verify"}},
		{`budget verify  [] ["db"]`, []string{"budget", "--verify", "db"}},
		{`budget verify  [] ["db"]`, []string{"--verify", "budget", "db"}},
		{`sql table  [] ["db"]`, []string{"--table", "db"}},
	} {
		if err := p.run(c.args); err != nil || told != c.want {
			t.Errorf("%q: %s, %v; want %s", c.args, told, err, c.want)
		}
	}
	if err := p.run([]string{"db", "--verify", "key"}); err == nil || !strings.Contains(err.Error(), "running SQL takes no flag -verify") {
		t.Errorf("%v", err)
	}
}

func TestArguments(t *testing.T) {
	wantRun(t, `sql   [] []`)
	wantRun(t, `sql   [] [""]`, "")
	wantRun(t, `sql   [] ["db"]`, "db")
	wantRun(t, `sql csv  [] ["db" "SELECT 1"]`, "-csv", "db", "SELECT 1")
	wantRun(t, `sql json  [] ["db" "SELECT 1"]`, "db", "SELECT 1", "--json")
	wantRun(t, `sql json  [] ["db" "SELECT 1"]`, "db", "-json", "SELECT 1")
	wantRun(t, `sql table  [] ["db"]`, "-csv", "--table", "db")
	wantRun(t, `sql csv  [] ["db"]`, "-csv", "-csv", "db")
	wantRun(t, `sql  l [] ["db" "SELECT 1"]`, "db", "--ledger", "l", "SELECT 1")
	wantRun(t, `sql  l [] ["db"]`, "-ledger=l", "db")
	wantRun(t, `sql  my l [] ["db"]`, "--ledger=my l", "db")
	wantRun(t, `sql  my l [] ["db"]`, "--ledger", "my l", "db")
	wantRun(t, `sql  -l [] ["db"]`, "--ledger", "-l", "db")
	wantRun(t, `sql  -- [] ["db"]`, "--ledger", "--", "db")
	wantRun(t, `sql   [] ["db" "-- comment\nSELECT 1"]`, "db", "-- comment\nSELECT 1")
	wantRun(t, `sql csv  [] ["db" "--comment\nSELECT 1"]`, "db", "--comment\nSELECT 1", "-csv")
	wantRun(t, `sql   [] ["-csv" "SELECT 1"]`, "--", "-csv", "SELECT 1")
	wantRun(t, `sql json  [] ["-" "--csv"]`, "-json", "--", "-", "--csv")
	wantRun(t, `sql   [] ["db" "import"]`, "db", "import")
	wantRun(t, `sql   ["a" "b" "c"] ["db"]`, "db", "--keep", "a,b", "--keep=c")
	wantRun(t, `budget csv l [] ["db"]`, "-csv", "budget", "--ledger", "l", "db")
	wantRun(t, `import   [] ["db" "t" "f"]`, "import", "db", "t", "f")
}

// wantRun demands that a command line is run so.
func wantRun(t *testing.T, want string, args ...string) {
	t.Helper()
	var got string
	if err := toy(&got).run(args); err != nil || got != want {
		t.Errorf("%q: %v, %s; want %s", args, err, got, want)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"flag provided but not defined: -nosuch", []string{"db", "--nosuch"}},
		{"bad flag syntax: ---csv", []string{"---csv", "db"}},
		{"flag needs an argument: -ledger", []string{"db", "-ledger"}},
		{"invalid boolean value \"1\" for -csv: it takes no value", []string{"db", "-csv=1"}},
		{"flag -ledger is given twice", []string{"-ledger", "a", "db", "--ledger=b"}},
		{"running SQL takes no flag -verify", []string{"db", "-verify"}},
		{"import takes no flag -csv", []string{"import", "-csv", "db", "t", "f"}},
		{"budget: too few arguments", []string{"budget"}},
		{"import: too many arguments", []string{"import", "db", "t", "f", "g"}},
		{"there is no command x", []string{"help", "x"}},
		{"there is no command imprt (did you mean import?)", []string{"help", "imprt"}},
		{"there is no command bugdet (did you mean budget?); no file", []string{"bugdet", "db"}},
		{"there is no command bugdet (did you mean budget?); no file", []string{"-nosuch", "bugdet", "-verify"}},
		{"there is no command ledger; no file", []string{"ledger"}},
	} {
		var told string
		err := toy(&told).run(c.args)
		if Status(err) != 2 || err.Error() != c.want || told != "" {
			t.Errorf("%q: %v, %s; want %s", c.args, err, told, c.want)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{fmt.Errorf("write: %w", errReaderLeft), 0},
		{errors.New("any"), 1},
		{UsageError("any"), 2},
		{SignalError(syscall.SIGINT), 130},
		{SignalError(syscall.SIGTERM), 143},
	} {
		if got := Status(c.err); got != c.want {
			t.Errorf("Status(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	for want, err := range map[string]error{
		"toy: any":                            errors.New("any"),
		"toy: no ledger":                      errors.New("geosql: no ledger"),
		"toy: in f: bad":                      fmt.Errorf("in f: %w", errors.New("bad")),
		"toy: x ('toy help' shows the usage)": UsageError("x"),
	} {
		if got := ErrorLine("toy", err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Every flag has its placeholder and description, and a default that is none is not said.
func TestCommandHelp(t *testing.T) {
	c := &Command{
		Name: "measure", Operands: "DB", Summary: "measures", Details: "At length.",
		Setup: func(fs *flag.FlagSet) Run {
			levels, steps, none := []float64{0.5, 1.3862943611198906}, 3.0, 0.0
			LevelsVar(fs, &levels, "level", "the `LEVELS`")
			NumberVar(fs, &steps, "steps", strings.Repeat("many words ", 10)+"of `N`")
			NumberVar(fs, &none, "period", "a `PERIOD`")
			Switch(fs, "max", "the worst", func() {})
			return nil
		},
	}
	const want = `toy measure DB
    measures

At length.

  --level LEVELS   the LEVELS (default 0.5,ln4)
  --max            the worst
  --period PERIOD  a PERIOD
  --steps N        many words many words many words many words many words many words
                   many words many words many words many words of N (default 3)
`
	if got := (&Program{Name: "toy"}).commandHelp(c); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
