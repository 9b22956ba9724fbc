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

// creators holds the functions that begin files of the formats. That of GeoPackage is
// registered.
var creators = [len(extensions)]func(*os.File, Schema) (Writer, error){CSV: createCSV, CSVGzip: createCSVGzip,
	Parquet: createParquet, GeoParquet: createGeoParquet, GeoJSON: createGeoJSON}

// checkers holds the functions that check the schemas of formats which do not hold every
// schema.
var checkers [len(extensions)]func(Schema) error

// RegisterFormat sets the functions that begin a file of a format, and that return an error
// for a schema which no file of the format can have. A package that writes another format
// calls it in its init function.
func RegisterFormat(f Format, create func(*os.File, Schema) (Writer, error), check func(Schema) error) {
	creators[f], checkers[f] = create, check
}

// FormatOf returns the format that the extension of a file's name tells.
func FormatOf(path string) (Format, error) {
	lower := strings.ToLower(path)
	for f := CSV; f <= GeoPackage; f++ {
		if !strings.HasSuffix(lower, f.Extension()) {
			continue
		}
		if creators[f] == nil {
			return 0, fmt.Errorf("%s: %w", path, f.unregisteredError())
		}
		return f, nil
	}
	return 0, fmt.Errorf("%s: unknown format: the extension is not one of %s", path, strings.Join(extensions[1:], ", "))
}

// unregisteredError returns the error about a format that no package has registered.
func (f Format) unregisteredError() error {
	return fmt.Errorf("this program cannot write %s: it does not import %s", f.Extension(), sqlitePackage)
}

// sqlitePackage is the package that registers everything that needs SQLite.
const sqlitePackage = "github.com/geosql/geosql/dataset/sqlite"

// Extension returns the extension of the format's files.
func (f Format) Extension() string { return extensions[f] }

// Typed reports whether the format has types, so that the kinds of the fields matter.
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

// HoldsAll reports whether all cells can be written in a column of a kind, as far as that shows
// without a look at each of them. After false, [Format.Holds] tells.
func (f Format) HoldsAll(kind Kind, c *Column) bool {
	switch {
	case !f.Typed():
		return true
	case kind != c.kind:
		return false
	case kind == Real:
		return f == Parquet || f == GeoParquet
	default:
		return kind == Integer || c.isUTF8()
	}
}

// A Writer writes a data set.
type Writer interface {
	// Encode encodes a batch, which has the columns of the schema. Batches may be encoded
	// concurrently. A batch must not change before it is appended. The error about a cell
	// that is not of its field's kind tells the cell's place.
	Encode(rows *Rows) (Block, error)
	// Append adds an encoded batch to the file. It must not be called concurrently, and
	// only once for each batch.
	Append(Block) error
	// Close completes the file, also if nothing was appended, and frees the resources of
	// the writer, also after an error. It neither closes nor syncs the *os.File.
	Close() error
}

// A Block is a batch encoded by a writer, for the same writer.
type Block any

// Create begins a data set in an empty file that is open for writing. The caller still
// owns the file, and removes it if the data set is not completed.
//
// A GeoPackage is written by SQLite, which opens the file again by its name.
func (f Format) Create(file *os.File, s Schema) (Writer, error) {
	if creators[f] == nil {
		return nil, f.unregisteredError()
	}
	if err := f.Check(s); err != nil {
		return nil, err
	}
	return creators[f](file, s)
}

// Check returns an error if the format cannot hold a data set of the schema.
func (f Format) Check(s Schema) error {
	if f.geometric() && len(s.Points) == 0 {
		return errors.New("a format with geometries needs a location")
	}
	if checkers[f] != nil {
		return checkers[f](s)
	}
	return nil
}

// geometric reports whether the format stores the first point as a geometry.
func (f Format) geometric() bool { return f >= GeoParquet }
