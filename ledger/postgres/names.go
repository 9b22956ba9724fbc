package postgres

import (
	"context"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Names of functions and roles are checked before anything is done under them: an amount taken from
// memory is written later, together with the amounts of others.

// Charge implements [ledger.Ledger].
func (l *Ledger) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	if err := checkNames(function, string(unit)); err != nil {
		return engine.Wrap(err)
	}
	return l.Core.Charge(function, unit, items)
}

// ChargeOnce implements [ledger.Ledger].
func (l *Ledger) ChargeOnce(function string, unit budget.Unit, item ledger.Item) error {
	if err := checkNames(function, string(unit)); err != nil {
		return engine.Wrap(err)
	}
	return l.Core.ChargeOnce(function, unit, item)
}

// Answer implements [ledger.Ledger].
func (l *Ledger) Answer(ctx context.Context, q ledger.Question) (ledger.Answered, error) {
	if err := checkNames(q.Function, string(q.Unit), q.Role); err != nil {
		return ledger.Answered{}, engine.Wrap(err)
	}
	return l.Core.Answer(ctx, q)
}

// AnswerAll implements [ledger.Ledger].
func (l *Ledger) AnswerAll(ctx context.Context, qs []ledger.Question) ([]ledger.Answered, error) {
	for _, q := range qs {
		if err := checkNames(q.Function, string(q.Unit), q.Role); err != nil {
			return nil, engine.Wrap(err)
		}
	}
	return l.Core.AnswerAll(ctx, qs)
}

// OpenTrace implements [ledger.Ledger].
func (l *Ledger) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if err := checkNames(name, account, string(unit), function); err != nil {
		return nil, nil, 0, engine.Wrap(err)
	}
	return l.Core.OpenTrace(name, account, unit, function)
}

// NewStatement implements [ledger.Ledger].
func (l *Ledger) NewStatement() ledger.Statement { return run{l.Core.NewStatement()} }

// run is a run of an SQL statement that checks the names of functions.
type run struct{ ledger.Statement }

// Spender implements [ledger.Statement].
func (r run) Spender(function string, unit budget.Unit) ledger.Spender {
	if err := checkNames(function, string(unit)); err != nil {
		return refuser{engine.Wrap(err)}
	}
	return r.Statement.Spender(function, unit)
}

// Charge implements [ledger.Statement].
func (r run) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	if err := checkNames(function, string(unit)); err != nil {
		return engine.Wrap(err)
	}
	return r.Statement.Charge(function, unit, items)
}

// OpenTrace implements [ledger.Statement].
func (r run) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	if err := checkNames(name, account, string(unit), function); err != nil {
		return nil, nil, 0, engine.Wrap(err)
	}
	return r.Statement.OpenTrace(name, account, unit, function)
}

// refuser is the spender of a function with a name that cannot be stored.
type refuser struct{ err error }

// Charge implements [ledger.Spender].
func (r refuser) Charge([]byte, budget.Amount) error { return r.err }
