package trials

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A failing is a test that runs its cleanup when told to.
type failing struct {
	testing.TB
	cleanup []func()
	log     string
}

func (f *failing) Failed() bool      { return true }
func (f *failing) Cleanup(do func()) { f.cleanup = append(f.cleanup, do) }
func (f *failing) Logf(format string, args ...any) {
	f.log += fmt.Sprintf(format, args...)
}

// run has a seed of the environment, or a new one.
func run(t *testing.T, seed string) {
	t.Setenv(seedVariable, seed)
	ofRun, again = sync.OnceValues(readSeed), map[string]uint64{}
	t.Cleanup(func() { ofRun = sync.OnceValues(readSeed) })
}

func TestSeedsAreFreshLoggedAndRepeated(t *testing.T) {
	run(t, "")
	f := &failing{TB: t}
	seeds := []uint64{Seed(f), Seed(f)}
	if seeds[0] == seeds[1] {
		t.Error("the same seed twice")
	}
	for _, do := range f.cleanup {
		do()
	}
	_, said, _ := strings.Cut(f.log, seedVariable+"=")
	if Seed(&failing{TB: t}) == seeds[0] {
		t.Error("-count has the same seed twice")
	}
	run(t, "")
	if Seed(&failing{TB: t}) == seeds[0] {
		t.Error("another run has the same seed")
	}
	run(t, said)
	again := &failing{TB: t}
	if got := []uint64{Seed(again), Seed(again)}; !slices.Equal(got, seeds) {
		t.Errorf("%d, and what was logged repeats %d", seeds, got)
	}
}

func TestSomeAreOthersEachTime(t *testing.T) {
	t.Setenv(wholeVariable, "")
	run(t, "")
	seen := map[string]bool{}
	for range 200 {
		some := Some(t, 2, 1, 2, 3, 4)
		if len(some) != 2 || some[0] == some[1] {
			t.Fatal(some)
		}
		seen[fmt.Sprint(some)] = true
	}
	if len(seen) < 6 {
		t.Errorf("only %v", seen)
	}
	t.Setenv(wholeVariable, "1")
	if all := Some(t, 2, 1, 2, 3, 4); len(all) != 4 {
		t.Error(all)
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
