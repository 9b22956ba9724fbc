package load

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// LongestReport is the number of columns that a report of an import shows.
const LongestReport = 60

// report prints a summary of the import on standard error. Standard output is for rows only.
func (t *Task) report(done *Result) {
	cli.Say("imported %s into table %s of %s%s", cli.Count(done.Rows, "row"), t.Table, t.Database, done.FormText())
	shown := done.Columns[:min(len(done.Columns), LongestReport)]
	rows := make([][]string, len(shown))
	for i, c := range shown {
		rows[i] = []string{c.Name, fmt.Sprintf("%-7s", strings.ToUpper(c.Kind.String())), ColumnText(c, done.Rows)}
	}
	cli.SayTable(rows, "lll")
	if more := len(done.Columns) - len(shown); more > 0 {
		cli.Say("  and %s", cli.Count(int64(more), "more column"))
	}
	for _, c := range done.Columns {
		if hint := castHint(c); hint != "" {
			cli.Say("%s", hint)
			break
		}
	}
	if names, _ := infer.ValuesInHeader(done.fields()); names != nil && done.CSV && done.Form.Header && !t.Header {
		cli.Say("a column has the name %s: if the first line is a row, drop the table and import again with --no-header", infer.Quote(names[0]))
	}
}

// fields returns the columns that were imported.
func (done *Result) fields() (fields []dataset.Field) {
	for _, c := range done.Columns {
		fields = append(fields, c.Field)
	}
	return fields
}

var separatorNames = map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs"}

// FormText says how a CSV file was read, and nothing about other files.
func (done *Result) FormText() string {
	switch {
	case !done.CSV:
		return ""
	case done.Form.Header:
		return " (separated by " + separatorNames[done.Form.Separator] + "; the first line names the columns)"
	}
	return " (separated by " + separatorNames[done.Form.Separator] + "; no header line)"
}

// ColumnText describes the contents of a column of a table of that many rows.
func ColumnText(c infer.Summary, rows int64) string {
	var parts []string
	switch {
	case rows > 0 && c.Nulls == rows:
		return "only NULL"
	case c.Misfit != nil:
		parts = append(parts, MisfitText(c.Misfit))
	case c.Dates == infer.Times:
		parts = append(parts, "times, which functions read as UTC")
	case c.Dates == infer.OtherDates:
		parts = append(parts, "dates in a form that functions do not read: they take 2026-03-01 12:00, in UTC, or seconds or milliseconds since 1970")
	case NamesTime(c.Name) && UnixTime(c) != "":
		parts = append(parts, "times, which functions read as "+UnixTime(c)+" since 1970")
	case c.DecimalComma:
		parts = append(parts, "decimal commas")
	}
	if c.Nulls > 0 {
		parts = append(parts, strconv.FormatInt(c.Nulls, 10)+" NULL")
	}
	return strings.Join(parts, "; ")
}

// MisfitText says why a column that has numbers is TEXT.
func MisfitText(m *infer.Misfit) string {
	text := "because of " + m.Where + ": " + infer.Quote(m.Text)
	if m.Why != "" {
		text += " (" + m.Why + ")"
	}
	if m.Count > 1 {
		text += " and " + strconv.FormatInt(m.Count-1, 10) + " more"
	}
	if m.Numbers == 1 {
		return text + "; 1 cell is a number"
	}
	return text + "; " + strconv.FormatInt(m.Numbers, 10) + " cells are numbers"
}

// castHint says how to use the numbers of a column that a few other cells make TEXT, or
// returns "".
func castHint(c infer.Summary) string {
	m := c.Misfit
	if m == nil || m.Why != "" || m.Count > m.Numbers {
		return ""
	}
	hint := "functions take no TEXT for a number: correct such cells in the file"
	if m.Castable {
		hint += fmt.Sprintf(", or write CAST(nullif(%s, %s) AS REAL)", sqlite.QuoteName(c.Name), sqltext.Quote(m.Text))
	}
	return hint
}
