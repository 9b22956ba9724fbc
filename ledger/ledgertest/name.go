package ledgertest

import (
	"maps"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var nameTests = tests{
	"KeysAreExact":            keysAreExact,
	"StorableNames":           storableNames,
	"NamesThatCannotBeStored": namesThatCannotBeStored,
}

// names are accounts that an engine could take for each other, or cut off.
var names = []string{
	"ana", "Ana", "ana ", " ana", "", "7", "07", "a\x00b", "a\x00", "a'b", `a"b`, `a\b`, "%", "_", "NULL", "{}",
	"\t", "\n", "é", "e\u0301", "\u200b", "\U0010ffff", "\xff", "a\xc3",
	strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("é", 100), strings.Repeat("x", 10_000), strings.Repeat("x", 1_000_000),
}

// storedNames returns the names that the engine can store.
func (e Engine) storedNames() (some []string) {
	for _, name := range names {
		if e.nameable(name) {
			some = append(some, name)
		}
	}
	return some
}

// No two accounts are taken for one.
func keysAreExact(t *testing.T, e Engine) {
	l := e.fresh(t)
	accounts := e.storedNames()
	for i, a := range accounts {
		check(t, l.SetLimit(a, "m", budget.Amount(i+1), 0))
	}
	for i, a := range accounts {
		check(t, charge(l, a, budget.Amount(i+1)))
		refused(t, charge(l, a, 1))
	}
	all := Balances(t, l)
	if len(all) != len(accounts) {
		t.Errorf("%d balances", len(all))
	}
	for i, b := range all {
		if i > 0 && b.Account <= all[i-1].Account {
			t.Errorf("%.20q comes after %.20q", b.Account, all[i-1].Account)
		}
	}
}

// A name that the engine can store it can store everywhere.
func storableNames(t *testing.T, e Engine) {
	l := e.fresh(t)
	for _, name := range e.storedNames() {
		if name == "" {
			continue // no unit, kind or id
		}
		check(t, l.SetLimit("*", budget.Unit(name), 100, 0))
		check(t, l.Charge(name, budget.Unit(name), []ledger.Item{{Account: "ana", Epsilon: 1, Evaluations: 1}}))
		if b, err := l.Balance("ana", budget.Unit(name)); err != nil || b.Spent != 1 || b.Unit != budget.Unit(name) {
			t.Errorf("%.20q: %v/%.20q, %v", name, b.Spent, b.Unit, err)
		}
		trace, _, _, err := l.OpenTrace(name, name, budget.Unit(name), name)
		check(t, err)
		check(t, trace.Reserve(1, 1))
		trace.Add(ledger.Point{Time: noon, Spent: 1})
		check(t, trace.Close([]byte(name)))
		plan := ledger.ReleasePlan{Digest: name, Settings: name, Output: name}
		r, err := l.OpenRelease(name, plan)
		check(t, err)
		check(t, r.Charge(budget.Unit(name), items(1, name)))
		check(t, r.Seal(name))
		r, err = l.FindRelease(name, plan)
		check(t, err)
		if p := r.Published(); p == nil || p.Output != name || p.SHA256 != name {
			t.Errorf("%.20q is published as %.100v", name, p)
		}
		q := ledger.Question{
			Function: name, Unit: budget.Unit(name), Role: name, RoleLimit: 1,
			Members: []ledger.Member{{Account: name, Epsilon: 1, Due: 1, RoleDue: 1, Evaluations: 1}},
			Draw:    func([]string) ([]byte, error) { return []byte(name), nil },
		}
		copy(q.Key[:], name)
		if a, err := l.Answer(t.Context(), q); err != nil || string(a.Answer) != name {
			t.Errorf("%.20q: answered %.20q, %v", name, a.Answer, err)
		}
		if p, err := l.RoleBudgets(name); err != nil || len(p) != 1 || p[0] != (ledger.RoleBudget{Role: name, Account: name, Unit: budget.Unit(name), Spent: 1}) {
			t.Errorf("%.20q: role budgets %.100v, %v", name, p, err)
		}
		check(t, l.Record(ledger.Fact{Kind: name, Text: name}))
	}
	for _, c := range charges(t, l) {
		if c.Unit != budget.Unit(c.Function) && c.Function != "release" {
			t.Errorf("charge of %.20q in %.20q", c.Function, c.Unit)
		}
	}
}

// A name that the engine cannot store is an error, and no refusal, before anything is charged.
func namesThatCannotBeStored(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 10}}))
	before := head(t, l)
	for _, name := range names {
		if e.nameable(name) {
			continue
		}
		unit := budget.Unit(name)
		s := l.NewStatement()
		q := func(change func(*ledger.Question)) error {
			q := ledger.Question{Function: "f", Unit: "m", Members: []ledger.Member{{Account: "ana", Epsilon: 1, Due: 1, RoleDue: 1, Evaluations: 1}},
				Draw: func([]string) ([]byte, error) { return nil, nil }}
			change(&q)
			_, err := l.Answer(t.Context(), q)
			return err
		}
		attempts := map[string]error{
			"limit":          l.SetLimit(name, "m", 1, 0),
			"limit in unit":  l.SetLimit("ana", unit, 1, 0),
			"charge":         l.Charge("f", "m", []ledger.Item{{Account: "ben", Epsilon: 1, Evaluations: 1}, {Account: name, Epsilon: 1, Evaluations: 1}}),
			"charge once":    l.ChargeOnce("f", "m", ledger.Item{Account: name, Epsilon: 1, Evaluations: 1}),
			"reserve":        l.Reserve("m", items(1, "ben", name)),
			"statement":      s.Spender("f", "m").Charge([]byte(name), 1),
			"question about": q(func(q *ledger.Question) { q.Members[0].Account = name }),
			"question by":    q(func(q *ledger.Question) { q.Role, q.RoleLimit = name, 10 }),
			"trace of":       walk(l, "t", name),
			"release of": func() error {
				r, err := l.OpenRelease("r", ledger.ReleasePlan{})
				check(t, err)
				return r.Charge("m", items(1, name))
			}(),
		}
		if !e.storable(name) {
			maps.Copy(attempts, map[string]error{
				"charge by function":   l.Charge(name, "m", items(1, "ben")),
				"charge from pool":     l.Charge(name, "m", items(1, "ana")),
				"statement's function": s.Spender(name, "m").Charge([]byte("ben"), 1),
				"question with":        q(func(q *ledger.Question) { q.Function = name }),
				"fact":                 l.Record(ledger.Fact{Kind: "a"}, ledger.Fact{Kind: "b", Text: name}),
				"trace":                walk(l, name, "ben"),
				"release": func() error {
					_, err := l.OpenRelease(name, ledger.ReleasePlan{})
					return err
				}(),
			})
		}
		for what, err := range attempts {
			if err == nil || isA[*ledger.RefusalError](err) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("%s %.20q: %.500v", what, name, err)
			}
		}
		check(t, s.End())
	}
	check(t, l.SetLimit("*", "kWh", 1, 0)) // the ledger goes on
	if after := head(t, l); after.ID != before.ID+1 {
		t.Errorf("%d entries were written", after.ID-before.ID-1)
	}
	if facts, err := l.Facts(t.Context(), 0); err != nil || facts != nil {
		t.Errorf("facts %v, %v", facts, err)
	}
}

// walk takes a step in a trace.
func walk(l ledger.Ledger, name, account string) error {
	trace, _, _, err := l.OpenTrace(name, account, "m", "f")
	if err != nil {
		return err
	}
	if err := trace.Reserve(1, 1); err != nil {
		_ = trace.Close(nil)
		return err
	}
	return trace.Close(nil)
}
