package optimal

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/exact"
)

// A Mechanism draws a public output for a secret place. For all places x, x' at
// distance d, and sets Z of outputs,
//
//	P(Z|x) <= e^(epsilon d) P(Z|x').
//
// [New] and [Parse] return one and certify it. It is immutable and safe for concurrent use
// with a Source per goroutine.
type Mechanism struct {
	epsilon float64
	privacy Matrix
	outputs int
	weights []uint64 // row by row, each with the sum outputs*2^bits
	bits    int
	rows    []aliasRow
}

// newCertified returns a mechanism if its weights pass the certificate. It is the only
// function that makes a Mechanism. The metric and epsilon are valid.
func newCertified(c *certifier, epsilon float64, privacy Matrix, weights []uint64) (*Mechanism, error) {
	outputs := len(weights) / c.n
	b := capacityBits(outputs)
	if err := c.check(weights, uint64(outputs)<<b); err != nil {
		return nil, err
	}
	m := &Mechanism{
		epsilon: epsilon, privacy: privacy.clone(), outputs: outputs, weights: weights, bits: b, rows: make([]aliasRow, c.n),
	}
	for x := range m.rows {
		m.rows[x] = newAliasRow(weights[x*outputs:(x+1)*outputs], b)
	}
	return m, nil
}

// The share of a uniform output that is mixed into a matrix grows from leastFloor by
// factors of floorStep until the result is certified. Beyond mostFloor, the matrix was
// not meant to be private at this epsilon.
const (
	leastFloor = 0x1p-50
	floorStep  = 4
	mostFloor  = 0x1p-14
)

// New returns the mechanism of a matrix that is epsilon*privacy-private up to small errors,
// such as a solver's. Its rows, one for each place, must sum to 1 within 2^-20. Epsilon and the distances are
// taken as the rationals that they are, see [Problem].
//
// Negative numbers down to -2^-20 count as 0. The numbers are rounded to integers. As
// little of a uniform output is mixed into the matrix as makes these pass the certificate:
// equal numbers in all rows satisfy every constraint with room to spare. The share is a
// power of two, mostly below 1e-10; it adds at most that share of the greatest loss. New
// returns an error if a share of 2^-14 is not enough.
func New(epsilon float64, privacy, k Matrix) (*Mechanism, error) {
	if err := checkPrivacy(epsilon, privacy, len(privacy)); err != nil {
		return nil, err
	}
	k, err := stochastic(k, len(privacy))
	if err != nil {
		return nil, err
	}
	c := newCertifier(epsilon, privacy)
	for floor := leastFloor; ; floor *= floorStep {
		m, err := newCertified(c, epsilon, privacy, roundWeights(k, floor))
		if err == nil || floor >= mostFloor {
			return m, err
		}
	}
}

// stochastic returns k with negative numbers replaced by 0, and row sums of 1.
func stochastic(k Matrix, n int) (Matrix, error) {
	const tolerance = 0x1p-20
	outputs := k.columns()
	if err := checkOutputs(outputs); err != nil {
		return nil, err
	}
	if err := k.checkShape("matrix", n, outputs); err != nil {
		return nil, err
	}
	clean := NewMatrix(n, outputs)
	for x, row := range k {
		sum := 0.0
		for z, p := range row {
			if !(p >= -tolerance && p <= 1+tolerance) {
				return nil, fmt.Errorf("matrix: %g in row %d, column %d is not a probability", p, x, z)
			}
			clean[x][z] = max(p, 0)
			sum += p
		}
		if !(math.Abs(sum-1) <= tolerance) {
			return nil, fmt.Errorf("matrix: row %d adds up to %g, not 1", x, sum)
		}
		copy(clean[x], probabilities(clean[x]))
	}
	return clean, nil
}

// roundWeights returns integer weights for (1-floor) k + floor/n for n outputs, with row
// sums of n*2^b. It adds the remainder of rounding to a row's greatest weight.
func roundWeights(k Matrix, floor float64) []uint64 {
	n := k.columns()
	total := uint64(n) << capacityBits(n)
	weights := make([]uint64, 0, len(k)*n)
	for _, row := range k {
		sum, greatest := uint64(0), 0
		for z, p := range row {
			w := uint64((float64((1-floor)*p) + floor/float64(n)) * float64(total))
			weights = append(weights, w)
			sum += w
			if p > row[greatest] {
				greatest = z
			}
		}
		weights[len(weights)-n+greatest] += total - sum // modulo 2^64, of either sign
	}
	return weights
}

// Len returns the number of places.
func (m *Mechanism) Len() int { return len(m.rows) }

// Outputs returns the number of outputs.
func (m *Mechanism) Outputs() int { return m.outputs }

// Epsilon returns the cost of a draw per unit of the privacy distance.
func (m *Mechanism) Epsilon() float64 { return m.epsilon }

// Privacy returns a copy of the privacy metric.
func (m *Mechanism) Privacy() Matrix { return m.privacy.clone() }

// Draw returns the public output for the secret x. It panics if x is not a place or the
// source's entropy fails.
//
// # Privacy
//
// The output z is drawn with probability exactly Weight(x,z)/Total, to which the certificate
// applies. x decides only which row is read.
func (m *Mechanism) Draw(src *exact.Source, x int) int { return m.rows[x].draw(src, m.bits) }

// Weight returns the probability of the output z for the secret x, times Total.
func (m *Mechanism) Weight(x, z int) uint64 {
	row := m.weights[x*m.outputs : (x+1)*m.outputs]
	return row[z]
}

// Total returns the sum of the weights of any one secret.
func (m *Mechanism) Total() uint64 { return uint64(m.outputs) << m.bits }

// Matrix returns the probabilities in floating point.
func (m *Mechanism) Matrix() Matrix {
	k, total := NewMatrix(m.Len(), m.outputs), float64(m.Total())
	for x, row := range k {
		for z := range row {
			row[z] = float64(m.Weight(x, z)) / total
		}
	}
	return k
}
