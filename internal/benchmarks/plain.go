package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// overValues measures f over values in memory, by its best time.
func overValues(f func(values []float64) float64) taskFunc {
	return func(_ context.Context, t task) (timing, error) {
		values := make([]float64, t.Rows)
		for i := range values {
			values[i] = float64(i%3000) * 0.001
		}
		best := math.Inf(1)
		for range 2 * maxTurns {
			start := time.Now()
			answer := f(values)
			best = min(best, time.Since(start).Seconds())
			if math.IsNaN(answer) {
				return timing{}, errors.New("the answer is no number")
			}
		}
		return timing{Seconds: best}, nil
	}
}

func total(values []float64) float64 {
	s := 0.0
	for _, x := range values {
		s += x
	}
	return s
}

func countReadings(values []float64) float64 {
	n := 0
	for _, x := range values {
		if x == x { // NaN is no reading
			n++
		}
	}
	return float64(n)
}

// scalarQuery measures an aggregate of package scalar.
func scalarQuery(aggregate scalar.Aggregate) taskFunc {
	return func(ctx context.Context, t task) (timing, error) {
		var u *scalar.Universe // a count has neither universe nor metric
		var metric budget.Metric
		if aggregate.TakesUniverse() {
			var err error
			metric = budget.DH
			if u, err = scalar.NewUniverse("u", 0, 10, 0.001, "kWh"); err != nil {
				return timing{}, err
			}
		}
		q, err := scalar.NewQuery(aggregate, u, metric, big.NewRat(1, 100))
		if err != nil {
			return timing{}, err
		}
		src := exact.NewSource(nil)
		return overValues(func(values []float64) float64 {
			var a scalar.Accumulator
			for _, x := range values {
				q.Add(&a, x)
			}
			return q.Draw(src, &a)
		})(ctx, t)
	}
}

// goCSV reads the file of makeCSV, parses the coordinates, and prints all again as a release does.
func goCSV(_ context.Context, t task) (timing, error) {
	start := time.Now()
	in, err := os.Open(t.File)
	if err != nil {
		return timing{}, err
	}
	defer in.Close()
	out, err := os.Create(t.File + ".plain")
	if err != nil {
		return timing{}, err
	}
	defer out.Close()
	r, w := bufio.NewScanner(in), bufio.NewWriterSize(out, 1<<20)
	r.Buffer(make([]byte, 1<<20), 1<<20)
	var line []byte
	r.Scan()
	w.Write(append(r.Bytes(), '\n'))
	for r.Scan() {
		text := r.Bytes()
		first := bytes.IndexByte(text, ',')
		second := first + 1 + bytes.IndexByte(text[first+1:], ',')
		third := second + 1 + bytes.IndexByte(text[second+1:], ',')
		lat, err := strconv.ParseFloat(string(text[second+1:third]), 64)
		if err != nil {
			return timing{}, err
		}
		lon, err := strconv.ParseFloat(string(text[third+1:]), 64)
		if err != nil {
			return timing{}, err
		}
		line = append(line[:0], text[:second+1]...)
		line = append(strconv.AppendFloat(line, lat, 'f', 7, 64), ',')
		line = append(strconv.AppendFloat(line, lon, 'f', 7, 64), '\n')
		w.Write(line)
	}
	if err := errors.Join(r.Err(), w.Flush(), out.Sync()); err != nil {
		return timing{}, fmt.Errorf("%s: %w", t.File, err)
	}
	return timing{Seconds: time.Since(start).Seconds()}, os.Remove(out.Name())
}
