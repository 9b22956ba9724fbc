package dataset_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/fuzz/fuzztest"
	"github.com/geosql/geosql/internal/printable/printabletest"
	"pgregory.net/rapid"
)

// fuzzRows are the rows of the files that fuzzing begins with.
var fuzzRows = datasettest.Batch(0, []string{"a", "1", "2", "3", "4", "b", "5", "c"}, []string{"a", "1", "2", "3", "4", datasettest.Null, datasettest.Null, "c"})

// FuzzParquet reads any bytes as a Parquet file. The same rows come in batches of any size, and the
// same error, which is a plain line about the file.
func FuzzParquet(f *testing.F) {
	for _, format := range []dataset.Format{dataset.Parquet, dataset.GeoParquet} {
		addDamaged(f, fileOf(f, format))
	}
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := datasettest.File(t, "data.parquet", string(content))
		readsAlike(t, path, path)
	})
}

// FuzzDatabase reads any bytes as a database with a table, such as a GeoPackage.
func FuzzDatabase(f *testing.F) {
	content := fileOf(f, dataset.GeoPackage)
	f.Add(content)
	for i := 0; i < 4096; i += 64 {
		damaged := bytes.Clone(content)
		damaged[i] ^= 0x15
		f.Add(damaged)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := datasettest.File(t, "data.gpkg", string(content))
		readsAlike(t, path, path+"#"+datasettest.Nasty.Name)
	})
}

// FuzzGzip reads a compressed file of CSV as the text in it is read.
func FuzzGzip(f *testing.F) {
	const text = "person,lat,lon\nana,39.9,116.3\nbo,,\n"
	addDamaged(f, zipped(text))
	addDamaged(f, append(zipped(text), zipped("cy,1,2\n")...)) // of two members
	f.Fuzz(func(t *testing.T, content []byte) {
		path := datasettest.File(t, "data.csv.gz", string(content))
		got, err := readsAlike(t, path, path)
		z, wrong := gzip.NewReader(bytes.NewReader(content))
		if wrong != nil {
			return
		}
		plain, wrong := io.ReadAll(io.LimitReader(z, 1<<20))
		if len(plain) == 1<<20 {
			return
		}
		if wrong != nil {
			if err == nil {
				t.Errorf("%x is read, and is damaged: %v", content, wrong)
			}
			return
		}
		want, wantErr := readsAlike(t, "", datasettest.File(t, "data.csv", string(plain)))
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%x: %q, %v; its text: %q, %v", content, got, err, want, wantErr)
		}
	})
}

// FuzzGeoJSON writes any rows, which a reader of JSON then finds in the file.
func FuzzGeoJSON(f *testing.F) {
	folder := f.TempDir()
	for i := range byte(8) {
		f.Add(bytes.Repeat([]byte{i, 255 - i, 7}, 200))
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		batches, cells := datasettest.NastyBatches(t)
		got := readGeoJSON(t, datasettest.Write(t, folder, dataset.GeoJSON, datasettest.Nasty, batches...))
		if len(got.Features) != len(cells) {
			t.Fatalf("%d features, want %d", len(got.Features), len(cells))
		}
		for i, feature := range got.Features {
			checkProperties(t, feature.Properties, cells[i])
		}
	}))
}

// fileOf returns a file of that format.
func fileOf(f *testing.F, format dataset.Format) []byte {
	content, err := os.ReadFile(datasettest.Write(f, f.TempDir(), format, datasettest.Nasty, fuzzRows))
	if err != nil {
		f.Fatal(err)
	}
	return content
}

// addDamaged adds a file, whole, cut off, and changed at the begin and the end.
func addDamaged(f *testing.F, content []byte) {
	f.Add(content)
	for i := range 8 {
		f.Add(content[:len(content)*i/8])
	}
	for i := range min(24, len(content)) {
		for _, at := range []int{i, len(content) - 1 - i} {
			damaged := bytes.Clone(content)
			damaged[at] ^= 0xff
			f.Add(damaged)
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

// readsAlike reads a data set in large batches and in small ones, unless it has many rows.
func readsAlike(t *testing.T, path, name string) ([][]string, error) {
	t.Helper()
	fuzztest.Limit(t, 20*time.Second)
	r, err := dataset.Open(t.Context(), name)
	if err != nil {
		checkMessage(t, path, err)
		return nil, err
	}
	defer r.Close()
	want, wantErr := datasettest.Read(r, datasettest.All(r, "geom", "geometry", "geometry_"), 1000)
	if wantErr != nil {
		checkMessage(t, path, wantErr)
	}
	if len(want) > 1000 {
		return want, wantErr
	}
	got, err := datasettest.Read(r, datasettest.All(r, "geom", "geometry", "geometry_"), 1)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%v, want %v", err, wantErr)
	}
	if err == nil {
		datasettest.Same(t, got, want)
	}
	return want, wantErr
}

// checkMessage checks that an error is a plain line that begins with the file.
func checkMessage(t *testing.T, path string, err error) {
	t.Helper()
	text := err.Error()
	if path != "" && !strings.HasPrefix(text, path) && !strings.HasPrefix(text, filepath.Base(path)) || insides.MatchString(text) || printabletest.Steers(text) {
		t.Errorf("%q", text)
	}
}
