package meter

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// A Forecast lists the charges that a statement will make, and the accounts that cannot pay them.
type Forecast struct {
	Certainty frame.Certainty
	Doubt     string // why nothing is certain; empty if something is

	// Partial reports that the dry run ended when somebody could not pay: the statement would charge
	// at least this. No limit is known to be enough then.
	Partial bool

	Units []UnitForecast // the largest charge of an account first

	demands []ledger.Demand // worth to be reserved before the statement runs
}

// A UnitForecast is the charge of a statement in one unit, or the most that it may be.
type UnitForecast struct {
	Unit        budget.Unit
	Accounts    int
	Evaluations int64
	Epsilon     *big.Rat      // of all accounts together
	Least, Most *big.Rat      // of one account
	Left        *big.Rat      // the least that an account has left then; below 0 if one cannot pay
	Share       *big.Rat      // the largest part that it is of what an account has left, if all can pay
	Groups      *frame.Groups // of the aggregate with the most, one by one if any are; nil unless groups may cost once
	Cure        string        // of a charge for each of many rows of an account; empty if none is
	Short       int           // accounts that cannot pay
	Worst       error         // the refusal of the account that is short of the most; nil if all can pay

	// Enough is the limit that would let every account pay that now has another one. It is nil
	// if none is that large, or if a limit does not help.
	Enough *big.Rat
}

// forecast adds up the costs of a dry run, which are in the order of unit and account.
func forecast(s *frame.Session, rows []frame.Cost, d *frame.DryRun) (*Forecast, error) {
	f := &Forecast{Certainty: d.Certainty, Doubt: d.Doubt, Partial: d.Partial}
	if n := len(rows); n > 0 && rows[n-1].Total == nil {
		rows = rows[:n-1]
	}
	if d.Commits() {
		f.demands = frame.Demands(rows, false)
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Unit == rows[0].Unit {
			n++
		}
		u, err := forecastUnit(s, rows[:n])
		if err != nil {
			return nil, err
		}
		f.Units = append(f.Units, u)
		rows = rows[n:]
	}
	f.sort()
	return f, nil
}

// sort sorts the units: the largest charge of an account first.
func (f *Forecast) sort() {
	slices.SortStableFunc(f.Units, func(a, b UnitForecast) int { return cmp.Or(b.Most.Cmp(a.Most), cmp.Compare(a.Unit, b.Unit)) })
}

// forecastUnit adds up the costs in one unit.
func forecastUnit(s *frame.Session, rows []frame.Cost) (UnitForecast, error) {
	u := UnitForecast{Unit: rows[0].Unit, Most: new(big.Rat), Share: new(big.Rat), Enough: new(big.Rat)}
	var all frame.Sum
	var worst *demand
	for len(rows) > 0 {
		d := &demand{account: rows[0].Account, unit: u.Unit, balance: rows[0].Balance}
		for len(rows) > 0 && rows[0].Account == d.account {
			d.add(rows[0])
			u.add(rows[0])
			rows = rows[1:]
		}
		all.AddSum(d.asked)
		has := d.balance.Remaining().Rat()
		u.compare(d.asked, new(big.Rat).Sub(has, d.asked.Rat()))
		if has.Add(has, d.balance.Reserved.Rat()); has.Sign() > 0 {
			if share := has.Quo(d.asked.Rat(), has); share.Cmp(u.Share) > 0 {
				u.Share = share
			}
		}
		if d.payable() {
			continue
		}
		u.Short++
		u.Enough = larger(u.Enough, d.enough())
		if worst == nil || d.shorter(worst) {
			worst = d
		}
	}
	u.Epsilon = all.Rat()
	var err error
	if worst != nil {
		u.Worst, err = refusal(s, worst)
	}
	return u, err
}

// add adds the evaluations and groups of a function.
func (u *UnitForecast) add(c frame.Cost) {
	u.Evaluations += c.Evaluations
	u.Cure = cmp.Or(u.Cure, c.Cure)
	if c.Groups != nil {
		u.group(c.Groups)
	}
}

// group compares the groups of an aggregate with those before.
func (u *UnitForecast) group(g *frame.Groups) {
	one := func(g *frame.Groups) bool { return g.Separate != nil }
	if u.Groups == nil || one(g) && !one(u.Groups) || one(g) == one(u.Groups) && g.Count > u.Groups.Count {
		u.Groups = g
	}
}

// compare compares the charge of an account, and the amount that it has left then, with those before.
func (u *UnitForecast) compare(charge frame.Sum, left *big.Rat) {
	u.Accounts++
	if u.Left == nil || left.Cmp(u.Left) < 0 {
		u.Left = left
	}
	asked := charge.Rat()
	if u.Least == nil || asked.Cmp(u.Least) < 0 {
		u.Least = asked
	}
	if asked.Cmp(u.Most) > 0 {
		u.Most = asked
	}
}

// demand is the amount that a statement asks of one account in one unit.
type demand struct {
	account   string
	unit      budget.Unit
	balance   ledger.Balance
	functions []string
	asked     frame.Sum
	again     bool // the account would be charged a second time where it may be charged once
}

// add adds the cost of a function.
func (d *demand) add(c frame.Cost) {
	d.functions = append(d.functions, c.Function.Name)
	d.asked.AddSum(c.Most())
	d.again = d.again || c.Once && (c.Evaluations > 1 || d.balance.Spent > 0)
}

// payable reports whether the account may be able to pay.
func (d *demand) payable() bool { return d.asked.Within(d.balance) && !d.again }

// short returns how much is missing.
func (d *demand) short() budget.Amount { return d.asked.Capped() - d.balance.Remaining() }

// shorter reports whether the account is short of more than another one.
func (d *demand) shorter(other *demand) bool {
	return cmp.Or(cmp.Compare(other.short(), d.short()), cmp.Compare(d.account, other.account)) < 0
}

// enough returns the limit that would suffice for the account, nil if there is none.
func (d *demand) enough() *big.Rat {
	if d.again {
		return nil
	}
	used := d.balance.Spent + d.balance.Reserved
	if d.balance.Window > 0 {
		used = d.balance.WindowSpent
	}
	limit := d.asked.Rat()
	if limit.Add(limit, used.Rat()); limit.Cmp(budget.Max.Rat()) > 0 {
		return nil
	}
	return limit
}

// larger returns the larger of two limits. The largest is nil, for none.
func larger(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// refusal returns the error with which the ledger refuses the demand on an account, with the
// names of the functions that ask.
func refusal(s *frame.Session, d *demand) (refused, err error) {
	switch {
	case d.again:
		refused = &ledger.AlreadyChargedError{Account: d.account, Unit: d.unit}
	case d.balance.Limited:
		refused = (&ledger.Standing{Balance: d.balance}).Refuse(d.asked.Capped(), 0)
	default:
		if refused, err = noLimit(s, d); err != nil {
			return nil, err
		}
	}
	return fmt.Errorf("%s: %w", strings.Join(d.functions, ", "), refused), nil
}

// noLimit returns the refusal of an account that has no limit, which says in which units it has
// one.
func noLimit(s *frame.Session, d *demand) (refused, err error) {
	refusal := &ledger.RefusalError{Account: d.account, Unit: d.unit, Asked: d.asked.Capped()}
	l, err := s.Ledger()
	if errors.Is(err, frame.ErrNoLedger) {
		return refusal, nil
	}
	if err != nil {
		return nil, err
	}
	for _, account := range []string{d.account, ledger.Everyone} {
		balances, err := l.AccountBalances(account)
		if err != nil {
			return nil, err
		}
		for _, b := range balances {
			if b.Limited {
				refusal.OtherUnits = append(refusal.OtherUnits, b.Unit)
			}
		}
	}
	slices.Sort(refusal.OtherUnits)
	refusal.OtherUnits = slices.Compact(refusal.OtherUnits)
	return refusal, nil
}
