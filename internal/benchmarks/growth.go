package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/optimal"
)

// rawGrowth has the numbers that the table and the picture of growth are made of.
const rawGrowth = "docs/pictures/growth.csv"

// An axis is a growing size, and the works with measured costs.
type axis struct {
	name  string
	sizes []int
	works []string
	make  string  // the task that makes the works' data
	steep float64 // the least exponent by which the next point of a work is predicted
}

// A sizing holds the fixed sizes.
type sizing struct {
	rows, accounts int // where the other one grows
}

var (
	axes = []axis{
		{"rows", []int{1e4, 1e5, 1e6, 1e7}, []string{"laplace", "dx_sum", "release"}, "make-points", 1},
		{"accounts", []int{1, 10, 100, 1e3, 1e4, 1e5, 1e6}, []string{"reserve", "laplace", "dx_sum", "release"}, "make-points", 0},
		{"traces", []int{1e2, 1e3, 1e4, 1e5}, []string{"predictive", "pim"}, "make-traces", 1},
		{"places", []int{25, 50, 100, 200, 400, 700, 1000}, []string{"optimal"}, "", 2},
	}
	fixed = sizing{rows: 1e6, accounts: 1000}
)

// works describes the works, for tables.
var works = map[string]string{
	"laplace":    "table-valued `geoind_laplace`",
	"dx_sum":     "`dx_sum`",
	"reserve":    "`budget_reserve`",
	"release":    "`geosql release`, CSV",
	"predictive": "`predictive_step`",
	"pim":        "`pim_step`",
	"optimal":    "optimal mechanism",
}

// A point is the cost of one process for one size.
type point struct {
	axis, work string
	size       int
	seconds    float64
	base       float64 // of the same without privacy, or 0
	memory     int64
}

// fit returns the exponent k of the power law c*n^k that fits the points best: least squares of the logarithms.
func fit(points []point) float64 {
	var n, x, y, xx, xy float64
	for _, p := range points {
		u, v := math.Log(float64(p.size)), math.Log(p.seconds)
		n, x, y, xx, xy = n+1, x+u, y+v, xx+u*u, xy+u*v
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// growth is the command.
func growth(ctx context.Context, folder string, args []string) error {
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	var (
		write = flags.Bool("write", false, "write the table into "+page+" and the raw numbers to "+rawGrowth+", where other axes keep theirs")
		only  = flags.String("only", "", "measure `axes` only, of rows,accounts,traces,places")
	)
	if err := parse(flags, args); err != nil {
		return err
	}
	chosen := axes
	if *only != "" {
		var err error
		if chosen, err = named(axes, *only, "axis", func(a axis) string { return a.name }); err != nil {
			return err
		}
	}
	t, err := here(ctx, folder)
	if err != nil {
		return err
	}
	g := &grower{fixed, t, os.Stdout}
	start := time.Now()
	points, err := g.all(ctx, chosen)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n%v in all, on %s\n", growthTables(points), time.Since(start).Round(time.Second), machine())
	if !*write {
		return nil
	}
	old, err := readPoints(rawGrowth)
	if err == nil {
		err = writePoints(rawGrowth, merged(old, points))
	}
	if err != nil {
		return err
	}
	if points, err = readPoints(rawGrowth); err != nil { // as rounded there
		return err
	}
	return fill("growth", growthTables(points))
}

// merged returns the points with those of old for axes that they have not, in the order of the axes.
func merged(old, points []point) (all []point) {
	for _, a := range axes {
		other := func(p point) bool { return p.axis != a.name }
		of := slices.DeleteFunc(slices.Clone(points), other)
		if len(of) == 0 {
			of = slices.DeleteFunc(slices.Clone(old), other)
		}
		all = append(all, of...)
	}
	return all
}

// patience is the longest time of a work that is measured, as the smaller sizes predict it.
const patience = time.Minute

// A grower measures points, with data in a folder of its own.
type grower struct {
	sizing
	*tree
	log io.Writer
}

// all measures the points of axes. Works take turns size by size, so that they share their data.
func (g *grower) all(ctx context.Context, axes []axis) (points []point, err error) {
	for _, a := range axes {
		earlier := map[string][]point{}
		for _, size := range a.sizes {
			for _, work := range a.works {
				if why := skip(a, size, earlier[work]); why != "" {
					fmt.Fprintf(g.log, "%-8s %9d  %-10s %s\n", a.name, size, work, why)
					continue
				}
				p, err := g.point(ctx, a, size, work)
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(g.log, "%-8s %9d  %-10s %10s  %s\n", a.name, size, work, duration(p.seconds), megabytes(p.memory))
				earlier[work] = append(earlier[work], p)
				points = append(points, p)
			}
			if err := g.clear(); err != nil {
				return nil, err
			}
		}
	}
	return points, nil
}

// skip says why a point is not measured, or nothing.
func skip(a axis, size int, earlier []point) string {
	if a.name == "places" && size > optimal.MaxPlaces {
		return fmt.Sprintf("left out: at most %d places are solved", optimal.MaxPlaces)
	}
	n := len(earlier)
	if n == 0 {
		return ""
	}
	exponent := a.steep
	if n > 1 {
		exponent = max(exponent, fit(earlier[n-2:]))
	}
	last := earlier[n-1]
	predicted := last.seconds * math.Pow(float64(size)/float64(last.size), exponent)
	if predicted <= patience.Seconds() {
		return ""
	}
	return fmt.Sprintf("left out: it would take some %s, more than %v", duration(predicted), patience)
}

// point measures one work at one size, in processes of its own.
func (g *grower) point(ctx context.Context, a axis, size int, work string) (point, error) {
	rows, accounts := g.rows, g.accounts
	switch a.name {
	case "rows":
		rows = size
	case "accounts":
		accounts = size
	}
	t := task{Do: a.make, File: filepath.Join(g.data, a.make), Rows: rows, Accounts: accounts, Size: size}
	p := point{axis: a.name, work: work, size: size}
	if a.name == "traces" { // all of them have one policy
		t.File += "-" + work
	}
	if work == "release" {
		t.Do, t.File = "make-csv", filepath.Join(g.data, "in.csv")
	}
	if t.Do != "" {
		if _, err := os.Stat(t.File); err != nil {
			if err := g.make(ctx, t); err != nil {
				return p, err
			}
		}
	}
	if work == "release" {
		return p, g.releaseTwice(ctx, &p, t.File)
	}
	t.Do = work
	took, u, err := t.start(ctx, g.program)
	p.seconds, p.base, p.memory = took.Seconds, took.Base, u.memory
	return p, err
}

// releaseTwice measures the command as a whole, twice unless that takes long, and keeps the better time.
func (g *grower) releaseTwice(ctx context.Context, p *point, in string) error {
	p.seconds = math.Inf(1)
	for turn := 0; turn < 2 && (turn == 0 || p.seconds < 5); turn++ {
		u, err := g.measureRelease(ctx, in)
		if err != nil {
			return err
		}
		p.seconds, p.memory = min(p.seconds, u.wall.Seconds()), max(p.memory, u.memory)
	}
	return nil
}

// clear removes all data.
func (g *grower) clear() error { return removeAll(g.data, "make-*", "in.csv") }

func removeAll(dir string, patterns ...string) error {
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.RemoveAll(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// growthTables returns a table for each axis: a row for each work, a column for each size.
func growthTables(points []point) string {
	var b strings.Builder
	for len(points) > 0 {
		name := points[0].axis
		n := slices.IndexFunc(points, func(p point) bool { return p.axis != name })
		if n < 0 {
			n = len(points)
		}
		growthTable(&b, points[:n])
		points = points[n:]
	}
	return b.String()
}

func growthTable(b *strings.Builder, points []point) {
	var sizes []int
	var names []string
	byWork := map[string][]point{}
	for _, p := range points {
		if !slices.Contains(sizes, p.size) {
			sizes = append(sizes, p.size)
		}
		if byWork[p.work] == nil {
			names = append(names, p.work)
		}
		byWork[p.work] = append(byWork[p.work], p)
	}
	fmt.Fprintf(b, "| %s |", points[0].axis)
	for _, size := range sizes {
		fmt.Fprintf(b, " %s |", decimal.Grouped(size))
	}
	fmt.Fprintf(b, " over all |\n|%s\n", strings.Repeat("---|", len(sizes)+2))
	for _, name := range names {
		fmt.Fprintf(b, "| %s |", works[name])
		measured := byWork[name]
		for _, size := range sizes {
			i := slices.IndexFunc(measured, func(p point) bool { return p.size == size })
			if i < 0 {
				fmt.Fprint(b, " |")
				continue
			}
			fmt.Fprintf(b, " %s", duration(measured[i].seconds))
			if i > 0 {
				fmt.Fprintf(b, " (%s)", exponent(measured[i-1:i+1]))
			}
			fmt.Fprintf(b, "; %s |", megabytes(measured[i].memory))
		}
		if len(measured) > 1 {
			fmt.Fprintf(b, " %s |\n", exponent(measured))
		} else {
			fmt.Fprint(b, " |\n")
		}
	}
	fmt.Fprintln(b)
}

// exponent writes the exponent of the power law through points.
func exponent(points []point) string {
	return strings.Replace(fmt.Sprintf("%.2f", math.Round(fit(points)*100)/100+0), "-", "−", 1)
}

// growthColumns are those of the raw numbers.
var growthColumns = []string{"axis", "work", "size", "seconds", "base_seconds", "memory_bytes"}

func writePoints(file string, points []point) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(growthColumns)
	for _, p := range points {
		w.Write([]string{p.axis, p.work, fmt.Sprint(p.size), fmt.Sprintf("%.4g", p.seconds), fmt.Sprintf("%.4g", p.base), fmt.Sprint(p.memory)})
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

func readPoints(file string) (points []point, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, line := range lines[1:] {
		p := point{axis: line[0], work: line[1]}
		if _, err := fmt.Sscan(strings.Join(line[2:], " "), &p.size, &p.seconds, &p.base, &p.memory); err != nil {
			return nil, fmt.Errorf("%s: %v: %w", file, line, err)
		}
		points = append(points, p)
	}
	return points, nil
}
