package ledger

import (
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestRoleBudgetRefuse(t *testing.T) {
	for _, c := range []struct{ spent, cost, limit, left budget.Amount }{
		{0, 5, 5, -1}, {4, 1, 5, -1}, {4, 2, 5, 1}, {9, 1, 5, 0}, {0, 1, 0, 0}, {budget.Max, budget.Max, budget.Max, 0},
	} {
		p := RoleBudget{"sales", "ana", "m", c.spent}
		switch r := p.Refuse(c.cost, c.limit); {
		case (r == nil) != (c.left < 0):
			t.Errorf("%+v: %v", c, r)
		case r != nil && (r.Role != "sales" || r.Account != "ana" || r.Unit != "m" || r.Asked != c.cost || r.Left != c.left || r.Limit != c.limit):
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

func TestRoleBudgetRefusalText(t *testing.T) {
	p := RoleBudget{"night\nshift", "o'neil", "kWh", 8 * budget.One / 10}
	const want = "role 'night'||char(10)||'shift' has, for account 'o''neil', 0.20/kWh left of 1.00/kWh, 0.25/kWh asked, 0.05/kWh short"
	if got := p.Refuse(budget.One/4, budget.One).Error(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestRoleBudgetEntries(t *testing.T) {
	const stable = "role 5:sales 1:m 3:ana"
	if got := (&RoleBudget{Role: "sales", Account: "ana", Unit: "m"}).EntryAccount(); got != stable {
		t.Errorf("%s, was %s", got, stable)
	}
	texts := []string{"a", "*", "1:a 1:a", "role 1:a", "\xff", "é", "with space ", "a\x00b"}
	seen := map[string]RoleBudget{}
	for _, role := range texts {
		for _, account := range append(texts, "") {
			for _, unit := range texts {
				p := RoleBudget{Role: role, Account: account, Unit: budget.Unit(unit), Spent: 7}
				e := Entry{Account: p.EntryAccount(), Spent: 7}
				if other, there := seen[e.Account]; there {
					t.Errorf("%+v and %+v are both %q", p, other, e.Account)
				}
				seen[e.Account] = p
				if got, ok := RoleBudgetOf(&e); !ok || got != p {
					t.Errorf("%+v reads back as %+v, %v", p, got, ok)
				}
				if e.Unit = "m"; isRoleBudget(&e) {
					t.Errorf("%+v is an account's", e)
				}
			}
		}
	}
}

func isRoleBudget(e *Entry) bool {
	_, ok := RoleBudgetOf(e)
	return ok
}

func TestOtherEntriesAreNoRoleBudgets(t *testing.T) {
	for _, account := range []string{
		Everyone, "", "ana", "role", "role ", "role 1:a", "role 1:a 1:m", "role 1:a 1:m 3:an", "role 1:a 1:m 3:anan", "role 1:a 1:m3:ana",
		"role 01:a 1:m 3:ana", "role +1:a 1:m 3:ana", "role -1:a 1:m 3:ana", "role 1:a 1:m 3:ana ", "role x:a 1:m 3:ana",
		"role 99999999999999999999:a 1:m 3:ana",
	} {
		if isRoleBudget(&Entry{Account: account}) {
			t.Errorf("%q is a role budget", account)
		}
	}
}
