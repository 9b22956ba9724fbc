package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
)

// Item is a charge to one account.
type Item struct {
	Account     string
	Epsilon     budget.Amount
	Evaluations int64 // that it pays for
}

// A Demand lists the amounts that accounts are going to pay in a unit.
type Demand struct {
	Unit  budget.Unit
	Items []Item
}

// Charge is the sum that one function charged to one account during one run of an SQL statement.
type Charge struct {
	ID          int64     // grows from charge to charge
	Time        time.Time // of the first evaluation
	Function    string
	Account     string
	Unit        budget.Unit
	Epsilon     budget.Amount
	Evaluations int64
}

// LimitChange is a limit that was set.
type LimitChange struct {
	ID      int64 // in one order with those of charges
	Time    time.Time
	Account string
	Unit    budget.Unit
	Limit   budget.Amount
	Window  int64 // seconds; 0: none
}

var (
	errNoUnit   = errors.New("ledger: unit is empty")
	errEveryone = errors.New("ledger: account '*' stands for every account that is not named and cannot be charged")
)

// CheckCharge returns an error for a charge that no account can have.
func CheckCharge(account string, unit budget.Unit, eps budget.Amount) error {
	switch {
	case account == Everyone:
		return errEveryone
	case unit == "":
		return errNoUnit
	case eps <= 0 || eps > budget.Max:
		return fmt.Errorf("ledger: a charge must be above 0 and at most %v", budget.Max)
	}
	return nil
}

// CheckLimit returns an error for a limit that no account can have.
func CheckLimit(unit budget.Unit, eps budget.Amount, window int64) error {
	switch {
	case eps < 0 || eps > budget.Max:
		return fmt.Errorf("ledger: a limit must be between 0 and %v", budget.Max)
	case window < 0 || window > MaxWindow:
		return fmt.Errorf("ledger: a window must have between 1 and %d seconds", int64(MaxWindow))
	case unit == "":
		return errNoUnit
	}
	return nil
}

// MergeItems checks items and adds up those of the same account, so that an engine can read
// every balance before it writes the first.
func MergeItems(unit budget.Unit, items []Item) ([]Item, error) {
	merged := make([]Item, 0, len(items))
	at := make(map[string]int, len(items))
	for _, item := range items {
		if err := CheckCharge(item.Account, unit, item.Epsilon); err != nil {
			return nil, err
		}
		i, again := at[item.Account]
		if !again {
			at[item.Account] = len(merged)
			merged = append(merged, item)
			continue
		}
		if item.Epsilon > budget.Max-merged[i].Epsilon {
			return nil, fmt.Errorf("ledger: account %s would be charged more than any budget holds", printable.SQL(item.Account))
		}
		merged[i].Epsilon += item.Epsilon
		merged[i].Evaluations += item.Evaluations
	}
	return merged, nil
}

// CheckOrdered checks items and that each account comes after the one before it, the first
// one after last. Last is "" where there was none.
func CheckOrdered(last string, unit budget.Unit, items []Item) error {
	for i, item := range items {
		if err := CheckCharge(item.Account, unit, item.Epsilon); err != nil {
			return err
		}
		if item.Account <= last && (i > 0 || last != "") {
			return errors.New("ledger: accounts are out of order")
		}
		last = item.Account
	}
	return nil
}
