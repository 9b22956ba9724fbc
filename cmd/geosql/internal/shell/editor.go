package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// errInterrupt reports Ctrl-C while a statement is being edited.
var errInterrupt = errors.New("interrupt")

// An editor reads statements from the terminal, which may have several lines. The terminal is
// raw only while one is edited: everywhere else Ctrl-C is a signal and a line feed is enough.
// Prompts and echo go to standard error; only rows go to standard output.
type editor struct {
	shell   *readline.Shell
	answers bool // the terminal says where its cursor is
	row     int  // of the cursor, below the prompt's
	room    int  // rows below the prompt's that are on the screen

	mu       sync.Mutex // completion reads the database
	complete completer
	closed   bool
}

// A completer returns the completions at the end of a text.
type completer func(before string) candidates

// newEditor returns an editor. whole reports whether a text needs no further line.
func newEditor(h *history, whole func(string) bool, complete completer) *editor {
	e := &editor{shell: readline.NewShell(), complete: complete}
	rl := e.shell
	rl.Prompt.Primary(func() string { return Prompt })
	rl.Prompt.Secondary(func() string { return Continuation })
	rl.History.Delete()
	rl.History.Add("history", h)
	rl.AcceptMultiline = func(text []rune) bool { return whole(asTyped(string(text))) }
	rl.SyntaxHighlighter = shown
	rl.Hint.SetProvider(e.frame)
	rl.Keymap.Register(map[string]func(){"self-insert": e.insert})
	rl.Completer = e.completions
	if runtime.GOOS == "windows" {
		_ = rl.Config.Bind("emacs", "\x1a", "end-of-file", false) // endKey
	}
	var early string
	e.answers, early = answersProbe()
	rl.Keys.Feed(false, []rune(early)...)
	for name, value := range map[string]any{
		"comment-begin":                "--",
		"menu-complete-display-prefix": true, // Tab inserts the common prefix of all candidates
		"input-meta":                   true, // texts are UTF-8 in every locale
		"output-meta":                  true,
		"convert-meta":                 false,
		"echo-control-characters":      false, // it would be cleared at once
	} {
		rl.Config.Vars[name] = value
	}
	return e
}

// read reads statements or a command of the shell. Its errors are errInterrupt, io.EOF for
// Ctrl-D, and the cause of ctx.
func (e *editor) read(ctx context.Context) (string, error) {
	fd := int(os.Stdin.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	text, err := cli.Await(ctx, func() (string, error) { return e.readline() })
	switch {
	case ctx.Err() != nil: // the line editor still waits for a key, in a raw terminal
		term.Restore(fd, state)
		io.WriteString(os.Stderr, endPaste+"\r\n")
		e.close()
	case errors.Is(err, readline.ErrInterrupt):
		err = errInterrupt
		markInterrupt(text)
	}
	return text, err
}

// markInterrupt writes ^C behind a text that was dropped. The cursor is on the row below.
func markInterrupt(text string) {
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width == 0 {
		return
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	fmt.Fprintf(os.Stderr, "\x1b[A\r\x1b[%dC^C\n", (len(Prompt)+cli.Width(last))%width)
}

// endPaste tells the terminal to send pasted text as if it were typed.
const endPaste = "\x1b[?2004l"

// readline reads with the line editor, which writes to the current os.Stdout.
func (e *editor) readline() (string, error) {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	defer func() { os.Stdout = stdout }()
	e.row, e.room = 0, 0
	text, err := e.shell.Readline()
	return asTyped(text), err
}

// ask asks a question, and reports whether the answer is yes. Ctrl-C and Ctrl-D are errInterrupt: as a signal, Ctrl-C would leave
// a read behind, as in cli.AskYes, that takes the next line.
func (e *editor) ask(ctx context.Context, question string) (yes bool, err error) {
	answer, err := cli.NewLineReader().Line(ctx, question+" [y/N] ")
	if err != nil && ctx.Err() == nil {
		return false, errInterrupt
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

// pending reports whether something was typed that is not read yet.
func (e *editor) pending() bool { return !e.shell.Keys.Empty() }

// close ends completion, which must not touch a closed database.
func (e *editor) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// frame prepares the terminal for a text that is about to be drawn: it makes room for it. The
// line editor itself makes room only if it asks the terminal at each key where the cursor is,
// and loses keys that arrive with the answer, so it asks only for its lists.
func (e *editor) frame(text []rune, cursor int) []rune {
	for i, r := range text {
		text[i] = visible(r)
	}
	width, height, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width == 0 {
		width, height = 80, 24
	}
	rows, column := rowsOf(text, width)
	if need := min(rows, height-1); need > e.room {
		down := need - e.row
		io.WriteString(os.Stderr, strings.Repeat("\n", down)+fmt.Sprintf("\x1b[%dA", down))
		e.room = need
	}
	row, _ := rowsOf(text[:min(cursor, len(text))], width)
	e.row = row - 1
	vars := e.shell.Config.Vars
	vars["cursor-position-probe"] = e.answers && e.shell.Keymap.Local() != ""
	vars["multiline-column"] = column < width && rows < height // the prompts of further lines
	return nil
}

// rowsOf returns how many rows a text takes below the prompt, and the columns of its longest
// line.
func rowsOf(text []rune, width int) (rows, columns int) {
	for line := range strings.SplitSeq(string(text), "\n") {
		n := len(Prompt)
		for _, r := range line {
			n++
			if r == '\t' || r >= '\u1100' { // wide characters, and others that are not
				n += 4
			}
		}
		rows += 1 + n/width
		columns = max(columns, n)
	}
	return rows, columns
}

// insert inserts typed characters. The line editor's own command moves the cursor by columns and
// drops combining characters.
func (e *editor) insert() {
	e.shell.History.SkipSave()
	for _, r := range e.shell.Keys.Caller() {
		e.shell.Cursor().InsertAt(visible(r))
	}
}

// While a text is edited, each invisible character of 16 bits stands in it as a character for
// private use that takes the one column in which something is shown for it.
const hidden = '\U00100000'

// visible returns the stand-in for a character.
func visible(r rune) rune {
	if r < 1<<16 && r != '\n' && r != '\t' && !printable.Is(string(r)) {
		return hidden + r
	}
	return r
}

// asTyped returns the text for its stand-ins.
func asTyped(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= hidden && r < hidden+1<<16 {
			return r - hidden
		}
		return r
	}, text)
}

// shown returns a text as it is shown while it is edited. No character of it steers the
// terminal.
func shown(text []rune) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !printable.Is(string(r)) {
			return '\ufffd'
		}
		return r
	}, string(text))
}

// completions returns the completions at the cursor.
func (e *editor) completions(text []rune, cursor int) readline.Completions {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return readline.Completions{}
	}
	found := e.complete(asTyped(string(text[:min(cursor, len(text))])))
	if len(found.word) != utf8.RuneCountInString(found.word) {
		return readline.Completions{} // the line editor would replace as many characters as the word has bytes
	}
	values := make([]readline.Completion, len(found.list))
	for i, c := range found.list {
		values[i] = readline.Completion{Value: c.text, Display: c.text, Tag: c.kind}
	}
	list := readline.CompleteRaw(values)
	list.PREFIX = found.word
	return list
}
