package frame

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// typeError returns the error for an argument with a value of the wrong type.
//
// It shows public things: the value of a setting or of an account, and the name of the column
// that the statement passes, which is in its text. A secret of the wrong type may still be
// somebody's reading, such as '0,5', so the error does not show it. Nor does it count rows, since the
// rows of a group are not those of a table. Instead it has the condition with which the owner
// finds the rows.
func (c Call) typeError(a *Arg, got *sqlite.Value) error {
	text := got.Type().String()
	if a.Setting || a.Kind.Public {
		text += publicValue(got)
	}
	return c.wrongType(a, got.Type(), text)
}

// wrongType returns the error for an argument of the wrong type, which a text describes.
func (c Call) wrongType(a *Arg, got sqlite.Type, text string) error {
	if column := c.column(a); column != "" {
		condition := fmt.Sprintf("typeof(%s) = '%s'", column, strings.ToLower(got.String()))
		if got == sqlite.Null {
			condition = column + " IS NULL"
		}
		text += " in " + column + "; WHERE " + condition + " finds such rows"
		if got == sqlite.Text {
			text += " (all, if " + column + " was imported as TEXT)"
		}
	}
	return c.Errorf(a, "must be %s, got %s", a.Kind.Expects, text)
}

// publicValue returns a value as a message shows it after its type.
func publicValue(v *sqlite.Value) string {
	switch v.Type() {
	case sqlite.Integer:
		return fmt.Sprintf(" %d", v.Int())
	case sqlite.Float:
		text := FormatNumber(v.Float())
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return " " + text
	case sqlite.Text:
		text := v.Bytes()
		return " " + Quoted(text[:min(len(text), 40)])
	}
	return ""
}

// column returns the column that the running statement passes for an argument, as its text
// names it. It returns "" if the text does not tell: the argument is an expression, the call
// is in a view, or several calls of the function pass different columns.
func (c Call) column(a *Arg) string {
	place := 0
	for c.Function.Args[place] != a {
		place++
	}
	found := ""
	for _, running := range c.Session.Conn.Running() {
		for name, passed := range sqltext.SQLite.Calls(running.SQL) {
			if !strings.EqualFold(name, c.Name) || place >= len(passed) {
				continue
			}
			if found != "" && passed[place] != found {
				return ""
			}
			found = passed[place]
		}
	}
	if !IsColumn(found) || !printable.Is(found) {
		return ""
	}
	return found
}

// IsColumn reports whether a text is the name of a column, possibly with those of its table and
// schema.
func IsColumn(text string) bool {
	dot := true
	for t := range sqltext.SQLite.Tokens(text) {
		name := t.Kind == sqltext.Word && !t.Is("null") || t.Text[0] == '"' && t.Name() != ""
		if dot && !name || !dot && !t.IsSymbol(".") {
			return false
		}
		dot = !dot
	}
	return !dot
}
