package bound

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// A mechanism has a known loss between its two inputs: they are as far from each other as the
// bound is meant for, and loss is the largest log ratio over all events, or the largest Renyi
// divergence over its order.
type mechanism struct {
	name  string
	kind  Kind
	loss  float64
	draw  func(r *rand.Rand, input int) Outcome
	hints []Score
}

func (m mechanism) trials(r *rand.Rand, n int, coin float64) []Trial {
	ts := make([]Trial, n)
	for k := range ts {
		input := 0
		if r.Float64() < coin {
			input = 1
		}
		ts[k] = Trial{input, m.draw(r, input)}
	}
	return ts
}

func integer(z int64) Outcome {
	return Outcome{Text: "INTEGER " + strconv.FormatInt(z, 10), Values: []float64{float64(z)}}
}

// geometric draws z with probability proportional to exp(-rate*|z|).
func geometric(r *rand.Rand, rate float64) int64 {
	up, down := int64(r.ExpFloat64()/rate), int64(r.ExpFloat64()/rate)
	return up - down
}

func geometricMechanism(loss float64) mechanism {
	const distance = 10
	return mechanism{name: "geometric", loss: loss, draw: func(r *rand.Rand, input int) Outcome {
		return integer(int64(input)*distance + geometric(r, loss/distance))
	}}
}

// planarMechanism is the planar Laplace mechanism between (0, 0) and (100, 0), rounded to a
// lattice that has both.
func planarMechanism(loss float64) mechanism {
	return mechanism{name: "planar Laplace", loss: loss, draw: func(r *rand.Rand, input int) Outcome {
		x, y := planar(r, loss/100)
		return Outcome{Text: "POINT", Values: []float64{
			float64(100*input) + math.Round(x*64)/64, math.Round(y*64) / 64}}
	}}
}

// planar draws from a density proportional to exp(-rate*distance).
func planar(r *rand.Rand, rate float64) (x, y float64) {
	radius := (r.ExpFloat64() + r.ExpFloat64()) / rate
	sin, cos := math.Sincos(2 * math.Pi * r.Float64())
	return radius * cos, radius * sin
}

func planarHint() Score {
	return Score{"nearer to input 0", func(o Outcome) float64 {
		return math.Hypot(o.Values[0]-100, o.Values[1]) - math.Hypot(o.Values[0], o.Values[1])
	}}
}

// exponentialMechanism chooses one of several with weights exp(rate*score/2). The inputs differ
// in all scores by 1, in one of them up and in all others down, which is the worst that there
// is: it needs the whole rate except for the weight of the one.
func exponentialMechanism(rate float64) mechanism {
	const others = 20
	high := math.Exp(rate / 2)
	p := [2]float64{high / (high + others), 1 / (1 + others*high)}
	return mechanism{name: "exponential", loss: math.Log(p[0] / p[1]), draw: func(r *rand.Rand, input int) Outcome {
		if r.Float64() < p[input] {
			return integer(0)
		}
		return integer(1 + r.Int64N(others))
	}}
}

// responseMechanism is randomized response: the sharpest of all.
func responseMechanism(loss float64) mechanism {
	return mechanism{name: "randomized response", loss: loss, draw: func(r *rand.Rand, input int) Outcome {
		if r.Float64() < 1/(1+math.Exp(loss)) {
			input = 1 - input
		}
		return integer(int64(input))
	}}
}

// equalMechanism has many answers and no loss: whatever is learned is wrong.
func equalMechanism() mechanism {
	return mechanism{name: "equal", draw: func(r *rand.Rand, _ int) Outcome { return integer(r.Int64N(100)) }}
}

// gaussMechanism is the Gaussian mechanism on the integers: as close to normal as any test
// could tell, with a divergence of order a of a*loss.
func gaussMechanism(loss float64) mechanism {
	const sigma = 20
	shift := int64(math.Round(sigma * math.Sqrt(2*loss)))
	loss = float64(shift*shift) / (2 * sigma * sigma)
	return mechanism{name: "Gaussian", kind: Renyi, loss: loss, draw: func(r *rand.Rand, input int) Outcome {
		return integer(int64(input)*shift + int64(math.Round(r.NormFloat64()*sigma)))
	}}
}
