package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// A program with flags of every kind, and texts that a shell could take for its own.
var completedProgram = &Program{
	Name: "toy-box", Noun: "command",
	Default: &Command{Operands: "DB [SQL]", Setup: func(fs *flag.FlagSet) Run {
		Switch(fs, "csv", "it's `quoted` $HOME \\", func() {})
		fs.String("ledger", "", "keep it in `FILE`")
		return nil
	}},
	Groups: []Group{{Commands: []*Command{
		{Name: "role", Operands: "OUT add|drop ..", Summary: "say who's who", Setup: func(fs *flag.FlagSet) Run {
			fs.String("log-format", "", "write `text|json`")
			fs.String("names", "", "in `FILE|URL`")
			return nil
		}},
		{Name: "release", Setup: func(fs *flag.FlagSet) Run { return nil }},
	}}},
}

// completions are lines, of which the last word is completed in a folder with a file "my db", and the words that may stand there.
var completions = []struct{ line, want string }{
	{"toy-box r", "release role"},
	{"toy-box m", "my db"},
	{"toy-box --c", "--csv"},
	{"toy-box --ledger m", "my db"},
	{"toy-box --ledger r", ""},
	{"toy-box role --l", "--log-format"},
	{"toy-box role --c", ""},
	{"toy-box role m", "my db"},
	{"toy-box role x.db d", "drop"},
	{"toy-box role x.db --log-format ", "json text"},
	{"toy-box role x.db --names m", "my db"},
	{"toy-box --csv release --", ""},
	{"toy-box help r", "release role"},
	{"toy-box completion z", "zsh"},
}

// completionFolder returns a folder with a file, and with the script for a shell, under its name.
func completionFolder(t *testing.T, shell string) string {
	t.Helper()
	folder := t.TempDir()
	out := captured(t, func() error { return completedProgram.run([]string{"completion", shell}) })
	if err := os.WriteFile(filepath.Join(folder, "."+shell), out, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "my db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// captured returns the standard output of a function.
func captured(t *testing.T, f func() error) []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	if err := f(); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// testCompletion asks a shell for the completions of all lines, by a command.
func testCompletion(t *testing.T, path string, command func(line string) string) {
	shell := filepath.Base(path)
	folder := completionFolder(t, shell)
	for _, c := range completions {
		cmd := exec.Command(path, "-c", command(c.line))
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+folder)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", c.line, err, out)
		}
		words := strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(words)
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%s completes %q by %q, want %q", shell, c.line, got, c.want)
		}
	}
}

// called calls the function for a line as bash does, and prints the answers that the last word begins.
func called(line string) string {
	words := strings.Split(line, " ")
	return fmt.Sprintf(`COMP_WORDS=('%s'); COMP_CWORD=%d; _toy_box; for word in "${COMPREPLY[@]}"; do [[ $word == "%s"* ]] && echo "$word"; done; true`,
		strings.Join(words, "' '"), len(words)-1, words[len(words)-1])
}

func TestBashCompletes(t *testing.T) {
	testCompletion(t, need.Program(t, "bash"), func(line string) string {
		return "source ./.bash; complete -p toy-box >/dev/null || exit 1; " + called(line)
	})
}

// zsh runs the function as its bashcompinit does, and leaves out words that the last one does not begin.
func TestZshCompletes(t *testing.T) {
	testCompletion(t, need.Extra(t, "zsh"), func(line string) string {
		return "autoload -U compinit && compinit -D; source ./.zsh; f() { emulate -L sh; setopt kshglob noshglob braceexpand ksharrays; " + called(line) + "; }; f"
	})
}

// fish has a text for each answer, behind a tab.
func TestFishCompletes(t *testing.T) {
	testCompletion(t, need.Extra(t, "fish"), func(line string) string {
		return "source ./.fish; complete -C '" + line + `' | string replace -r '\t.*' '' | string unescape; true`
	})
}

func TestCompletionOfNoShell(t *testing.T) {
	if err := completedProgram.run([]string{"completion", "tcsh"}); err == nil || err.Error() != "completion: the shell is bash, fish or zsh, not tcsh" {
		t.Errorf("%v", err)
	}
}
