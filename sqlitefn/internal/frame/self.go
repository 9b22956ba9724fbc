package frame

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/version"
)

var argHelp = &Arg{Name: "name", Is: "name of a function; without it, all functions are listed", Kind: Text, Optional: true}

// SelfFunctions describe geosql itself.
var SelfFunctions = []*Function{
	{
		Name: "geosql_help", Section: Free, Returns: "TEXT",
		Args:     []*Arg{argHelp},
		Does:     "Explains a function.",
		Examples: []string{"SELECT geosql_help('geo_outside')"},
		Scalar:   geosqlHelp,
	},
	{
		Name: "geosql_version", Section: Free, Returns: "TEXT", Flags: Pure,
		Does:     "Returns the version of geosql. In tests of programs it says too that answers can be predicted.",
		Examples: []string{"SELECT geosql_version()"},
		Scalar:   geosqlVersion,
	},
	{
		Name: "geosql_debug", Section: Free, Returns: "TEXT", Flags: sqlite.Innocuous,
		Does:     "Returns the versions of geosql, SQLite and Go, the platform, and the commit that geosql was built from.",
		Examples: []string{"SELECT substr(geosql_debug(), 1, 8)"},
		Scalar:   geosqlDebug,
	},
}

func geosqlVersion(c Call) error {
	c.ResultString(0, c.Session.version())
	return nil
}

// version returns the version of geosql, and in a session of a test says so.
func (s *Session) version() string {
	if s.Options.Test != nil {
		return version.Version + " for tests: answers can be predicted and are not private"
	}
	return version.Version
}

func geosqlDebug(c Call) error {
	c.ResultString(0, fmt.Sprintf("geosql %s, SQLite %s, %s %s/%s, commit %s", c.Session.version(), sqlite.Version(),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, version.Commit()))
	return nil
}

func geosqlHelp(c Call) error {
	if !c.Given(argHelp) {
		var names []string
		for _, f := range c.Session.Table {
			if c.Session.Table.Lookup(f.Name) == f { // the first of its name
				names = append(names, f.Name)
			}
		}
		c.ResultString(0, strings.Join(names, "\n"))
		return nil
	}
	name := c.Text(argHelp)
	var texts []string
	for _, f := range c.Session.Table {
		if strings.EqualFold(f.Name, name) {
			texts = append(texts, f.help())
		}
	}
	if texts == nil {
		return c.Errorf(argHelp, "%s is not a function of geosql; SELECT geosql_help() lists them", Quoted(name))
	}
	c.ResultString(0, strings.Join(texts, "\n\n"))
	return nil
}

// help returns the answer of geosql_help.
func (f *Function) help() string {
	var b strings.Builder
	b.WriteString(f.Signature())
	wrap(&b, f.Does)
	wrap(&b, "Form: "+f.Forms()+".")
	wrap(&b, "Cost: "+f.Cost()+".")
	wrap(&b, "Accuracy: "+f.Exactness()+".")
	for _, a := range f.Args {
		wrap(&b, a.Name+": "+a.Is)
	}
	wrap(&b, f.Notes)
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
