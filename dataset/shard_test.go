package dataset_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"pgregory.net/rapid"
)

// All shards together have the rows of the file, in their order, whatever their number.
func TestShardsAreTheFile(t *testing.T) {
	for _, format := range []dataset.Format{dataset.CSV, dataset.Parquet} {
		folder := t.TempDir()
		rapid.Check(t, func(t *rapid.T) {
			batches, _ := datasettest.NastyBatches(t)
			path := datasettest.Write(t, folder, format, datasettest.Nasty, batches...)
			whole := datasettest.Open(t, path)
			defer whole.Close()
			want, err := datasettest.Read(whole, datasettest.All(whole), 3)
			if err != nil {
				t.Fatal(err)
			}
			shards, err := dataset.OpenShards(context.Background(), path, rapid.IntRange(1, 9).Draw(t, "shards"))
			if err != nil {
				if !strings.Contains(err.Error(), "inside quotes") && !strings.Contains(err.Error(), "groups of rows") {
					t.Fatal(err)
				}
				return
			}
			var got [][]string
			for i := range shards.Len() {
				r, err := shards.Open(context.Background(), i)
				if err != nil {
					t.Fatal(err)
				}
				first := readPart(t, r, 2)
				datasettest.Same(t, readPart(t, r, 5), first)
				got = append(got, first...)
				r.Close()
			}
			datasettest.Same(t, got, want)
		})
	}
}

// A row belongs to the shard with the byte where its line begins. Places of rows are those in the file.
func TestShardsOfLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	text := "\uFEFFa,b\r\n" + strings.Repeat("1,2\r\n", 30) + "\n" + strings.Repeat("long line,of some characters\n", 10) + "3,4"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	for n := 1; n < 60; n++ {
		shards, err := dataset.OpenShards(context.Background(), path, n)
		if err != nil {
			t.Fatal(err)
		}
		if shards.SHA256() != hex.EncodeToString(sum[:]) {
			t.Error("another hash")
		}
		var wheres []string
		for i := range n {
			r, err := shards.Open(context.Background(), i)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Start([]int{1}); err != nil {
				t.Fatal(err)
			}
			for {
				var rows dataset.Rows
				if err := r.Read(&rows, 4); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for k := range rows.Len() {
					wheres = append(wheres, rows.Where(k))
				}
			}
			if p := r.Progress(); p != 1 && p != 0 {
				t.Errorf("progress %v", p)
			}
			r.Close()
		}
		if len(wheres) != 41 {
			t.Fatalf("%d shards have %d rows", n, len(wheres))
		}
		line := 2
		for _, where := range wheres {
			if line == 32 { // it is empty
				line++
			}
			if want := fmt.Sprint("line ", line); where != want {
				t.Fatalf("of %d shards, %s is at %s", n, want, where)
			}
			line++
		}
	}
}

func TestNoShards(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, path := range map[string]string{
		"shard 1 would begin at line 4, inside quotes": write("quotes.csv", "a\n\"x\n"+strings.Repeat("y", 90)+"\n\"\n"),
		syscall.ENOENT.Error():                         filepath.Join(dir, "none.csv"),
		"there is no header line":                      write("empty.csv", ""),
	} {
		if _, err := dataset.OpenShards(context.Background(), path, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	path := write("changed.csv", "a\n1\n2\n")
	shards, err := dataset.OpenShards(context.Background(), path, 2)
	if err != nil {
		t.Fatal(err)
	}
	write("changed.csv", "a\n1\n")
	if _, err := shards.Open(context.Background(), 0); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := dataset.OpenShards(ctx, path, 2); err != context.Canceled && !strings.Contains(fmt.Sprint(err), "canceled") {
		t.Errorf("got %v", err)
	}
}

// readPart returns the cells of a shard. Its rows are numbered as in the file.
func readPart(t *rapid.T, r dataset.Reader, max int) (cells [][]string) {
	if err := r.Start(datasettest.All(r)); err != nil {
		t.Fatal(err)
	}
	for {
		var rows dataset.Rows
		if err := r.Read(&rows, max); err == io.EOF {
			return cells
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Len() {
			var row []string
			for c := range rows.Columns {
				text, null := rows.Columns[c].At(i)
				if null {
					text = []byte(datasettest.Null)
				}
				row = append(row, string(text))
			}
			cells = append(cells, row)
		}
	}
}
