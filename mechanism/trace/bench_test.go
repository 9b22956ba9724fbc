package trace

import (
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// BenchmarkStep takes a whole step, Plan, Draw and Add, of a secret which stands
// still or strays 100 m a step, rounding included: mostly easy, and mostly hard.
func BenchmarkStep(b *testing.B) {
	plane := NewPlane(beijing)
	for _, predictor := range []string{Parrot, Linear, Mixture} {
		for name, stray := range map[string]float64{"easy": 0, "hard": 0.01} {
			b.Run(predictor+"/"+name, func(b *testing.B) {
				m := build(b, plane, Predictive, `{"epsilon": 9000000, "alpha": 100, "predictor": "`+predictor+`"}`)
				src := exact.NewSource(nil)
				var r Run
				at, lat := int64(0), 39.5
				b.ReportAllocs()
				for b.Loop() {
					x := plane.Cell(lat, 116.3975)
					step(b, m, &r, src, at, x)
					at += second
					if lat += stray; lat > 41 {
						lat = 39.5
					}
				}
				h := r.History()
				b.ReportMetric(float64(h.Easy)/float64(max(1, h.Tested)), "easy/test")
			})
		}
	}
}

// step is advance without the cost of a helper.
func step(b *testing.B, m *Mechanism, r *Run, src *exact.Source, at int64, x Cell) {
	p, err := m.Plan(r, at)
	if err != nil {
		b.Fatal(err)
	}
	if err := m.Add(r, m.Draw(src, p, x)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkStepOfAReading(b *testing.B) {
	m := build(b, meter, Predictive, `{"epsilon": 9000000, "alpha": 10}`)
	src := exact.NewSource(nil)
	var r Run
	b.ReportAllocs()
	for k := int64(0); b.Loop(); k++ {
		step(b, m, &r, src, k, meter.Cell(float64(k%100)/10))
	}
}

func BenchmarkState(b *testing.B) {
	m := build(b, NewPlane(beijing), Predictive, `{"epsilon": 9000, "alpha": 100, "predictor": "linear"}`)
	src := exact.NewSource(nil)
	var r Run
	for k := range int64(20) {
		advance(b, m, &r, src, k*second, Cell{I: k, J: k})
	}
	state := must(r.AppendBinary(nil))
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			state = must(r.AppendBinary(state[:0]))
		}
		b.ReportMetric(float64(len(state)), "bytes")
	})
	b.Run("unmarshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := r.UnmarshalBinary(state); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestStepAllocates(t *testing.T) {
	for name, s := range spaces {
		for _, predictor := range []string{Parrot, Linear, Mixture} {
			m := build(t, s, Predictive, `{"epsilon": 9000000, "steps": 1000000, "predictor": "`+predictor+`", "skip_speed": 0.1}`)
			src := exact.NewSource(nil)
			var r Run
			at := int64(0)
			if n := testing.AllocsPerRun(10_000, func() {
				p, err := m.Plan(&r, at)
				if err != nil {
					t.Fatal(err)
				}
				if err := m.Add(&r, m.Draw(src, p, s.Nearest(float64(at%1000), 0))); err != nil {
					t.Fatal(err)
				}
				at += second
			}); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, predictor, n)
			}
		}
	}
}
