package dataset_test

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
)

// benchFile is a file of 400,000 rows of an account, a time, a place and a word.
func benchFile(b *testing.B, format dataset.Format) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "data"+format.Extension())
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	w, err := format.Create(file, datasettest.BenchSchema)
	if err != nil {
		b.Fatal(err)
	}
	for i := range int64(3) {
		if block, err := w.Encode(datasettest.BenchBatch(i * datasettest.BenchRows)); err != nil || w.Append(block) != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	for _, format := range []dataset.Format{dataset.CSV, dataset.CSVGzip, dataset.Parquet, dataset.GeoPackage} {
		b.Run(format.Extension()[1:], func(b *testing.B) {
			path := benchFile(b, format)
			if format == dataset.GeoPackage {
				path += "#" + datasettest.BenchSchema.Name
			}
			r, err := dataset.Open(context.Background(), path)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			benchRead(b, r)
		})
	}
}

// benchRead reads all columns of a data set again and again.
func benchRead(b *testing.B, r dataset.Reader) {
	columns := datasettest.All(r, "geom")
	var rows dataset.Rows
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		err := r.Start(columns)
		for err == nil {
			err = r.Read(&rows, datasettest.BenchRows)
			n += rows.Len()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}

// BenchmarkEncodingCSV measures the standard library as it reads a file of CSV,
// without keeping any of it.
func BenchmarkEncodingCSV(b *testing.B) {
	path := benchFile(b, dataset.CSV)
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

// BenchmarkWrite measures writing and the part of it that is done concurrently. The
// file has one batch for every round.
func BenchmarkWrite(b *testing.B) {
	rows := datasettest.BenchBatch(0)
	for _, format := range formats {
		b.Run(format.Extension()[1:], func(b *testing.B) {
			w := datasettest.Create(b, format, datasettest.BenchSchema)
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
			written := float64(b.N) * datasettest.BenchRows
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/written, "ns/row")
			b.ReportMetric(float64(encoding.Nanoseconds())/written, "encode-ns/row")
		})
	}
}
