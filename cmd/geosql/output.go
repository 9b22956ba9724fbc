package main

import (
	"bufio"
	"encoding/hex"
	"flag"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

// A mode is a format of the output.
type mode int

const (
	tableMode mode = iota
	csvMode
	jsonMode
	geoJSONMode
	lineMode
)

// modes maps the names of the formats, which are flags, to the formats.
var modes = map[string]mode{"table": tableMode, "csv": csvMode, "json": jsonMode, "geojson": geoJSONMode, "line": lineMode}

var modeUsage = [...]string{
	tableMode:   "print rows in aligned columns (the default)",
	csvMode:     "print rows as CSV (RFC 4180) with a header line per statement; NULL is empty",
	jsonMode:    "print an array of objects per statement, with a row per line",
	geoJSONMode: "print a FeatureCollection per statement; columns lat and lon, or one with WKT, become the geometry",
	lineMode:    "print a line per column, and an empty line after a row",
}

// modeNames returns the names of the formats in alphabetical order.
func modeNames() []string { return slices.Sorted(maps.Keys(modes)) }

// registerModes defines a flag for each format, which sets it.
func registerModes(fs *flag.FlagSet, m *mode) {
	for name, to := range modes {
		cli.Switch(fs, name, modeUsage[to], func() { *m = to })
	}
}

// String returns the name of a format.
func (m mode) String() string {
	for name, other := range modes {
		if other == m {
			return name
		}
	}
	return ""
}

// A look says how tables and lines show values to people. The zero look, for output that
// programs may read, hides nothing and marks nothing.
type look struct {
	null  string // stands for NULL
	short bool   // numbers that are long without an exponent have one
	width int    // a table that is wider is shown as lines; 0 for no limit
}

// terminalLook returns the look of rows on a terminal, or of rows that go elsewhere.
func terminalLook(out *os.File) look {
	if !term.IsTerminal(int(out.Fd())) {
		return look{}
	}
	return look{null: "NULL", short: true}
}

// A rowWriter writes the rows of one statement after another. Its errors are those of
// the underlying writer.
type rowWriter interface {
	// begin starts the rows of a statement.
	begin(columns []string) error
	// row writes a row. The cells are valid only during the call.
	row(cells []sqlite.Value) error
	// end ends the rows of a statement; whole is false if an error cut them off.
	end(whole bool) error
}

func newRowWriter(m mode, w *bufio.Writer, l look) rowWriter {
	switch m {
	case csvMode:
		return &csvWriter{w: w}
	case jsonMode:
		return &jsonWriter{w: w}
	case geoJSONMode:
		return &geoJSONWriter{w: w}
	case lineMode:
		return &lineWriter{w: w, look: l}
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
