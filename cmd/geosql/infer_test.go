package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// Blanks around a number, and cells that have nothing else, do not make a column text.
func TestInferColumns(t *testing.T) {
	path := tempFile(t, "a.csv")
	text := "a,b,c,d,e\n1, 2,,x, \n,\t3 ,,1,\n-4,0.5,,,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	columns, err := inferColumns(t.Context(), path)
	want := []column{{"a", sqlite.Integer}, {"b", sqlite.Float}, {"c", sqlite.Text}, {"d", sqlite.Text}, {"e", sqlite.Text}}
	if err != nil || fmt.Sprint(columns) != fmt.Sprint(want) {
		t.Errorf("%v, %v; want %v", columns, err, want)
	}
}
