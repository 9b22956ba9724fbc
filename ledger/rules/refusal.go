package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
)

// CodeDenied is SQLITE_AUTH_USER, the result code of a call that was refused.
const CodeDenied = 23 | 1<<8

// RefusalError is the error of a charge or reservation for which an account, or the budget of a
// role for it, does not have enough left. Nothing was charged.
type RefusalError struct {
	Role       string // role with a short budget for the account, or "" if the account's own limit is
	Account    string
	Unit       budget.Unit
	Asked      budget.Amount
	Left       budget.Amount // less than Asked; includes the amounts that the asking statement holds
	Limit      budget.Amount
	Limited    bool          // whether there is a limit at all
	Window     int64         // seconds after which the limit opens again; 0: never
	Reopens    time.Time     // when the current window ends; zero where none has started
	OtherUnits []budget.Unit // without a limit: the units that have one for this account or '*'
}

// SQLiteCode returns SQLITE_AUTH_USER, the result code of a refused call.
func (r *RefusalError) SQLiteCode() int { return CodeDenied }

// Error returns one line with the amount asked for, the remaining amount and, where no limit was ever
// set, the SQL that sets one. All amounts have the same number of decimals, so that they
// compare at a glance.
func (r *RefusalError) Error() string {
	if !r.Limited {
		return r.noLimitText()
	}
	n := decimals(r.Asked, r.Left, r.Limit)
	per := func(a budget.Amount) string { return fixed(a, n) + "/" + string(r.Unit) }
	amounts := fmt.Sprintf("%s left of %s, %s asked, %s short", per(r.Left), per(r.Limit), per(r.Asked), per(r.Asked-r.Left))
	if r.Role != "" {
		return fmt.Sprintf("role %s has, for account %s, %s", printable.SQL(r.Role), printable.SQL(r.Account), amounts)
	}
	return fmt.Sprintf("account %s has %s", printable.SQL(r.Account), amounts) + r.windowText()
}

// windowText says when the limit opens again.
func (r *RefusalError) windowText() string {
	switch {
	case r.Window == 0:
		return ""
	case r.Reopens.IsZero(): // nothing is used: the limit itself is below the amount asked for
		return fmt.Sprintf("; no window of %d s holds more", r.Window)
	}
	return fmt.Sprintf("; the window of %d s reopens at %s", r.Window, r.Reopens.Format(time.RFC3339))
}

// noLimitText says that there is no limit, and how to set one.
func (r *RefusalError) noLimitText() string {
	account, unit := printable.SQL(r.Account), printable.SQL(string(r.Unit))
	exist := ""
	if len(r.OtherUnits) > 0 {
		names := make([]string, len(r.OtherUnits))
		for i, u := range r.OtherUnits {
			names[i] = printable.SQL(string(u))
		}
		exist = " (limits exist for " + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf("account %s has no budget in unit %s%s; set one: SELECT budget_limit(%s, %s, EPSILON) or budget_limit('*', %s, EPSILON)",
		account, unit, exist, account, unit, unit)
}

// decimals returns how many digits the longest amount has after the point.
func decimals(amounts ...budget.Amount) int {
	n := 0
	for _, a := range amounts {
		if _, fraction, ok := strings.Cut(a.String(), "."); ok {
			n = max(n, len(fraction))
		}
	}
	return n
}

// fixed formats an amount with n digits after the point, which are at least as many as it has.
func fixed(a budget.Amount, n int) string {
	whole, fraction, _ := strings.Cut(a.String(), ".")
	if n == 0 {
		return whole
	}
	return whole + "." + fraction + strings.Repeat("0", n-len(fraction))
}
