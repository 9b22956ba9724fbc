package ledgertest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"pgregory.net/rapid"
)

// owing is the cost of an answer to an account by itself, and the due part of it.
type owing struct{ epsilon, due, roleDue budget.Amount }

// asked runs the questions of a ledger beside a model of them, which is written after the
// promises and not after the engine's tables: sets are maps, and every answer is kept with
// the names of the accounts it leaves out.
type asked struct {
	*rapid.T
	outer       *testing.T
	ledger      *testLedger
	archive     string
	limits      map[string]budget.Amount // of accounts, without windows
	spent       map[string]budget.Amount
	roleBudgets map[string]map[string]budget.Amount // by role and account
	answers     map[string][]*modelAnswer           // by question
	draws       int
}

type modelAnswer struct {
	answer  string
	leftOut map[string]bool
	seen    map[string]bool
}

var (
	modelRoles     = []string{"", "sales", "night"}
	modelQuestions = map[string]map[string]budget.Amount{
		"one":  {"ana": 5},
		"two":  {"ana": 3, "bob": 4},
		"all":  {"ana": 2, "bob": 6, "o'neil": 3},
		"none": {},
	}
)

func questionModel(t *testing.T, e Engine) {
	e.shared(t) // ledgers that are opened again
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		m := &asked{
			T:           t,
			outer:       outer,
			ledger:      e.fresh(outer),
			limits:      map[string]budget.Amount{},
			spent:       map[string]budget.Amount{},
			roleBudgets: map[string]map[string]budget.Amount{},
			answers:     map[string][]*modelAnswer{},
		}
		archive := filepath.Join(outer.TempDir(), "archive")
		for _, role := range modelRoles {
			m.roleBudgets[role] = map[string]budget.Amount{}
		}
		defer func() { m.ledger.Close() }()
		for _, account := range modelAccounts {
			m.setLimit(account, 20)
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask":       m.drawQuestion,
			"ask again": m.drawQuestion,
			"limit": func(t *rapid.T) {
				m.setLimit(rapid.SampledFrom(modelAccounts).Draw(t, "account"), budget.Amount(rapid.Int64Range(0, 60).Draw(t, "limit")))
			},
			"charge":  m.drawCharge,
			"reopen":  m.reopen,
			"archive": func(*rapid.T) { m.moveEntries(archive) },
			"":        m.compare,
		})
		check(t, verify(m.ledger, m.archive, nil))
	})
}

func (m *asked) setLimit(account string, eps budget.Amount) {
	check(m, m.ledger.SetLimit(account, "m", eps, 0))
	m.limits[account] = eps
}

func (m *asked) drawCharge(t *rapid.T) {
	account, eps := rapid.SampledFrom(modelAccounts).Draw(t, "account"), budget.Amount(rapid.Int64Range(1, 8).Draw(t, "amount"))
	err := charge(m.ledger, account, eps)
	if m.spent[account]+eps > m.limits[account] {
		refused(m, err)
		return
	}
	check(m, err)
	m.spent[account] += eps
}

func (m *asked) reopen(*rapid.T) {
	check(m, m.ledger.Close())
	m.ledger = m.ledger.engine.open(m.outer, m.ledger.where)
}

func (m *asked) moveEntries(path string) {
	_, err := m.ledger.Archive(path, time.Now().Add(time.Hour))
	check(m, err)
	m.archive = path
}

func (m *asked) drawQuestion(t *rapid.T) {
	names := slices.Sorted(maps.Keys(modelQuestions))
	name := rapid.SampledFrom(names).Draw(t, "question")
	role := rapid.SampledFrom(modelRoles).Draw(t, "role")
	limit := budget.Amount(rapid.Int64Range(0, 40).Draw(t, "role limit"))
	leaveOut := rapid.Bool().Draw(t, "leave out")
	owed := map[string]owing{}
	for _, account := range slices.Sorted(maps.Keys(modelQuestions[name])) {
		eps := modelQuestions[name][account]
		due := rapid.Int64Range(0, int64(eps))
		owed[account] = owing{eps, budget.Amount(due.Draw(t, "due")), budget.Amount(due.Draw(t, "role due"))}
	}

	// The accounts that are short, by their own budget and by the role's.
	ownShort, roleShort := map[string]bool{}, map[string]bool{}
	for account, o := range owed {
		ownShort[account] = o.due > 0 && m.spent[account]+o.due > m.limits[account]
		roleShort[account] = role != "" && o.roleDue > 0 && m.roleBudgets[role][account]+o.roleDue > limit
	}
	want, drawn := m.wanted(name, role, leaveOut, owed, ownShort, roleShort)

	q := Ask(name, slices.Collect(maps.Keys(owed))...).As(role, limit)
	q.LeaveOut = leaveOut
	for i := range q.Members {
		o := owed[q.Members[i].Account]
		q.Members[i].Epsilon, q.Members[i].Due, q.Members[i].RoleDue = o.epsilon, o.due, o.roleDue
	}
	var told []string
	called := false
	q.Draw = func(leftOut []string) ([]byte, error) {
		m.draws++
		told, called = leftOut, true
		return fmt.Appendf(nil, "%s %d", name, m.draws), nil
	}
	a, err := q.Answer(m, m.ledger)
	if called != drawn {
		m.Fatalf("drawn: %v, want %v", called, drawn)
	}
	if want == nil {
		r := refused(m, err)
		if r.Role == "" && !ownShort[r.Account] || r.Role != "" && !roleShort[r.Account] {
			m.Fatalf("refused with %+v; short %v, %v", r, ownShort, roleShort)
		}
		return
	}
	check(m, err)
	if drawn {
		want.answer = fmt.Sprintf("%s %d", name, m.draws)
		m.answers[name] = append(m.answers[name], want)
		if out := trueKeys(want.leftOut); !slices.Equal(told, out) {
			m.Fatalf("told that %v are left out, want %v", told, out)
		}
	}
	var charged, roleCharged ledger.Toll
	for account, o := range owed {
		if want.leftOut[account] {
			continue
		}
		if drawn && o.due > 0 {
			m.spent[account] += o.due
			charged = ledger.Toll{Accounts: charged.Accounts + 1, Most: max(charged.Most, o.due)}
		}
		if role != "" && !want.seen[role] && o.roleDue > 0 {
			m.roleBudgets[role][account] += o.roleDue
			roleCharged = ledger.Toll{Accounts: roleCharged.Accounts + 1, Most: max(roleCharged.Most, o.roleDue)}
		}
	}
	want.seen[role] = true
	if string(a.Answer) != want.answer || a.LeftOut != len(trueKeys(want.leftOut)) || a.Remembered == drawn ||
		a.Charged != charged || a.RoleCharged != roleCharged {
		m.Fatalf("got %q %+v, want %+v, %v, %v", a.Answer, a, want, charged, roleCharged)
	}
}

// wanted returns the answer that a question gets, or nil for a refusal, and whether it is drawn.
func (m *asked) wanted(name, role string, leaveOut bool, owed map[string]owing, ownShort, roleShort map[string]bool) (best *modelAnswer, drawn bool) {
	score := func(a *modelAnswer) int { // seen first, then the fewest left out
		n := len(trueKeys(a.leftOut))
		if role == "" || a.seen[role] {
			return n
		}
		return 100 + n
	}
	for _, a := range m.answers[name] {
		fits := true
		for account := range owed {
			if a.leftOut[account] {
				fits = fits && leaveOut && (ownShort[account] || roleShort[account])
			} else if role != "" && !a.seen[role] {
				fits = fits && !roleShort[account]
			}
		}
		if fits && (best == nil || score(a) < score(best)) {
			best = a
		}
	}
	if best != nil {
		return best, false
	}
	a := &modelAnswer{leftOut: map[string]bool{}, seen: map[string]bool{}}
	for account := range owed {
		a.leftOut[account] = ownShort[account] || roleShort[account]
	}
	if len(trueKeys(a.leftOut)) > 0 && !leaveOut {
		return nil, false
	}
	return a, true
}

func trueKeys(set map[string]bool) (keys []string) {
	for k, in := range set {
		if in {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// compare demands that balances and role budgets are those of the model.
func (m *asked) compare(*rapid.T) {
	for _, account := range modelAccounts {
		if b := balance(m, m.ledger, account); b.Spent != m.spent[account] || b.Reserved != 0 {
			m.Fatalf("%s has spent %d, balance %+v", account, int64(m.spent[account]), b)
		}
	}
	for _, role := range modelRoles {
		roleBudgets, err := m.ledger.RoleBudgets(role)
		check(m, err)
		got := map[string]budget.Amount{}
		for _, p := range roleBudgets {
			got[p.Account] += p.Spent
		}
		if !maps.Equal(got, m.roleBudgets[role]) {
			m.Fatalf("role budgets of %q are %v, want %v", role, got, m.roleBudgets[role])
		}
	}
	for _, b := range Balances(m, m.ledger) {
		if strings.Contains(b.Account, "role") || b.Unit != "m" {
			m.Fatalf("%+v is nobody's balance", b)
		}
	}
}
