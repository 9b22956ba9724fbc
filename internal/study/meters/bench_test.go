package meters

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/geosql/geosql/mechanism/exact"
)

// evenings are those of some televisions, reported every ten seconds.
func evenings(devices, reports int) (all []Meter) {
	for k := range devices {
		var values []float64
		for j := range reports {
			values = append(values, math.Round(100+10*float64(k)+30*math.Sin(float64(j*(k+3))/7)))
		}
		all = append(all, meter(fmt.Sprint(k), values...))
	}
	return all
}

// BenchmarkSignature is one release of a signature of 30 reports and its recognition
// among 300.
func BenchmarkSignature(b *testing.B) {
	s := brief(b, 0.1)
	s.Universe, s.Window = universe(b, 0, 300, 1), 300*time.Second
	study := newStudy(b, s)
	known := library(study.signatures(evenings(5, 30*60)))
	if len(known) != 300 {
		b.Fatalf("%d signatures", len(known))
	}
	for b.Loop() {
		study.releaseSignature(study.values[0].query, study.Sources[0], known, 0)
	}
}

// BenchmarkSum is one release of a month of half hours.
func BenchmarkSum(b *testing.B) {
	s := brief(b, 0.1)
	study, month := newStudy(b, s), evenings(1, 1488)[0].Readings
	source := exact.NewSource(nil)
	for b.Loop() {
		study.releaseSum(study.sums[0].query, source, month)
	}
}
