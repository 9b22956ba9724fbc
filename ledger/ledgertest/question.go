package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var questionTests = tests{
	"Model":                             questionModel,
	"ProcessesShareAnswers":             processesShareAnswers,
	"ProcessesStopAtTheRoleBudget":      processesStopAtTheRoleBudget,
	"Answered":                          answered,
	"AnswerCostsWhatIsDue":              answerCostsWhatIsDue,
	"ShortOfWhatIsDue":                  shortOfWhatIsDue,
	"WhoOwesNothingIsNotShort":          whoOwesNothingIsNotShort,
	"ManyOweDifferently":                manyOweDifferently,
	"AnswerAboutNobody":                 answerAboutNobody,
	"AnswerWithoutBytes":                answerWithoutBytes,
	"AnswerIsRefused":                   answerIsRefused,
	"AnswerLeavesOut":                   answerLeavesOut,
	"AnswerLeavesOutByRoleBudget":       answerLeavesOutByRoleBudget,
	"AnswerLeavesAllOut":                answerLeavesAllOut,
	"AnswerAboutMany":                   answerAboutMany,
	"AnswerInWindows":                   answerInWindows,
	"AnswerErrors":                      answerErrors,
	"AnsweredTogether":                  answeredTogether,
	"QuotedTogether":                    quotedTogether,
	"QuoteChangesNothing":               quoteChangesNothing,
	"DrawFails":                         drawFails,
	"ArchiveKeepsAnswersAndRoleBudgets": archiveKeepsAnswersAndRoleBudgets,
}

func newAsked(t *testing.T, e Engine) *testLedger {
	t.Helper()
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 0))
	return l
}

// fails demands a refusal, before anything was drawn.
func (q *Asking) fails(t *testing.T, l ledger.Ledger) *ledger.RefusalError {
	t.Helper()
	before, end := q.Draws, head(t, l)
	a, err := q.Answer(t, l)
	r := refused(t, err)
	if a.Answer != nil || q.Draws != before || head(t, l) != end {
		t.Errorf("refused, but got %+v in %d draws", a, q.Draws-before)
	}
	return r
}

// An answer is drawn and charged once, and each role pays once to see it.
func answered(t *testing.T, e Engine) {
	l := newAsked(t, e)
	if roleBudgets, err := l.RoleBudgets("sales"); roleBudgets != nil || err != nil {
		t.Errorf("no tables yet: %v, %v", roleBudgets, err)
	}
	if size, err := l.Size(context.Background()); size.Answers != 0 || err != nil {
		t.Errorf("without answers: %+v, %v", size, err)
	}
	q := Ask("q", "bob", "ana").As("sales", 8)
	first := q.Gets(t, l, "q 1", 2, 2)
	WantSpent(t, l, "sales", Amounts{"ana": {4, 4}, "bob": {4, 4}})

	again := q.Gets(t, l, "q 1", 0, 0) // to a role that has seen it
	if again.Time != first.Time || time.Since(again.Time).Abs() > time.Minute {
		t.Errorf("given at %v, then at %v", first.Time, again.Time)
	}
	q.As("night", 8).Gets(t, l, "q 1", 0, 2) // to a role that sees it first
	q.Gets(t, l, "q 1", 0, 0)
	q.As("", 0).Gets(t, l, "q 1", 0, 0) // to the owner
	WantSpent(t, l, "night", Amounts{"ana": {4, 4}, "bob": {4, 4}})

	o := Ask("owner", "ana")
	o.Gets(t, l, "owner 1", 1, 0)
	WantSpent(t, l, "", Amounts{"ana": {8, 0}})
	o.As("sales", 8).Gets(t, l, "owner 1", 0, 1)
	WantSpent(t, l, "sales", Amounts{"ana": {8, 8}})

	if q.Draws != 1 || o.Draws != 1 {
		t.Errorf("%d and %d draws", q.Draws, o.Draws)
	}
	if size, err := l.Size(context.Background()); size.Answers != 2 || !e.Alone && size.Bytes < 1000 || err != nil {
		t.Errorf("with two answers: %+v, %v", size, err)
	}
	// After the ledger was opened again.
	check(t, l.Close())
	l = e.open(t, l.where)
	q.As("sales", 8).Gets(t, l, "q 1", 0, 0)
	WantSpent(t, l, "sales", Amounts{"ana": {8, 8}, "bob": {4, 4}})

	if all := Balances(t, l); len(all) != 3 {
		t.Errorf("the balances %+v", all)
	}
	if got := charges(t, l); len(got) != 3 || got[2].Account != "ana" || got[2].Function != "dx_sum" || got[2].Evaluations != 1 {
		t.Errorf("the charges %+v", got)
	}
}

// An account pays the due part of its cost of the answer, and so does a role. The due part is
// no part of the question.
func answerCostsWhatIsDue(t *testing.T, e Engine) {
	l := newAsked(t, e)
	check(t, l.SetLimit("blocked", "m", 0, 0))
	q := Ask("q", "ana", "blocked", "zoe").As("sales", 3).Owing(0, 1, 3).Owing(1, 0, 0).Owing(2, 3, 0)
	a, err := q.Answer(t, l)
	check(t, err)
	if a.Charged != (ledger.Toll{Accounts: 2, Most: 3}) || a.RoleCharged != (ledger.Toll{Accounts: 1, Most: 3}) || a.LeftOut != 0 {
		t.Errorf("%+v", a)
	}
	want := Amounts{"ana": {1, 3}, "blocked": {0, 0}, "zoe": {3, 0}}
	WantSpent(t, l, "sales", want)
	if roleBudgets, err := l.RoleBudgets("sales"); len(roleBudgets) != 1 || err != nil {
		t.Errorf("%v, %v", roleBudgets, err)
	}
	if got := charges(t, l); len(got) != 2 || got[0].Account != "ana" || got[1].Account != "zoe" {
		t.Errorf("the charges %+v", got)
	}

	full := Ask("q", "ana", "blocked", "zoe").As("sales", 3)
	full.Gets(t, l, "q 1", 0, 0) // was seen
	WantSpent(t, l, "sales", want)
	a, err = full.As("night", 3).Owing(0, 4, 1).Owing(1, 4, 2).Owing(2, 4, 3).Answer(t, l)
	check(t, err)
	if !a.Remembered || a.Charged != (ledger.Toll{}) || a.RoleCharged != (ledger.Toll{Accounts: 3, Most: 3}) {
		t.Errorf("%+v", a)
	}
	WantSpent(t, l, "night", Amounts{"ana": {1, 1}, "blocked": {0, 2}, "zoe": {3, 3}})
}

// The due part decides whether an account is short, and which role is.
func shortOfWhatIsDue(t *testing.T, e Engine) {
	l := newAsked(t, e)
	check(t, l.SetLimit("ana", "m", 3, 0))
	check(t, l.SetLimit("bob", "m", 0, 0))
	q := Ask("q", "ana", "bob").As("sales", 2).Owing(0, 4, 2).Owing(1, 0, 2)
	if r := q.fails(t, l); r.Account != "ana" || r.Role != "" || r.Asked != 4 || r.Left != 3 {
		t.Errorf("%+v", r)
	}
	if r := q.Owing(0, 3, 2).Owing(1, 0, 3).fails(t, l); r.Account != "bob" || r.Role != "sales" || r.Asked != 3 || r.Left != 2 {
		t.Errorf("%+v", r)
	}
	_, err := q.LeavingOut().Owing(0, 4, 0).Owing(1, 0, 0).Answer(t, l)
	if check(t, err); !slices.Equal(q.Without, []string{"ana"}) {
		t.Errorf("left out %v", q.Without)
	}
	_, err = q.Owing(0, 3, 2).Owing(1, 0, 0).Answer(t, l)
	if check(t, err); q.Without != nil {
		t.Errorf("left out %v", q.Without)
	}
	WantSpent(t, l, "sales", Amounts{"ana": {3, 2}, "bob": {0, 0}})
}

// An account that owes nothing is not short, even without a limit.
func whoOwesNothingIsNotShort(t *testing.T, e Engine) {
	l := e.fresh(t)
	q := Ask("q", "ana").As("sales", 0).Owing(0, 0, 0)
	q.Gets(t, l, "q 1", 0, 0)
	WantSpent(t, l, "sales", Amounts{"ana": {0, 0}})
	if all := Balances(t, l); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// An account that owes nothing changes nothing among many, which are written in batches.
func manyOweDifferently(t *testing.T, e Engine) {
	const many = 200
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", 10, 3600))
	var accounts []string
	for i := range many {
		accounts = append(accounts, fmt.Sprintf("account %03d", i))
	}
	check(t, l.SetLimit(accounts[7], "m", 1, 60))
	q := Ask("q", accounts...).As("sales", 5).LeavingOut()
	want, out := Amounts{}, []string{accounts[7]}
	for i, account := range accounts {
		due, roleDue := budget.Amount(i%5), budget.Amount(i%3)
		q.Owing(i, due, roleDue)
		if i != 7 {
			want[account] = [2]budget.Amount{due, roleDue}
		}
	}
	a, err := q.Answer(t, l)
	check(t, err)
	if !slices.Equal(q.Without, out) || a.Charged != (ledger.Toll{Accounts: 159, Most: 4}) || a.RoleCharged != (ledger.Toll{Accounts: 132, Most: 2}) {
		t.Errorf("left out %v, %+v", q.Without, a)
	}
	WantSpent(t, l, "sales", want)
	for account, w := range want {
		if b := balance(t, l, account); b.WindowSpent != w[0] || b.Window != 3600 {
			t.Errorf("%+v", b)
		}
	}
}

// A question about nobody has an answer, which costs nothing.
func answerAboutNobody(t *testing.T, e Engine) {
	l := newAsked(t, e)
	q := Ask("q").As("sales", 0)
	q.Gets(t, l, "q 1", 0, 0)
	q.Gets(t, l, "q 1", 0, 0)
	q.As("", 0).Gets(t, l, "q 1", 0, 0)
}

func answerWithoutBytes(t *testing.T, e Engine) {
	l := newAsked(t, e)
	q := Ask("q", "ana").Question
	q.Draw = func([]string) ([]byte, error) { return nil, nil }
	for i := range 2 {
		if a, err := l.Answer(t.Context(), q); err != nil || len(a.Answer) != 0 || a.Remembered != (i > 0) {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

func answerIsRefused(t *testing.T, e Engine) {
	l := newAsked(t, e)
	check(t, l.SetLimit("bob", "m", 3, 0))
	q := Ask("q", "zoe", "bob", "ana").As("sales", 100)
	if r := q.fails(t, l); r.Account != "bob" || r.Role != "" || r.Left != 3 {
		t.Errorf("%+v", r)
	}
	check(t, l.SetLimit("bob", "m", 4, 0))
	if r := q.As("sales", 3).fails(t, l); r.Account != "ana" || r.Role != "sales" || r.Left != 3 || r.Limit != 3 {
		t.Errorf("%+v", r)
	}
	WantSpent(t, l, "sales", Amounts{"ana": {0, 0}, "bob": {0, 0}})
	q.As("sales", 4).Gets(t, l, "q 1", 3, 3)
	// Another role is short for a remembered answer: it may not see it.
	if r := q.As("night", 3).fails(t, l); r.Account != "ana" || r.Role != "night" {
		t.Errorf("%+v", r)
	}
	// Spent budget stays spent under a lower limit, but was seen.
	q.As("sales", 0).Gets(t, l, "q 1", 0, 0)
	if r := Ask("p", "ana").As("sales", 2).fails(t, l); r.Left != 0 {
		t.Errorf("%+v", r)
	}
	r := refused(t, func() error {
		q := Ask("unit", "ana").Question
		q.Unit = "kWh"
		_, err := l.Answer(t.Context(), q)
		return err
	}())
	if r.Limited || !slices.Equal(r.OtherUnits, []budget.Unit{"m"}) {
		t.Errorf("without a limit: %+v", r)
	}
}

// An account that cannot pay is left out, and the question asked again gets the same answer, even though accounts that
// have paid for it cannot pay another time.
func answerLeavesOut(t *testing.T, e Engine) {
	l := newAsked(t, e)
	check(t, l.SetLimit("bob", "m", 3, 0))
	check(t, l.SetLimit("*", "m", 4, 0))
	q := Ask("q", "zoe", "bob", "ana").As("sales", 100).LeavingOut()
	if a := q.Gets(t, l, "q 1", 2, 2); a.LeftOut != 1 || !slices.Equal(q.Without, []string{"bob"}) {
		t.Errorf("left out %d, %v", a.LeftOut, q.Without)
	}
	if a := q.Gets(t, l, "q 1", 0, 0); a.LeftOut != 1 { // now nobody can pay
		t.Errorf("left out %d", a.LeftOut)
	}
	q.As("night", 100).Gets(t, l, "q 1", 0, 2)
	WantSpent(t, l, "night", Amounts{"ana": {4, 4}, "bob": {0, 0}, "zoe": {4, 4}})

	// A question that wants everybody is refused, although there is an answer without bob.
	q.LeaveOut = false
	if r := q.fails(t, l); r.Account != "ana" {
		t.Errorf("%+v", r)
	}
	// When bob can pay, there has to be another answer: about bob alone.
	q.LeaveOut = true
	check(t, l.SetLimit("bob", "m", 4, 0))
	if a := q.Gets(t, l, "q 2", 1, 1); a.LeftOut != 2 || !slices.Equal(q.Without, []string{"ana", "zoe"}) {
		t.Errorf("left out %d, %v", a.LeftOut, q.Without)
	}
	// And when all can, one about all, which the questions that want everybody get too.
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.SetLimit("bob", "m", 100, 0))
	if a := q.Gets(t, l, "q 3", 3, 3); a.LeftOut != 0 || q.Without != nil {
		t.Errorf("left out %d, %v", a.LeftOut, q.Without)
	}
	q.LeaveOut = false
	q.Gets(t, l, "q 3", 0, 0)
}

// A role that is short for somebody leaves that account out, also of answers that others have
// seen.
func answerLeavesOutByRoleBudget(t *testing.T, e Engine) {
	l := newAsked(t, e)
	Ask("before", "bob").As("sales", 6).Gets(t, l, "before 1", 1, 1)
	q := Ask("q", "ana", "bob").LeavingOut()
	q.As("night", 6).Gets(t, l, "q 1", 2, 2)
	if a := q.As("sales", 6).Gets(t, l, "q 2", 1, 1); a.LeftOut != 1 || !slices.Equal(q.Without, []string{"bob"}) {
		t.Errorf("left out %d, %v", a.LeftOut, q.Without)
	}
	WantSpent(t, l, "sales", Amounts{"ana": {8, 4}, "bob": {8, 4}})
	q.Gets(t, l, "q 2", 0, 0)
	q.As("night", 6).Gets(t, l, "q 1", 0, 0)
}

// All are left out: the answer is about nobody and is remembered.
func answerLeavesAllOut(t *testing.T, e Engine) {
	l := e.fresh(t)
	q := Ask("q", "ana", "bob").As("sales", 0).LeavingOut()
	for range 2 {
		if a := q.Gets(t, l, "q 1", 0, 0); a.LeftOut != 2 {
			t.Errorf("%+v", a)
		}
	}
}

// An answer about many, with some left out, is written in batches.
func answerAboutMany(t *testing.T, e Engine) {
	const many = 1000
	l := newAsked(t, e)
	var accounts []string
	for i := range many {
		accounts = append(accounts, fmt.Sprint("account number ", i))
		if i%100 == 0 {
			check(t, l.SetLimit(accounts[i], "m", 0, 0))
		}
	}
	q := Ask("q", accounts...).As("sales", 5).LeavingOut()
	if a := q.Gets(t, l, "q 1", 990, 990); a.LeftOut != 10 {
		t.Errorf("%+v", a)
	}
	if !slices.IsSorted(q.Without) || q.Without[0] != "account number 0" || q.Without[9] != "account number 900" {
		t.Errorf("left out %v", q.Without)
	}
	q.Gets(t, l, "q 1", 0, 0)
	q.As("night", 4).Gets(t, l, "q 1", 0, 990)
	charged := 0
	for _, b := range Balances(t, l) {
		if b.Spent == 4 && b.Reserved == 0 {
			charged++
		}
	}
	if charged != 990 || stored(t, l, "account number 999") != (row{4, 0}) {
		t.Errorf("%d are charged", charged)
	}
}

// A window that is over opens the limit for another question; the same one is remembered, and a
// role budget has no windows.
func answerInWindows(t *testing.T, e Engine) {
	l, clock := e.timed(t)
	check(t, l.SetLimit("ana", "m", 5, 3600))
	Ask("q", "ana").As("sales", 10).Gets(t, l, "q 1", 1, 1)
	Ask("p", "ana").As("sales", 10).fails(t, l)
	clock(time.Hour)
	Ask("q", "ana").As("sales", 10).Gets(t, l, "q 1", 0, 0)
	Ask("p", "ana").As("sales", 10).Gets(t, l, "p 1", 1, 1)
	if b := balance(t, l, "ana"); b.WindowSpent != 4 || b.Spent != 8 {
		t.Errorf("%+v", b)
	}
	check(t, l.SetLimit("aaron", "m", 3, 60)) // is left out, before one with another window
	Ask("left out", "aaron", "bob", "eve").LeavingOut().Gets(t, l, "left out 1", 0, 0)
	check(t, l.SetLimit("bob", "m", 10, 7200))
	check(t, l.SetLimit("eve", "m", 10, 0))
	check(t, l.Charge("f", "m", []ledger.Item{{Account: "bob", Epsilon: 3, Evaluations: 1}}))
	Ask("left out", "aaron", "bob", "eve").LeavingOut().Gets(t, l, "left out 1", 2, 0)
	if b, e := balance(t, l, "bob"), balance(t, l, "eve"); b.WindowSpent != 7 || b.Reopens.Sub(noon) != 3*time.Hour || e.Spent != 4 {
		t.Errorf("%+v, %+v", b, e)
	}
	clock(2 * time.Hour)
	if r := Ask("o", "ana").As("sales", 10).fails(t, l); r.Role != "sales" || r.Left != 2 {
		t.Errorf("%+v", r)
	}
}

func answerErrors(t *testing.T, e Engine) {
	l := newAsked(t, e)
	unable := Ask("q", "ana").Question
	unable.Draw = nil
	_, err := l.Answer(t.Context(), unable)
	saying(t, "no draw", err, "a question has no way to draw its answer")
	q := Ask("q", "*")
	_, err = l.Answer(t.Context(), q.Question)
	saying(t, "everyone", err, "account '*' stands for every account that is not named and cannot be charged")
	_, err = l.Answer(t.Context(), Ask("q", "ana", "bob", "ana").Question)
	saying(t, "twice", err, "a question is about account 'ana' twice")
	_, err = l.Answer(t.Context(), Ask("q", "ana").Owing(0, 5, 4).Question)
	saying(t, "too much due", err, "the due part of account 'ana' must be between 0 and its cost of the answer, 0.000000000004")
	_, err = l.Quote(t.Context(), q.Question)
	saying(t, "everyone", err, "account '*' stands for every account that is not named and cannot be charged")
	if e.Alone {
		return // it ends when it is closed
	}
	check(t, l.Close())
	_, err = l.Answer(t.Context(), Ask("q", "ana").Question)
	saying(t, "closed", err, "closed")
	_, err = l.Quote(t.Context(), Ask("q", "ana").Question)
	saying(t, "closed", err, "closed")
}

// A quote leaves the ledger as it is, whatever would happen, and shows a role only answers that it has seen.
func quoteChangesNothing(t *testing.T, e Engine) {
	l := newAsked(t, e)
	look, keys := watch(t, l), []key{{"ana", "m"}, {"bob", "m"}}
	unchanged := func(name string, q *Asking) {
		t.Helper()
		end, before := head(t, l), look(keys...)
		a, err := l.Quote(t.Context(), q.Question)
		if (a.Answer != nil) != a.Seen || err != nil && a.Charged.Accounts+a.RoleCharged.Accounts > 0 || q.Draws > 0 {
			t.Errorf("%s: %+v, %v, %d draws", name, a, err, q.Draws)
		}
		if head(t, l) != end || !maps.Equal(look(keys...), before) {
			t.Errorf("%s: the ledger has changed", name)
		}
	}
	again := func(q Asking) *Asking {
		q.Draws = 0
		return &q
	}
	unchanged("first", Ask("q", "ana").As("sales", 8))
	q := Ask("q", "ana").As("sales", 8)
	q.Gets(t, l, "q 1", 1, 1)
	unchanged("seen", again(*q))
	unchanged("remembered", again(*Ask("q", "ana").As("night", 8)))
	unchanged("new", Ask("p", "ana", "bob").As("sales", 8))
	unchanged("refused", Ask("p", "ana").As("sales", 2))
	unchanged("left out", Ask("p", "ana").As("sales", 2).LeavingOut())
	WantSpent(t, l, "night", Amounts{"ana": {4, 0}})
	WantSpent(t, l, "sales", Amounts{"ana": {4, 4}})
}

var errDraw = errors.New("the worker has gone")

// A draw that fails is told as it is and costs nothing, and the question is not answered.
func drawFails(t *testing.T, e Engine) {
	l := newAsked(t, e)
	for name, failure := range map[string]error{"plain": errDraw, "a refusal": &ledger.RefusalError{Account: "other", Limited: true}} {
		q := Ask("q", "ana").As("sales", 8).Question
		q.Draw = func([]string) ([]byte, error) { return []byte("secret"), failure }
		end := head(t, l)
		a, err := l.Answer(t.Context(), q)
		if err != failure || a.Answer != nil || head(t, l) != end {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	WantSpent(t, l, "sales", Amounts{"ana": {0, 0}})
	Ask("q", "ana").As("sales", 8).Gets(t, l, "q 1", 1, 1)
}

// Answers and role budgets stay when their entries are archived.
func archiveKeepsAnswersAndRoleBudgets(t *testing.T, e Engine) {
	l := newAsked(t, e)
	path := filepath.Join(t.TempDir(), "archive")
	q := Ask("q", "ana", "bob")
	asks := func(name string) { Ask(name, "ana").As("sales", 100).Gets(t, l, name+" 1", 1, 1) }
	check(t, l.SetLimit("*", "m", 100, 0))
	q.As("sales", 100).Gets(t, l, "q 1", 2, 2)
	for i := range 3 { // sums are carried over again
		asks(fmt.Sprint(i))
		q.As(fmt.Sprint("role ", i), 4).Gets(t, l, "q 1", 0, 2)
		moved, err := l.Archive(path, time.Now().Add(time.Hour))
		if check(t, err); moved == 0 {
			t.Error("nothing was archived")
		}
		check(t, verify(l, path, nil))
		q.As("sales", 100).Gets(t, l, "q 1", 0, 0)
		WantSpent(t, l, "sales", Amounts{"ana": {8 + 4*budget.Amount(i), 8 + 4*budget.Amount(i)}, "bob": {4, 4}})
		WantSpent(t, l, "role 0", Amounts{"bob": {4, 4}})
	}
	if all := Balances(t, l); len(all) != 3 {
		t.Errorf("the balances %+v", all)
	}
	for _, c := range charges(t, l) {
		if c.Unit != "m" {
			t.Errorf("an event that was none: %+v", c)
		}
	}
}
