package audit

import (
	"io"
	"strconv"
)

// The page is in page.qtpl, which escapes every text for an element or an attribute in quotes: it may stand nowhere else.
//
//go:generate go run github.com/valyala/quicktemplate/qtc -skipLineComments

// WritePage writes the report as an HTML page, which needs no other file and runs no script. Errors are those of w.
func (r *Report) WritePage(w io.Writer) error {
	_, err := io.WriteString(w, r.document())
	return err
}

// short returns a number with four digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
