package dataset

import (
	"bytes"
	"errors"
	"io"
)

// recordMax bounds the length of a record, which an unclosed quote would make as long as
// the file.
const recordMax = 16 << 20

var (
	errBareQuote  = errors.New("a cell contains a quote but does not begin with one")
	errAfterQuote = errors.New("a closing quote is not followed by the end of its cell")
	errOpenQuote  = errors.New("a quote is not closed")
	errRecordLong = errors.New("a row is longer than 16 MiB (is a quote not closed?)")
)

// A splitter splits CSV text into records.
type splitter struct {
	source   io.Reader
	buffer   []byte
	pos, end int   // of the unread text in the buffer
	gone     int64 // bytes of text that were before the buffer
	lines    int64 // number of lines before pos
	line     int64 // line of the latest record, counted from 1
	quoted   bool  // the latest record has quotes
}

func (s *splitter) reset(source io.Reader) {
	if s.buffer == nil {
		s.buffer = make([]byte, 1<<18)
	}
	*s = splitter{source: source, buffer: s.buffer}
}

// offset returns the number of bytes of text before the next record.
func (s *splitter) offset() int64 { return s.gone + int64(s.pos) }

// next returns the next record that is not empty, without its line end. The record is
// valid until the next call.
func (s *splitter) next() ([]byte, error) {
	for {
		record, err := s.record()
		if err != nil {
			return nil, err
		}
		if n := len(record); n > 0 && record[n-1] == '\r' {
			record = record[:n-1]
		}
		if len(record) > 0 {
			return record, nil
		}
	}
}

// record returns the next record. It ends with the first line up to which the number of
// quotes is even.
func (s *splitter) record() ([]byte, error) {
	s.line, s.quoted = s.lines+1, false
	quotes, scanned := 0, 0 // in the record
	for {
		rest := s.buffer[s.pos+scanned : s.end]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			more, err := s.fill()
			if err != nil {
				return nil, err
			}
			if !more {
				return s.last(quotes)
			}
			continue
		}
		quotes += bytes.Count(rest[:n], []byte{'"'})
		s.lines++
		scanned += n + 1
		if quotes%2 == 0 {
			record := s.buffer[s.pos : s.pos+scanned-1]
			s.pos += scanned
			s.quoted = quotes > 0
			return record, nil
		}
	}
}

// last returns the record at the end of the text. If a quote is open there, cells reports
// the error.
func (s *splitter) last(quotes int) ([]byte, error) {
	record := s.buffer[s.pos:s.end]
	if len(record) == 0 {
		return nil, io.EOF
	}
	s.pos = s.end
	s.quoted = quotes > 0 || bytes.IndexByte(record, '"') >= 0
	return record, nil
}

// fill reads more text into the buffer. It reports false at the end of the text.
func (s *splitter) fill() (bool, error) {
	if s.pos > 0 {
		s.gone += int64(s.pos)
		s.end = copy(s.buffer, s.buffer[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buffer) {
		if len(s.buffer) >= recordMax {
			return false, errRecordLong
		}
		s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
	}
	for {
		n, err := s.source.Read(s.buffer[s.end:])
		s.end += n
		switch {
		case n > 0:
			return true, nil // the next Read returns the error again
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		}
	}
}

// A cells iterates over the cells of a record that may have quotes.
type cells struct {
	rest      []byte
	separator byte
	end       bool
	scratch   []byte
}

func (c *cells) start(record []byte, separator byte) {
	c.rest, c.separator, c.end = record, separator, false
}

// next returns the next cell, which is valid until the next call. There is one as long as
// end is false.
func (c *cells) next() ([]byte, error) {
	if len(c.rest) > 0 && c.rest[0] == '"' {
		return c.unquote()
	}
	cell := c.rest
	if n := bytes.IndexByte(c.rest, c.separator); n >= 0 {
		cell, c.rest = c.rest[:n], c.rest[n+1:]
	} else {
		c.end = true
	}
	if bytes.IndexByte(cell, '"') >= 0 {
		return nil, errBareQuote
	}
	return cell, nil
}

// unquote returns a cell without its quotes. Two quotes within it become one.
func (c *cells) unquote() ([]byte, error) {
	c.scratch = c.scratch[:0]
	for rest := c.rest[1:]; ; {
		n := bytes.IndexByte(rest, '"')
		if n < 0 {
			return nil, errOpenQuote
		}
		c.scratch = append(c.scratch, rest[:n]...)
		rest = rest[n+1:]
		switch {
		case len(rest) == 0:
			c.end = true
			return c.scratch, nil
		case rest[0] == c.separator:
			c.rest = rest[1:]
			return c.scratch, nil
		case rest[0] != '"':
			return nil, errAfterQuote
		}
		c.scratch = append(c.scratch, '"')
		rest = rest[1:]
	}
}
