package optimal_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/mechanism/optimal"
)

// An lpFile writes a linear program in CPLEX's LP format, which GLPK and Clp read, one
// term to a line. The first error sticks to the writer and comes out of its Flush.
type lpFile struct {
	*bufio.Writer
	rows int
}

// writeLP writes a file of the test's and returns its path.
func writeLP(tb testing.TB, write func(f *lpFile)) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "problem.lp")
	file := must(os.Create(path))
	f := &lpFile{Writer: bufio.NewWriter(file)}
	write(f)
	fmt.Fprintln(f, "End")
	if err := f.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func (f *lpFile) section(name, row string) { fmt.Fprintf(f, "%s\n %s:\n", name, row) }

func (f *lpFile) row() {
	f.rows++
	fmt.Fprintf(f, " r%d:\n", f.rows)
}

// term adds c times the variable k_xz or, with a single number, y_z.
func (f *lpFile) term(c float64, name string, numbers ...int) {
	fmt.Fprintf(f, " %+.17g %s", c, name)
	for _, n := range numbers {
		fmt.Fprintf(f, "_%d", n)
	}
	fmt.Fprintln(f)
}

func (f *lpFile) end(relation string, right float64) {
	fmt.Fprintf(f, " %s %.17g\n", relation, right)
}

// rowSums demands that the rows of the mechanism add up to 1.
func (f *lpFile) rowSums(n, outputs int) {
	for x := range n {
		f.row()
		for z := range outputs {
			f.term(1, "k", x, z)
		}
		f.end("=", 1)
	}
}

// normalised returns the weights divided by their sum.
func normalised(prior []float64) []float64 {
	sum := 0.0
	for _, w := range prior {
		sum += w
	}
	pi := make([]float64, len(prior))
	for x, w := range prior {
		pi[x] = w / sum
	}
	return pi
}

// optimalLP writes the program of [optimal.Solve], with the constraints of a spanner.
func optimalLP(p optimal.Problem, dilation float64) func(f *lpFile) {
	return func(f *lpFile) {
		edges, actual := optimal.Spanner(p.Privacy, dilation)
		if dilation == 1 {
			actual = 1
		}
		f.section("Minimize", "loss")
		for x, w := range normalised(p.Prior) {
			for z, d := range p.Quality[x] {
				f.term(w*d, "k", x, z)
			}
		}
		fmt.Fprintln(f, "Subject To")
		outputs := len(p.Quality[0])
		f.rowSums(len(p.Prior), outputs)
		for z := range outputs {
			for _, e := range edges {
				for _, pair := range [][2]int{{e.A, e.B}, {e.B, e.A}} {
					f.row()
					f.term(1, "k", pair[0], z)
					f.term(-math.Exp(p.Epsilon/actual*e.Length), "k", pair[1], z)
					f.end("<=", 0)
				}
			}
		}
	}
}

// privacyLP writes the program of [optimal.MostPrivate].
func privacyLP(p optimal.PrivacyProblem) func(f *lpFile) {
	return func(f *lpFile) {
		pi := normalised(p.Prior)
		f.section("Maximize", "error")
		for z := range pi {
			f.term(1, "y", z)
		}
		fmt.Fprintln(f, "Subject To")
		f.rowSums(len(pi), len(pi))
		for z := range pi {
			for g := range pi {
				f.row()
				f.term(1, "y", z)
				for x, w := range pi {
					f.term(-w*p.Adversary[x][g], "k", x, z)
				}
				f.end("<=", 0)
			}
		}
		f.row()
		for x, w := range pi {
			for z, d := range p.Quality[x] {
				f.term(w*d, "k", x, z)
			}
		}
		f.end("<=", p.Loss)
	}
}

// glpk returns the objective that glpsol finds for a file.
func glpk(tb testing.TB, path string, options ...string) float64 {
	tb.Helper()
	solution := path + ".solution"
	out, err := exec.Command("glpsol", append(options, "--lp", path, "--write", solution)...).CombinedOutput()
	if err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	file := must(os.Open(solution))
	defer file.Close()
	return objective(tb, file)
}

// objective reads the output of glpsol: the OBJECTIVE of the line "s bas ROWS COLUMNS f f OBJECTIVE", or
// "s ipt ROWS COLUMNS o OBJECTIVE" of an interior point.
func objective(tb testing.TB, r io.Reader) float64 {
	tb.Helper()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[0] != "s" {
			continue
		}
		if status := strings.Join(fields[4:len(fields)-1], ""); status != "ff" && status != "o" {
			tb.Fatalf("glpsol found no optimum: %s", lines.Text())
		}
		return must(strconv.ParseFloat(fields[len(fields)-1], 64))
	}
	tb.Fatal("glpsol wrote no solution")
	return 0
}

// TestAgainstGLPK compares optima with the results of GLPK's simplex method for the
// program as the thesis states it.
func TestAgainstGLPK(t *testing.T) {
	need.Program(t, "glpsol")
	for _, c := range []struct {
		name     string
		p        optimal.Problem
		dilation float64
	}{
		{"3x3", optimal.Problem{Prior: uniform(9), Quality: grid(3), Privacy: grid(3), Epsilon: ln2}, 1},
		{"4x4 skewed, squared loss", optimal.Problem{Prior: ramp(16), Quality: squares(grid(4)), Privacy: grid(4), Epsilon: 1}, 1},
		{"5x5 skewed, dilation 1.1", optimal.Problem{Prior: ramp(25), Quality: grid(5), Privacy: grid(5), Epsilon: ln2}, 1.1},
		{"20 places, dilation 1.2", scattered(20), 1.2},
		{"4x4, many weights of 0", optimal.Problem{Prior: sparse(16), Quality: grid(4), Privacy: grid(4), Epsilon: ln2}, 1},
		{"4x4, one weight above 0", optimal.Problem{Prior: append(make([]float64, 15), 1), Quality: grid(4), Privacy: grid(4), Epsilon: ln2}, 1},
		{"4x4, right or wrong", optimal.Problem{Prior: ramp(16), Quality: wrong(grid(4)), Privacy: grid(4), Epsilon: 1}, 1},
		{"4x4, Manhattan loss", optimal.Problem{Prior: ramp(16), Quality: manhattan(4), Privacy: grid(4), Epsilon: 1}, 1.1},
		{"4x4, Euclidean loss by the Manhattan metric", optimal.Problem{Prior: ramp(16), Quality: grid(4), Privacy: manhattan(4), Epsilon: 1}, 1},
		{"4x4, four outputs", optimal.Problem{Prior: ramp(16), Quality: columns(grid(4), 0, 3, 12, 15), Privacy: grid(4), Epsilon: ln2}, 1},
		{"3x3 in 5x5 outputs", optimal.Problem{Prior: sparse(9), Quality: inner(grid(5)), Privacy: grid(3), Epsilon: 0.5}, 1},
		{"3x3, losses of two outputs at will", optimal.Problem{Prior: ramp(9), Quality: columns(squares(grid(9)), 40, 13)[:9], Privacy: grid(3), Epsilon: 0.3}, 1.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := solved(t, c.p, optimal.Options{Gap: 1e-6, Dilation: c.dilation})
			want := glpk(t, writeLP(t, optimalLP(c.p, c.dilation)))
			if !near(s.Loss, want, 1e-6) || s.Bound > want*(1+1e-9) {
				t.Errorf("loss %.9g, bound %.9g, GLPK %.9g", s.Loss, s.Bound, want)
			}
		})
	}
}

// TestMostPrivateAgainstGLPK has adversaries with errors other than the loss.
func TestMostPrivateAgainstGLPK(t *testing.T) {
	need.Program(t, "glpsol")
	city := scattered(15)
	for _, c := range []struct {
		name string
		p    optimal.PrivacyProblem
	}{
		{"3x3 wrong", optimal.PrivacyProblem{Prior: ramp(9), Quality: grid(3), Adversary: wrong(grid(3)), Loss: 0.3}},
		{"3x3 squares", optimal.PrivacyProblem{Prior: uniform(9), Quality: grid(3), Adversary: squares(grid(3)), Loss: 0.3}},
		{"4x4 squares", optimal.PrivacyProblem{Prior: ramp(16), Quality: grid(4), Adversary: squares(grid(4)), Loss: 0.5}},
		{"4x4 distance, squared loss", optimal.PrivacyProblem{Prior: ramp(16), Quality: squares(grid(4)), Adversary: grid(4), Loss: 0.7}},
		{"4x4, many weights of 0", optimal.PrivacyProblem{Prior: sparse(16), Quality: grid(4), Adversary: grid(4), Loss: 0.5}},
		{"15 places, wrong", optimal.PrivacyProblem{Prior: city.Prior, Quality: city.Quality, Adversary: wrong(city.Quality), Loss: 0.4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mostPrivate(t, c.p, 1e-6)
			want := glpk(t, writeLP(t, privacyLP(c.p)))
			if !near(s.Error, want, 1e-6) || s.Bound < want*(1-1e-9) {
				t.Errorf("adversary's error %.9g, bound %.9g, GLPK %.9g", s.Error, s.Bound, want)
			}
			// The comparison is sharp: a slightly greater loss allowed shows.
			c.p.Loss *= 1 + 1e-4
			if other := mostPrivate(t, c.p, 1e-6); near(other.Error, want, 1e-5) {
				t.Errorf("adversary's error %.9g with a greater loss", other.Error)
			}
		})
	}
}

// BenchmarkGLPK has GLPK and, where it is installed, Clp solve the problems of Solve, to its
// gap of 1e-4. Reading is the share of the time for reading the file. Processor time,
// cpu-s/op, can be compared on a machine that has other work, too.
func BenchmarkGLPK(b *testing.B) {
	need.Program(b, "glpsol")
	square := func(w int) optimal.Problem {
		return optimal.Problem{Prior: uniform(w * w), Quality: grid(w), Privacy: grid(w), Epsilon: ln2}
	}
	for _, c := range []struct {
		name     string
		p        optimal.Problem
		dilation float64
	}{
		{"5x5", square(5), 1},
		{"7x7", square(7), 1.1},
		{"7x7", square(7), 1},
		{"50-places", scattered(50), 1.1},
		{"50-places", scattered(50), 1},
	} {
		b.Run(fmt.Sprintf("%s/dilation=%g", c.name, c.dilation), func(b *testing.B) {
			path := writeLP(b, optimalLP(c.p, c.dilation))
			b.Run("Solve", func(b *testing.B) {
				before := userTime(b)
				for b.Loop() {
					if _, err := optimal.Solve(context.Background(), c.p, optimal.Options{Dilation: c.dilation}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((userTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			})
			for _, other := range []struct {
				name    string
				command []string
			}{
				{"GLPK-reading", []string{"glpsol", "--check", "--lp", path}},
				{"GLPK-dual-simplex", []string{"glpsol", "--dual", "--tmlim", "120", "--lp", path}},
				{"GLPK-simplex", []string{"glpsol", "--tmlim", "120", "--lp", path}},
				{"GLPK-interior", []string{"glpsol", "--interior", "--lp", path}},
				{"Clp-dual-simplex", []string{"clp", path, "-seconds", "120", "-dualsimplex"}},
				{"Clp-barrier", []string{"clp", path, "-seconds", "120", "-barrier"}},
			} {
				b.Run(other.name, func(b *testing.B) { runOther(b, other.command) })
			}
		})
	}
}

// runOther measures another solver, which must find an optimum.
func runOther(b *testing.B, command []string) {
	need.Extra(b, command[0])
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var spent time.Duration
	for b.Loop() {
		run := exec.CommandContext(ctx, command[0], command[1:]...)
		out, err := run.CombinedOutput()
		spent += run.ProcessState.UserTime()
		switch {
		case ctx.Err() != nil || strings.Contains(string(out), "TIME LIMIT"):
			b.Skipf("not done in 2 minutes, %.0f s of them on a processor", spent.Seconds())
		case err != nil || !strings.Contains(strings.ToLower(string(out)), "optimal") && command[1] != "--check":
			b.Fatalf("%v\n%s", err, out)
		}
	}
	b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s/op")
}
