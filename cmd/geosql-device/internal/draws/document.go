package draws

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// A document is the text that a store on the device keeps: a header, and a line for each limit, account and trace. Names are
// quoted as in Go. Amounts are whole numbers of 1e-12, windows seconds, and times microseconds since 1970.
//
//	geosql-device 1
//	limit "*" "m" LIMIT WINDOW SET
//	spent "ana" "m" SPENT WINDOW-START WINDOW-SPENT
//	trace "ana" "walk" RUN, in base64
type document struct{ entries []*entry }

const header = "geosql-device 1\n"

// Kinds of entries.
const (
	limited = "limit"
	spent   = "spent"
	traces  = "trace"
)

// An entry is one line. Its name is that of a unit or of a trace.
type entry struct {
	kind, account, name string
	numbers             [3]int64
	run                 []byte
}

var errDamaged = errors.New("the budget is damaged: nothing can be charged")

// parseDocument reads a document; an empty text is that of a new budget.
func parseDocument(text string) (*document, error) {
	d := new(document)
	if text == "" {
		return d, nil
	}
	lines, ok := strings.CutPrefix(text, header)
	if !ok {
		return nil, errDamaged
	}
	for line := range strings.Lines(lines) {
		e := new(entry)
		if !e.parse(line) || d.find(e.kind, e.account, e.name) != nil {
			return nil, errDamaged
		}
		d.entries = append(d.entries, e)
	}
	return d, nil
}

func (e *entry) parse(line string) bool {
	line, whole := strings.CutSuffix(line, "\n")
	kind, rest, _ := strings.Cut(line, " ")
	account, rest, isAccount := cutName(rest)
	name, rest, isName := cutName(rest)
	e.kind, e.account, e.name = kind, account, name
	if !whole || !isAccount || !isName {
		return false
	}
	var err error
	switch e.kind {
	case traces:
		e.run, err = base64.StdEncoding.DecodeString(rest)
		return err == nil
	case limited, spent:
		fields := strings.Split(rest, " ")
		if len(fields) != len(e.numbers) {
			return false
		}
		for i, field := range fields {
			if e.numbers[i], err = strconv.ParseInt(field, 10, 64); err != nil {
				return false
			}
		}
		return true
	}
	return false
}

// cutName cuts a quoted name and a space from the front of a line.
func cutName(line string) (name, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", false
	}
	name, err = strconv.Unquote(quoted)
	rest, ok = strings.CutPrefix(line[len(quoted):], " ")
	return name, rest, ok && err == nil
}

func (d *document) text() string {
	b := []byte(header)
	for _, e := range d.entries {
		b = append(append(b, e.kind...), ' ')
		b = append(strconv.AppendQuote(b, e.account), ' ')
		b = append(strconv.AppendQuote(b, e.name), ' ')
		if e.kind == traces {
			b = base64.StdEncoding.AppendEncode(b, e.run)
		} else {
			for i, n := range e.numbers {
				if i > 0 {
					b = append(b, ' ')
				}
				b = strconv.AppendInt(b, n, 10)
			}
		}
		b = append(b, '\n')
	}
	return string(b)
}

// find returns an entry, or nil if the document has none.
func (d *document) find(kind, account, name string) *entry {
	for _, e := range d.entries {
		if e.kind == kind && e.account == account && e.name == name {
			return e
		}
	}
	return nil
}

// entry returns an entry, added if the document has none.
func (d *document) entry(kind, account, name string) *entry {
	e := d.find(kind, account, name)
	if e == nil {
		e = &entry{kind: kind, account: account, name: name}
		d.entries = append(d.entries, e)
	}
	return e
}
