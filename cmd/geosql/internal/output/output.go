// Package output writes the rows of statements as tables, lines, CSV, JSON, GeoJSON, and as bare values.
// It imports internal/sqlite for values, and nothing of the command. Start at [Writer] and [New].
package output

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqlite"
)

// A Mode is a format of the output.
type Mode int

const (
	Table Mode = iota
	CSV
	JSON
	GeoJSON
	Line
	Raw
	Box
	Markdown
	List
)

// Modes maps the names of the formats, which are flags, to the formats.
var Modes = map[string]Mode{"table": Table, "csv": CSV, "json": JSON, "geojson": GeoJSON, "line": Line, "raw": Raw,
	"box": Box, "markdown": Markdown, "list": List}

var modeUsage = [...]string{
	Table:   "print rows in aligned columns (the default)",
	CSV:     "print rows as CSV (RFC 4180) with a header line per statement; NULL is empty",
	JSON:    "print an array of objects per statement, with a row per line",
	GeoJSON: "print a FeatureCollection per statement: of columns lat and lon, of one with WKT, or a value that is one",
	Line:    "print a line per column, and an empty line after a row",
	Raw:     "print one value as it is; more are an error",

	Box:      "print rows in a table with a frame",
	Markdown: "print rows as a table of Markdown",
	List:     "print the values of a row with | between them, without a header",
}

// Names returns the names of the formats in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(Modes)) }

// Register defines a flag for each format, which sets it.
func Register(fs *flag.FlagSet, m *Mode) {
	for name, to := range Modes {
		cli.Switch(fs, name, modeUsage[to], func() { *m = to })
	}
}

// String returns the name of a format.
func (m Mode) String() string {
	for name, other := range Modes {
		if other == m {
			return name
		}
	}
	return ""
}

// Check returns an error if the format cannot show rows with so many columns.
func (m Mode) Check(columns int) error {
	if m == Raw && columns > 1 {
		return fmt.Errorf("the answer has %d columns, and --raw prints one value", columns)
	}
	return nil
}

// A Look says how tables and lines show values to people. The zero look, for output that
// programs may read, hides nothing and marks nothing.
type Look struct {
	Null  string // stands for NULL
	Short bool   // numbers that are long without an exponent have one
	Width int    // a table that is wider is shown as lines; 0 for no limit

	NoHeader bool // tables and CSV do not name their columns

	Intervals *Intervals // of the answers in tables; nil if they show none
}

// Intervals say in tables how far from the truth answers may be: 123.4 ± 5.6.
type Intervals struct {
	Of    interval.Of
	Shown bool // a table has shown one
}

// TerminalLook returns the look of rows on a terminal, or of rows that go elsewhere.
func TerminalLook(out *os.File) Look {
	if !term.IsTerminal(int(out.Fd())) {
		return Look{}
	}
	return Look{Null: "NULL", Short: true}
}

// A Writer writes the rows of one statement after another. Its errors are those of
// the underlying writer, and of rows that its format has no room for.
type Writer interface {
	// begin starts the rows of a statement.
	Begin(columns []string) error
	// row writes a row. The cells are valid only during the call.
	Row(cells []sqlite.Value) error
	// end ends the rows of a statement; whole is false if an error cut them off.
	End(whole bool) error
}

func New(m Mode, w *bufio.Writer, l Look) Writer {
	switch m {
	case CSV:
		return &csvWriter{w: w, header: !l.NoHeader}
	case JSON:
		return &jsonWriter{w: w}
	case GeoJSON:
		return &geoJSONWriter{w: w}
	case Line:
		return &lineWriter{w: w, look: l}
	case Raw:
		return &rawWriter{w: w}
	case Box:
		return &tableWriter{w: w, look: l, frame: boxFrame}
	case Markdown:
		l.Width = 0
		return &tableWriter{w: w, look: l, frame: markdownFrame}
	case List:
		return &listWriter{w: w, look: l}
	default:
		return &tableWriter{w: w, look: l}
	}
}

// appendNumber appends an INTEGER or REAL as a decimal without exponent. A REAL has
// as many digits as distinguish it from its neighbours.
func appendNumber(b []byte, v *sqlite.Value) []byte {
	if v.Type() == sqlite.Integer {
		return strconv.AppendInt(b, v.Int(), 10)
	}
	f := v.Float()
	switch {
	case math.IsInf(f, 1):
		return append(b, "Inf"...)
	case f == 0: // also the negative zero
		return append(b, '0')
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendHex appends a blob as SQLite's hex() writes it.
func appendHex(b, blob []byte) []byte {
	start := len(b)
	b = hex.AppendEncode(b, blob)
	for i, c := range b[start:] {
		if c >= 'a' {
			b[start+i] = c - 'a' + 'A'
		}
	}
	return b
}
