package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
)

//go:embed page
var files embed.FS

// pages returns the templates, which escape every text for its context. To parse them takes a tenth of a command's start, and few
// commands write a page.
var pages = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "page/*.tmpl")) })

// Write writes the page as UTF-8. The page depends only on the data. If the data is
// invalid or inconsistent, Write returns an error and writes nothing; other errors are those
// of w.
func Write(w io.Writer, d Data) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return pages().ExecuteTemplate(w, "page", newPage(d))
}

// HasOwner reports whether a page that Write has written has the part for the owner. Text
// of the data cannot be mistaken for it, since angle brackets in text are escaped.
func HasOwner(page []byte) bool { return bytes.Contains(page, []byte(`<aside id="owner"`)) }
