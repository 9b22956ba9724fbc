package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A bound is the largest cost of a work.
type bound struct {
	name, work string
	limit      float64
	unit       string // "times" of the base, its "part" in a time, "rows/s", or of seconds: "s", "ms", "ns"
	slow       bool   // it takes minutes

	// measure returns the time of all, or of a row or a step where the unit is about these.
	measure func(ctx context.Context, t *tree) (timing, error)
}

// bounded are the works that have bounds.
var bounded = []bound{
	{"laplace-1", "table-valued `geoind_laplace`, by `count(max(lat,lon,0.01))`, 1 account", 6, "times", false, overPoints("make-points", "laplace", 1e6, 1)},
	{"laplace-100000", "the same, 100,000 reserved accounts", 7.5, "times", false, overPoints("make-points", "laplace", 1e6, 1e5)},
	{"laplace-shuffled", "the same, where accounts come in no order", 8, "times", false, overPoints("make-shuffled", "laplace", 1e6, 1e5)},
	{"laplace-wkt", "scalar `geoind_laplace` (WKT), 1 account", 7.5, "times", false, overPoints("make-points", "laplace-wkt", 1e6, 1)},
	{"sum-60", "`dx_sum`, by `sum(x)`, 60 accounts", 2.5, "times", false, overPoints("make-points", "dx_sum", 1e6, 60)},
	{"sum-100000", "the same, 100,000 reserved accounts", 4, "times", false, overPoints("make-points", "dx_sum", 1e6, 1e5)},
	{"sum-shuffled", "the same, where accounts come in no order", 4, "times", false, overPoints("make-shuffled", "dx_sum", 1e6, 1e5)},
	{"curve", "`dx_curve`, by `sum(x)`, 60 accounts", 8, "times", false, overPoints("make-points", "dx_curve", 1e6, 60)},
	{"percentiles", "`dx_percentiles` of 19 under dh, by `sum(x)`, 60 accounts", 12, "times", false, overPoints("make-points", "dx_percentiles", 1e6, 60)},
	{"groups", "100,000 groups of ten rows, each charged (reserved), by the same with `sum`", 4, "times", false, overPoints("make-points", "groups", 1e6, 1e5)},
	{"plain", "by the command, nothing reserved: table-valued `geoind_laplace` over 200,000 rows, 20,000 accounts in no order", 0.8, "s", false, plainly},
	{"plain-go", "the same from Go, after one `budget_reserve_for`", 1.2, "s", false, overPoints("make-shuffled", "laplace-counted", 2e5, 2e4)},
	{"reserve", "`budget_reserve` for 1,000,000 accounts", 2.5, "s", false, firstReservation},
	{"predictive", "`predictive_step`, 100,000 traces of two points, reserved", 4, "s", false, overTraces("predictive", 1e5)},
	{"pim", "`pim_step`, the same", 10, "s", false, overTraces("pim", 1e5)},
	{"pim-cells", "`pim_step`, 10,201 cells, sets of 200, a step", 0.22, "ms", false, alone("pim-cells", 2000)},
	{"release-rows", "release, an account in every row, CSV to CSV", 9e5, "rows/s", false, releaseRate(2e6, 2e6, "csv")},
	{"release-csv", "release, 10,000 accounts, CSV to CSV", 2.5e6, "rows/s", false, releaseRate(2e6, 1e4, "csv")},
	{"release-parquet", "the same, Parquet to Parquet", 3e6, "rows/s", false, releaseRate(2e6, 1e4, "parquet")},
	{"optimal-50", "optimal mechanism, gap 1e-4, all pairs, 50 places", 0.15, "s", false, alone("optimal-pairs", 50)},
	{"optimal-100", "the same, 100 places", 2, "s", false, alone("optimal-pairs", 100)},
	{"optimal-200", "the same, 200 places", 25, "s", false, alone("optimal-pairs", 200)},
	{"optimal-1000", "the same, 1,000 places, spanner of dilation 1.1, below 8 GiB", 600, "s", true, manyPlaces},
	{"sealed", "`dx_sum` over 1,000,000 sealed values of 60 accounts, a row", 350, "ns", false, sealedRow(1e6)},
	{"sealed-100000", "the same, 100,000 reserved accounts, by `sum(length(x))`", 7, "times", false, overSealed("sealed", 1e6, 1e5)},
	{"sealed-groups", "`dx_sum` over 10,000,000 sealed values, 100,001 groups", 6, "s", true, overSealed("sealed-groups", 1e7, 1000)},
	{"sealed-median", "`dx_median` over them", 3, "s", true, overSealed("sealed-median", 1e7, 1000)},
	{"served-opens", "opening a session of the server, one after the other", 20, "ms", false, served("served-opens", 1e6, 25)},
	{"served-values", "`dx_value` over 200,000 sealed values at the server, each charged before its answer leaves", 5e4, "rows/s", false, served("served-values", 1e6, 2e5)},
	{"served-again", "64 sessions that ask a prepared question again: of `SELECT 1`, prepared", 0.6, "part", false, served("served-again", 1e6, 64)},
	{"served-charges", "64 sessions that charge 12 accounts and the role: of 64 callers of a ledger that charge 12 accounts", 0.3, "part", false, served("served-charges", 1e6, 64)},
	{"build", "first build of `geosql`, downloads apart", 55, "s", true, firstBuild},
}

// rounds is how many turns the best is taken of, unless a turn takes 20 s.
const rounds = 2

// bounds is the command.
func bounds(ctx context.Context, folder string, args []string) error {
	flags := flag.NewFlagSet("bounds", flag.ContinueOnError)
	var (
		write = flags.Bool("write", false, "write the table into "+page+", where works that are not measured keep their figures")
		only  = flags.String("only", "", "measure `names` only, with commas between them; otherwise all but work of minutes")
	)
	if err := parse(flags, args); err != nil {
		return err
	}
	chosen, err := chosenBounds(*only)
	if err != nil {
		return err
	}
	start := time.Now()
	t, err := here(ctx, folder)
	if err != nil {
		return err
	}
	rows := map[string]string{}
	for _, b := range chosen {
		var best timing
		for round := range rounds {
			begin := time.Now()
			took, err := b.measure(ctx, t)
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			if round == 0 {
				best = took
			}
			best.Seconds, best.Base = min(best.Seconds, took.Seconds), min(best.Base, took.Base)
			fmt.Printf("%-16s round %d  %s\n", b.name, round+1, b.show(b.figure(took)))
			if time.Since(begin) > 20*time.Second {
				break
			}
		}
		rows[b.name] = b.row(b.figure(best))
	}
	fmt.Printf("\n%s\n%v in all, on %s\n", boundsTable(rows), time.Since(start).Round(time.Second), machine())
	if !*write {
		return nil
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, b := range bounded {
		if rows[b.name] == "" {
			rows[b.name] = b.rowOf(string(old))
		}
	}
	return fill("bounds", boundsTable(rows))
}

// chosenBounds returns the bounds of those names, or all but the slow ones.
func chosenBounds(only string) ([]bound, error) {
	if only == "" {
		return slices.DeleteFunc(slices.Clone(bounded), func(b bound) bool { return b.slow }), nil
	}
	return named(bounded, only, "work", func(b bound) string { return b.name })
}

// figure returns a timing in the unit of the bound.
func (b bound) figure(t timing) float64 {
	switch b.unit {
	case "times":
		return t.Seconds / t.Base
	case "part":
		return t.Base / t.Seconds
	case "rows/s":
		return 1 / t.Seconds
	case "ms":
		return t.Seconds * 1e3
	case "ns":
		return t.Seconds * 1e9
	default:
		return t.Seconds
	}
}

// show writes a figure in the unit of the bound.
func (b bound) show(x float64) string {
	switch {
	case x == 0:
		return ""
	case b.unit == "times":
		return fmt.Sprintf("%.1f", x)
	case b.unit == "part":
		return fmt.Sprintf("%.2f", x)
	case b.unit == "rows/s":
		return rate(x)
	case b.unit == "s":
		return duration(x)
	default:
		return fmt.Sprintf("%.3g %s", x, b.unit)
	}
}

// met reports whether a figure keeps the bound.
func (b bound) met(x float64) bool {
	return (x <= b.limit) != (b.unit == "rows/s" || b.unit == "part") || x == b.limit
}

// row returns the line of the table, without its end.
func (b bound) row(now float64) string {
	limit, cell := b.show(b.limit), b.show(now)
	switch b.unit {
	case "times":
		limit = fmt.Sprintf("%g times", b.limit)
	case "rows/s":
		limit += " rows/s"
	}
	if now != 0 && !b.met(now) {
		cell += ", **not met**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", b.work, limit, cell, b.name)
}

// rowOf returns the line that a page has, or one without a figure of now.
func (b bound) rowOf(page string) string {
	for line := range strings.Lines(page) {
		if strings.HasSuffix(line, "| "+b.name+" |\n") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return b.row(0)
}

// boundsTable returns the table that has those rows.
func boundsTable(rows map[string]string) string {
	s := "| work | bound | now | name |\n|---|---|---|---|\n"
	for _, b := range bounded {
		if row := rows[b.name]; row != "" {
			s += row + "\n"
		}
	}
	return s
}

// A tree is the sources, built, with a folder for its data.
type tree struct{ program, geosql, data string }

// here builds the sources of this folder.
func here(ctx context.Context, dir string) (*tree, error) {
	t := &tree{program: filepath.Join(dir, "benchmarks"), geosql: filepath.Join(dir, "geosql"), data: filepath.Join(dir, "data")}
	if err := os.Mkdir(t.data, 0o755); err != nil {
		return nil, err
	}
	return t, errors.Join(buildProgram(ctx, "./internal/benchmarks", t.program), buildProgram(ctx, "./cmd/geosql", t.geosql))
}

// once makes a file, unless it is there.
func (t *tree) once(name string, make func(file string) error) (file string, err error) {
	file = filepath.Join(t.data, name)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	return file, make(file)
}

// points returns a database of rows of accounts, which a task makes.
func (t *tree) points(ctx context.Context, made string, rows, accounts int) (string, error) {
	return t.once(fmt.Sprintf("%s-%d-%d", made, rows, accounts), func(file string) error {
		return t.make(ctx, task{Do: made, File: file, Rows: rows, Accounts: accounts})
	})
}

// make does a task that makes data.
func (t *tree) make(ctx context.Context, what task) error {
	_, _, err := what.start(ctx, t.program)
	return err
}

// release releases one file as another.
func (t *tree) release(ctx context.Context, in, out string) (usage, error) {
	_, u, err := run(ctx, exec.Command(t.geosql, "release", "--in", in, "--out", out, "--ledger", filepath.Join(t.data, "ledger"),
		"--account", "user", "--lat", "lat", "--lon", "lon", "--keep", "id,user", "--epsilon", "0.01",
		"--domain", "39.4,115.4,41.1,117.6,1", "--limit", "9000000"))
	return u, errors.Join(err, removeAll(t.data, "ledger*"))
}

// measureRelease releases a file, and removes the result.
func (t *tree) measureRelease(ctx context.Context, in string) (usage, error) {
	u, err := t.release(ctx, in, filepath.Join(t.data, "out"+filepath.Ext(in)))
	return u, errors.Join(err, removeAll(t.data, "out.*"))
}

// overPoints measures a task, on data that another makes, and its base.
func overPoints(made, do string, rows, accounts int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		file, err := t.points(ctx, made, rows, accounts)
		if err != nil {
			return timing{}, err
		}
		took, _, err := task{Do: do, File: file, Rows: rows, Accounts: accounts}.start(ctx, t.program)
		return took, err
	}
}

// releasePoints releases the points of a table.
const releasePoints = `SELECT count(g.lat), count(g.lon) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`

// plainly measures the command, as everybody calls it.
func plainly(ctx context.Context, t *tree) (timing, error) {
	file, err := t.points(ctx, "make-shuffled", 2e5, 2e4)
	if err != nil {
		return timing{}, err
	}
	_, u, err := run(ctx, exec.Command(t.geosql, file, releasePoints))
	return timing{Seconds: u.wall.Seconds()}, err
}

// firstReservation measures the first reservation of a million accounts.
func firstReservation(ctx context.Context, t *tree) (timing, error) {
	file, err := t.points(ctx, "make-points", 1, 1e6)
	if err != nil {
		return timing{}, err
	}
	took, u, err := task{Do: "reserve", File: file}.start(ctx, t.program)
	fmt.Printf("%-16s %s of memory\n", "reserve", megabytes(u.memory))
	return took, errors.Join(err, removeAll(t.data, filepath.Base(file)+"*"))
}

// overTraces measures a task over new traces.
func overTraces(do string, traces int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		file := filepath.Join(t.data, "traces")
		if err := t.make(ctx, task{Do: "make-traces", File: file, Size: traces}); err != nil {
			return timing{}, err
		}
		took, _, err := task{Do: do, File: file, Size: traces}.start(ctx, t.program)
		return took, errors.Join(err, removeAll(t.data, "traces*"))
	}
}

// alone measures a task that needs no data.
func alone(do string, size int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		took, _, err := task{Do: do, Size: size}.start(ctx, t.program)
		return took, err
	}
}

// manyPlaces measures the optimal mechanism on 1,000 places, which has a bound on its memory, too.
func manyPlaces(ctx context.Context, t *tree) (timing, error) {
	took, u, err := task{Do: "optimal", Size: 1000}.start(ctx, t.program)
	if err == nil && u.memory > 8<<30 {
		err = fmt.Errorf("it took %s of memory, and the bound is 8 GiB", megabytes(u.memory))
	}
	return took, err
}

// releaseRate measures the command, a row.
func releaseRate(rows, accounts int, format string) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		in, err := t.releasable(ctx, rows, accounts, format)
		if err != nil {
			return timing{}, err
		}
		u, err := t.measureRelease(ctx, in)
		return timing{Seconds: u.wall.Seconds() / float64(rows)}, err
	}
}

// releasable returns a file of rows of accounts.
func (t *tree) releasable(ctx context.Context, rows, accounts int, format string) (string, error) {
	name := fmt.Sprintf("in-%d-%d.", rows, accounts)
	in, err := t.once(name+"csv", func(file string) error {
		return t.make(ctx, task{Do: "make-csv", File: file, Rows: rows, Accounts: accounts})
	})
	if err != nil || format == "csv" {
		return in, err
	}
	return t.once(name+format, func(file string) error { // a release itself: its contents make no difference
		_, err := t.release(ctx, in, file)
		return err
	})
}

// overSealed measures a task over sealed values.
func overSealed(do string, rows, accounts int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		file, err := t.sealed(ctx, rows, accounts)
		if err != nil {
			return timing{}, err
		}
		took, u, err := task{Do: do, File: file, Rows: rows, Accounts: accounts}.start(ctx, t.program)
		fmt.Printf("%-16s %s of memory\n", do, megabytes(u.memory))
		return took, err
	}
}

// sealed returns a database of sealed values, beside its key.
func (t *tree) sealed(ctx context.Context, rows, accounts int) (string, error) {
	plain, err := t.points(ctx, "make-sealable", rows, accounts)
	if err != nil {
		return "", err
	}
	return t.once(filepath.Base(plain)+"-sealed", func(file string) error {
		if _, _, err := run(ctx, exec.Command(t.geosql, "keygen", file+".key")); err != nil {
			return err
		}
		_, _, err := run(ctx, exec.Command(t.geosql, "seal", plain, file, "--key", file+".key.pub", "--yes",
			"--table", "t", "--account", "account", "--seal", "x:u", "--public", "g"))
		return err
	})
}

// sealedRow measures opening sealed values, a row.
func sealedRow(rows int) func(context.Context, *tree) (timing, error) {
	return func(ctx context.Context, t *tree) (timing, error) {
		took, err := overSealed("sealed", rows, 60)(ctx, t)
		return timing{Seconds: took.Seconds / float64(rows)}, err
	}
}

// firstBuild measures building the command with an empty cache.
func firstBuild(ctx context.Context, t *tree) (timing, error) {
	_, u, err := freshBuild(ctx, t.data)
	return timing{Seconds: u.wall.Seconds()}, err
}
