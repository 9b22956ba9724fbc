package sqlitefn

import (
	"slices"
	"strings"
	"testing"
)

// Releases are statements that call every function which releases a value, in
// every form and with every number of arguments, on the table
// t(account, lat, lon, x); the public arguments are good ones. Functions over
// traces are left out: what they charge depends on draws.
func Releases(t *testing.T) (statements []string) {
	t.Helper()
	columns := []string{"account", "lat", "lon", "x"}
	for _, c := range forms() {
		if c.f.section != released || c.f.window != nil || c.f.name == "cip_trace" {
			continue // what takes a trace has its own statements among the uses
		}
		args := c.f.goodArgs(t)
		for i, a := range c.f.args {
			if slices.Contains(columns, a.name) {
				args[i] = "t." + a.name
			}
		}
		for _, n := range c.f.arities() {
			call := c.f.name + "(" + strings.Join(args[:n], ", ") + ")"
			if c.table {
				statements = append(statements, "SELECT t.a, r.* FROM t, "+call+" r")
			} else {
				statements = append(statements, "SELECT "+call+" FROM t")
			}
		}
	}
	return statements
}

// ReferenceExamples are the examples of the reference, in its order, but for those
// of the owner's functions, which release nothing.
func ReferenceExamples() (statements []string) {
	for _, f := range functions {
		if f.section != owners {
			statements = append(statements, f.example...)
		}
	}
	return statements
}
