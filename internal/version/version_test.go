package version

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// npm and pip both take three numbers, and each its own form of everything else.
func TestVersionIsThreeNumbers(t *testing.T) {
	if !regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(Version) {
		t.Errorf("the version is %q, want x.y.z", Version)
	}
}

func TestCommit(t *testing.T) {
	const ours, revision = "github.com/geosql/geosql", "0123456789abcdef0123456789abcdef01234567"
	noted := func(module string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module}, Settings: settings}
	}
	at, clean, dirty := debug.BuildSetting{Key: "vcs.revision", Value: revision},
		debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{noted(ours, at, clean), revision},
		{noted(ours, at, dirty), revision + "-dirty"},
		{noted(ours), "unknown"},
		{noted("example.com/imports/geosql", at, clean), "unknown"},
	} {
		if got := commitOf(c.info); got != c.want {
			t.Errorf("%v: the commit is %s, want %s", c.info.Settings, got, c.want)
		}
	}
	defer func() { commit = "" }()
	if commit = revision; Commit() != revision {
		t.Errorf("the commit is %s, want what the linker has set", Commit())
	}
}
