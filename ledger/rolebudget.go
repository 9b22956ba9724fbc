package ledger

import (
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
)

// RoleBudget is the spending of a role on an account. Its limit is not the ledger's: the caller who asks for
// the role brings it. Spent budget stays spent if a role is dropped and made again.
type RoleBudget struct {
	Role    string
	Account string
	Unit    budget.Unit
	Spent   budget.Amount
}

// Refuse returns nil if the role budget can pay cost under a limit, and else the refusal.
func (b *RoleBudget) Refuse(cost, limit budget.Amount) *RefusalError {
	left := max(0, limit-b.Spent)
	if cost <= left {
		return nil
	}
	return &RefusalError{
		Role:    b.Role,
		Account: b.Account,
		Unit:    b.Unit,
		Asked:   cost,
		Left:    left,
		Limit:   limit,
		Limited: true,
	}
}

// roleBudgetMark begins the accounts of entries that change a role budget.
const roleBudgetMark = "role "

// EntryAccount returns the account of the entries that change the role budget, which have no unit: so
// they change no balance, and are taken for no account's. Role, unit and account follow each
// other with their lengths in bytes before them, so that no two role budgets have the same text.
func (b *RoleBudget) EntryAccount() string {
	text := []byte(roleBudgetMark)
	for i, s := range [...]string{b.Role, string(b.Unit), b.Account} {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(len(s)), 10)
		text = append(text, ':')
		text = append(text, s...)
	}
	return string(text)
}

// RoleBudgetOf returns the role budget that an entry changes, with the amount that the entry spends. It reports false
// for all other entries.
func RoleBudgetOf(e *Entry) (b RoleBudget, ok bool) {
	rest, ok := strings.CutPrefix(e.Account, roleBudgetMark)
	if !ok || e.Unit != "" {
		return RoleBudget{}, false
	}
	var parts [3]string
	for i := range parts {
		length, after, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > len(after) {
			return RoleBudget{}, false
		}
		parts[i], rest = after[:n], after[n:]
		if i < len(parts)-1 {
			if rest, ok = strings.CutPrefix(rest, " "); !ok {
				return RoleBudget{}, false
			}
		}
	}
	b = RoleBudget{Role: parts[0], Unit: budget.Unit(parts[1]), Account: parts[2], Spent: e.Spent}
	return b, b.EntryAccount() == e.Account
}
