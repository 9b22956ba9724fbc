package engine

import (
	"reflect"
	"testing"
)

// The fields of a hold that a charge reads and writes are in one cache line, if the hold begins with one. Words must have 64
// bits.
func TestHoldFitsCacheLines(t *testing.T) {
	const line = 64
	if reflect.TypeFor[uintptr]().Bits() < 64 {
		t.Skip("words are shorter")
	}
	h := reflect.TypeFor[hold]()
	shared, _ := h.FieldByName("Hold")
	last, _ := shared.Type.FieldByName("evaluations")
	if end := shared.Offset + last.Offset + last.Type.Size(); end > line {
		t.Errorf("a charge uses the first %d bytes", end)
	}
	if h.Size()%line != 0 {
		t.Errorf("a hold has %d bytes", h.Size())
	}
}
