package frame

import (
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
)

// A Refusal says why the last call of a session that failed was refused.
type Refusal struct {
	Function string // that asked
	Account  string
	Unit     budget.Unit
	Asked    budget.Amount
	Left     budget.Amount // less than asked; 0 without a limit
	Reopens  time.Time     // when the current window of the limit ends; zero if it has none, or none has started
	Text     string        // as SQLite reports it
}

// newRefusal returns the refusal that the error of a function tells of, or nil if it is
// no refusal.
func newRefusal(f *Function, err error) *Refusal {
	r := &Refusal{Function: f.Name, Text: printable.Text(err.Error())}
	var (
		refused *ledger.RefusalError
		charged *ledger.AlreadyChargedError
	)
	switch {
	case errors.As(err, &refused):
		r.Account, r.Unit, r.Asked, r.Left, r.Reopens = refused.Account, refused.Unit, refused.Asked, refused.Left, refused.Reopens
	case errors.As(err, &charged):
		r.Account, r.Unit, r.Asked = charged.Account, charged.Unit, charged.Asked
	default:
		return nil
	}
	return r
}
