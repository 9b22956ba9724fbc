package dataset_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func TestParquetRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		batches, cells := datasettest.NastyBatches(t)
		r := datasettest.Open(t, datasettest.Write(t, folder, dataset.Parquet, datasettest.Nasty, batches...))
		defer r.Close()
		if !reflect.DeepEqual(r.Fields(), datasettest.Nasty.Fields) {
			t.Fatalf("fields %v", r.Fields())
		}
		for _, max := range []int{1, 3, 1000} {
			got, err := datasettest.Read(r, datasettest.All(r), max)
			if err != nil {
				t.Fatal(err)
			}
			datasettest.Same(t, got, cells)
		}
	})
}

// A file of many row groups, pages and steps, read in batches of other sizes.
func TestParquetManyRows(t *testing.T) {
	var batches []*dataset.Rows
	var want [][]string
	for _, n := range []int{5000, 1, 700, 3000} {
		first := len(want)
		for i := range n {
			row := []string{strings.Repeat("x", i%7), "1.5", "2.5", datasettest.Null}
			if i%3 > 0 {
				row[3] = strconv.Itoa(i)
			}
			want = append(want, row)
		}
		batches = append(batches, datasettest.Batch(int64(first), want[first:]...))
	}
	s := dataset.Schema{Fields: []dataset.Field{{Name: "b", Kind: dataset.Text}, {Name: "lat", Kind: dataset.Real}, {Name: "a", Kind: dataset.Real}, {Name: "n", Kind: dataset.Integer}}, Points: []dataset.Point{{Lat: 1, Lon: 2}}}
	r := datasettest.Open(t, datasettest.Write(t, t.TempDir(), dataset.Parquet, s, batches...))
	defer r.Close()
	for _, max := range []int{257, 5000, 1 << 20} {
		got, err := datasettest.Read(r, datasettest.All(r), max)
		if err != nil {
			t.Fatal(err)
		}
		datasettest.Same(t, got, want)
	}
	got, err := datasettest.Read(r, []int{3, 0}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if row := got[5000+1+4]; row[0] != "4" || row[1] != "xxxx" || r.Progress() != 1 {
		t.Errorf("%q, %v", row, r.Progress())
	}
}

func TestGeoParquetRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		batches, cells := datasettest.NastyBatches(t)
		path := datasettest.Write(t, folder, dataset.GeoParquet, datasettest.Nasty, batches...)
		r := datasettest.Open(t, path)
		defer r.Close()
		got, err := datasettest.Read(r, datasettest.All(r, "geometry_"), 4)
		if err != nil {
			t.Fatal(err)
		}
		datasettest.Same(t, got, datasettest.Without(cells, 1, 4))
		if err := r.Start([]int{len(r.Fields()) - 1}); err == nil || !strings.Contains(err.Error(), "column geometry_: type BYTE_ARRAY") {
			t.Fatal(err)
		}
		checkGeoParquet(t, path, "geometry_", cells)
	})
}

// checkGeoParquet compares the geometries and the metadata with rows of the schema Nasty.
func checkGeoParquet(t datasettest.T, path, column string, cells [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(strings.NewReader(string(text)), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var b geom.Bounds
	next := 0
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[len(datasettest.Nasty.Fields)-2].Pages()
		for page, err := pages.ReadPage(); err != io.EOF; page, err = pages.ReadPage() {
			if err != nil {
				t.Fatal(err)
			}
			values := make([]parquet.Value, page.NumValues())
			page.Values().ReadValues(values)
			for _, v := range values {
				lat, lon, isNull := datasettest.Location(t, cells[next])
				if isNull != v.IsNull() || !isNull && string(v.ByteArray()) != string(geom.AppendWKB(nil, lat, lon)) {
					t.Fatalf("row %d: geometry %x, want %v, %v", next, v.ByteArray(), lat, lon)
				}
				if !isNull {
					b.Add(lat, lon)
				}
				next++
			}
		}
		pages.Close()
	}
	if next != len(cells) {
		t.Fatalf("%d geometries, want %d", next, len(cells))
	}
	checkGeoMetadata(t, f, column, b)
}

func checkGeoMetadata(t datasettest.T, f *parquet.File, column string, b geom.Bounds) {
	t.Helper()
	text, _ := f.Lookup("geo")
	var geo struct {
		Version string
		Primary string `json:"primary_column"`
		Columns map[string]struct {
			Encoding string
			Types    []string `json:"geometry_types"`
			BBox     []float64
		}
	}
	if err := json.Unmarshal([]byte(text), &geo); err != nil {
		t.Fatal(err)
	}
	g := geo.Columns[column]
	var want []float64
	if b.Some {
		want = []float64{b.West, b.South, b.East, b.North}
	}
	if geo.Version != "1.1.0" || geo.Primary != column || g.Encoding != "WKB" || len(g.Types) != 1 || g.Types[0] != "Point" || !reflect.DeepEqual(g.BBox, want) {
		t.Fatalf("metadata %s, want %s and %v", text, column, want)
	}
}

// others writes a Parquet file of Go values.
func others[T any](t *testing.T, rows ...T) string {
	t.Helper()
	path := t.TempDir() + "/data.parquet"
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParquetTypes(t *testing.T) {
	type row struct {
		Bool    bool      `parquet:"bool"`
		Int     int32     `parquet:"int"`
		Uint    uint32    `parquet:"uint"`
		Big     uint64    `parquet:"big"`
		Float   float32   `parquet:"float,optional"`
		Double  float64   `parquet:"double"`
		Text    *string   `parquet:"text,optional,dict"`
		Day     int32     `parquet:"day,date"`
		Seconds time.Time `parquet:"seconds,timestamp(microsecond)"`
		Millis  int64     `parquet:"millis,timestamp(millisecond:local)"`
	}
	text := "x"
	at := time.Date(1969, 12, 31, 23, 59, 59, 250e6, time.UTC)
	r := datasettest.Open(t, others(t,
		row{true, -5, 1<<32 - 1, 1<<64 - 1, 0.1, 1e300, &text, -1, at, at.UnixMilli()},
		row{false, 5, 1, 1, 0, -0.25, nil, 20000, at.Add(time.Second), 0}))
	defer r.Close()
	var kinds []dataset.Kind
	for _, f := range r.Fields() {
		kinds = append(kinds, f.Kind)
	}
	if want := []dataset.Kind{dataset.Text, dataset.Integer, dataset.Integer, dataset.Integer, dataset.Real, dataset.Real, dataset.Text, dataset.Text, dataset.Text, dataset.Text}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	got, err := datasettest.Read(r, datasettest.All(r), 10)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, [][]string{
		{"true", "-5", "4294967295", "18446744073709551615", "0.1", "1e+300", "x", "1969-12-31", "1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.25"},
		{"false", "5", "1", "1", datasettest.Null, "-0.25", datasettest.Null, "2024-10-04", "1970-01-01T00:00:00.25Z", "1970-01-01T00:00:00"},
	})
}

// Integers of 32 bits, columns that are never NULL and dictionaries are read as others.
func TestParquetPages(t *testing.T) {
	type row struct {
		Small    int32    `parquet:"small"`
		Maybe    *int32   `parquet:"maybe,optional"`
		Repeated int64    `parquet:"repeated,dict"`
		Seldom   *int32   `parquet:"seldom,optional,dict"`
		Real     *float64 `parquet:"real,optional,dict"`
		Text     string   `parquet:"text"`
		Word     *string  `parquet:"word,optional,dict"`
	}
	var rows []row
	var want [][]string
	for i := range 3000 {
		x := row{Small: int32(-i), Repeated: int64(i%3) << 40, Text: strings.Repeat("y", i%5)}
		cells := []string{strconv.Itoa(-i), datasettest.Null, strconv.FormatInt(x.Repeated, 10), datasettest.Null, datasettest.Null, x.Text, datasettest.Null}
		if i%4 != 0 {
			small, real, word := int32(i%7), float64(i%5)/4, strings.Repeat("w", 10*(i%4))
			x.Maybe, x.Seldom, x.Real, x.Word = &small, &small, &real, &word
			cells[1], cells[3], cells[4], cells[6] = strconv.Itoa(i%7), strconv.Itoa(i%7), strconv.FormatFloat(real, 'f', -1, 64), word
		}
		rows, want = append(rows, x), append(want, cells)
	}
	r := datasettest.Open(t, others(t, rows...))
	defer r.Close()
	got, err := datasettest.Read(r, datasettest.All(r), 1000)
	if err != nil {
		t.Fatal(err)
	}
	datasettest.Same(t, got, want)
}

func TestParquetDecimals(t *testing.T) {
	type row struct {
		Price  int32    `parquet:"price,decimal(2:9)"`
		Money  int64    `parquet:"money,decimal(4:18)"`
		Whole  int64    `parquet:"whole,decimal(0:18)"`
		Wide   []byte   `parquet:"wide,decimal(3:38)"`
		ID     [16]byte `parquet:"id,uuid"`
		Millis int32    `parquet:"millis,time(millisecond)"`
		Micros int64    `parquet:"micros,time(microsecond:local)"`
	}
	id := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 15: 0xff}
	wide := func(negative bool, low byte) []byte {
		b := make([]byte, 16)
		if negative {
			b = bytes.Repeat([]byte{0xff}, 16)
		}
		b[15] = low
		return b
	}
	r := datasettest.Open(t, others(t,
		row{1234, -1, -5, wide(true, 0xff), id, 86399999, 1},
		row{-5, math.MinInt64, 1e17, wide(false, 200), id, 0, 43200e6}))
	defer r.Close()
	var kinds []dataset.Kind
	for _, f := range r.Fields() {
		kinds = append(kinds, f.Kind)
	}
	if want := []dataset.Kind{dataset.Real, dataset.Text, dataset.Integer, dataset.Text, dataset.Text, dataset.Text, dataset.Text}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	got, err := datasettest.Read(r, datasettest.All(r), 10)
	if err != nil {
		t.Fatal(err)
	}
	const uuid = "01234567-89ab-cdef-0000-0000000000ff"
	datasettest.Same(t, got, [][]string{
		{"12.34", "-0.0001", "-5", "-0.001", uuid, "23:59:59.999Z", "00:00:00.000001"},
		{"-0.05", "-922337203685477.5808", "100000000000000000", "0.200", uuid, "00:00:00Z", "12:00:00"},
	})
}

func TestBadParquet(t *testing.T) {
	type point struct{ Lat, Lon float64 }
	type row struct {
		N     int64
		Home  point
		Times []int64
		Blob  []byte
		Money []byte `parquet:",decimal(2:50)"`
	}
	path := others(t, row{N: 1, Times: []int64{1}})
	r := datasettest.Open(t, path)
	defer r.Close()
	for i, want := range map[int]string{
		1: "column Home: nested columns", 2: "column Times: nested columns", 3: "column Blob: type BYTE_ARRAY", 4: "column Money: type DECIMAL",
	} {
		if err := r.Start([]int{0, i}); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("column %d: %v, want %s", i, err, want)
		}
	}
	if got, err := datasettest.Read(r, []int{0}, 10); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
	datasettest.Refuses(t, datasettest.File(t, "data.parquet", ""), "not a complete Parquet file")
	datasettest.Refuses(t, datasettest.File(t, "data.parquet", "a,b\n1,2\n and some more text\n"), "not a complete Parquet file")
}

func TestTruncatedParquet(t *testing.T) {
	whole, err := os.ReadFile(datasettest.Write(t, t.TempDir(), dataset.Parquet, datasettest.BenchSchema, datasettest.BenchBatch(0)))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 8, 1000, len(whole) / 2, len(whole) - 1} {
		datasettest.Refuses(t, datasettest.File(t, "data.parquet", string(whole[:n])), "not a complete Parquet file")
	}
}
