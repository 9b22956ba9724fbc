package frame

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
)

// Groups cost once under d1. The answer about the readings of one group distinguishes readings
// x and x' by at most epsilon * d_1(x, x'), and the answers about several groups together by at
// most the sum of epsilon_g * d_1(x_g, x'_g) over the groups g. If no reading is in two groups, their
// distances add up to at most that of all readings, and the sum is at most the largest epsilon
// times this distance. So each account is charged the largest epsilon among its groups, for each
// place where an aggregate under d1 stands in the compiled statement. A place with groups that are
// not proved to be disjoint, see [Statement.separate], is charged for each of them.

// secretReading is the position of the reading among the arguments of the aggregates.
const secretReading = 1

// A callSite is an instruction of a running statement that steps an aggregate under d1.
type callSite struct {
	groups   int
	separate error                           // why its groups are charged one by one; nil while they cost once
	first    Bill                            // of the first group, until there is a second
	paid     map[budget.Unit]*paidByAccounts // from the second group on
}

// paidByAccounts is the amount that each account has paid in a unit.
type paidByAccounts struct {
	accounts intern.Table
	paid     []budget.Amount // by the account's number
	name     []byte          // room for a name
}

// of returns the amount that an account has paid. It is valid until the next call.
func (p *paidByAccounts) of(account string) *budget.Amount {
	p.name = append(p.name[:0], account...)
	i := p.accounts.Number(p.name)
	if i == len(p.paid) {
		p.paid = append(p.paid, 0)
	}
	return &p.paid[i]
}

// callSite returns a place of the running statement by its number.
func (t *Statement) callSite(n int) *callSite {
	p := t.places[n]
	if p == nil {
		if t.places == nil {
			t.places = map[int]*callSite{}
		}
		p = new(callSite)
		t.places[n] = p
	}
	return p
}

// payDisjoint pays for a group of a place with a payer: each account pays the part that it has not
// paid there for an earlier group.
func payDisjoint(with Payer, t *Statement, at int, f *Function, b Bill) (Receipt, error) {
	p := t.callSite(at)
	due, err := p.due(t, f, b)
	if err != nil {
		return Receipt{}, err
	}
	paid, err := with.PayAll(t, f, due)
	if err == nil {
		p.settle(b)
	}
	return paid, err
}

// due begins a group, and returns the amounts that its accounts have to pay. With the second group it decides whether the
// groups cost once. It decides again wherever an account would pay less than for its group alone.
func (p *callSite) due(t *Statement, f *Function, b Bill) (_ Bill, err error) {
	p.groups++
	if p.separate != nil {
		return b, nil
	}
	if p.groups == 1 {
		return b, t.rememberBeginning(f)
	}
	if p.paid == nil {
		p.paid = map[budget.Unit]*paidByAccounts{}
		p.record(p.first)
		p.first = Bill{}
	}
	due, less := p.unpaid(b)
	if p.groups == 2 || less {
		p.separate, err = t.separate(f)
	}
	if p.separate != nil {
		return b, err
	}
	return due, err
}

// unpaid returns the amounts that the accounts of a group have not paid for an earlier one, and reports whether any account
// has paid before, so that the group costs less than alone.
func (p *callSite) unpaid(b Bill) (due Bill, less bool) {
	paid := p.in(b.Unit)
	due = b
	for i, item := range b.Items {
		before := *paid.of(item.Account)
		if before > 0 && !less {
			less = true
			due = Bill{Unit: b.Unit, Items: slices.Clone(b.Items[:i])}
		}
		if less && item.Epsilon > before {
			item.Epsilon -= before
			due.Items = append(due.Items, item)
		}
	}
	return due, less
}

// settle records that the accounts of a group have paid. Most statements have one group, with
// accounts that are not looked up before there is a second.
func (p *callSite) settle(b Bill) {
	switch {
	case p.separate != nil:
		p.first, p.paid = Bill{}, nil
	case p.groups == 1:
		p.first = b
	default:
		p.record(b)
	}
}

// record records the largest charge of each account so far.
func (p *callSite) record(b Bill) {
	paid := p.in(b.Unit)
	for _, item := range b.Items {
		a := paid.of(item.Account)
		*a = max(*a, item.Epsilon)
	}
}

// in returns the amounts paid in a unit.
func (p *callSite) in(unit budget.Unit) *paidByAccounts {
	paid := p.paid[unit]
	if paid == nil {
		paid = new(paidByAccounts)
		p.paid[unit] = paid
	}
	return paid
}
