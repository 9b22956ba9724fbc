package output

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// tableRows is the number of rows that set the widths of a table's columns.
const tableRows = 4096

// A tableWriter aligns columns for people to read: numbers to the right, everything
// else to the left, NULL as the look says. A row is one line, so that no name can look like another row; a text
// of several lines takes several only if it is alone in the table. A cell that is wider than the cells of the first rows pushes
// the rest of its line to the right. A table that is wider than the look allows is written as lines.
type tableWriter struct {
	w       *bufio.Writer
	look    Look
	frame   frame
	lines   *lineWriter // writes the rows of a table that is too wide, otherwise nil
	started bool        // an earlier table is followed by an empty line
	columns []string
	widths  []int
	numbers []bool   // columns of numbers have their header on the right
	rows    [][]cell // held back until the widths are fixed
	fixed   bool
	answers *interval.Finder // nil if intervals are not shown
	alone   bool             // the table has one cell
	line    []byte
}

// A frame stands around the cells of a table and between them. The zero frame is two blanks between them.
type frame struct {
	left, between, right string
	top, rule, bottom    *strip // nil for none
	colons               bool   // the rule says which columns are aligned to the right
}

// A strip is a line of a frame.
type strip struct{ left, line, between, right string }

var (
	boxFrame = frame{"│ ", " │ ", " │", &strip{"┌", "─", "┬", "┐"}, &strip{"├", "─", "┼", "┤"}, &strip{"└", "─", "┴", "┘"}, false}

	markdownFrame = frame{"| ", " | ", " |", nil, &strip{"|", "-", "|", "|"}, nil, true}
)

// A cell is a value as it is shown.
type cell struct {
	text   string
	number bool
	value  float64 // of a number
	null   bool
}

func (t *tableWriter) Begin(columns []string) error {
	t.columns = columns
	t.rows, t.fixed, t.lines = t.rows[:0], false, nil
	return nil
}

func (t *tableWriter) Row(cells []sqlite.Value) error {
	row := make([]cell, len(cells))
	for i := range cells {
		row[i] = newCell(&cells[i], t.look)
	}
	switch {
	case t.lines != nil:
		t.mark(row)
		return t.lines.writeRow(row)
	case t.fixed:
		t.mark(row)
		return t.writeRow(row)
	}
	t.rows = append(t.rows, row)
	if len(t.rows) < tableRows {
		return nil
	}
	return t.writeHeld()
}

func (t *tableWriter) End(bool) error {
	if !t.fixed {
		if err := t.writeHeld(); err != nil {
			return err
		}
	}
	if t.lines != nil {
		return nil
	}
	return t.writeStrip(t.frame.bottom)
}

// writeHeld sets the widths from the rows held back and writes these.
func (t *tableWriter) writeHeld() error {
	t.alone = len(t.columns) == 1 && len(t.rows) == 1 && t.frame.rule == nil
	t.findAnswers()
	t.measure()
	if t.tooWide() {
		return t.writeHeldLines()
	}
	if err := t.writeHead(); err != nil {
		return err
	}
	for _, row := range t.rows {
		if err := t.writeRow(row); err != nil {
			return err
		}
	}
	t.rows, t.fixed = t.rows[:0], true
	return nil
}

// findAnswers finds the answers among the rows held back, and marks them.
func (t *tableWriter) findAnswers() {
	t.answers = nil
	if t.look.Intervals == nil {
		return
	}
	t.answers = interval.NewFinder(t.look.Intervals.Of, len(t.columns))
	for _, row := range t.rows {
		for i, c := range row {
			switch {
			case c.number:
				t.answers.See(i, c.value)
			case !c.null:
				t.answers.SeeOther(i)
			}
		}
	}
	for _, row := range t.rows {
		t.mark(row)
	}
}

// mark writes intervals behind the answers of a row.
func (t *tableWriter) mark(row []cell) {
	if t.answers == nil {
		return
	}
	for i := range row {
		if c := &row[i]; c.number {
			if within := t.answers.Interval(i, c.value).String(); within != "" {
				c.text += " " + within
				t.look.Intervals.Shown = true
			}
		}
	}
}

// tooWide reports whether lines show more of the rows than a table does.
func (t *tableWriter) tooWide() bool {
	width := cli.Width(t.frame.left+t.frame.right) + max(cli.Width(t.frame.between), 2)*(len(t.widths)-1)
	for _, w := range t.widths {
		width += w
	}
	return t.look.Width > 0 && width > t.look.Width && len(t.columns) > 1 && len(t.rows) > 0
}

// writeHeldLines writes the rows held back as lines.
func (t *tableWriter) writeHeldLines() error {
	t.lines = &lineWriter{w: t.w, look: t.look, started: t.started}
	t.started, t.fixed = true, true
	if err := t.lines.Begin(t.columns); err != nil {
		return err
	}
	for _, row := range t.rows {
		if err := t.lines.writeRow(row); err != nil {
			return err
		}
	}
	t.rows = t.rows[:0]
	return nil
}

func (t *tableWriter) measure() {
	t.widths = make([]int, len(t.columns))
	t.numbers = make([]bool, len(t.columns))
	for i, name := range t.columns {
		t.columns[i] = t.shown(cell{text: printable.Text(name)})
		if !t.look.NoHeader {
			t.widths[i] = cli.Width(t.columns[i])
		}
		if t.frame.colons {
			t.widths[i] = max(t.widths[i], 1)
		}
		t.numbers[i] = slices.ContainsFunc(t.rows, func(row []cell) bool { return row[i].number })
	}
	for _, row := range t.rows {
		for i, c := range row {
			for line := range strings.SplitSeq(t.shown(c), "\n") {
				t.widths[i] = max(t.widths[i], cli.Width(line))
			}
			t.numbers[i] = t.numbers[i] && (c.number || c.null || c.text == "")
		}
	}
}

func (t *tableWriter) writeHead() error {
	if t.started {
		if err := t.w.WriteByte('\n'); err != nil {
			return err
		}
	}
	t.started = true
	if err := t.writeStrip(t.frame.top); err != nil || t.look.NoHeader {
		return err
	}
	head, rule := make([]cell, len(t.columns)), make([]cell, len(t.columns))
	for i, name := range t.columns {
		head[i] = cell{text: name, number: t.numbers[i]}
		rule[i] = cell{text: strings.Repeat("-", t.widths[i])}
	}
	if err := t.writeRow(head); err != nil {
		return err
	}
	if t.frame.rule != nil {
		return t.writeStrip(t.frame.rule)
	}
	return t.writeRow(rule)
}

// writeStrip writes a line of the frame, if there is one.
func (t *tableWriter) writeStrip(s *strip) error {
	if s == nil {
		return nil
	}
	line := s.left
	for i, width := range t.widths {
		if i > 0 {
			line += s.between
		}
		end := s.line
		if t.frame.colons && t.numbers[i] {
			end = ":"
		}
		line += strings.Repeat(s.line, width+1) + end
	}
	_, err := t.w.WriteString(line + s.right + "\n")
	return err
}

// shown returns a cell as the table shows it.
func (t *tableWriter) shown(c cell) string {
	switch {
	case t.alone:
		return c.text
	case t.frame.colons:
		c.text = strings.ReplaceAll(c.text, "|", `\|`)
	}
	return strings.ReplaceAll(c.text, "\n", `\n`)
}

// writeRow writes a row. It changes the row.
func (t *tableWriter) writeRow(row []cell) error {
	for i, c := range row {
		row[i] = cell{text: t.shown(c), number: c.number || c.null && t.numbers[i]}
	}
	return t.writeLine(row)
}

func (t *tableWriter) writeLine(row []cell) error {
	t.line = t.line[:0]
	pending := 0 // blanks that come only if something follows
	write := func(text string) {
		if text != "" {
			t.line = append(t.line, strings.Repeat(" ", pending)...)
			t.line = append(t.line, text...)
			pending = 0
		}
	}
	write(t.frame.left)
	for i, c := range row {
		switch {
		case i == 0:
		case t.frame.between == "":
			pending += 2
		default:
			write(t.frame.between)
		}
		fill := max(t.widths[i]-cli.Width(c.text), 0)
		if c.number {
			pending += fill
			fill = 0
		}
		write(c.text)
		pending += fill
	}
	write(t.frame.right)
	t.line = append(t.line, '\n')
	_, err := t.w.Write(t.line)
	return err
}

// longNumber is the length from which a number on a terminal has an exponent, if it is shorter
// with one: no INTEGER is as long, and a REAL only if it is huge or tiny.
const longNumber = 22

// numberOf returns an INTEGER or REAL as a float64.
func numberOf(v *sqlite.Value) float64 {
	if v.Type() == sqlite.Integer {
		return float64(v.Int())
	}
	return v.Float()
}

// newCell returns a copy of a value as it is shown.
func newCell(v *sqlite.Value, l Look) cell {
	switch v.Type() {
	case sqlite.Integer, sqlite.Float:
		text := string(appendNumber(nil, v))
		if l.Short && len(text) >= longNumber {
			if short := strconv.FormatFloat(v.Float(), 'g', -1, 64); len(short) < len(text) {
				text = short
			}
		}
		return cell{text: text, number: true, value: numberOf(v)}
	case sqlite.Text:
		lines := strings.Split(v.Text(), "\n")
		for i := range lines {
			lines[i] = printable.Text(lines[i])
		}
		return cell{text: strings.Join(lines, "\n")}
	case sqlite.Blob:
		return cell{text: string(appendHex(nil, v.Bytes()))}
	default:
		return cell{text: l.Null, null: true}
	}
}
