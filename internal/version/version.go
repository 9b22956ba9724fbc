// Package version holds the version of geosql.
package version

import "runtime/debug"

// Version is the version of geosql, which its functions, its command, its packages and its publications state. The
// Makefile reads it here too, since a release has no other.
const Version = "0.1.0"

// commit is set by the linker (see the Makefile), which builds releases without the state of git: Go would add tags,
// which not every clone has.
var commit string

// Build returns the version with the commit.
func Build() string { return Version + ", commit " + Commit() }

// Commit returns the commit that the program was built from, with -dirty where files differed from it, or "unknown".
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return commitOf(info)
	}
	return "unknown"
}

// commitOf returns the commit that Go has noted, if it is one of geosql: a program that imports geosql's packages
// has commits of its own.
func commitOf(info *debug.BuildInfo) string {
	if info.Main.Path != "github.com/geosql/geosql" {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	return revision + dirty
}
