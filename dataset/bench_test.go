package dataset

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const benchRows = 131072

// benchFile is a file of 400,000 rows of an account, a time, a place and a word.
func benchFile(b *testing.B, format Format) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "data"+extensions[format])
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	w, err := format.Create(file, benchSchema)
	if err != nil {
		b.Fatal(err)
	}
	for i := range int64(3) {
		if block, err := w.Encode(benchBatch(i * benchRows)); err != nil || w.Append(block) != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

var benchSchema = Schema{Name: "bench", Fields: []Field{{"user", Text}, {"time", Integer}, {"lat", Real}, {"lon", Real}, {"kind", Text}},
	Points: []Point{{2, 3}}}

func benchBatch(first int64) *Rows {
	random := rand.New(rand.NewPCG(1, uint64(first)))
	rows := new(Rows)
	rows.Reset(first, 5)
	for range benchRows {
		rows.Columns[0].Append(fmt.Appendf(nil, "user-%05d", random.IntN(10000)))
		rows.Columns[1].Append(fmt.Appendf(nil, "%d", 1_200_000_000+random.IntN(1_000_000)))
		rows.Columns[2].Append(fmt.Appendf(nil, "%.6f", 30+10*random.Float64()))
		rows.Columns[3].Append(fmt.Appendf(nil, "%.6f", 116+10*random.Float64()))
		rows.Columns[4].Append([]byte("home"))
	}
	return rows
}

func BenchmarkRead(b *testing.B) {
	for _, format := range []Format{CSV, CSVGzip, Parquet, GeoPackage} {
		b.Run(extensions[format][1:], func(b *testing.B) {
			path := benchFile(b, format)
			if format == GeoPackage {
				path += "#" + benchSchema.Name
			}
			r, err := Open(context.Background(), path)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			benchRead(b, r)
		})
	}
}

// benchRead reads all columns of a data set again and again.
func benchRead(b *testing.B, r Reader) {
	columns := all(r, "geom")
	var rows Rows
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		err := r.Start(columns)
		for err == nil {
			err = r.Read(&rows, benchRows)
			n += rows.Len()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}

// BenchmarkEncodingCSV is what the standard library needs to read a file of CSV,
// without keeping any of it.
func BenchmarkEncodingCSV(b *testing.B) {
	path := benchFile(b, CSV)
	n := 0
	for b.Loop() {
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		r := csv.NewReader(file)
		r.ReuseRecord = true
		for err == nil {
			_, err = r.Read()
			n++
		}
		file.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}

// BenchmarkWrite measures writing and, of that, what is done concurrently. The
// file has one batch for every round.
func BenchmarkWrite(b *testing.B) {
	rows := benchBatch(0)
	for _, format := range formats {
		b.Run(extensions[format][1:], func(b *testing.B) {
			w := create(b, format, benchSchema)
			defer w.Close()
			var encoding time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				block, err := w.Encode(rows)
				encoding += time.Since(start)
				if err == nil {
					err = w.Append(block)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			written := float64(b.N) * benchRows
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/written, "ns/row")
			b.ReportMetric(float64(encoding.Nanoseconds())/written, "encode-ns/row")
		})
	}
}
