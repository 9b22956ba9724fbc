// Package dataset reads and writes data sets batch by batch: CSV and Parquet in; CSV,
// Parquet, GeoParquet and GeoJSON out. It imports helpers and the libraries of the formats. Start
// at Reader and Writer.
//
// A program that also reads tables of SQLite, and writes GeoPackages, imports the package
// that does so, as it would import image/png:
//
//	import _ "github.com/geosql/geosql/dataset/sqlite"
//
// The cells of a column are texts, or numbers where the format has numbers: those of CSV are texts,
// and those of Parquet stay numbers from the reader to the writer. A number has a text, which is
// printed on demand, and a writer of a format with types parses texts. Memory is
// bounded by the size of a batch and does not grow with the data set.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// A Kind is the type of the cells of a column.
type Kind uint8

// The kinds of columns. Integers are decimal numbers of 64 bits; reals are decimal numbers
// in the range of float64.
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
	// Typed reports whether the data set declares the kind of a column. If it does not, as
	// in CSV, the kind is Text.
	Typed(column int) bool
	// Start goes back to the first row. From then on Read reads the columns with the
	// given numbers, each given once, in that order.
	Start(columns []int) error
	// Read resets rows and fills them with the next batch. It returns io.EOF if none
	// is left. A batch has max rows, or fewer at the end of the data set or if their
	// text, not counting short secrets, reaches 4 MiB. Its end depends only on the data,
	// the columns and max, so that another Start yields the same batches.
	Read(rows *Rows, max int) error
	// Progress returns the approximate share of the data set, from 0 to 1, that was read
	// since Start.
	Progress() float64
	// Close frees the resources of the reader.
	Close() error
}

// maxText is the length of text that ends a batch. Without it, long cells could exceed any
// bound on memory.
const maxText = 4 << 20

// ErrFormat is wrapped by the error of [Open] for a file with a name that does not tell its
// format.
var ErrFormat = errors.New("unknown format")

// Open opens a data set by the extension of its name: CSV in a .csv, .tsv or .txt file
// (.gz if compressed by gzip), Parquet in a .parquet or .geoparquet file, and an SQLite
// table named "file#table" if package dataset/sqlite is imported.
//
// CSV has a header line, unless the option [NoHeader] is given, and cells that are separated
// by commas, semicolons or tabs. An empty cell is NULL.
//
// Cancelling ctx ends Read with the cause.
func Open(ctx context.Context, path string, options ...Option) (Reader, error) {
	r, err := open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	if _, csv := r.(*csvReader); !csv && slices.Contains(options, NoHeader) {
		r.Close()
		return nil, fmt.Errorf("%s: only CSV has header lines; the columns of this file have names", path)
	}
	return r, nil
}

// An Option changes how [Open] reads a data set.
type Option uint8

// NoHeader says that a CSV file has no header line. Its columns have the names c1, c2, ..
const NoHeader Option = 1

func open(ctx context.Context, path string, options []Option) (Reader, error) {
	if file, name, found := cutTable(path); found {
		if openTable == nil {
			return nil, fmt.Errorf("%s: this program cannot read tables of databases: it does not import %s", path, sqlitePackage)
		}
		return openTable(ctx, file, name)
	}
	switch lower := strings.ToLower(path); {
	case hasSuffix(strings.TrimSuffix(lower, ".gz"), ".csv", ".tsv", ".txt"):
		return OpenCSV(ctx, path, options...)
	case hasSuffix(lower, ".parquet", ".geoparquet"):
		return openParquet(ctx, path)
	case hasSuffix(lower, ".db", ".sqlite", ".sqlite3", ".gpkg"):
		return nil, fmt.Errorf("%s: name a table of the database, as in %s#table", path, path)
	default:
		return nil, formatError(path)
	}
}

// openTable opens a table of a database file. It is nil unless it is registered.
var openTable func(ctx context.Context, file, table string) (Reader, error)

// RegisterTables sets the function with which [Open] opens a table of a database file. The
// package that reads tables calls it in its init function.
func RegisterTables(open func(ctx context.Context, file, table string) (Reader, error)) {
	openTable = open
}

// formatError returns the error for a file with a name that does not tell its format, or the
// error of opening it.
func formatError(path string) error {
	file, _, err := openRegular(path)
	if err != nil {
		return err
	}
	file.Close()
	return fmt.Errorf("%s: %w: it is not .csv, .tsv, .txt (also .gz), .parquet or file.db#table", path, ErrFormat)
}

// FileName returns the name of the file that holds a data set. For a table that is the part
// before the last #.
func FileName(path string) string {
	if file, _, found := cutTable(path); found {
		return file
	}
	return path
}

// cutTable splits "file#table" at the last #, unless a file with exactly that name
// exists.
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

// openRegular opens a file that can be read more than once. It checks the file before it
// opens it, since opening a pipe blocks until somebody writes to it.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file (it must be read twice)", path)
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

// CheckColumns returns an error if a chosen column is not one of n, or is chosen twice.
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
			return nil, fmt.Errorf("column number %d is given twice or is not one of %d", column, n)
		}
		to[column] = int32(place)
	}
	return to, nil
}
