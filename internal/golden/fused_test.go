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
	const module = "github.com/geosql/geosql/"
	args := []string{"build"}
	for _, name := range same {
		args = append(args, "-gcflags="+module+name+"=-S")
	}
	for _, name := range same {
		args = append(args, module+name)
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range same {
		if !strings.Contains(string(out), "# "+module+name+"\n") {
			t.Errorf("there are no instructions of %s", name)
		}
	}
	fused := regexp.MustCompile(`\(([^()]+:\d+)\)\s+FN?M(ADD|SUB)[DS]\b`)
	seen := map[string]bool{}
	for _, found := range fused.FindAllStringSubmatch(string(out), -1) {
		if place := found[1]; !seen[place] {
			seen[place] = true
			t.Errorf("%s: a product is added without being rounded on arm64: write float64(x*y)", place)
		}
	}
}
