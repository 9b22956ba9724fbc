// Package shell is the command at a terminal: the line editor with its history and completion, the dot commands, the pager,
// and the tour of the demo. It imports session and output. Start at [Run].
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

const (
	Prompt       = "geosql> "
	Continuation = "   ...> "
	greeting     = "geosql: end a statement with ';'. Type .help for the commands, " + endKey + " to leave."
)

// A shell is a session at a terminal.
type shell struct {
	*session.Session
	editor *editor
	timer  bool     // whether to print how long each statement took
	null   *string  // how tables show NULL; nil for the usual way
	file   *os.File // where rows go instead of standard output; nil if they do not
	prices []string // of the statements since they were shown
}

// Run reads statements from the terminal and runs them as soon as they are complete. Ctrl-C
// drops the input or interrupts the running statement. Neither Ctrl-C nor an error leaves the shell. Large charges are asked for,
// unless yes answers.
func Run(ctx context.Context, s *session.Session, yes bool) error {
	// While a line is edited Ctrl-C is a key; an interrupt sent from elsewhere
	// must not leave the terminal raw.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	if !cli.Obeys(os.Stderr) {
		return errors.New("this console does not obey escape sequences, with which a line is edited: " +
			"switch its legacy mode off, or put the SQL behind DB")
	}
	sh := &shell{Session: s}
	sh.greet()
	sh.confirm(!yes)
	s.Priced = func(prices []string) { sh.prices = append(sh.prices, prices...) }
	sh.editor = newEditor(loadHistory(historyFile()), isWhole, sh.complete)
	defer sh.editor.close()
	defer sh.closeFile()
	if err := sh.runConfig(ctx, configFile()); endsShell(ctx, err) {
		return shellError(ctx, err)
	}
	for {
		text, err := sh.editor.read(ctx)
		switch {
		case err == errInterrupt:
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err = sh.runUnits(ctx, text); endsShell(ctx, err) {
			return shellError(ctx, err)
		}
		sh.report(err)
	}
}

// IsCommand reports whether a text is a command of the shell and not SQL.
func IsCommand(text string) bool { return command(text) != "" }

// Do runs a command of the shell, or several on lines, without a terminal.
func Do(ctx context.Context, s *session.Session, text string) error {
	sh := &shell{Session: s}
	if err := sh.runUnits(ctx, text); err != errQuit {
		return cmp.Or(err, sh.closeFile())
	}
	return nil
}

// greet says how to use the shell, and on which database with which limits.
func (sh *shell) greet() {
	fmt.Fprintln(os.Stderr, greeting)
	name := "in memory"
	if files := sh.names("SELECT file FROM pragma_database_list WHERE name = 'main' AND file <> ''"); len(files) > 0 {
		name = filepath.Base(files[0])
	}
	text := name + ": no limits yet, which budget_limit sets"
	if limits := sh.names(limitsSQL); len(limits) > 0 {
		text = name + ": limits of every account " + strings.Join(limits, ", ")
	}
	cli.Say("%s", text)
}

// limitsSQL selects the limits of every account, as they are written.
const limitsSQL = `SELECT printf('%.12g/%s', epsilon_limit, unit) || iif(window_seconds > 0, ' in ' || window_seconds || ' s', '')
	FROM ledger_limits WHERE account = '*' ORDER BY id`

// units splits input into commands of the shell and statements that end with
// their line. The rest is a statement that is not finished.
func units(text string) (whole []string, rest string) {
	var end sqltext.Script
	begin, at := 0, 0 // of the unfinished statement, and of the next line
	for line := range strings.Lines(text) {
		at += len(line)
		switch {
		case begin == at-len(line) && strings.TrimSpace(line) == "":
			begin = at
		case begin == at-len(line) && command(line) != "":
			whole, begin = append(whole, command(line)), at
		default:
			if end.Read(line); end.Complete() {
				whole, begin, end = append(whole, text[begin:at]), at, sqltext.Script{}
			}
		}
	}
	return whole, text[begin:]
}

// isWhole reports whether nothing of a text is unfinished.
func isWhole(text string) bool {
	_, rest := units(text)
	return rest == ""
}

// lastUnit returns the command or the statement at the end of a text.
func lastUnit(text string) string {
	earlier := strings.LastIndexByte(text, '\n') + 1
	if isWhole(text[:earlier]) {
		return text[earlier:]
	}
	_, rest := units(text)
	return rest
}

// runUnits runs commands and statements up to the first error, and says if it leaves some out.
func (sh *shell) runUnits(ctx context.Context, text string) (err error) {
	list, rest := units(text)
	if rest != "" { // the text ended in a search or a macro
		list = append(list, rest)
	}
	for i, unit := range list {
		if command(unit) != "" {
			err = sh.dotCommand(ctx, unit)
		} else {
			err = sh.run(ctx, unit)
		}
		if left := len(list) - i - 1; err != nil && err != errQuit && left > 0 {
			sh.report(err)
			return fmt.Errorf("the statements after it were not run (%d of %d)", left, len(list))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// run runs statements. Ctrl-C ends the statements and not the shell.
func (sh *shell) run(ctx context.Context, text string) error {
	return sh.show(ctx, func(ctx context.Context) error { return sh.Session.Run(ctx, text) })
}

// show calls run and shows the rows that it writes.
func (sh *shell) show(parent context.Context, run func(context.Context) error) error {
	ctx, stop := cli.StopOn(parent, os.Interrupt)
	defer stop()
	begun := time.Now()
	out := sh.screen(parent)
	sh.Out.Reset(out)
	sh.StartOutput()
	err := run(ctx)
	if flushed := sh.Out.Flush(); err == nil {
		err = flushed
	}
	took := time.Since(begun)
	if closed := out.close(); err == nil {
		err = closed
	}
	if errors.Is(err, errPagerLeft) {
		err = nil // the user has seen enough
	}
	sh.ExplainIntervals()
	for _, price := range sh.prices {
		cli.Say("charged %s", price)
	}
	sh.prices = nil
	if sh.timer && err == nil {
		cli.Say("%.3f s", took.Seconds())
	}
	return err
}

// confirm sets whether large charges are asked for.
func (sh *shell) confirm(on bool) {
	sh.Approve = nil
	if on {
		sh.Approve = sh.approve
	}
}

// errDeclined is the error of a statement that the user does not want to run.
var errDeclined = errors.New("not run; nothing was charged")

// approve asks whether to run a statement.
func (sh *shell) approve(ctx context.Context, price string) error {
	yes, err := sh.editor.ask(ctx, "This charges "+price+". Run it?")
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// report prints an error, and below it where the statement went wrong.
func (sh *shell) report(err error) {
	cli.Report(session.Program, err)
	if at := (*sqlite.Error)(nil); errors.As(err, &at) && at.SQL != "" {
		width, _, err := term.GetSize(int(os.Stderr.Fd()))
		if err != nil {
			width = 80
		}
		fmt.Fprint(os.Stderr, caret(at.SQL, at.Offset, width))
	}
}

// caret returns the line of a statement that has a byte at the offset, with a caret below. Of a
// line that is wider than the terminal it shows a part.
func caret(sql string, offset, width int) string {
	const margin = "  "
	begin := strings.LastIndexByte(sql[:offset], '\n') + 1
	line, _, _ := strings.Cut(sql[begin:], "\n")
	before, after := shownLine(line[:offset-begin]), shownLine(line[offset-begin:])
	room := max(width-len(margin)-1, 20)
	if over := cli.Width(before+after) - room; over > 0 {
		_, before = cli.Cut(before, min(over, cli.Width(before)-room/2))
	}
	shown, _ := cli.Cut(before+after, room)
	return margin + strings.TrimRight(shown, " ") + "\n" + margin + strings.Repeat(" ", cli.Width(before)) + "^\n"
}

// shownLine returns a line of SQL as it is shown.
func shownLine(line string) string { return printable.Text(strings.ReplaceAll(line, "\t", " ")) }

// errQuit reports that the user wants to leave the shell.
var errQuit = errors.New("quit")

// endsShell reports whether an error ends the shell. It reports other errors and continues.
func endsShell(ctx context.Context, err error) bool {
	return ctx.Err() != nil || err == errQuit || cli.ReaderLeft(err)
}

// shellError returns the error of the shell after an error that ended it.
func shellError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == errQuit:
		return nil
	default:
		return err
	}
}
