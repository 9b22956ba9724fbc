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

// runPayable runs a statement that may charge, of the text sql, and closes it. A statement that might cost somebody more than is
// left, or that fails in a dry run, is refused before it charges anything.
func (s *Session) runPayable(ctx context.Context, stmt *sqlite.Stmt, sql string) error {
	defer stmt.Close()
	s.warnOfTimes(sql)
	defer s.warnOfGroups(sql) // in a statement without a dry run
	f, err := s.foresee(ctx, sql)
	if err != nil {
		return err
	}
	err = s.printRows(stmt)
	if f == nil && !s.NoPreflight && IsRefusal(err) && len(s.meter.Charged()) == 0 {
		return s.wholeRefusal(ctx, sql, err)
	}
	if err := cmp.Or(err, s.flushCharged()); err != nil {
		return err
	}
	if s.Priced == nil {
		return nil
	}
	if f == nil || f.Certainty != sqlitefn.Exact {
		if f, err = s.meter.Spent(); err != nil {
			return err
		}
	}
	s.Priced(prices(f))
	return nil
}

// foresee returns the forecast of a statement that is to run, nil if none is needed.
func (s *Session) foresee(ctx context.Context, sql string) (*sqlitefn.Forecast, error) {
	if s.NoPreflight {
		return nil, nil
	}
	f, err := s.meter.Foresee(sql, s.Priced != nil)
	s.warnOfGroups(sql)
	if err == sqlitefn.ErrVerb || f == nil && err == nil {
		return nil, ctx.Err()
	}
	if err == nil {
		err = unspent(f)
	}
	if err := cmp.Or(ctx.Err(), explained(err)); err != nil {
		return nil, err
	}
	if large(f) && s.Approve != nil {
		s.progress.stop()
		if err := s.Approve(ctx, strings.Join(prices(f), "; ")); err != nil {
			return nil, err
		}
	}
	s.meter.Reserve(f)
	return f, nil
}

// anyway tells how a statement of unknown cost can be run.
const anyway = "--no-preflight (in the shell, .preflight off) runs it as far as the budgets reach"

// explained returns an error that ended a forecast.
func explained(err error) error {
	var e *sqlitefn.UncountedError
	if errors.As(err, &e) {
		return fmt.Errorf("%w; its charges cannot be counted before it runs, and nothing was charged; %s", err, anyway)
	}
	return err
}

// wholeRefusal returns the preflight's refusal of a statement that was refused before
// it charged anything, else the refusal.
func (s *Session) wholeRefusal(ctx context.Context, sql string, refused error) error {
	f, err := s.meter.Forecast(sql)
	if err != nil || ctx.Err() != nil {
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
	if refused == nil || f.Doubt == "" && len(f.Units) == 1 && f.Units[0].Evaluations == 1 {
		return refused
	}
	return fmt.Errorf("%w; nothing was charged", refused)
}

// refusal returns the error for a statement that somebody may be unable to pay, nil if everybody can. For
// a statement with a single evaluation it is the ledger's own.
func refusal(f *sqlitefn.Forecast) error {
	if f.Doubt != "" {
		return fmt.Errorf("the charges may exceed what is left: %s; write the values that decide into a table first (CREATE TEMP TABLE .. AS SELECT ..) "+
			"and go on from there; %s", f.Doubt, anyway)
	}
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

// others says how many accounts cannot pay for their evaluations in a unit, which limit would
// suffice, and why groups or rows cost one by one.
func others(f *sqlitefn.Forecast, u *sqlitefn.UnitForecast) string {
	if u.Evaluations == 1 {
		return ""
	}
	text := ""
	switch {
	case f.Partial:
		text = fmt.Sprintf(" after %d evaluations, and the statement goes on", u.Evaluations)
	case u.Accounts > 1:
		text = fmt.Sprintf("; %d of %s cannot pay for the whole statement", u.Short, accounts(u.Accounts))
	}
	switch {
	case f.Partial:
	case u.Enough != nil && u.Short > 1:
		text += "; limits of " + per(u.Enough, u.Unit) + " would suffice"
	case u.Enough != nil:
		text += "; a limit of " + per(u.Enough, u.Unit) + " would suffice"
	}
	if separate(u) {
		text += groups(u)
	}
	return text
}

// afterCharging returns an error that also lists the charges of the failed statement.
func afterCharging(err error, charged []sqlitefn.Charged) error {
	if len(charged) == 0 {
		return err
	}
	return fmt.Errorf("%w, after charging %s", err, strings.Join(totals(charged), " and "))
}

// per returns an amount of epsilon with its unit.
func per(eps *big.Rat, unit budget.Unit) string {
	return cli.FormatRational(eps) + "/" + string(unit)
}

// accounts returns a number of accounts.
func accounts(n int) string { return cli.Count(int64(n), "account") }
