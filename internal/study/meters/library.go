package meters

// A library is an observer's knowledge: the true signatures.
type library []signature

// A recognition holds the probabilities with which something is recognised.
type recognition struct {
	window float64 // the signature itself
	device float64 // its meter
	unseen float64 // its meter, with a library that lacks the signature itself
}

func (r *recognition) add(o recognition) {
	r.window += o.window
	r.device += o.device
	r.unseen += o.unseen
}

// recognise returns the recognition in a release of the signature own.
func (l library) recognise(release []int64, own int) recognition {
	nearest := int64(-1) // of the others
	var ties, same float64
	for k, s := range l {
		if k == own {
			continue
		}
		d, ok := manhattan(release, s.indices, nearest)
		if !ok {
			continue
		}
		if d != nearest {
			nearest, ties, same = d, 0, 0
		}
		ties++
		if s.meter == l[own].meter {
			same++
		}
	}
	unseen := same / ties
	d, ok := manhattan(release, l[own].indices, nearest)
	switch {
	case !ok:
		return recognition{0, unseen, unseen}
	case d == nearest:
		return recognition{1 / (ties + 1), (same + 1) / (ties + 1), unseen}
	default:
		return recognition{1, 1, unseen}
	}
}

// manhattan returns the sum of the absolute differences, and reports false if it exceeds the
// limit; a negative limit means none.
func manhattan(x, y []int64, limit int64) (d int64, ok bool) {
	for k := range x {
		d += max(x[k]-y[k], y[k]-x[k])
		if limit >= 0 && d > limit {
			return 0, false
		}
	}
	return d, true
}
