package ledgertest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Questions that are answered together have the answers, the costs and the refusals that they have one after the other, and leave the
// same balances.
func answeredTogether(t *testing.T, e Engine) {
	random := rand.New(rand.NewPCG(47, 1))
	clocked := func() *testLedger {
		l, _ := e.timed(t)
		check(t, l.SetLimit("*", "m", 40, 0))
		check(t, l.SetLimit("bob", "m", 25, 3600))
		check(t, l.SetLimit("*", "record", 10, 0))
		return l
	}
	single, together := clocked(), clocked()
	for round := range 60 {
		role, limit := []string{"", "sales", "night"}[random.IntN(3)], budget.Amount(random.IntN(60))
		var asked []*Asking
		for range 1 + random.IntN(6) {
			name := fmt.Sprint("question ", random.IntN(20*(1+round/20))) // some are known, or come twice
			accounts := []string{"ana", "bob", "eve"}[:1+random.IntN(3)]
			q := Ask(name, accounts[len(accounts)-1:]...)
			if random.IntN(3) == 0 {
				q = Ask(name, accounts...)
			}
			q.Function = []string{"dx_sum", "dx_value"}[len(name)%2]
			q.Unit = []budget.Unit{"m", "record"}[random.IntN(8)/7]
			q.LeaveOut = random.IntN(3) == 0
			asked = append(asked, q.As(role, limit))
		}
		questions := func() (qs []ledger.Question) {
			for i, q := range asked {
				one := q.Question
				one.Draw = func(out []string) ([]byte, error) { return fmt.Appendf(nil, "%d %d without %q", round, i, out), nil }
				qs = append(qs, one)
			}
			return qs
		}
		var want []ledger.Answered
		var refusal error
		for _, q := range questions() {
			a, err := single.Answer(t.Context(), q)
			if refusal = err; err != nil {
				break
			}
			want = append(want, a)
		}
		quotes, quoteErr := together.QuoteAll(t.Context(), questions()[:1])
		got, err := together.AnswerAll(t.Context(), questions())
		if len(want) == 0 {
			if !reflect.DeepEqual(err, refusal) || !reflect.DeepEqual(quoteErr, refusal) {
				t.Fatalf("round %d: refused with %v, quoted %v, want %v", round, err, quoteErr, refusal)
			}
			continue
		}
		check(t, err)
		check(t, quoteErr)
		for i := range got {
			got[i].Time = want[i].Time
		}
		if !reflect.DeepEqual(got, want) || quotes[0].Remembered != want[0].Remembered {
			t.Fatalf("round %d: got %+v, want %+v", round, got, want)
		}
		for _, account := range []string{"ana", "bob", "eve"} {
			for _, unit := range []budget.Unit{"m", "record"} {
				a, err := single.Balance(account, unit)
				check(t, err)
				b, err := together.Balance(account, unit)
				check(t, err)
				if a.Spent != b.Spent || a.WindowSpent != b.WindowSpent {
					t.Fatalf("round %d: %+v and %+v", round, a, b)
				}
			}
		}
		one, err := single.RoleBudgets(role)
		check(t, err)
		all, err := together.RoleBudgets(role)
		check(t, err)
		if !reflect.DeepEqual(one, all) {
			t.Fatalf("round %d: role budgets %+v and %+v", round, one, all)
		}
	}
	check(t, verify(together, "", nil))
	if a, b := charges(t, single), charges(t, together); len(b) >= len(a) {
		t.Errorf("%d charges together, %d one after the other", len(b), len(a))
	}
}

// Several quotes together are of what the answers would be together.
func quotedTogether(t *testing.T, e Engine) {
	l := newAsked(t, e) // 10 each
	qs := []ledger.Question{Ask("q", "ana").As("sales", 8).Question, Ask("p", "ana").As("sales", 8).Question, Ask("o", "ana").As("sales", 8).Question}
	all, err := l.QuoteAll(t.Context(), qs)
	check(t, err)
	if len(all) != 2 || all[1].Charged != (ledger.Toll{Accounts: 1, Most: 4}) {
		t.Errorf("%+v", all)
	}
	all, err = l.AnswerAll(t.Context(), qs)
	check(t, err)
	if len(all) != 2 || string(all[0].Answer) != "q 1" || string(all[1].Answer) != "p 1" {
		t.Errorf("%+v", all)
	}
	if got := charges(t, l); len(got) != 1 || got[0].Evaluations != 2 || got[0].Epsilon != 8 {
		t.Errorf("the charges %+v", got)
	}
	WantSpent(t, l, "sales", Amounts{"ana": {8, 8}})
	_, err = l.AnswerAll(t.Context(), qs[2:])
	refused(t, err)
}
