package census

import (
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
)

// BenchmarkSanitise releases a home and counts.
func BenchmarkSanitise(b *testing.B) {
	d := newDomain(b, 1)
	m, err := noise.Laplace(d, Published[0].Epsilon())
	if err != nil {
		b.Fatal(err)
	}
	study := newStudy(b, d, Published, Commute{downtown, downtown, 1})
	var counts tally
	c := Commute{downtown, downtown.north(10), int64(b.N)}
	b.ReportAllocs()
	b.ResetTimer()
	c.sanitise(b.Context(), m, study.Sources[0], &counts)
}
