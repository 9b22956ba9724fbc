package optimal

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"runtime"

	"github.com/geosql/geosql/mechanism/exact"
)

// A certifier checks integer weights for epsilon*dX-privacy.
type certifier struct {
	n int
	// Upper bounds of e^(-epsilon dX(x,x')), in units of 2^-64, row by row. They are
	// below 2^64, as no two places are closer than minExponent.
	factors []uint64
}

// newCertifier computes the bounds for a valid metric and epsilon, both taken as the
// rationals that they are.
func newCertifier(epsilon float64, d Matrix) *certifier {
	n := len(d)
	c := &certifier{n: n, factors: make([]uint64, n*n)}
	rate := new(big.Rat).SetFloat64(epsilon)
	inShares(n, runtime.GOMAXPROCS(0), func(_, x int) {
		product := new(big.Rat)
		for z, v := range d[x][:x] {
			product.Mul(rate, new(big.Rat).SetFloat64(v))
			_, upper := exact.ExpBounds(product, 62)
			f := fixed64(upper)
			c.factors[x*n+z], c.factors[z*n+x] = f, f
		}
	})
	return c
}

// fixed64 returns r in units of 2^-64, rounded up, for r in (0,1).
func fixed64(r *big.Rat) uint64 {
	num := new(big.Int).Lsh(r.Num(), 64)
	num.Add(num, r.Denom()).Sub(num, one)
	return num.Quo(num, r.Denom()).Uint64()
}

var one = big.NewInt(1)

var errRow = errors.New("weights of a row do not add up to the common total")

// check returns an error unless the weights, a row for each place, are private, and each row
// adds up to total.
//
// # Privacy
//
// The output z has probability w_xz/total for the secret x, with one total for all
// secrets. For every ordered pair of places and every output the check demands
//
//	w_xz f <= w_x'z 2^64,  f >= 2^64 e^(-epsilon dX(x,x'))
//
// in 128-bit integers, hence P(z|x) <= e^(epsilon dX(x,x')) P(z|x'). The certificate does
// not rely on any property of the solver, the spanner or the metric.
func (c *certifier) check(weights []uint64, total uint64) error {
	outputs := len(weights) / c.n
	for x := range c.n {
		rest := total
		for _, w := range weights[x*outputs : (x+1)*outputs] {
			if w > rest {
				return errRow
			}
			rest -= w
		}
		if rest != 0 {
			return errRow
		}
	}
	failed := make([]error, c.n)
	inShares(c.n, runtime.GOMAXPROCS(0), func(_, x int) { failed[x] = c.checkPlace(weights, outputs, x) })
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPlace returns an error if an output tells the place x from another by more than
// epsilon times their distance.
func (c *certifier) checkPlace(weights []uint64, outputs, x int) error {
	row := weights[x*outputs : (x+1)*outputs]
	for y := range c.n {
		if x == y {
			continue
		}
		other, f := weights[y*outputs:(y+1)*outputs], c.factors[x*c.n+y]
		for z, w := range row {
			if high, low := bits.Mul64(w, f); high > other[z] || high == other[z] && low > 0 {
				return fmt.Errorf("output %d tells place %d from place %d by more than epsilon times their distance", z, x, y)
			}
		}
	}
	return nil
}
