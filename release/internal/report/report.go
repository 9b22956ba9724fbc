package report

import (
	"bytes"
	"fmt"
	"io"
)

// The pages are in *.qtpl, which escape every text for an element or an attribute in quotes: it may stand nowhere else.
//
//go:generate go run github.com/valyala/quicktemplate/qtc -skipLineComments

// Write writes the page as UTF-8. The page depends only on the data. If the data is
// invalid or inconsistent, Write returns an error and writes nothing; other errors are those
// of w.
func Write(w io.Writer, d Data) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := io.WriteString(w, newPage(d).document())
	return err
}

// HasOwner reports whether a page that Write has written has the part for the owner. Text
// of the data cannot be mistaken for it, since angle brackets in text are escaped.
func HasOwner(page []byte) bool { return bytes.Contains(page, []byte(`<aside id="owner"`)) }
