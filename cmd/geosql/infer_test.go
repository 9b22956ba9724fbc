package main

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// Blanks around a number, and cells that have nothing else, do not make a column text.
func TestDescribeKinds(t *testing.T) {
	found, err := describe(dataSetOf(t, t.Context(), clitest.WriteFile(t, "a,b,c,d,e\n1, 2,,x, \n,\t3 ,,1,\n-4,0.5,,,\n")), nil)
	var fields []dataset.Field
	for _, c := range found.Columns {
		fields = append(fields, c.Field)
	}
	want := "[{a integer} {b real} {c text} {d text} {e text}]"
	if err != nil || fmt.Sprint(fields) != want {
		t.Errorf("%v, %v; want %s", fields, err, want)
	}
}
