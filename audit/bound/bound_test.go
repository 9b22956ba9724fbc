package bound

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A mechanism has a known loss between its two inputs.
type mechanism struct {
	name  string
	loss  float64
	draw  func(r *rand.Rand, input int) Outcome
	hints []Score
}

func (m mechanism) trials(r *rand.Rand, n int) []Trial {
	ts := make([]Trial, n)
	for i := range ts {
		input := r.IntN(2)
		ts[i] = Trial{input, m.draw(r, input)}
	}
	return ts
}

func integer(z int64) Outcome {
	return Outcome{Text: fmt.Sprintf("INTEGER %d", z), Values: []float64{float64(z)}}
}

// geometric draws z with probability proportional to exp(-|z-x|*rate), by inversion.
func geometric(r *rand.Rand, rate float64) int64 {
	e := int64(math.Floor(r.ExpFloat64() / rate))
	f := int64(math.Floor(r.ExpFloat64() / rate))
	return e - f
}

func geometricMechanism(loss float64, distance int64) mechanism {
	return mechanism{name: "geometric", loss: loss, draw: func(r *rand.Rand, input int) Outcome {
		return integer(int64(input)*distance + geometric(r, loss/float64(distance)))
	}}
}

func TestTheBoundIsSharp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := geometricMechanism(2.4, 10)
	learning, counted := Halves(m.trials(r, 100_000))
	e := Learn(ByInput(learning), Pure, 1e-9)
	if got := Measure(e, counted).Epsilon(e.Likelier, 1e-9); got > m.loss || got < 0.9*m.loss {
		t.Errorf("%s: %s shows %v of %v", m.name, e.Name, got, m.loss)
	}
}
