package guide

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// A dialogue asks questions on standard error and reads the answers. It asks nothing unless
// there is a terminal.
type dialogue struct {
	given   map[string]*string // see [Task]
	missing func(but ...string) string
	asks    bool
	lines   *bufio.Reader
}

func newDialogue(t *Task) *dialogue {
	return &dialogue{t.Given, t.missing, cli.Interactive(), bufio.NewReader(os.Stdin)}
}

// A question asks for one thing that has to be decided.
type question struct {
	flag   string // its value is an answer
	text   string
	preset string // the answer if the line is empty; "": there is none
	open   bool   // without a terminal the preset is not taken, and the flag has to be given
	need   string // the error then
	accept func(answer string) error
}

// errUnchanged is the error of a dialogue that ended before its last answer.
var errUnchanged = errors.New("init: nothing was changed")

// settle takes the answer from the flag, or asks until an answer is accepted.
func (d *dialogue) settle(ctx context.Context, q question) error {
	switch given := d.given[q.flag]; {
	case given != nil:
		if err := q.accept(strings.TrimSpace(*given)); err != nil {
			return fmt.Errorf("init: -%s %s: %w", q.flag, *given, err)
		}
		return nil
	case d.asks:
		return d.ask(ctx, q)
	case q.open || q.preset == "":
		return cli.UsageError("init: no answer, and no terminal to ask on: " + cmp.Or(q.need, "use --"+q.flag) + d.missing(q.flag))
	}
	if err := q.accept(q.preset); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// ask asks until an answer is accepted, and prints the errors of others.
func (d *dialogue) ask(ctx context.Context, q question) error {
	prompt := q.text
	if q.preset != "" {
		prompt += " [" + q.preset + "]"
	}
	for {
		fmt.Fprint(os.Stderr, printable.Text(prompt)+": ")
		line, err := cli.ReadAnswer(ctx, d.lines)
		if ctx.Err() != nil || err == io.EOF {
			fmt.Fprintln(os.Stderr)
		}
		switch {
		case err == io.EOF:
			return errUnchanged
		case err != nil:
			return err
		}
		answer := cmp.Or(strings.TrimSpace(line), q.preset)
		if answer == "" {
			cli.Say("  An answer is needed; Ctrl-C leaves everything as it was.")
			continue
		}
		if err = q.accept(answer); err == nil || err == errUnchanged {
			return err
		}
		cli.Say("  %v", err)
	}
}

// tell says lines that explain a question, if there is somebody to read them.
func (d *dialogue) tell(text string) {
	if !d.asks {
		return
	}
	sayLines("\n" + text)
}

// sayLines says the lines of a text.
func sayLines(text string) {
	for line := range strings.Lines(text) {
		cli.Say("%s", strings.TrimSuffix(line, "\n"))
	}
}

// show shows a table that explains a question.
func (d *dialogue) show(rows [][]string, align string) {
	if d.asks {
		cli.SayTable(rows, align)
	}
}

// yes reports whether the answer is yes, and an error if it is neither yes nor no.
func yes(answer string) (bool, error) {
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, nil
	case "n", "no":
		return false, nil
	}
	return false, errors.New("type yes or no")
}
