package bound

import (
	"math/rand/v2"
	"testing"
)

func TestBoundsAreSharp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := geometricMechanism(3)
	learning, counted := Halves(m.trials(r, 100_000, 0.5))
	e := Learn(ByInput(learning), Pure, 1e-9)
	if got := Measure(e, counted).Epsilon(e.Likelier, 1e-9); got > m.loss || got < 0.9*m.loss {
		t.Errorf("%s: %s shows %v of %v", m.name, e.Name, got, m.loss)
	}
}
