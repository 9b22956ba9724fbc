package trials

import (
	"fmt"
	"strings"
	"testing"
)

// A failing is a test whose cleanup runs when it is told to.
type failing struct {
	testing.TB
	cleanup []func()
	log     string
}

func (f *failing) Helper()           {}
func (f *failing) Failed() bool      { return true }
func (f *failing) Cleanup(do func()) { f.cleanup = append(f.cleanup, do) }
func (f *failing) Logf(format string, args ...any) {
	f.log += fmt.Sprintf(format, args...)
}

func TestASeedIsFreshLoggedAndRepeated(t *testing.T) {
	t.Setenv(seedVariable, "")
	f := &failing{TB: t}
	seed := Seed(f)
	if Seed(f) == seed {
		t.Error("the same seed twice")
	}
	f.cleanup[0]()
	_, said, _ := strings.Cut(f.log, seedVariable+"=")
	t.Setenv(seedVariable, said)
	if got := Seed(t); got != seed {
		t.Errorf("%d, and what was logged repeats %d", seed, got)
	}
}

func TestCountIsThatOfTheEnvironment(t *testing.T) {
	const variable = "GEOSQL_TRIALS"
	t.Setenv(variable, "")
	if n := Count(t, variable, 3); n != 3 {
		t.Errorf("%d", n)
	}
	t.Setenv(variable, "1000")
	if n := Count(t, variable, 3); n != 1000 {
		t.Errorf("%d", n)
	}
}
