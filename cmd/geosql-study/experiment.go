package main

import (
	"bufio"
	"context"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
)

// An experiment prints rows as they are found, and draws figures of them.
type experiment[R any] struct {
	table[R]
	run  runner[R]
	draw func(rows []R) error
}

// A table has a line of csv for each result.
type table[R any] struct {
	head string // names the columns
	line func(R) string
}

// cells returns a line.
func cells(values ...string) string { return strings.Join(values, ",") }

// A runner calls row with each row, and shows on the line how much is done.
type runner[R any] func(line *cli.TerminalLine, row func(R) error) error

// perform runs the experiment. If figures are wanted, it makes their directory first and draws
// them last.
func (e experiment[R]) perform(f figures) error {
	if err := f.makeDir(); err != nil {
		return err
	}
	rows, err := e.print()
	if err != nil || !f.wanted() {
		return err
	}
	return e.draw(rows)
}

// print prints the rows, each complete, and returns them. On a terminal a line shows meanwhile
// how much is done.
func (e experiment[R]) print() (rows []R, err error) {
	line, out := cli.NewTerminalLine(), bufio.NewWriter(os.Stdout)
	defer line.Clear()
	put := func(text string) error {
		line.Clear()
		out.WriteString(text + "\n")
		return out.Flush()
	}
	if err := put(e.head); err != nil {
		return nil, err
	}
	err = e.run(line, func(r R) error {
		rows = append(rows, r)
		return put(e.line(r))
	})
	return rows, err
}

// knownRows returns the run of an experiment with rows that are already known.
func knownRows[R any](rows []R) runner[R] {
	return func(_ *cli.TerminalLine, row func(R) error) error {
		for _, r := range rows {
			if err := row(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// measured returns the run of a study that shows on the line how much of it is done.
func measured[R any](
	ctx context.Context, progress *func(done, total int), run func(context.Context, func(R) error) error,
) runner[R] {
	return func(line *cli.TerminalLine, row func(R) error) error {
		*progress = func(done, total int) { line.Show("measuring: %.1f %%", 100*float64(done)/float64(total)) }
		return run(ctx, row)
	}
}

// measuredOn returns the run of a study on some data that shows on the line how much of it is done.
func measuredOn[D, R any](
	ctx context.Context, progress *func(done, total int), run func(context.Context, D, func(R) error) error, data D,
) runner[R] {
	return measured(ctx, progress, func(ctx context.Context, row func(R) error) error { return run(ctx, data, row) })
}

// decimal formats a measurement, and returns nothing if there was nothing to measure.
func decimal(x float64, decimals int) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// rounded formats a setting with as many decimals as it needs, up to a number.
func rounded(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// quoted returns a text as a cell of csv.
func quoted(text string) string {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
