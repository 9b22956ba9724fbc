package ledger

import (
	"time"

	"github.com/geosql/geosql/budget"
)

// A Trace is the state of a trace between steps, in the hands of one user. It is used by one
// goroutine at a time.
//
// The most that a step may cost is reserved, durably, before the step is drawn. The run and the state
// are saved in blocks. A trace that has reserved and not saved is taken: if its user crashes,
// the points since the last block are lost although they were seen. The trace then stays
// taken, with its reservation, until [Traces.RestartTrace] counts that as spent. The same
// holds for all traces of an account after a crash of a statement that took steps of several
// traces from the amounts that [Charger.Reserve] had set aside.
type Trace interface {
	// Reserve ensures that the cost of a step is reserved. It reserves ahead, up to the
	// most that the trace may still spend.
	Reserve(cost, most budget.Amount) error

	// Add adds a step to the run. The point has the amount that the step has spent, which is at most
	// the amount reserved for it.
	Add(p Point)

	// Full reports whether it is time to save.
	Full() bool

	// Save stores the points since the last time, and the state after them.
	Save(state []byte) error

	// Close saves, returns unused reservations, and leaves the trace to others, or has
	// the trace's statement do so. After an error the trace stays taken.
	Close(state []byte) error
}

// Point is a step of a trace's public run.
type Point struct {
	Time     time.Time
	Lat, Lon float64 // of a location
	Reading  bool    // reports Value, not a location
	Value    float64
	Hard     bool // reported with noise
	Tested   bool
	Spent    budget.Amount
	SetSize  int  // cells of the location set, at most 2^32-1; 0 for mechanisms without one
	Gap      bool // stands for steps that a crash has lost; only Spent means anything
}
