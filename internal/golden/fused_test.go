package golden

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	// A change of these packages is one of this test: otherwise its result is taken from a cache.
	"github.com/geosql/geosql/internal/need"
	_ "github.com/geosql/geosql/mechanism/pim"
	_ "github.com/geosql/geosql/mechanism/scalar"
	_ "github.com/geosql/geosql/mechanism/trace"
)

// same are the packages whose numbers are the same on every platform. Others compute numbers that may differ, or that
// are proved under any rounding:
//
//   - mechanism/exact shortcuts exact comparisons by bounds that Gappa proves with and without fused
//     operations, so that no draw depends on them;
//   - mechanism/optimal solves in floating point and certifies the solution in integers, and its TestNumbers compares the
//     losses and guesses of stored mechanisms;
//   - mechanism/cip rounds a loss up by proved bounds of its errors, with and without;
//   - internal/audit/bound, study and the rest measure.
var same = []string{
	"internal/elementary", "budget", "mechanism/planar", "mechanism/scalar", "mechanism/trace", "mechanism/markov", "mechanism/pim", "mechanism/density",
}

// No instruction of these packages multiplies and adds with one rounding. The compiler for arm64 makes
// such of every product that is added to something, unless the product is explicitly converted.
func TestNothingIsFused(t *testing.T) {
	need.Program(t, "go")
	args := []string{"list", "-export", "-f", "{{.Export}}"}
	for _, name := range same {
		args = append(args, "github.com/geosql/geosql/"+name)
	}
	// The compiler would print its instructions (-S) too, but a build that is in the cache need not print again.
	archives := strings.Fields(run(t, []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, args...))
	if len(archives) != len(same) {
		t.Fatalf("there are %d archives of %d packages", len(archives), len(same))
	}
	fused := regexp.MustCompile(`FN?M(ADD|SUB)[DS]\b`)
	for i, archive := range archives {
		instructions := run(t, nil, "tool", "objdump", archive)
		if !strings.Contains(instructions, "FADDD") {
			t.Errorf("there are no instructions of %s", same[i])
		}
		seen := map[string]bool{}
		for line := range strings.Lines(instructions) {
			if place, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); fused.MatchString(line) && !seen[place] {
				seen[place] = true
				t.Errorf("%s: %s: a product is added without being rounded on arm64: write float64(x*y)", same[i], place)
			}
		}
	}
}

// run returns the output of the command go in an environment with more variables.
func run(t *testing.T, variables []string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	command := exec.Command("go", args...)
	command.Env = append(os.Environ(), variables...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
