package ledger

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// Refusal is the error of a charge or reservation for which an account has not
// enough left. Nothing was charged.
type Refusal struct {
	Account    string
	Unit       budget.Unit
	Asked      budget.Amount
	Left       budget.Amount // below Asked; includes what the asking statement holds
	Limit      budget.Amount
	Limited    bool          // whether there is a limit at all
	Window     int64         // seconds after which the limit opens again; 0: never
	Reopens    time.Time     // when the current window ends; zero where none has started
	OtherUnits []budget.Unit // without a limit: the units that have one for this account or '*'
}

// SQLiteCode is the result code of a call that was refused: SQLITE_AUTH_USER.
func (r *Refusal) SQLiteCode() int { return sqlite.CodeDenied }

// Error says on one line what was asked, what is left and, where no limit was
// ever set, the SQL that sets one. Amounts have the same number of decimals, so
// that they compare at a glance.
func (r *Refusal) Error() string {
	if !r.Limited {
		return r.unlimited()
	}
	n := decimals(r.Asked, r.Left, r.Limit)
	per := func(a budget.Amount) string { return fixed(a, n) + "/" + string(r.Unit) }
	return fmt.Sprintf("account %s has %s left of %s, %s asked, %s short",
		quote(r.Account), per(r.Left), per(r.Limit), per(r.Asked), per(r.Asked-r.Left)) + r.window()
}

// window says when the limit opens again.
func (r *Refusal) window() string {
	switch {
	case r.Window == 0:
		return ""
	case r.Reopens.IsZero(): // nothing is used: the limit itself is below what was asked
		return fmt.Sprintf("; no window of %d s holds more", r.Window)
	}
	return fmt.Sprintf("; the window of %d s reopens at %s", r.Window, r.Reopens.Format(time.RFC3339))
}

func (r *Refusal) unlimited() string {
	account, unit := quote(r.Account), quote(string(r.Unit))
	exist := ""
	if len(r.OtherUnits) > 0 {
		names := make([]string, len(r.OtherUnits))
		for i, u := range r.OtherUnits {
			names[i] = quote(string(u))
		}
		exist = " (limits exist for " + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf("account %s has no budget in unit %s%s; set one: SELECT budget_limit(%s, %s, EPSILON) or budget_limit('*', %s, EPSILON)",
		account, unit, exist, account, unit, unit)
}

// decimals is how many digits after the point the longest amount has.
func decimals(amounts ...budget.Amount) int {
	n := 0
	for _, a := range amounts {
		if _, fraction, ok := strings.Cut(a.String(), "."); ok {
			n = max(n, len(fraction))
		}
	}
	return n
}

// fixed is a with n digits after the point, at least as many as it has.
func fixed(a budget.Amount, n int) string {
	whole, fraction, _ := strings.Cut(a.String(), ".")
	if n == 0 {
		return whole
	}
	return whole + "." + fraction + strings.Repeat("0", n-len(fraction))
}

// quote is s as an SQL expression on one line, all of which shows.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch c := s[:size]; {
		case c == "'":
			b.WriteString("''")
		case printable.Is(c):
			b.WriteString(c)
		case utf8.ValidString(c):
			fmt.Fprintf(&b, "'||char(%d)||'", r)
		default:
			fmt.Fprintf(&b, "'||CAST(x'%x' AS TEXT)||'", c)
		}
		s = s[size:]
	}
	b.WriteByte('\'')
	return b.String()
}

// Again is the error of a second charge where there is one at the most.
type Again struct {
	Account string
	Unit    budget.Unit
}

// SQLiteCode is the result code of a call that was refused: SQLITE_AUTH_USER.
func (a *Again) SQLiteCode() int { return sqlite.CodeDenied }

func (a *Again) Error() string {
	return fmt.Sprintf("account %s was charged in unit %s before, where releases do not add up: there is one at the most", quote(a.Account), quote(string(a.Unit)))
}

// affords returns nil if a balance's limit leaves cost, or as much of it as is not set aside
// for it already, and else the refusal.
func (db *store) affords(b *Balance, cost, aside budget.Amount) error {
	if left := aside + b.Remaining(); !b.Limited || cost > left {
		return db.refuse(b, cost, left)
	}
	return nil
}

// refuse makes the refusal of asked to an account that has left.
func (db *store) refuse(b *Balance, asked, left budget.Amount) error {
	r := &Refusal{
		Account: b.Account,
		Unit:    b.Unit,
		Asked:   asked,
		Left:    left,
		Limit:   b.Limit,
		Limited: b.Limited,
		Window:  b.Window,
		Reopens: b.Reopens,
	}
	if b.Limited {
		return r
	}
	r.Left = 0
	err := db.query(`SELECT DISTINCT unit FROM budget WHERE account IN (?1, '*') ORDER BY unit`, func(s *sqlite.Stmt) error {
		unit := s.Column(0)
		r.OtherUnits = append(r.OtherUnits, budget.Unit(unit.Text()))
		return nil
	}, b.Account)
	if err != nil {
		return err
	}
	return r
}
