package markov

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// BenchmarkAdvance takes one transition.
func BenchmarkAdvance(b *testing.B) {
	for _, c := range []struct{ side, moves int }{{100, 0}, {100, 125_000}, {316, 600_000}, {1024, 6_000_000}} {
		m := synthetic(c.side, c.side, c.moves)
		b.Run(fmt.Sprintf("cells=%d/nonzero=%d", m.grid.Len(), len(m.moves)), func(b *testing.B) {
			src, dst := make([]float64, m.grid.Len()), make([]float64, m.grid.Len())
			for i := range src {
				src[i] = 1 / float64(len(src))
			}
			b.ReportAllocs()
			for b.Loop() {
				m.Advance(dst, src)
			}
		})
	}
}

// BenchmarkTrain adds 100,000 fixes of 100 traces and makes the model.
func BenchmarkTrain(b *testing.B) {
	g := must(NewGrid(town, 100))
	for b.Loop() {
		t := NewTrainer(g, period)
		for k := range 100_000 {
			x := float64(k%1000) / 1000
			t.Add(strconv.Itoa(k/1000), int64(k)*60_000_000, 39.9+x/10, 116.35+x*x/10)
		}
		if _, err := t.Model(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseModel(b *testing.B) {
	g := must(NewGrid(town, 100))
	s := synthetic(g.width, g.height, 100_000)
	m := newModel(g, period, 1, s.rows, s.moves)
	data := must(m.AppendBinary(nil))
	domain := func(string) (*planar.Domain, error) { return town, nil }
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseModel(data, domain); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data))/float64(len(m.moves)), "bytes/nonzero")
}
