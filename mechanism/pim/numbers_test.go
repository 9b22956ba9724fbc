package pim

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/golden"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
)

// Models, beliefs and location sets are the same on every platform, so that a trace that goes on at another
// machine goes on there as it would have here.
func TestNumbers(t *testing.T) {
	d, err := planar.NewDomain("city", 39.95, 115.94, 40.05, 116.06, 50)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := markov.NewGrid(d, 500)
	if err != nil {
		t.Fatal(err)
	}
	trainer := markov.NewTrainer(grid, 60e9)
	walk := func(k int64) (lat, lon float64) {
		return 39.952 + float64(k*37%96)/1000, 115.945 + float64(k*(k%7)%110)/1000
	}
	for k := range int64(3000) {
		lat, lon := walk(k / 3)
		trainer.Add("walk", k*minute, lat, lon)
	}
	model, err := trainer.Model()
	if err != nil {
		t.Fatal(err)
	}
	var n golden.Numbers
	for _, law := range laws {
		r := mechanism(t, model, law, Policy{Model: "walk", MinSet: 3, Epsilon: budget.One, Delta: budget.One / 20}).Start()
		beliefs, sets := golden.NewHash(), golden.NewHash()
		for k := range int64(60) {
			p, err := r.Plan(k * minute)
			if err != nil {
				t.Fatal(err)
			}
			beliefs.Add(p.prior...)
			for _, cell := range p.set {
				sets.Add(float64(cell))
			}
			lat, lon := walk(k / 3)
			r.Add(p, d.Cell(lat, lon))
			beliefs.Add(r.Mean())
		}
		n.AddHash(fmt.Sprintf("beliefs under %s", law), beliefs)
		n.AddHash(fmt.Sprintf("sets under %s", law), sets)
	}
	n.Check(t, "testdata/numbers.txt")
}
