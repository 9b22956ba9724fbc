package density

import "math"

// A transform is the discrete Fourier transform of a grid of complex numbers, in an order of its own: its results are
// multiplied and transformed back. It is written out here, since a compiler may fuse the products and sums of a
// library, as that for arm64 does, and numbers would differ between platforms.
type transform struct {
	columns, rows int // powers of two
	re, im        []float64
	turned        [2][]float64 // the transpose
	row, column   []root
}

// A root is a root of 1.
type root struct{ re, im float64 }

func newTransform(columns, rows int) *transform {
	numbers := func() []float64 { return make([]float64, columns*rows) }
	return &transform{columns, rows, numbers(), numbers(), [2][]float64{numbers(), numbers()}, roots(columns), roots(rows)}
}

// roots returns exp(-2*pi*i*k/n) for k < n/2, n a power of two, by halving angles: square roots are the same everywhere.
func roots(n int) []root {
	all := make([]root, max(1, n/2))
	all[0] = root{1, 0}
	turn := root{-1, 0} // half of a circle
	for stride := n / 4; stride > 0; stride /= 2 {
		if turn.im == 0 {
			turn = root{0, -1}
		} else {
			re := math.Sqrt((1 + turn.re) / 2)
			turn = root{re, turn.im / (2 * re)}
		}
		for k := stride; k < len(all); k += 2 * stride {
			all[k] = all[k-stride].times(turn)
		}
	}
	return all
}

func (a root) times(b root) root {
	return root{float64(a.re*b.re) - float64(a.im*b.im), float64(a.re*b.im) + float64(a.im*b.re)}
}

// forward transforms the grid in re and im; the result is in turned.
func (t *transform) forward() {
	decimate(t.re, t.im, t.columns, t.column)
	transpose(t.turned[0], t.re, t.columns, t.rows)
	transpose(t.turned[1], t.im, t.columns, t.rows)
	decimate(t.turned[0], t.turned[1], t.rows, t.row)
}

// back transforms turned; the result is in re and im, times the number of the grid's points.
func (t *transform) back() {
	assemble(t.turned[0], t.turned[1], t.rows, t.row)
	transpose(t.re, t.turned[0], t.rows, t.columns)
	transpose(t.im, t.turned[1], t.rows, t.columns)
	assemble(t.re, t.im, t.columns, t.column)
}

// decimate transforms vectors of some width, one after another, along the others: decimation in frequency, which leaves
// the results in the order of reversed bits.
func decimate(re, im []float64, width int, roots []root) {
	for half := len(re) / width / 2; half > 0; half /= 2 {
		for start := 0; start < len(re); start += 2 * half * width {
			for k := range half {
				at := start + k*width
				w := roots[k*(len(re)/width/2)/half]
				ar, ai := re[at:at+width], im[at:at+width]
				br, bi := re[at+half*width:at+(half+1)*width], im[at+half*width:at+(half+1)*width]
				for x := range ar {
					dr, di := ar[x]-br[x], ai[x]-bi[x]
					ar[x], ai[x] = ar[x]+br[x], ai[x]+bi[x]
					br[x], bi[x] = float64(dr*w.re)-float64(di*w.im), float64(dr*w.im)+float64(di*w.re)
				}
			}
		}
	}
}

// assemble undoes decimate, but for a factor.
func assemble(re, im []float64, width int, roots []root) {
	for half := 1; half*width < len(re); half *= 2 {
		for start := 0; start < len(re); start += 2 * half * width {
			for k := range half {
				at := start + k*width
				w := roots[k*(len(re)/width/2)/half]
				ar, ai := re[at:at+width], im[at:at+width]
				br, bi := re[at+half*width:at+(half+1)*width], im[at+half*width:at+(half+1)*width]
				for x := range ar {
					pr, pi := float64(br[x]*w.re)+float64(bi[x]*w.im), float64(bi[x]*w.re)-float64(br[x]*w.im)
					br[x], bi[x] = ar[x]-pr, ai[x]-pi
					ar[x], ai[x] = ar[x]+pr, ai[x]+pi
				}
			}
		}
	}
}

// transpose sets rows of some width to columns, in blocks that fit a cache.
func transpose(to, from []float64, width, rows int) {
	const block = 16
	for r0 := 0; r0 < rows; r0 += block {
		for c0 := 0; c0 < width; c0 += block {
			for r := r0; r < min(r0+block, rows); r++ {
				for c := c0; c < min(c0+block, width); c++ {
					to[c*rows+r] = from[r*width+c]
				}
			}
		}
	}
}
