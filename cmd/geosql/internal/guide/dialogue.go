package guide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
)

// columns is the width of a line that the guide prints, which a narrow terminal shows whole.
const columns = 79

// A dialogue asks questions on standard error and reads the answers. It asks nothing unless
// there is a terminal.
type dialogue struct {
	task  *Task
	asks  bool
	lines *cli.LineReader

	// After going back everything is asked again, in silence as far as there are answers.
	answers []string
	given   int // how many of the answers have been given again
}

func newDialogue(t *Task) *dialogue {
	return &dialogue{task: t, asks: cli.Interactive() && !t.Yes, lines: cli.NewLineReader()}
}

// A question asks for one thing that has to be decided.
type question struct {
	flag   string // its value is an answer
	text   string
	help   string
	preset string // the answer if the line is empty; "": there is none
	open   bool   // the preset is a guess: it is not taken unless somebody sees it or -yes says so
	need   string // the error if there is no answer
	accept func(answer string) error
}

var (
	// errUnchanged is the error of a dialogue that ended before its last answer.
	errUnchanged = errors.New("init: nothing was changed")
	// errBack is the error of the answer back.
	errBack = errors.New("back")
)

// guesses reports whether presets may be guesses.
func (d *dialogue) guesses() bool { return d.asks || d.task.Yes }

// settle takes the answer from the flag or the preset, or asks until an answer is accepted.
func (d *dialogue) settle(ctx context.Context, q question) error {
	switch given := d.task.Given[q.flag]; {
	case given != nil:
		if err := q.accept(strings.TrimSpace(*given)); err != nil {
			return fmt.Errorf("init: -%s %s: %w", q.flag, *given, err)
		}
		return nil
	case d.asks:
		return d.ask(ctx, q)
	case q.preset == "" || q.open && !d.task.Yes:
		return cli.UsageError("init: no answer, and no terminal to ask on: " + cmp.Or(q.need, "use --"+q.flag) + d.task.missing(q.flag))
	}
	if d.task.Yes {
		d.say("%s: %s", q.text, q.preset)
	}
	if err := q.accept(q.preset); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

const keysText = "Enter takes the answer in brackets. back returns to the question before, and Ctrl-C leaves everything as it was."

// ask asks until an answer is accepted, and prints the errors of others.
func (d *dialogue) ask(ctx context.Context, q question) error {
	if d.repeats() {
		d.given++
		return q.accept(d.answers[d.given-1])
	}
	prompt := q.text
	if q.preset != "" {
		prompt += " [" + q.preset + "]"
	}
	for {
		line, err := d.lines.Line(ctx, prompt+": ")
		switch {
		case err == io.EOF:
			return errUnchanged
		case err != nil:
			return err
		}
		answer := cmp.Or(strings.TrimSpace(line), q.preset)
		switch strings.ToLower(answer) {
		case "":
			d.say("  An answer is needed; help explains it.")
			continue
		case "help", "?":
			d.say("%s", q.help)
			d.say(keysText)
			continue
		case "back":
			if len(d.answers) == 0 {
				d.say("  This is the first question.")
				continue
			}
			d.answers = d.answers[:len(d.answers)-1]
			return errBack
		}
		switch err = q.accept(answer); err {
		case nil:
			d.answers = append(d.answers, answer)
			d.given++
			return nil
		case errUnchanged:
			return err
		}
		d.say("  %v", err)
	}
}

// repeats reports whether the next question has its answer already.
func (d *dialogue) repeats() bool { return d.given < len(d.answers) }

// say says something in lines that are as indented as the first, unless it has been said before.
func (d *dialogue) say(format string, args ...any) {
	if d.repeats() {
		return
	}
	text := fmt.Sprintf(format, args...)
	if cli.Width(text) <= columns {
		cli.Say("%s", text)
		return
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	for _, line := range cli.Wrap(text, columns-len(indent)) {
		cli.Say("%s", indent+line)
	}
}

// tell says a text that explains a question, if there is somebody to read it.
func (d *dialogue) tell(text string) {
	if d.asks {
		d.say("")
		d.say("%s", text)
	}
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
		d.sayTable(rows, align)
	}
}

// sayTable says a table. Cells that do not fit are cut.
func (d *dialogue) sayTable(rows [][]string, align string) {
	if d.repeats() {
		return
	}
	const widest = 30
	room := columns
	for i := range align {
		room -= 2
		for _, row := range rows {
			row[i] = printable.Text(row[i])
		}
		if i == len(align)-1 {
			cutCells(rows, i, room)
			break
		}
		room -= cutCells(rows, i, widest)
	}
	cli.SayTable(rows, align)
}

// cutCells cuts the cells of a column to a width, and returns the largest that is left.
func cutCells(rows [][]string, i, width int) (widest int) {
	for _, row := range rows {
		if cli.Width(row[i]) > width {
			head, _ := cli.Cut(row[i], max(width-2, 0))
			row[i] = head + ".."
		}
		widest = max(widest, cli.Width(row[i]))
	}
	return widest
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
