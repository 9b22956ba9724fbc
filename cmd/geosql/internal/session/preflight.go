package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// IsRefusal reports whether an error is that of a charge that a budget does not allow.
func IsRefusal(err error) bool {
	var e interface{ SQLiteCode() int } // of the engine, or of the preflight
	return errors.As(err, &e) && e.SQLiteCode() == sqlite.CodeDenied
}

// runPayable runs a statement that may charge, unless it is certain that an account cannot pay
// for all of it, or that it fails otherwise. It closes the statement, of the text sql.
//
// Nothing is refused that could succeed. Where the cost is not certain before, for instance
// because a released value decides which rows there are, the statement runs, and every charge is
// asked for when it is due.
func (s *Session) runPayable(ctx context.Context, stmt *sqlite.Stmt, sql string) error {
	defer stmt.Close()
	f, err := s.meter.Foresee(sql)
	if err == nil && f != nil {
		err = unspent(f)
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	err = s.printRows(stmt)
	if f == nil && IsRefusal(err) && len(s.meter.Charged()) == 0 {
		return s.wholeRefusal(ctx, sql, err)
	}
	return cmp.Or(err, s.flushCharged())
}

// wholeRefusal returns the preflight's refusal of a statement that was refused before
// it charged anything, else the refusal.
func (s *Session) wholeRefusal(ctx context.Context, sql string, refused error) error {
	f, err := s.meter.Forecast(sql)
	if err != nil || f == nil || ctx.Err() != nil {
		return refused
	}
	return cmp.Or(unspent(f), refused)
}

// flushCharged writes out the rows of a statement that has charged: if that fails, the error is
// the statement's.
func (s *Session) flushCharged() error {
	if len(s.meter.Charged()) == 0 {
		return nil
	}
	return s.Out.Flush()
}

// unspent returns the error for a statement that is not run, because somebody cannot pay.
func unspent(f *sqlitefn.Forecast) error {
	refused := refusal(f)
	if refused == nil || len(f.Units) == 1 && f.Units[0].Evaluations == 1 {
		return refused
	}
	return fmt.Errorf("%w; nothing was charged", refused)
}

// refusal returns the error for a statement that somebody cannot pay, nil if everybody can. For
// a statement with a single evaluation it is the ledger's own.
func refusal(f *sqlitefn.Forecast) error {
	var refused error
	for _, u := range f.Units {
		switch {
		case u.Short == 0:
		case refused == nil:
			refused = fmt.Errorf("%w%s", u.Worst, others(f, &u))
		default:
			refused = fmt.Errorf("%w; %w%s", refused, u.Worst, others(f, &u))
		}
	}
	return refused
}

// others says how many accounts cannot pay for their evaluations in a unit, and which limit would
// suffice.
func others(f *sqlitefn.Forecast, u *sqlitefn.UnitForecast) string {
	switch {
	case u.Evaluations == 1:
		return ""
	case f.Partial:
		return fmt.Sprintf(" after %d evaluations, and the statement goes on", u.Evaluations)
	}
	text := ""
	if u.Accounts > 1 {
		text = fmt.Sprintf("; %d of %s cannot pay for the whole statement", u.Short, accounts(u.Accounts))
	}
	switch {
	case u.Enough != nil && u.Short > 1:
		text += "; limits of " + per(u.Enough, u.Unit) + " would suffice"
	case u.Enough != nil:
		text += "; a limit of " + per(u.Enough, u.Unit) + " would suffice"
	}
	return text
}

// afterCharging returns an error that also lists the charges of the failed statement.
func afterCharging(err error, charged []sqlitefn.Charged) error {
	if len(charged) == 0 {
		return err
	}
	sums := make([]string, len(charged))
	for i, c := range charged {
		sums[i] = per(c.Epsilon, c.Unit) + " to " + accounts(c.Accounts)
	}
	return fmt.Errorf("%w, after charging %s", err, strings.Join(sums, " and "))
}

// per returns an amount of epsilon with its unit.
func per(eps *big.Rat, unit budget.Unit) string {
	return cli.FormatRational(eps) + "/" + string(unit)
}

// accounts returns a number of accounts.
func accounts(n int) string { return cli.Count(int64(n), "account") }
