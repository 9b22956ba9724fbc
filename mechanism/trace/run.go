package trace

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Run is the public history of a trace, as far as its next step depends on it: a
// summary of constant size of the points reported so far. The zero value is the empty
// run. [Mechanism.Add] appends points, always of the same mechanism.
type Run struct {
	history budget.History
	last    fix    // the last point
	paid    fix    // the last point that something was spent on
	recent  recent // the last of these, for regression
	rivals  rivals // for the mixture
}

// A fix is a reported cell and its time in microseconds.
type fix struct {
	t int64
	z Cell
}

// History returns the number of points of each kind, and the epsilon that they spent.
func (r *Run) History() budget.History { return r.history }

// CountLost adds epsilon that was spent on points missing from the run, as after a crash.
// It never gives any back.
func (r *Run) CountLost(spent budget.Amount) {
	r.history.Spent += max(0, min(spent, budget.Max-r.history.Spent))
}

// add counts a point.
func (r *Run) add(q Point) {
	r.history.Points++
	r.history.Spent += q.Spent
	if q.Tested {
		r.history.Tested++
		if !q.Hard {
			r.history.Easy++
		}
	}
	r.last = fix{q.T, q.Z}
	if q.Spent > 0 {
		r.paid = r.last
	}
}

// seconds returns the time between two instants in microseconds, from <= to, which
// may be further apart than an int64 can tell.
func seconds(from, to int64) float64 { return float64(float64(uint64(to)-uint64(from)) * 1e-6) }

// distance returns the distance between two cells, in steps.
func distance(a, b Cell) float64 { return planar.Cell(a).Distance(planar.Cell(b)) }
