package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page
var files embed.FS

// pages holds the templates, which escape every text for the place it stands in.
var pages = template.Must(template.ParseFS(files, "page/*.tmpl"))

// Write writes the page as UTF-8. It is a function of the data alone. Errors say, before
// anything is written, which of the data is not a number to print or does not fit the
// rest, or are those of w.
func Write(w io.Writer, d Data) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return pages.ExecuteTemplate(w, "page", newPage(d))
}

// HasOwner reports whether a page that Write has written has the part for the owner. No
// text of the data can be taken for it, for in texts an angle bracket is escaped.
func HasOwner(page []byte) bool { return bytes.Contains(page, []byte(`<aside id="owner"`)) }
