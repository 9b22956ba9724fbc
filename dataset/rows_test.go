package dataset_test

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/sqlite"
)

// Batches end at 4 MiB of text, to which a secret cell counts only if it is too long.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		secret []bool
		cell   int // bytes of each cell of the second column
		want   int // rows
	}{
		{nil, 0, 32},
		{nil, dataset.LongestSecret, 32},
		{nil, 1 << 17, 16},
		{[]bool{false, true}, dataset.LongestSecret, 32},
		{[]bool{false, true}, 1 << 17, 16},
		{[]bool{true}, dataset.LongestSecret + 1, 32},
	} {
		rows := new(dataset.Rows)
		rows.Secret = c.secret
		rows.Reset(0, 2)
		rows.Reset(0, 2) // keeps Secret
		for !rows.Full() {
			rows.Columns[0].Append(make([]byte, 1<<17))
			rows.Columns[1].Append(make([]byte, c.cell))
		}
		if rows.Len() != c.want {
			t.Errorf("%+v: full with %d rows", c, rows.Len())
		}
	}
}

// Where the batches of any reader end does not depend on how long secret cells are.
func TestSecretDoesNotEndBatches(t *testing.T) {
	const n = 600
	text := strings.Repeat("x", 1<<16-8)
	inputs := map[string]func(t *testing.T, x string) string{
		"csv": func(t *testing.T, x string) string {
			return datasettest.Write(t, t.TempDir(), dataset.CSV, xSchema, repeated(n, text, x))
		},
		"parquet": func(t *testing.T, x string) string {
			return datasettest.Write(t, t.TempDir(), dataset.Parquet, xSchema, repeated(n, text, x))
		},
		"sqlite": func(t *testing.T, x string) string {
			path := filepath.Join(t.TempDir(), "x.db")
			conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
			if err == nil {
				err = conn.Exec(`CREATE TABLE x AS WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM i LIMIT 600)
					SELECT '` + text + `' AS text, '` + x + `' AS x FROM i`)
			}
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			return path + "#x"
		},
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			short, long := batchEnds(t, input(t, "1")), batchEnds(t, input(t, strings.Repeat("1", dataset.LongestSecret)))
			if len(short) < 2 || !slices.Equal(short, long) {
				t.Errorf("batches end at %v and at %v", short, long)
			}
		})
	}
}

var xSchema = dataset.Schema{Fields: []dataset.Field{{Name: "text"}, {Name: "x"}}}

func repeated(n int, row ...string) *dataset.Rows {
	cells := make([][]string, n)
	for i := range cells {
		cells[i] = row
	}
	return datasettest.Batch(0, cells...)
}

// batchEnds reads a data set of two columns. The second is secret.
func batchEnds(t *testing.T, path string) (ends []int64) {
	r := datasettest.Open(t, path)
	defer r.Close()
	if err := r.Start([]int{0, 1}); err != nil {
		t.Fatal(err)
	}
	rows := dataset.Rows{Secret: []bool{false, true}}
	for {
		err := r.Read(&rows, 1<<15)
		if err == io.EOF {
			return ends
		}
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, rows.First+int64(rows.Len()))
	}
}
