package report

import (
	"math"
	"testing"
)

// Level ln 4 within 200 m on a lattice of one metre: exp(ln 4 * (200+1.4142)/200) =
// 4.0394, and 4.0394/(1+4.0394) = 0.80156.
func TestGuaranteeInWords(t *testing.T) {
	g := guarantee{epsilon: math.Log(4) / 200, step: 1}
	one := distinction{Distance: "200\u00a0m", Factor: "4.04", Share: "80.2\u00a0%"}
	if d := g.at(g.example(200), 1); d != one {
		t.Errorf("one location: %+v", d)
	}
	if d := g.at(200, 2); d.Factor != "16.4" || d.Share != "94.3\u00a0%" { // 4.0394^2 = 16.317
		t.Errorf("two locations: %+v", d)
	}
	if d := g.at(1e6, 1); d.Share != "100.0\u00a0%" || d.Factor != "10³⁰¹¹" {
		t.Errorf("far: %+v", d)
	}
}

// Every table rises with the distance, has the radius that was asked for, and is short.
func TestTableOfDistances(t *testing.T) {
	for eps := minEpsilon; eps <= maxEpsilon; eps *= 1.7 {
		for _, radius := range []float64{0, 1 / eps, 100 / eps} {
			g := guarantee{epsilon: eps, step: 0.001}
			rows, asked := g.table(radius), 0
			if len(rows) < 3 || len(rows) > 9 {
				t.Errorf("epsilon %v: %d rows", eps, len(rows))
			}
			for _, row := range rows {
				if row.Asked {
					asked++
				}
			}
			if want := int(math.Ceil(math.Min(radius, 1))); asked != want {
				t.Errorf("epsilon %v: radius %v stands there %d times", eps, radius, asked)
			}
			if told := g.distinguishable() * eps; told < math.Log(certain) || told > 2*math.Log(certain) {
				t.Errorf("epsilon %v: told apart at exponent %v", eps, told)
			}
		}
	}
}
