package wire

import (
	"bytes"
	"fmt"
)

// A Copy says how COPY .. TO STDOUT writes rows. The zero value of each field is PostgreSQL's default.
type Copy struct {
	Columns   []Column
	CSV       bool   // comma-separated values instead of the text format
	Header    bool   // begin with the names of the columns
	Delimiter byte   // a tab, or a comma in CSV
	Null      string // \N, or nothing in CSV; see NullSet
	NullSet   bool   // whether Null was given, since it may be empty
	Quote     byte   // in CSV, a double quote
	Escape    byte   // in CSV, Quote
}

// Check returns an error if the options are wrong.
func (c *Copy) Check() error {
	d := c.delimiter()
	switch {
	case d == '\n' || d == '\r' || d == '\\' || d >= 0x80:
		return newError("22023", "COPY delimiter must be a single one-byte character other than newline, carriage return and backslash")
	case !c.CSV && bytes.IndexByte([]byte("abcdefghijklmnopqrstuvwxyz0123456789."), d) >= 0:
		return newError("22023", fmt.Sprintf("COPY delimiter cannot be %q", d))
	case !c.CSV && (c.Quote != 0 || c.Escape != 0):
		return newError("0A000", "COPY quote and escape are available only in CSV mode")
	case c.CSV && c.quote() == d:
		return newError("22023", "COPY delimiter and quote must be different")
	case c.quote() >= 0x80 || c.escape() >= 0x80:
		return newError("22023", "COPY quote and escape must be single one-byte characters")
	case bytes.IndexByte([]byte(c.null()), d) >= 0 || bytes.ContainsAny([]byte(c.null()), "\r\n"):
		return newError("22023", "COPY null representation cannot hold the delimiter, newline or carriage return")
	case c.CSV && bytes.IndexByte([]byte(c.null()), c.quote()) >= 0:
		return newError("22023", "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

func (c *Copy) delimiter() byte {
	switch {
	case c.Delimiter != 0:
		return c.Delimiter
	case c.CSV:
		return ','
	}
	return '\t'
}

func (c *Copy) null() string {
	switch {
	case c.NullSet || c.CSV:
		return c.Null
	}
	return `\N`
}

func (c *Copy) quote() byte {
	if c.Quote != 0 {
		return c.Quote
	}
	return '"'
}

func (c *Copy) escape() byte {
	if c.Escape != 0 {
		return c.Escape
	}
	return c.quote()
}

// appendHeader writes the names of the columns.
func (c *Copy) appendHeader(buf []byte) []byte {
	for i, column := range c.Columns {
		if i > 0 {
			buf = append(buf, c.delimiter())
		}
		buf = c.appendValue(buf, []byte(column.Name), len(c.Columns) == 1)
	}
	return append(buf, '\n')
}

// appendValue writes a value that is not NULL. alone reports whether it is the only one of its row.
func (c *Copy) appendValue(buf, v []byte, alone bool) []byte {
	if c.CSV {
		return c.appendCSV(buf, v, alone)
	}
	for _, b := range v {
		switch b {
		case '\b':
			buf = append(buf, `\b`...)
		case '\f':
			buf = append(buf, `\f`...)
		case '\n':
			buf = append(buf, `\n`...)
		case '\r':
			buf = append(buf, `\r`...)
		case '\t':
			buf = append(buf, `\t`...)
		case '\v':
			buf = append(buf, `\v`...)
		case '\\':
			buf = append(buf, `\\`...)
		case c.delimiter():
			buf = append(buf, '\\', b)
		default:
			buf = append(buf, b)
		}
	}
	return buf
}

func (c *Copy) appendCSV(buf, v []byte, alone bool) []byte {
	quote, escape, delimiter := c.quote(), c.escape(), c.delimiter()
	needed := string(v) == c.null() ||
		alone && string(v) == `\.` // by itself it ends the data
	for _, b := range v {
		needed = needed || b == delimiter || b == quote || b == '\n' || b == '\r'
	}
	if !needed {
		return append(buf, v...)
	}
	buf = append(buf, quote)
	for _, b := range v {
		if b == quote || b == escape {
			buf = append(buf, escape)
		}
		buf = append(buf, b)
	}
	return append(buf, quote)
}
