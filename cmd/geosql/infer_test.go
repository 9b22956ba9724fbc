package main

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// Blanks around a number, and cells that have nothing else, do not make a column text.
func TestInferKinds(t *testing.T) {
	fields, err := inferKinds(dataSetOf(t, t.Context(), clitest.WriteFile(t, "a,b,c,d,e\n1, 2,,x, \n,\t3 ,,1,\n-4,0.5,,,\n")))
	want := "[{a integer} {b real} {c text} {d text} {e text}]"
	if err != nil || fmt.Sprint(fields) != want {
		t.Errorf("%v, %v; want %s", fields, err, want)
	}
}
