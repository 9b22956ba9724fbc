package dataset_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/printable/printabletest"
	"github.com/geosql/geosql/internal/trials"
)

// insides are words that tell people nothing of their file.
var insides = regexp.MustCompile(`runtime error|out of range|slice bounds|nil pointer|panic|thrift|goroutine|invalid argument`)

// Whatever is changed in a file, or wherever it is cut off, reading it does not panic: it
// gives an error of one plain line that begins with the file, or data that happen to be valid.
func TestDamagedFiles(t *testing.T) {
	rows := datasettest.Batch(0, []string{"a", "1", "2", "3", "4", "b", "5", "c"}, []string{"a", "1", "2", "3", "4", datasettest.Null, datasettest.Null, "c"})
	for _, format := range []dataset.Format{dataset.Parquet, dataset.CSVGzip, dataset.GeoPackage} {
		t.Run(format.Extension(), func(t *testing.T) {
			path := datasettest.Write(t, t.TempDir(), format, datasettest.Nasty, rows)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := path
			if format == dataset.GeoPackage {
				name += "#" + datasettest.Nasty.Name
			}
			step := 1 + len(whole)/4096 // a GeoPackage is mostly empty
			refused := 0
			for i := 0; i < len(whole); i += step {
				for _, change := range trials.Some(t, 1, []byte{0x15, 0x80, 0xff}...) {
					damaged := append([]byte(nil), whole...)
					damaged[i] ^= change
					refused += readDamaged(t, path, name, damaged)
				}
				readDamaged(t, path, name, whole[:i])
			}
			if format != dataset.GeoPackage && refused < len(whole)/12 {
				t.Errorf("%d damaged files are refused, and the file has %d bytes", refused, len(whole))
			}
		})
	}
}

// readDamaged is 1 where a file that has that content cannot be read.
func readDamaged(t *testing.T, path, name string, content []byte) int {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Open(t.Context(), name)
	if err == nil {
		_, err = datasettest.Read(r, datasettest.All(r, "geom"), 100)
		r.Close()
	}
	if err == nil {
		return 0
	}
	text := err.Error()
	if !strings.HasPrefix(text, path) || insides.MatchString(text) || printabletest.Steers(text) {
		t.Errorf("%q", text)
	}
	return 1
}

// The message says which part of the file it is.
func TestDamagedPageIsNamed(t *testing.T) {
	path := datasettest.Write(t, t.TempDir(), dataset.Parquet, datasettest.BenchSchema, datasettest.BenchBatch(0), datasettest.BenchBatch(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]string{1000: "row group 1, column ", len(whole) * 3 / 4: "row group 2, column "} {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 0xff
		datasettest.Refuses(t, datasettest.File(t, "data.parquet", string(damaged)), "the file is damaged: "+want)
	}
}

// A compression that cannot be read is no damage.
func TestUnknownCompression(t *testing.T) {
	path := datasettest.Write(t, t.TempDir(), dataset.Parquet, datasettest.BenchSchema, datasettest.BenchBatch(0))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The codec of a column as thrift writes it: field 4, of 32 bits, ZSTD; field 5 follows.
	zstd, lzo := []byte{0x15, 6 << 1, 0x16}, []byte{0x15, 3 << 1, 0x16}
	at := bytes.LastIndex(whole, zstd)
	if at < 0 {
		t.Fatal("no column is compressed by ZSTD")
	}
	copy(whole[at:], lzo)
	datasettest.Refuses(t, datasettest.File(t, "data.parquet", string(whole)), "compression LZO is not supported")
}

// A length that no file of this size can have allocates no memory.
func TestLongFooterTakesNoMemory(t *testing.T) {
	whole, err := os.ReadFile(datasettest.Write(t, t.TempDir(), dataset.Parquet, datasettest.BenchSchema, datasettest.BenchBatch(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []uint32{uint32(len(whole)) - 7, 1 << 30, 1<<32 - 1} {
		damaged := binary.LittleEndian.AppendUint32(bytes.Clone(whole[:len(whole)-8]), length)
		path := datasettest.File(t, "data.parquet", string(append(damaged, "PAR1"...)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := dataset.Open(t.Context(), path)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "not a complete Parquet file") {
			t.Errorf("a footer of %d bytes: %v", length, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<24 {
			t.Errorf("a footer of %d bytes takes %d bytes of memory", length, took)
		}
	}
}
