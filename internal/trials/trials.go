// Package trials says how many random trials a test makes, and from which seed. Tests import it, and it imports nothing of geosql's.
// Start with Count and Rand.
//
// In a short run each test makes few trials, and other ones each time. make long asks for many, by the environment.
package trials

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// seedVariable has the seed of a run that is to be repeated.
const seedVariable = "GEOSQL_SEED"

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

// Seed returns a new seed, or that in GEOSQL_SEED. A test that fails logs how to repeat it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv(seedVariable); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s is not a seed: %q", seedVariable, s)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat it with %s=%d", seedVariable, seed)
		}
	})
	return seed
}

// Rand returns a generator with a seed of Seed's.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}
