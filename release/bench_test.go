package release

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// benchCopy copies the columns that the release reads, as it would, but does nothing with
// them.
func benchCopy(b *testing.B, in, out string) {
	reader, err := dataset.Open(context.Background(), in)
	check(b, err)
	defer reader.Close()
	file, err := os.Create(out)
	check(b, err)
	defer file.Close()
	w, err := dataset.CSV.Create(file, dataset.Schema{Fields: reader.Fields()})
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

// BenchmarkRelease releases CSV to CSV, and takes turns with a plain copy.
func BenchmarkRelease(b *testing.B) {
	for _, c := range []struct {
		name    string
		account func(i int) string
	}{
		{"10000-accounts", func(i int) string { return fmt.Sprintf("user-%05d", i*7919%10000) }},
		{"account-per-row", func(i int) string { return fmt.Sprintf("user-%09d", i) }},
		{"account-per-row-scattered", func(i int) string { return fmt.Sprintf("user-%09d", i*7919%benchRows) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			in := benchFile(b, dir, c.account)
			var ours, plain time.Duration
			for i := range b.N {
				l, err := ledgerfile.Open(filepath.Join(dir, fmt.Sprint("ledger", i)), true)
				check(b, err)
				s := newSpec(dir)
				s.In, s.Keep, s.Workers = in, []string{"id", "user", "kind"}, 0
				s.Box, s.Step = Box{South: 39.4, West: 115.4, North: 41.1, East: 117.6}, 1
				s.Limit = new(budget.Amount)
				*s.Limit = budget.Max
				s.Out = filepath.Join(dir, fmt.Sprint("out", i, ".csv"))
				begin := time.Now()
				_, err = Run(context.Background(), s, l)
				check(b, err)
				middle := time.Now()
				benchCopy(b, in, filepath.Join(dir, "copy.csv"))
				ours += middle.Sub(begin)
				plain += time.Since(middle)
				check(b, l.Close())
			}
			rows := float64(benchRows) * float64(b.N)
			b.ReportMetric(rows/ours.Seconds(), "rows/s")
			b.ReportMetric(rows/plain.Seconds(), "copy-rows/s")
			b.ReportMetric(ours.Seconds()/plain.Seconds(), "time/copy")
		})
	}
}
