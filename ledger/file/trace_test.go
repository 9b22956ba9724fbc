package file

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
)

// Points that no ledger writes are noticed.
func TestSpoiltRun(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", 10, 0))
	tr, _, _, err := l.OpenTrace("x", "ana", "m", "predictive_step")
	check(t, err)
	check(t, tr.Reserve(3, 5))
	tr.Add(ledger.Point{Time: noon, Lat: 1, Lon: 2, Hard: true, Spent: 1})
	check(t, tr.Close(nil))
	whole := strings.Repeat("00", 4*8)
	for _, points := range []string{"x'00'", "x'08" + whole + "'", "x'08" + whole + "000001'", "x'20" + whole + "'", "x'00" + whole + "00'"} {
		spoil(t, l.Path(), "UPDATE run SET points = "+points)
		if _, err := l.TraceRun("x"); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: got %v", points, err)
		}
	}
}
