package sqlitefn

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/version"
)

var argHelp = &argument{name: "name", is: "name of a function; without it, all functions are listed", kind: kindText, optional: true}

// These functions describe geosql itself.
var selfFunctions = []*function{
	&function{
		name: "geosql_help", section: free,
		args:    []*argument{argHelp},
		does:    "Explains a function.",
		example: []string{"SELECT geosql_help('dx_sum')"},
		scalar:  geosqlHelp,
	},
	&function{
		name: "geosql_version", section: free, flags: pure,
		does:    "Returns the version of geosql.",
		example: []string{"SELECT geosql_version()"},
		scalar:  geosqlVersion,
	},
	&function{
		name: "geosql_debug", section: free, flags: sqlite.Innocuous,
		does:   "Returns the versions of geosql, SQLite and Go, the platform, and the commit that geosql was built from.",
		scalar: geosqlDebug,
	},
}

func geosqlVersion(c call) error {
	c.ResultString(0, Version)
	return nil
}

func geosqlDebug(c call) error {
	c.ResultString(0, fmt.Sprintf("geosql %s, SQLite %s, %s %s/%s, commit %s", Version, sqlite.Version(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, version.Commit()))
	return nil
}

func geosqlHelp(c call) error {
	if !c.given(argHelp) {
		var names []string
		for _, f := range c.session.table {
			if c.session.table.lookup(f.name) == f { // the first of its name
				names = append(names, f.name)
			}
		}
		c.ResultString(0, strings.Join(names, "\n"))
		return nil
	}
	name := c.text(argHelp)
	var texts []string
	for _, f := range c.session.table {
		if strings.EqualFold(f.name, name) {
			texts = append(texts, f.help())
		}
	}
	if texts == nil {
		return c.argErrorf(argHelp, "%s is not a function of geosql; SELECT geosql_help() lists them", quoted(name))
	}
	c.ResultString(0, strings.Join(texts, "\n\n"))
	return nil
}

// help returns what geosql_help answers.
func (f *function) help() string {
	var b strings.Builder
	b.WriteString(f.signature())
	wrap(&b, f.does)
	wrap(&b, "Form: "+f.forms()+".")
	for _, a := range f.args {
		wrap(&b, a.name+": "+a.is)
	}
	if f.charges != "" {
		wrap(&b, "Charges "+f.charges+".")
	}
	wrap(&b, f.notes)
	return b.String()
}

// wrap appends text in indented lines of at most 78 characters, starting a new line.
func wrap(b *strings.Builder, text string) {
	width := 78
	for _, word := range strings.Fields(text) {
		if width+1+len(word) > 78 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(" " + word)
		width += 1 + len(word)
	}
}
