package pim

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
)

// A step on a grid of 10,000 cells, with about 60,000 transitions in the model and
// sets held at 200 cells.
func BenchmarkStep(b *testing.B) {
	grid := cityModel(b, 100).Grid()
	random := rand.New(rand.NewSource(1))
	trainer := markov.NewTrainer(grid, time.Minute)
	for trace := range 100 {
		i, j := random.Intn(100), random.Intn(100)
		for k := range int64(1000) {
			i, j = min(max(i+random.Intn(5)-2, 0), 99), min(max(j+random.Intn(5)-2, 0), 99)
			lat, lon := grid.Domain().Location(grid.Centre(j*100 + i))
			trainer.Add(fmt.Sprint(trace), k*minute, lat, lon)
		}
	}
	model, err := trainer.Model()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", model.Info())
	src := exact.NewSource(nil)
	for _, law := range laws {
		b.Run(law, func(b *testing.B) {
			p := policy()
			p.Epsilon, p.Delta, p.MinSet = 3*budget.One, budget.One-1, 200
			r := mechanism(b, model, law, p).Start()
			b.ReportAllocs()
			at, size := int64(0), 0
			for b.Loop() {
				at += minute
				q := plan(b, r, at)
				size += len(q.Set())
				r.Add(q, q.Draw(src, 4321))
			}
			b.ReportMetric(float64(size)/float64(b.N), "cells/set")
		})
	}
}

// The hull of n cells on a circle, which are all vertices: linear.
func BenchmarkHull(b *testing.B) {
	for _, n := range []int64{1000, 2000, 4000} {
		var set []vector
		for y := -n * n / 4; len(set) < int(n); y += n / 2 {
			set = append(set, vector{y * y / n / n, y})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := Plan{mechanism: &Mechanism{law: PIM, policy: policy()}, cells: set}
			b.ReportAllocs()
			for b.Loop() {
				p.right, p.left = hullChains(p.right[:0], p.left[:0], p.cells)
				p.half = halfHull(p.half[:0], p.right, p.left)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/cell")
			b.ReportMetric(float64(len(p.half)), "vertices")
		})
	}
}
