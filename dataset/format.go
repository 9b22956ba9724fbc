package dataset

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// A Point names two fields, by number, that are one location: degrees in WGS 84.
type Point struct{ Lat, Lon int }

// A Schema describes a data set that is to be written.
type Schema struct {
	Name   string  // of the layer, where the format has one
	Fields []Field // with distinct names
	// Points are the locations. The first is the geometry of a format that has
	// one, and its two fields are then left out; the others stay fields.
	Points []Point
	// EscapeFormulas puts an apostrophe before the names and cells of CSV that a spreadsheet
	// program would take for a formula. Other formats do without.
	EscapeFormulas bool
}

// A Format is a file format that a data set can be written in.
type Format uint8

// The formats.
const (
	CSV Format = iota + 1
	CSVGzip
	Parquet
	GeoParquet
	GeoJSON
	GeoPackage
)

var extensions = [...]string{CSV: ".csv", CSVGzip: ".csv.gz", Parquet: ".parquet",
	GeoParquet: ".geoparquet", GeoJSON: ".geojson", GeoPackage: ".gpkg"}

// FormatOf is the format that a file's name ends with.
func FormatOf(path string) (Format, error) {
	lower := strings.ToLower(path)
	for f := CSV; f <= GeoPackage; f++ {
		if strings.HasSuffix(lower, extensions[f]) {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%s: unknown format: none of %s", path, strings.Join(extensions[1:], ", "))
}

// Typed reports whether the format depends on the kinds of the fields.
func (f Format) Typed() bool { return f != CSV && f != CSVGzip }

// Holds reports whether a cell can be written in a column of a kind.
func (f Format) Holds(kind Kind, c *Column, i int) bool {
	switch {
	case !f.Typed():
		return true
	case kind == Integer:
		_, _, ok := c.Integer(i)
		return ok
	case kind == Real:
		x, _, ok := c.Real(i)
		return ok && (finite(x) || f == Parquet || f == GeoParquet)
	default:
		text, _ := c.At(i)
		return utf8.Valid(text)
	}
}

// A Writer writes a data set.
type Writer interface {
	// Encode prepares a batch, which has the columns of the schema. Batches may be
	// encoded concurrently; one must not change before it was appended. A cell
	// that is not of its field's kind is an error that says where it stands.
	Encode(rows *Rows) (Block, error)
	// Append adds an encoded batch to the file, one at a time and each once.
	Append(Block) error
	// Close completes the file, also if nothing was appended, and frees what the
	// writer holds, also after an error. It leaves the *os.File open, and not synced.
	Close() error
}

// A Block is a batch as its writer encoded it.
type Block struct {
	buffer *buffer // of the formats that are text
	box    box     // of the geometries
	native any     // of the others
}

// Create begins a data set in an empty file that is open for writing. The caller
// keeps the file, and removes it if the data set is not completed.
//
// A GeoPackage is written by SQLite, which opens the file again by its name.
func (f Format) Create(file *os.File, s Schema) (Writer, error) {
	if f.geometric() && len(s.Points) == 0 {
		return nil, errors.New("a file of geometries needs a location")
	}
	switch f {
	case CSV:
		return createCSV(file, s)
	case CSVGzip:
		return createCSVGzip(file, s)
	case Parquet:
		return createParquet(file, s)
	case GeoParquet:
		return createGeoParquet(file, s)
	case GeoJSON:
		return createGeoJSON(file, s)
	default:
		return createGeoPackage(file, s)
	}
}

// geometric reports whether the first point becomes a geometry.
func (f Format) geometric() bool { return f >= GeoParquet }
