package audit

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/audit/host"
)

// FalseAlarm bounds the probability that a run reports a violation although every claim holds.
const FalseAlarm = 1e-6

// Config says which functions are audited, and how.
type Config struct {
	Host      host.Host
	Functions []string      // names of functions; all that the host has if there are none
	Time      time.Duration // for everything together
	Workers   int           // attacks at the same time

	// Found is told of each violation at once, and Progress which share of the time is over. Either may be
	// nil; both are called by one goroutine at a time.
	Found    func(Violation)
	Progress func(share float64)
}

// Run audits functions, in databases of its own that it makes in the folder for temporary files and removes. It returns a
// report also if the context ends before the time is over. The error is one of the host or of the audit: violations
// are in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	attacks, err := choose(c.Functions, c.Host)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(scratch(), "geosql-audit-")
	if err != nil {
		return nil, fmt.Errorf("there is no place for databases: %w (%s may name another folder)", err, scratchVariable())
	}
	defer os.RemoveAll(folder)
	r := newRunner(c, attacks, folder)
	defer r.close()
	err = r.run(ctx)
	report := r.report()
	if err != nil && !report.Violated {
		return nil, err
	}
	return report, nil
}

// scratchVariable is the variable of the environment that names the folder for temporary files.
func scratchVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// choose returns the attacks on the functions of these names that the host can make.
func choose(names []string, h host.Host) ([]*placed, error) {
	var list []*placed
	made := map[string]bool{}
	for i, a := range attacks() {
		if h.Makes(a.fixture.sealed != nil) && (len(names) == 0 || slices.Contains(names, a.function)) {
			list = append(list, &placed{a, i})
			made[a.function] = true
		}
	}
	for _, name := range names {
		if !made[name] {
			return nil, fmt.Errorf("%s has no function %s that releases values", h.Describe(), name)
		}
	}
	return list, nil
}

// families register their attacks, each about one thing that functions release.
var families = []func(register func(...attack)){
	attacksOnLocations, attacksOnPlaces, attacksOnSets,
	attacksOnCounts, attacksOnCurves, attacksOnRanks, attacksOnSums, attacksOnValues,
	attacksOnSealed,
	attacksOnSteps, attacksOnHidden, attacksOnTraces,
}

// attacks lists all attacks. Their domains take milliseconds, which a command that audits nothing does without.
var attacks = sync.OnceValue(func() (all []attack) {
	for _, family := range families {
		family(func(list ...attack) { all = append(all, list...) })
	}
	return all
})

// Functions returns the names of the functions that can be audited, in the order of the attacks.
func Functions() (names []string) {
	for _, a := range attacks() {
		if !slices.Contains(names, a.function) {
			names = append(names, a.function)
		}
	}
	return names
}
