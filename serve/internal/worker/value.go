package worker

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/wire"
)

func asWire(err error, e **wire.Error) bool { return errors.As(err, e) }

// resultColumns returns the columns of a statement; results describes those of its text. A type comes from the statement, or
// from the column's declaration.
func resultColumns(d *dialect.Description, results []dialect.Result, stmt *sqlite.Stmt) []wire.Column {
	columns := make([]wire.Column, stmt.Columns())
	for i := range columns {
		c := &columns[i]
		c.Name = stmt.ColumnName(i)
		column := c.Name
		if len(results) == len(columns) {
			r := results[i]
			c.Name, c.OID, column = cmp.Or(r.Name, c.Name), r.Type, r.Column
		}
		if declared := stmt.DeclaredType(i); c.OID == 0 && declared != "" {
			c.OID = pgcatalog.ColumnType(declared).OID
		}
		if c.OID == 0 && column != "" {
			c.OID = dialect.Shown(d.Column(column))
		}
		c.OID = cmp.Or(c.OID, wire.OIDText)
	}
	return columns
}

// write writes a value for its column. SQLite's values have types of their own, which the column's
// declared type does not bind. A value that is the same in the type of the column is sent as that: 3 as
// 3.0, 3.0 as 3, and a text of digits as a number. Others are an error that says how to ask, since a
// client that expects numbers would fail, or silently take something else.
func write(row wire.Row, v *sqlite.Value, c *wire.Column) error {
	switch v.Type() {
	case sqlite.Null:
		row.Null()
		return nil
	case sqlite.Integer:
		return writeInt(row, v.Int(), c)
	case sqlite.Float:
		return writeFloat(row, v.Float(), c)
	case sqlite.Blob:
		if isNumber(c.OID) || c.OID == wire.OIDBool {
			return mismatch(c, "a blob", "")
		}
		row.Bytes(v.Bytes())
		return nil
	}
	switch {
	case c.OID == wire.OIDBytea:
		row.Bytes(v.Bytes())
	case c.OID == wire.OIDBool:
		return writeTruth(row, v.Text(), c)
	case isNumber(c.OID):
		text := strings.TrimSpace(v.Text())
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return writeInt(row, n, c)
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return mismatch(c, "the text "+quoted(clip(text)), "TEXT")
		}
		return writeFloat(row, f, c)
	default:
		row.TextBytes(v.Bytes())
	}
	return nil
}

// isNumber reports whether a type is one of numbers.
func isNumber(oid uint32) bool {
	switch oid {
	case wire.OIDInt2, wire.OIDInt4, wire.OIDInt8, wire.OIDOid, wire.OIDFloat4, wire.OIDFloat8, wire.OIDNumeric:
		return true
	}
	return false
}

func writeInt(row wire.Row, n int64, c *wire.Column) error {
	switch c.OID {
	case wire.OIDBool:
		row.Bool(n != 0)
	case wire.OIDBytea:
		return mismatch(c, "the number "+strconv.FormatInt(n, 10), "TEXT")
	default:
		if !wire.Fits(c.OID, n) {
			return mismatch(c, "the number "+strconv.FormatInt(n, 10)+", which is out of its range", "INTEGER")
		}
		row.Int(n)
	}
	return nil
}

func writeFloat(row wire.Row, f float64, c *wire.Column) error {
	switch c.OID {
	case wire.OIDInt2, wire.OIDInt4, wire.OIDInt8, wire.OIDOid:
		if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return mismatch(c, "the number "+strconv.FormatFloat(f, 'g', -1, 64), "REAL")
		}
		return writeInt(row, int64(f), c)
	case wire.OIDBool:
		row.Bool(f != 0)
	case wire.OIDBytea:
		return mismatch(c, "the number "+strconv.FormatFloat(f, 'g', -1, 64), "TEXT")
	default:
		row.Float(f)
	}
	return nil
}

func writeTruth(row wire.Row, text string, c *wire.Column) error {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "t", "true", "1", "yes", "on":
		row.Bool(true)
	case "f", "false", "0", "no", "off":
		row.Bool(false)
	default:
		return mismatch(c, "the text "+quoted(clip(text)), "TEXT")
	}
	return nil
}

// clip returns the beginning of a text.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + ".."
	}
	return s
}

// mismatch returns the error about a value that its column's type does not have.
func mismatch(c *wire.Column, value, as string) error {
	e := newError("22003", "column %s holds %s, which is not of the type that its declaration, or its expression, has", quoted(c.Name), value)
	if strings.HasPrefix(value, "the text") || value == "a blob" {
		e.Code = "22P02"
	}
	if as != "" {
		e.Hint = "Write CAST(.. AS " + as + ") around it."
	}
	return e
}
