package trace

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Run is what the next step of a trace depends on: a summary of the points
// reported so far, of the same size however many they are. It is public. The zero
// value is the empty run; points are appended by [Mechanism.Add], always of the same
// mechanism.
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

// History returns how many points there are, of which kinds, and what they spent.
func (r *Run) History() budget.History { return r.history }

// CountLost counts epsilon that was spent on points which the run does not know, as
// after a crash. It never gives any back.
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
func seconds(from, to int64) float64 { return float64(uint64(to)-uint64(from)) * 1e-6 }

// distance returns the distance between two cells, in steps.
func distance(a, b Cell) float64 { return planar.Cell(a).Distance(planar.Cell(b)) }
