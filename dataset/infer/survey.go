package infer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/moment"
	"github.com/geosql/geosql/internal/printable"
)

// A Survey finds out in one reading the contents of the columns of a data set.
type Survey struct {
	columns []column
	commas  bool // numbers may have decimal commas
	rows    int64
}

// A Description describes the contents of a data set.
type Description struct {
	Rows    int64
	Columns []Summary
}

// A Summary describes the contents of a column.
type Summary struct {
	// Field has the column's name and the narrowest kind that keeps every digit of its cells,
	// or the kind that was given.
	dataset.Field
	Given   bool     // the kind was given, by the data set or for the survey
	Nulls   int64    // number of cells that are NULL: empty, and in a numeric column also blank
	Samples []string // the first different cells, at most 3

	// DecimalComma reports that a Real column has decimal commas. [Summary.Real] reads them.
	DecimalComma bool
	// Dates says whether the cells of a Text column are dates or times.
	Dates Dates
	// Misfit says why a column that has numbers is Text, nil for other columns.
	Misfit *Misfit
}

// Dates says whether all cells of a column are dates, or dates and times of day.
type Dates uint8

// The forms of the cells of a column: anything, times as SQL functions read them (ISO 8601 in
// UTC), or dates in another form.
const (
	NoDates Dates = iota
	Times
	OtherDates
)

// A Misfit is the first of the cells that make a column with numbers Text.
type Misfit struct {
	Where   string // such as "line 17"
	Text    string
	Why     string // why the cell is no number, "" if it does not look like one
	Count   int64  // number of such cells
	Numbers int64  // number of cells that are numbers

	// Castable reports that all such cells have this text, and that SQLite's CAST to REAL
	// reads all others right.
	Castable bool
}

// A column collects the facts of a Summary.
type column struct {
	Summary
	forced  bool   // the kind was given for the survey, which checks it
	kinds   Column // of the cells that are numbers
	numbers int64
	misfit  *Misfit // the first cell that is no number
	differ  bool    // another such cell differs from it
	wide    *Misfit // the first integer that is not exact as float64

	mark   byte    // the decimal mark of the first number that has one, or 0
	marked *Misfit // that number
	sure   bool    // some mark cannot be one between thousands

	cells      int64 // neither NULL nor blank
	blank      int64
	times      bool // so far
	otherDates bool
}

// A TypeError is the error about a cell that is not of the kind that was given for its column.
type TypeError struct {
	Field dataset.Field
	Text  string
	Why   string // "" if the cell does not look like a number
}

func (e *TypeError) Error() string {
	text := fmt.Sprintf("column %s: %s is not %s", printable.Text(e.Field.Name), Quote(e.Text), kindNames[e.Field.Kind])
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text
}

var kindNames = [...]string{dataset.Text: "text", dataset.Integer: "a 64-bit integer", dataset.Real: "a number"}

// Quote returns the beginning of a cell in quotes, on one line.
func Quote(cell string) string {
	const longest = 40
	if runes := []rune(cell); len(runes) > longest {
		cell = string(runes[:longest]) + ".."
	}
	return "'" + printable.Text(cell) + "'"
}

// NewSurvey returns a survey of a reader's columns. All are to be added in their order.
// The kinds, by the number of the column, are given, and every cell must fit them. The survey
// infers the others, unless the data set gives them.
func NewSurvey(r dataset.Reader, kinds map[int]dataset.Kind) *Survey {
	s := new(Survey)
	form, csv := dataset.CSVFormOf(r)
	s.commas = csv && form.Separator != ','
	for i, f := range r.Fields() {
		c := column{Summary: Summary{Field: f, Given: r.Typed(i)}, times: true, otherDates: true}
		if kind, given := kinds[i]; given {
			c.Kind, c.Given, c.forced = kind, true, true
		}
		s.columns = append(s.columns, c)
	}
	return s
}

// Settled reports whether all kinds are known without a reading, and no cell has to be checked.
func (s *Survey) Settled() bool {
	for _, c := range s.columns {
		if c.forced || !c.Given {
			return false
		}
	}
	return true
}

// Add adds row i of a batch of all columns. It returns a *TypeError if a cell is not of the
// kind that was given.
func (s *Survey) Add(rows *dataset.Rows, i int) error {
	s.rows++
	for k := range s.columns {
		c := &s.columns[k]
		text, null := rows.Columns[k].At(i)
		if null {
			c.Nulls++
			continue
		}
		if err := c.add(string(text), s.commas, rows, i); err != nil {
			return err
		}
	}
	return nil
}

// add adds a cell that is not NULL, of row i of a batch.
func (c *column) add(text string, commas bool, rows *dataset.Rows, i int) error {
	cell := strings.Trim(text, " \t")
	if cell == "" {
		c.blank++
		return nil
	}
	c.cells++
	c.sample(text)
	if c.Given && !c.forced {
		if c.Kind == dataset.Text && (c.times || c.otherDates) {
			c.addDate(cell)
		}
		return nil
	}
	kind, mark := numberKind(cell), byte(0)
	switch {
	case kind == dataset.Real && strings.IndexByte(cell, '.') >= 0:
		mark = '.'
	case kind == dataset.Text && commas && isCommaNumber(cell):
		kind, mark = dataset.Real, ','
	}
	if mark != 0 && c.mark != 0 && mark != c.mark {
		kind = dataset.Text
	}
	if c.forced {
		return c.check(cell, kind, mark, commas)
	}
	if kind == dataset.Text {
		c.addMisfit(cell, commas, rows, i)
		if c.times || c.otherDates {
			c.addDate(cell)
		}
		return nil
	}
	c.times, c.otherDates = false, false
	c.numbers++
	if mark != 0 {
		c.addMark(cell, mark, rows, i)
	}
	if kind == dataset.Integer && isWide(cell) && c.wide == nil {
		c.wide = newMisfit(cell, rows, i)
	}
	c.kinds.integers = c.kinds.integers || kind == dataset.Integer
	c.kinds.reals = c.kinds.reals || kind == dataset.Real
	c.kinds.wide = c.wide != nil
	return nil
}

// sample keeps the first different cells.
func (c *column) sample(text string) {
	if len(c.Samples) == 3 {
		return
	}
	for _, s := range c.Samples {
		if s == text {
			return
		}
	}
	c.Samples = append(c.Samples, strings.Clone(text))
}

// check returns a *TypeError if a cell is not of the column's given kind.
func (c *column) check(cell string, kind dataset.Kind, mark byte, commas bool) error {
	fits := true
	switch c.Kind {
	case dataset.Integer:
		_, err := strconv.ParseInt(cell, 10, 64)
		fits = err == nil
	case dataset.Real:
		number := cell
		if commas {
			number = strings.Replace(cell, ",", ".", 1)
		}
		switch {
		case number != cell:
			mark = ','
		case kind == dataset.Text && strings.Contains(cell, "."): // with leading zeros or a plus
			mark = '.'
		}
		if fits = isNumber(number) && (mark == 0 || c.mark == 0 || mark == c.mark); fits && c.mark == 0 {
			c.mark = mark
		}
	default:
		if c.times || c.otherDates {
			c.addDate(cell)
		}
	}
	if fits {
		return nil
	}
	return &TypeError{c.Field, strings.Clone(cell), c.reason(cell, commas)}
}

// isNumber reports whether a text is a finite decimal, possibly with leading zeros or a plus.
func isNumber(cell string) bool {
	x, err := strconv.ParseFloat(cell, 64)
	return err == nil && !math.IsInf(x, 0) && !strings.ContainsAny(cell, "xX_nN")
}

func newMisfit(cell string, rows *dataset.Rows, i int) *Misfit {
	return &Misfit{Where: rows.Where(i), Text: strings.Clone(cell), Count: 1}
}

func (c *column) addMisfit(cell string, commas bool, rows *dataset.Rows, i int) {
	if c.misfit == nil {
		c.misfit = newMisfit(cell, rows, i)
		c.misfit.Why = c.reason(cell, commas)
		return
	}
	c.misfit.Count++
	c.differ = c.differ || cell != c.misfit.Text
}

// reason says why a cell that has the digits of a number is none, or returns "".
func (c *column) reason(cell string, commas bool) string {
	whole, fraction, comma := strings.Cut(cell, ",")
	number := strings.TrimPrefix(cell, "-")
	if comma && commas {
		number = strings.TrimPrefix(whole, "-") + "." + fraction
	}
	switch {
	case c.mark != 0 && (numberKind(cell) != dataset.Text || isCommaNumber(cell)):
		return fmt.Sprintf("other cells have %q as decimal mark", c.mark)
	case digits(number) > 1 && number[0] == '0' && isNumber(number):
		return "a number would lose its leading zeros"
	case comma && !commas && isNumber(whole+"."+fraction):
		return "a decimal comma? it is read in files with semicolons or tabs"
	case number != "" && digits(number) == len(number):
		return "too large for an INTEGER"
	}
	return ""
}

// isCommaNumber reports whether a text is a number with a decimal comma.
func isCommaNumber(cell string) bool {
	whole, fraction, found := strings.Cut(cell, ",")
	return found && fraction != "" && !strings.Contains(cell, ".") && numberKind(whole+"."+fraction) == dataset.Real
}

// addMark adds the decimal mark of a number.
func (c *column) addMark(cell string, mark byte, rows *dataset.Rows, i int) {
	if c.mark == 0 {
		c.mark, c.marked = mark, newMisfit(cell, rows, i)
	}
	c.sure = c.sure || !isGrouped(cell, mark)
}

// isGrouped reports whether the mark of a number may stand between thousands, as in 1.234.
func isGrouped(cell string, mark byte) bool {
	rest := strings.TrimPrefix(cell, "-")
	whole := strings.IndexByte(rest, mark)
	return 1 <= whole && whole <= 3 && rest[0] != '0' && len(rest) == whole+4 && digits(rest[whole+1:]) == 3
}

// addDate adds a cell that is no number.
func (c *column) addDate(cell string) {
	c.times = c.times && isTime(cell)
	c.otherDates = c.otherDates && (c.times || isDate(cell))
}

// isTime reports whether SQL functions read a text as a time.
func isTime(cell string) bool {
	if isPlainTime(cell) {
		return true
	}
	if digits(cell) != 4 {
		return false
	}
	_, err := moment.Parse(cell)
	return err == nil
}

// isPlainTime reports whether a text is like 2026-03-01, 2026-03-01 12:00 or 2026-03-01T12:00:00,
// with a day that every such month has. It is a shortcut: [moment.Parse] takes a third of an
// import's time.
func isPlainTime(cell string) bool {
	const form = "0000-00-00 00:00:00"
	if n := len(cell); n != len("0000-00-00") && n != len("0000-00-00 00:00") && n != len(form) {
		return false
	}
	for i := range len(cell) {
		switch c := cell[i]; form[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		case ' ':
			if c != ' ' && c != 'T' {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	if month, day := cell[5:7], cell[8:10]; month < "01" || month > "12" || day < "01" || day > "30" || day > "28" && month == "02" {
		return false
	}
	if len(cell) == 10 {
		return true
	}
	return cell[11:13] < "24" && cell[14] < '6' && (len(cell) == 16 || cell[17] < '6')
}

// isDate reports whether a text begins with three numbers, divided by one mark, and the
// first or the last of them may be a year, as 16/12/2006 and 2006.12.16 do.
func isDate(cell string) bool {
	first := digits(cell)
	if first == 0 || first > 4 || first >= len(cell) || !strings.ContainsRune("/.-", rune(cell[first])) {
		return false
	}
	rest := cell[first+1:]
	second := digits(rest)
	if second == 0 || second > 2 || second >= len(rest) || rest[second] != cell[first] {
		return false
	}
	rest = rest[second+1:]
	third := digits(rest)
	if third == 0 || third > 4 || first < 3 && third != 2 && third != 4 {
		return false
	}
	return len(rest) == third || rest[third] == ' ' || rest[third] == 'T'
}

// Description returns the description of the rows that were added.
func (s *Survey) Description() Description {
	d := Description{Rows: s.rows}
	var point, comma bool // some column surely has this decimal mark
	for _, c := range s.columns {
		point = point || c.sure && c.mark == '.'
		comma = comma || c.sure && c.mark == ','
	}
	for i := range s.columns {
		c := &s.columns[i]
		doubtful := !c.sure && (c.mark == '.' && comma || c.mark == ',' && point)
		d.Columns = append(d.Columns, c.summary(doubtful))
	}
	return d
}

// summary returns the summary of the column. It is doubtful if its decimal marks are those between
// thousands in another column.
func (c *column) summary(doubtful bool) Summary {
	sum := c.Summary
	if !sum.Given {
		sum.Kind, sum.Misfit = c.kind(doubtful)
	}
	if sum.Kind == dataset.Text {
		switch {
		case c.cells == 0:
		case c.times:
			sum.Dates = Times
		case c.otherDates:
			sum.Dates = OtherDates
		}
	} else {
		sum.Nulls += c.blank
	}
	sum.DecimalComma = sum.Kind == dataset.Real && c.mark == ','
	return sum
}

// kind returns the inferred kind, and the misfit if that is Text for a column with numbers.
func (c *column) kind(doubtful bool) (dataset.Kind, *Misfit) {
	misfit := c.misfit
	switch {
	case c.numbers == 0:
		return dataset.Text, nil
	case misfit != nil:
		misfit.Numbers = c.numbers
		misfit.Castable = !c.differ && c.mark != ',' && c.blank == 0
		return dataset.Text, misfit
	case c.kinds.Kind() == dataset.Text:
		misfit = c.wide
		misfit.Why = "a REAL would lose digits of it"
	case doubtful:
		misfit = c.marked
		misfit.Why = fmt.Sprintf("another column has the other decimal mark, so that %q may stand between thousands", c.mark)
	default:
		return c.kinds.Kind(), nil
	}
	misfit.Numbers = c.numbers - 1 // it is one itself
	return dataset.Text, misfit
}

// Real returns cell i of a Real column, as [dataset.Column.Real] does, with decimal commas if
// the column has them.
func (s *Summary) Real(column *dataset.Column, i int) (v float64, null, ok bool) {
	if !s.DecimalComma {
		return column.Real(i)
	}
	text, null := column.At(i)
	cell := strings.Trim(string(text), " \t")
	if null || cell == "" {
		return 0, true, true
	}
	v, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	return v, false, err == nil && !strings.ContainsAny(cell, "xX_")
}

// ValuesInHeader returns which names of columns look like the values of a row. It also reports
// whether the header line is more likely a row: all of its names look so, or one is a decimal
// fraction or a date.
func ValuesInHeader(fields []dataset.Field) (names []string, row bool) {
	for _, f := range fields {
		kind := numberKind(f.Name)
		number, other := kind != dataset.Text || isCommaNumber(f.Name), isDate(f.Name) || isNumbers(f.Name)
		if number || other {
			names = append(names, f.Name)
		}
		row = row || other || number && kind != dataset.Integer
	}
	return names, row || len(names) == len(fields)
}

// isNumbers reports whether a text has nothing but numbers and semicolons or tabs. So has a
// name of a file with semicolons and decimal commas in its first line that is taken to be
// separated by them.
func isNumbers(name string) bool {
	return strings.ContainsAny(name, ";\t") && strings.ContainsAny(name, "0123456789") && strings.Trim(name, "0123456789.-;\t ") == ""
}
