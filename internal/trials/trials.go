// Package trials says how many random trials a test makes, and from which seed. Tests import it, and it imports nothing of geosql's.
// Start with Count, Fewer, Some and Rand.
//
// In a short run each test makes few trials, and other ones each time. make long asks for many, by the environment.
package trials

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

const (
	seedVariable  = "GEOSQL_SEED"  // has the seed of a run that is to be repeated
	wholeVariable = "GEOSQL_WHOLE" // asks for all cases of each test
)

// Count returns how many trials a test makes: few, unless the environment variable has another number.
func Count(t testing.TB, variable string, few int) int {
	t.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return few
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s is not a number of trials: %q", variable, s)
	}
	return n
}

// Some returns a few cases of a test, others in each run, or all of them with GEOSQL_WHOLE in the environment.
func Some[T any](t testing.TB, few int, cases ...T) []T {
	t.Helper()
	if os.Getenv(wholeVariable) != "" || few >= len(cases) {
		return cases
	}
	chosen := make([]T, few)
	for i, k := range Rand(t).Perm(len(cases))[:few] {
		chosen[i] = cases[k]
	}
	return chosen
}

// Fewer returns how many trials a test makes: few, or all with GEOSQL_WHOLE in the environment.
func Fewer(few, all int) int {
	if os.Getenv(wholeVariable) != "" {
		return all
	}
	return few
}

// Rarely skips a test unless its turn has come, once in so many runs on average, or GEOSQL_WHOLE is in the environment.
func Rarely(t testing.TB, runs int) {
	t.Helper()
	if os.Getenv(wholeVariable) == "" && Rand(t).IntN(runs) > 0 {
		t.Skipf("it is in one of %d runs: %s=1 has it in each", runs, wholeVariable)
	}
}

// Histories has package rapid check few random histories in each test, unless GEOSQL_WHOLE is in the environment or the command line
// has -rapid.checks. TestMain calls it.
func Histories(few int) {
	if os.Getenv(wholeVariable) == "" {
		set("rapid.checks", few)
	}
}

// Parallel has so many parallel tests run at a time, however few processors there are, unless the command line says otherwise. It is for
// tests that wait for disks, servers and other processes. TestMain calls it.
func Parallel(n int) { set("test.parallel", n) }

func set(name string, value int) {
	if err := flag.Set(name, strconv.Itoa(value)); err != nil {
		panic(err)
	}
}

// Seed returns a new seed with each call. The seeds of a test follow from one that is new in each run, or that in GEOSQL_SEED, and a
// test that fails logs that one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	first, err := ofRun()
	if err != nil {
		t.Fatalf("%s is not a seed: %v", seedVariable, err)
	}
	mutex.Lock()
	defer mutex.Unlock()
	s := given[t]
	if s == nil {
		s = &seeds{of: first + again[t.Name()]}
		given[t] = s
		again[t.Name()]++
		t.Cleanup(func() {
			mutex.Lock()
			defer mutex.Unlock()
			delete(given, t)
			if t.Failed() {
				t.Logf("repeat it with %s=%d", seedVariable, s.of)
			}
		})
	}
	s.n++
	h := fnv.New64a()
	fmt.Fprintln(h, s.of, t.Name(), s.n)
	return h.Sum64()
}

// seeds are those of a test: the one that they follow from, and how many have been given.
type seeds struct {
	of uint64
	n  int
}

var (
	mutex sync.Mutex
	given = map[testing.TB]*seeds{}
	again = map[string]uint64{} // how often tests have run, as -count has them
)

// ofRun returns the seed of this run of the tests.
var ofRun = sync.OnceValues(readSeed)

func readSeed() (uint64, error) {
	if s := os.Getenv(seedVariable); s != "" {
		return strconv.ParseUint(s, 10, 64)
	}
	return rand.Uint64(), nil
}

// Rand returns a generator with a seed of Seed's.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}
