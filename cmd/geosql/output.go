package main

import (
	"bufio"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/geosql/geosql/internal/sqlite"
)

// A mode is a form of the output.
type mode int

const (
	tableMode mode = iota
	csvMode
	jsonMode
)

// modes are the forms of the output by their names, which are flags.
var modes = map[string]mode{"table": tableMode, "csv": csvMode, "json": jsonMode}

var modeUsage = [...]string{
	tableMode: "rows aligned for reading (the default)",
	csvMode:   "rows as RFC 4180 has them, a header line per statement; NULL is empty",
	jsonMode:  "an array of objects per statement, a row per line",
}

// A rowWriter writes the rows of one statement after the other. Its errors are
// those of the writer below.
type rowWriter interface {
	// begin starts the rows of a statement.
	begin(columns []string) error
	// row writes a row. The cells are valid only during the call.
	row(cells []sqlite.Value) error
	// end ends the rows; whole is false if an error cut them off.
	end(whole bool) error
}

func newRowWriter(m mode, w *bufio.Writer) rowWriter {
	switch m {
	case csvMode:
		return &csvWriter{w: w}
	case jsonMode:
		return &jsonWriter{w: w}
	default:
		return &tableWriter{w: w}
	}
}

// appendNumber appends an INTEGER or REAL as a decimal without exponent, with as
// many digits as tell a REAL from its neighbours.
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
