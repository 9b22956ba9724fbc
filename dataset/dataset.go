// Package dataset reads and writes data sets batch by batch: CSV and Parquet in; CSV,
// Parquet, GeoParquet and GeoJSON out.
//
// A program that also reads tables of SQLite, and writes GeoPackages, imports the package
// that does so, as it would import image/png:
//
//	import _ "github.com/geosql/geosql/dataset/sqlite"
//
// All cells are text while they travel. A format that has types prints what it
// reads and parses what it writes. Memory is bounded by the size of a batch and
// does not grow with the data set.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A Kind says what the cells of a column are.
type Kind uint8

// Kinds of columns. Integers are decimal and have 64 bits; reals are decimal and
// have those of float64.
const (
	Text Kind = iota
	Integer
	Real
)

// String returns the kind's name in lower case.
func (k Kind) String() string { return [...]string{"text", "integer", "real"}[k] }

// A Field is a column's name and kind.
type Field struct {
	Name string
	Kind Kind
}

// A Reader reads a data set, any number of times. It must not be used concurrently.
type Reader interface {
	// Fields returns all columns of the data set. Their names are distinct.
	Fields() []Field
	// Typed reports whether the data set says what kind a column, given by its number,
	// has. Where it does not, as CSV never does, the kind is Text.
	Typed(column int) bool
	// Start goes to the first row, from wherever the reader stands. From then on
	// Read reads the given columns, each named once, in that order.
	Start(columns []int) error
	// Read resets rows and fills them with the next batch; io.EOF when none is
	// left. A batch has max rows, or fewer at the end of the data set and where
	// their text, but for short secrets, reaches 4 MiB. Where it ends depends on
	// nothing but the data, the columns and max, so that the same batches come again
	// after another Start.
	Read(rows *Rows, max int) error
	// Progress returns roughly the share of the data set, from 0 to 1, that was read since
	// Start.
	Progress() float64
	// Close frees what the reader holds.
	Close() error
}

// maxText bounds the text of a batch, but for a few rows more: with batches of a given
// number of rows, long cells would break any bound on memory.
const maxText = 4 << 20

// ErrFormat is wrapped by the error of [Open] about a file whose name does not say what it is.
var ErrFormat = errors.New("unknown format")

// Open opens a data set by what its name ends with: CSV in a .csv, .tsv or .txt file
// (.gz if compressed by gzip), Parquet in a .parquet or .geoparquet file, and a
// table of SQLite as "file#table" if package dataset/sqlite is imported.
//
// CSV has a header line and cells that are separated by commas, semicolons or
// tabs. An empty cell is NULL.
//
// Cancelling ctx ends Read with the cause.
func Open(ctx context.Context, path string) (Reader, error) {
	if file, name, found := cutTable(path); found {
		if openTable == nil {
			return nil, fmt.Errorf("%s: this program cannot read tables of databases: it does not import %s", path, sqlitePackage)
		}
		return openTable(ctx, file, name)
	}
	switch lower := strings.ToLower(path); {
	case hasSuffix(strings.TrimSuffix(lower, ".gz"), ".csv", ".tsv", ".txt"):
		return OpenCSV(ctx, path)
	case hasSuffix(lower, ".parquet", ".geoparquet"):
		return openParquet(ctx, path)
	case hasSuffix(lower, ".db", ".sqlite", ".sqlite3", ".gpkg"):
		return nil, fmt.Errorf("%s: a table of a database is named as %s#table", path, path)
	default:
		return nil, unknown(path)
	}
}

// openTable opens a table of a database file, if that is registered.
var openTable func(ctx context.Context, file, table string) (Reader, error)

// RegisterTables says how [Open] opens a table of a database file. It is called by the init
// function of the package that reads them.
func RegisterTables(open func(ctx context.Context, file, table string) (Reader, error)) {
	openTable = open
}

// unknown returns the error about a file whose name says nothing, unless there is a more
// obvious one.
func unknown(path string) error {
	file, _, err := openRegular(path)
	if err != nil {
		return err
	}
	file.Close()
	return fmt.Errorf("%s: %w: neither .csv, .tsv, .txt (also .gz), .parquet nor file.db#table", path, ErrFormat)
}

// FileName returns the name of the file that a data set is in, which is what the name of a
// table has in front of its last #.
func FileName(path string) string {
	if file, _, found := cutTable(path); found {
		return file
	}
	return path
}

// cutTable takes "file#table" apart at the last #, unless there is a file of that
// very name.
func cutTable(path string) (file, name string, found bool) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 {
		return "", "", false
	}
	if _, err := os.Stat(path); err == nil {
		return "", "", false
	}
	return path[:i], path[i+1:], true
}

func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// openRegular opens a file that can be read more than once. It looks before it opens, for
// a pipe that nobody writes to would never open.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file (it is read twice)", path)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := os.Open(path)
	return file, info.Size(), err
}

// wrap puts the data set's name in front of an error, except of io.EOF.
func wrap(path string, err error) error {
	switch err {
	case nil, io.EOF:
		return err
	case io.ErrUnexpectedEOF:
		err = errors.New("the file ends too early (truncated?)")
	}
	return fmt.Errorf("%s: %w", path, err)
}

// CheckColumns returns an error if a column is none of n, or chosen twice.
func CheckColumns(chosen []int, n int) error {
	_, err := places(chosen, n)
	return err
}

// places returns, for every column of n, its place among the chosen ones, or -1.
func places(chosen []int, n int) ([]int32, error) {
	to := make([]int32, n)
	for i := range to {
		to[i] = -1
	}
	for place, column := range chosen {
		if column < 0 || column >= n || to[column] >= 0 {
			return nil, fmt.Errorf("column number %d is given twice or none of %d", column, n)
		}
		to[column] = int32(place)
	}
	return to, nil
}
