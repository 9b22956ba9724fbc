//go:build unix

package release

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/dataset"
	ledgerfile "github.com/geosql/geosql/ledger/file"
)

// benchRows are as many as take seconds; with an account for each there are more than memory
// counts.
const benchRows = 1_000_000

// benchFile writes a data set of n rows, of the account that account gives each.
func benchFile(b *testing.B, dir string, account func(i int) string) string {
	b.Helper()
	path := filepath.Join(dir, "in.csv")
	f, err := os.Create(path)
	check(b, err)
	defer f.Close()
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(w, "id,user,lat,lon,kind")
	for i := range benchRows {
		fmt.Fprintf(w, "%d,%s,%.6f,%.6f,home\n", i, account(i), 39.5+1.5*random.Float64(), 115.5+2*random.Float64())
	}
	check(b, w.Flush())
	return path
}

// benchParquet writes a file of CSV as Parquet, with numbers for the ID and the coordinates.
func benchParquet(b *testing.B, in string) string {
	fields := []dataset.Field{{Name: "id", Kind: dataset.Integer}, {Name: "user"},
		{Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "kind"}}
	out := filepath.Join(filepath.Dir(in), "in.parquet")
	benchCopy(b, in, out, dataset.Schema{Fields: fields})
	return out
}

// benchCopy copies the columns that the release reads, as it would, but does nothing with
// them. Without fields in the schema it copies those of the input.
func benchCopy(b *testing.B, in, out string, schema dataset.Schema) {
	reader, err := dataset.Open(context.Background(), in)
	check(b, err)
	defer reader.Close()
	if schema.Fields == nil {
		schema.Fields = reader.Fields()
	}
	format, err := dataset.FormatOf(out)
	check(b, err)
	file, err := os.Create(out)
	check(b, err)
	defer file.Close()
	w, err := format.Create(file, schema)
	check(b, err)
	check(b, reader.Start([]int{0, 1, 2, 3, 4}))
	var rows dataset.Rows
	for {
		err := reader.Read(&rows, defaultSizes.batch)
		if err == io.EOF {
			break
		}
		check(b, err)
		block, err := w.Encode(&rows)
		check(b, err)
		check(b, w.Append(block))
	}
	check(b, w.Close())
	check(b, file.Sync())
}

// processorTime returns the processor time that the process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkRelease releases CSV to CSV and Parquet to Parquet, and takes turns with a plain copy.
func BenchmarkRelease(b *testing.B) {
	some := func(i int) string { return fmt.Sprintf("user-%05d", i*7919%10000) }
	for _, c := range []struct {
		name    string
		account func(i int) string
		parquet bool
	}{
		{"10000-accounts", some, false},
		{"10000-accounts-parquet", some, true},
		{"account-per-row", func(i int) string { return fmt.Sprintf("user-%09d", i) }, false},
		{"account-per-row-scattered", func(i int) string { return fmt.Sprintf("user-%09d", i*7919%benchRows) }, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			in := benchFile(b, dir, c.account)
			if c.parquet {
				in = benchParquet(b, in)
			}
			extension := filepath.Ext(in)
			var ours, plain time.Duration
			var used time.Duration
			for i := range b.N {
				l, err := ledgerfile.Open(filepath.Join(dir, fmt.Sprint("ledger", i)), true)
				check(b, err)
				s := newSpec(dir)
				s.In, s.Keep, s.Workers = in, []string{"id", "user", "kind"}, 0
				s.Box, s.Step = Box{South: 39.4, West: 115.4, North: 41.1, East: 117.6}, 1
				s.Limit = new(budget.Amount)
				*s.Limit = budget.Max
				s.Out = filepath.Join(dir, fmt.Sprint("out", i, extension))
				begin := time.Now()
				before := processorTime(b)
				_, err = Run(context.Background(), s, l)
				check(b, err)
				used += processorTime(b) - before
				middle := time.Now()
				benchCopy(b, in, filepath.Join(dir, "copy"+extension), dataset.Schema{})
				ours += middle.Sub(begin)
				plain += time.Since(middle)
				check(b, l.Close())
			}
			rows := float64(benchRows) * float64(b.N)
			b.ReportMetric(rows/ours.Seconds(), "rows/s")
			b.ReportMetric(float64(used.Nanoseconds())/rows, "processor-ns/row")
			b.ReportMetric(rows/plain.Seconds(), "copy-rows/s")
			b.ReportMetric(ours.Seconds()/plain.Seconds(), "time/copy")
		})
	}
}
