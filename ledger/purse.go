package ledger

import (
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
)

// Purse is the spending of a role on an account. Its limit is not the ledger's: the caller who asks for
// the role brings it. Spent budget stays spent if a role is dropped and made again.
type Purse struct {
	Role    string
	Account string
	Unit    budget.Unit
	Spent   budget.Amount
}

// Refuse returns nil if the purse can pay cost under a limit, and else the refusal.
func (p *Purse) Refuse(cost, limit budget.Amount) *RefusalError {
	left := max(0, limit-p.Spent)
	if cost <= left {
		return nil
	}
	return &RefusalError{
		Role:    p.Role,
		Account: p.Account,
		Unit:    p.Unit,
		Asked:   cost,
		Left:    left,
		Limit:   limit,
		Limited: true,
	}
}

// purseMark begins the accounts of entries that change a purse.
const purseMark = "role "

// EntryAccount returns the account of the entries that change the purse, which have no unit: so
// they change no balance, and are taken for no account's. Role, unit and account follow each
// other with their lengths in bytes before them, so that no two purses have the same text.
func (p *Purse) EntryAccount() string {
	b := []byte(purseMark)
	for i, s := range [...]string{p.Role, string(p.Unit), p.Account} {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(b, ':')
		b = append(b, s...)
	}
	return string(b)
}

// PurseOf returns the purse that an entry changes, with the amount that the entry spends. It reports false
// for all other entries.
func PurseOf(e *Entry) (p Purse, ok bool) {
	rest, ok := strings.CutPrefix(e.Account, purseMark)
	if !ok || e.Unit != "" {
		return Purse{}, false
	}
	var parts [3]string
	for i := range parts {
		length, after, _ := strings.Cut(rest, ":")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > len(after) {
			return Purse{}, false
		}
		parts[i], rest = after[:n], after[n:]
		if i < len(parts)-1 {
			if rest, ok = strings.CutPrefix(rest, " "); !ok {
				return Purse{}, false
			}
		}
	}
	p = Purse{Role: parts[0], Unit: budget.Unit(parts[1]), Account: parts[2], Spent: e.Spent}
	return p, p.EntryAccount() == e.Account
}
