package dataset

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// A Format is a file format that a data set can be written in.
type Format uint8

// The formats. A program that writes GeoPackage imports package dataset/sqlite.
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

// creators begin files of the formats. That of GeoPackage is registered.
var creators = [len(extensions)]func(*os.File, Schema) (Writer, error){CSV: createCSV, CSVGzip: createCSVGzip,
	Parquet: createParquet, GeoParquet: createGeoParquet, GeoJSON: createGeoJSON}

// RegisterFormat says how a format is written that this package does not write itself. It
// is called by the init function of the package that writes it.
func RegisterFormat(f Format, create func(*os.File, Schema) (Writer, error)) { creators[f] = create }

// FormatOf returns the format that a file's name ends with.
func FormatOf(path string) (Format, error) {
	lower := strings.ToLower(path)
	for f := CSV; f <= GeoPackage; f++ {
		if !strings.HasSuffix(lower, f.Extension()) {
			continue
		}
		if creators[f] == nil {
			return 0, fmt.Errorf("%s: %w", path, f.missing())
		}
		return f, nil
	}
	return 0, fmt.Errorf("%s: unknown format: none of %s", path, strings.Join(extensions[1:], ", "))
}

// missing returns the error about a format that nobody has registered.
func (f Format) missing() error {
	return fmt.Errorf("this program cannot write %s: it does not import %s", f.Extension(), sqlitePackage)
}

// sqlitePackage registers all that needs SQLite.
const sqlitePackage = "github.com/geosql/geosql/dataset/sqlite"

// Extension returns what the names of the format's files end with.
func (f Format) Extension() string { return extensions[f] }

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

// A Block is a batch as its writer encoded it, for that writer alone.
type Block any

// Create begins a data set in an empty file that is open for writing. The caller
// keeps the file, and removes it if the data set is not completed.
//
// A GeoPackage is written by SQLite, which opens the file again by its name.
func (f Format) Create(file *os.File, s Schema) (Writer, error) {
	if f.geometric() && len(s.Points) == 0 {
		return nil, errors.New("a file of geometries needs a location")
	}
	if creators[f] == nil {
		return nil, f.missing()
	}
	return creators[f](file, s)
}

// geometric reports whether the first point becomes a geometry.
func (f Format) geometric() bool { return f >= GeoParquet }
