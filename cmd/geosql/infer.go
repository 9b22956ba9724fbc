package main

import (
	"context"
	"strings"

	"github.com/geosql/geosql/internal/infer"
	"github.com/geosql/geosql/internal/sqlite"
)

// inferColumns reads a file to its end and finds the types of its columns.
func inferColumns(ctx context.Context, file string) ([]column, error) {
	f, err := openCSV(file)
	if err != nil {
		return nil, err
	}
	defer f.close()
	inferred := make([]infer.Column, len(f.names))
	if _, err := f.each(ctx, "reading", func(cells []string) error {
		for i, cell := range cells {
			if cell = trimBlanks(cell); cell != "" {
				inferred[i].Add(cell)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	columns := make([]column, len(f.names))
	for i, name := range f.names {
		columns[i] = column{name, kinds[inferred[i].Kind()]}
	}
	return columns, nil
}

// kinds are the types of columns.
var kinds = [...]sqlite.Type{infer.Text: sqlite.Text, infer.Integer: sqlite.Integer, infer.Real: sqlite.Float}

// trimBlanks removes the blanks and tabs around a number.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }
