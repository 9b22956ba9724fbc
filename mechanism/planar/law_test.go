package planar

import (
	"fmt"
	"math"
)

// The law of the noise by enumeration, and the two checkers the tests rely on:
// one for privacy, over a table of probabilities, and one for a sampler, against
// the law. Both are shown to catch planted bugs.

// weightsWithin calls visit with every lattice point within n of 0 on each axis
// and its weight exp(-rate*|z|).
func weightsWithin(rate float64, n int64, visit func(z Cell, weight float64)) {
	for j := -n; j <= n; j++ {
		for i := -n; i <= n; i++ {
			visit(Cell{i, j}, math.Exp(-rate*math.Hypot(float64(i), float64(j))))
		}
	}
}

// normaliser returns the sum of exp(-rate*|z|) over Z^2. The points left out, 42
// mean radii out, weigh less than 1e-15 of it.
func normaliser(rate float64) float64 {
	sum := 0.0
	weightsWithin(rate, int64(42/rate)+2, func(_ Cell, w float64) { sum += w })
	return sum
}

func (c Cell) distanceTo(o Cell) float64 {
	return math.Hypot(float64(c.I-o.I), float64(c.J-o.J))
}

// A table holds P(output | secret): a row for every secret, a column for every
// output.
type table struct {
	secrets, outputs []Cell
	rows             [][]float64
}

// tabulate pushes the law about every secret through move. Drawn points run over
// one window for all secrets, so that the bound must hold term by term.
func tabulate(secrets []Cell, rate float64, window int64, move func(Cell) Cell) table {
	s := normaliser(rate)
	return tabulated(secrets, window, move, func(z, x Cell) float64 { return math.Exp(-rate*z.distanceTo(x)) / s })
}

// tabulated is tabulate for any law: the probability of drawing z about x.
func tabulated(secrets []Cell, window int64, move func(Cell) Cell, law func(z, x Cell) float64) table {
	t := table{secrets: secrets, rows: make([][]float64, len(secrets))}
	columns := map[Cell]int{}
	for j := -window; j <= window; j++ {
		for i := -window; i <= window; i++ {
			z := Cell{i, j}
			out := move(z)
			c, known := columns[out]
			if !known {
				c = len(t.outputs)
				columns[out] = c
				t.outputs = append(t.outputs, out)
				for k := range t.rows {
					t.rows[k] = append(t.rows[k], 0)
				}
			}
			for k, x := range secrets {
				t.rows[k][c] += law(z, x)
			}
		}
	}
	return t
}

// edit returns a copy with every probability replaced and the rows normalised.
func (t table) edit(replace func(secret, output Cell, p float64) float64) table {
	edited := table{secrets: t.secrets, outputs: t.outputs}
	for k, x := range t.secrets {
		row, sum := make([]float64, len(t.outputs)), 0.0
		for n, z := range t.outputs {
			row[n] = replace(x, z, t.rows[k][n])
			sum += row[n]
		}
		for n := range row {
			row[n] /= sum
		}
		edited.rows = append(edited.rows, row)
	}
	return edited
}

// excess returns the largest amount by which ln(P(z|x)/P(z|x')) exceeds
// rate*|x-x'|, over all secrets and outputs; infinite when one can and the other
// cannot report z.
func (t table) excess(rate float64) float64 {
	worst := math.Inf(-1)
	for k, row := range t.rows {
		for m, other := range t.rows {
			ratio := 0.0
			for n, p := range row {
				if p > 0 {
					ratio = max(ratio, p/other[n])
				}
			}
			worst = max(worst, math.Log(ratio)-rate*t.secrets[k].distanceTo(t.secrets[m]))
		}
	}
	return worst
}

// deviation returns how far a count of n independent events of probability p may
// be from n*p with a probability of at most falseAlarm: Bernstein's inequality,
// solved for it.
func deviation(n, p, falseAlarm float64) float64 {
	l := math.Log(2 / falseAlarm)
	return l/3 + math.Sqrt(l*l/9+2*l*n*p*(1-p))
}

// A tally compares counts of events with their probabilities.
type tally[E comparable] struct {
	probability map[E]float64
	count       map[E]int
}

func newTally[E comparable]() tally[E] { return tally[E]{map[E]float64{}, map[E]int{}} }

// check returns an error if a count is too far from its expectation. With
// correct probabilities it does so with a probability of at most falseAlarm.
func (t tally[E]) check(n int, falseAlarm float64) error {
	for e := range t.count {
		if t.probability[e] == 0 {
			return fmt.Errorf("event %v is impossible", e)
		}
	}
	each := falseAlarm / float64(len(t.probability))
	for e, p := range t.probability {
		expected, count := float64(n)*p, float64(t.count[e])
		if math.Abs(count-expected) > deviation(float64(n), p, each) {
			return fmt.Errorf("event %v: %v of %d, expected %.1f", e, count, n, expected)
		}
	}
	return nil
}

// checkSampler compares samples of the noise with the law at a rate: the single
// points near 0, rings one mean radius wide out to the tail, and how often a
// sample equals the one before. n = 300,000 samples, false alarm 1e-10.
func checkSampler(rate float64, sample func() Cell) error {
	const n = 300_000
	type event struct {
		kind string
		at   Cell
	}
	events := newTally[event]()
	classify := func(z Cell) (point, ring event) {
		point = event{"point elsewhere", Cell{}}
		if max(z.I, -z.I, z.J, -z.J) <= 2 {
			point = event{"point", z}
		}
		return point, event{"ring", Cell{int64(min(10, rate*z.distanceTo(Cell{}))), 0}}
	}
	s, collision := normaliser(rate), 0.0
	weightsWithin(rate, int64(42/rate)+2, func(z Cell, w float64) {
		point, ring := classify(z)
		events.probability[point] += w / s
		events.probability[ring] += w / s
		collision += w / s * w / s
	})
	pairs := newTally[string]()
	pairs.probability["repetition"] = collision
	for range n / 2 {
		a, b := sample(), sample()
		for _, z := range [2]Cell{a, b} {
			point, ring := classify(z)
			events.count[point]++
			events.count[ring]++
		}
		if a == b {
			pairs.count["repetition"]++
		}
	}
	if err := events.check(n, 0.5e-10); err != nil {
		return err
	}
	return pairs.check(n/2, 0.5e-10)
}
