package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// run is one run of an SQL statement. Its number is the ID of its first entry, and 0 until
// that entry is on disk.
type run struct{ number int64 }

// origin is what the changes of one call have in common.
type origin struct {
	run      *run
	time     int64 // microseconds since 1970
	function string
	unit     budget.Unit
}

// change is a change of an account's balance or of its limit that is to become an entry.
type change struct {
	*origin
	account     string
	spent       budget.Amount
	reserved    budget.Amount
	evaluations int64

	term  ledger.Term // that a negative change returns to
	limit *limit      // nil for a change of the balance

	taken bool // a note that is being written
}
