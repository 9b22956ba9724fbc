package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// soonAfter is how much longer than its context a call may take here.
const soonAfter = 20 * time.Second

// within demands that a call ends soon after its context, which ends after a time, and returns its error.
func within(t *testing.T, after time.Duration, call func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	began := time.Now()
	err := call(ctx)
	if took := time.Since(began); took > after+soonAfter {
		t.Errorf("a call took %v, and its context %v", took, after)
	}
	return err
}

// linked opens a ledger over a link that can be held up, and another without it.
func linked(t *testing.T) (l, direct *Ledger, link *pgtest.Link) {
	s := pgtest.Start(t)
	where := s.Database(t)
	direct = open(t, where)
	check(t, direct.SetLimit("*", unit, 100*one, 0))
	link, over := s.Link(t, where)
	l, err := Open(over, false)
	check(t, err)
	t.Cleanup(func() { l.Close() })
	check(t, l.Charge("f", unit, items(tenth, "known")))
	return l, direct, link
}

// asking is a question about an account.
func asking(name, account string) ledger.Question {
	q := ledgertest.Ask(name, account).Question
	q.Unit = unit
	return q
}

func spent(t *testing.T, l *Ledger, account string) budget.Amount {
	t.Helper()
	b, err := l.Balance(account, unit)
	check(t, err)
	return b.Spent + b.Reserved
}

// Calls to a server that says nothing end with their contexts. Nothing is charged, and service goes on with the link.
func TestSilentServer(t *testing.T) {
	l, direct, link := linked(t)
	question := func(i int) ledger.Question {
		return asking(fmt.Sprint("silent ", i), fmt.Sprint("ana ", i))
	}
	link.Stop()
	patient := make(chan error)
	go func() {
		_, err := l.Answer(context.Background(), question(0))
		patient <- err
	}()
	for i, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := l.Answer(ctx, question(1)); return err },
		func(ctx context.Context) error { _, err := l.Quote(ctx, question(2)); return err },
		func(ctx context.Context) error { _, err := l.Facts(ctx, 0); return err },
		l.Ready,
	} {
		if err := within(t, 500*time.Millisecond, call); err == nil {
			t.Errorf("call %d succeeds", i)
		}
	}
	link.Go()
	check(t, within(t, 10*time.Second, l.Ready))
	check(t, <-patient)
	if _, err := l.Answer(t.Context(), question(3)); err != nil {
		t.Error(err)
	}
	for i, want := range []bool{true, false, false, true} {
		if got := spent(t, direct, fmt.Sprint("ana ", i)) > 0; got != want {
			t.Errorf("account %d has paid: %v", i, got)
		}
	}
}

// A link that is lost between the draw of an answer and its commit leaves the caller in doubt. Whether or not the commit
// arrives later, the same question is answered once and charged once.
func TestSilentCommit(t *testing.T) {
	l, direct, link := linked(t)
	for i := range 3 {
		account := fmt.Sprint("bo ", i)
		q := asking(fmt.Sprint("commit ", i), account)
		draw := q.Draw
		ctx, giveUp := context.WithCancel(t.Context())
		q.Draw = func(out []string) ([]byte, error) {
			link.Stop()
			time.AfterFunc(time.Second, giveUp) // the commit is on its way then
			return draw(out)
		}
		_, err := l.Answer(ctx, q)
		if !errors.Is(err, ledger.ErrInDoubt) {
			t.Errorf("the error is %v", err)
		}
		link.Go()
		q.Draw = draw
		a, err := l.Answer(t.Context(), q)
		check(t, err)
		again, err := l.Answer(t.Context(), q)
		check(t, err)
		if !again.Remembered || string(again.Answer) != string(a.Answer) {
			t.Errorf("%q, and then %q", a.Answer, again.Answer)
		}
		if got, want := spent(t, direct, account), q.Members[0].Due; got != want {
			t.Errorf("%v is spent, want %v", got, want)
		}
	}
	_, err := direct.Verify("", nil, nil)
	check(t, err)
}

// A caller who gives up leaves the transaction that others wait for with it.
func TestOneOfSeveralGivesUp(t *testing.T) {
	l, direct, link := linked(t)
	link.Stop()
	const callers = 8
	errs := make(chan error)
	for i := range callers {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), []time.Duration{300 * time.Millisecond, time.Minute}[i%2])
			defer cancel()
			_, err := l.Answer(ctx, asking(fmt.Sprint("several ", i), fmt.Sprint("cy ", i)))
			errs <- err
		}()
	}
	failed := 0
	for range callers / 2 {
		if err := <-errs; err != nil {
			failed++
		}
	}
	link.Go()
	for range callers / 2 {
		check(t, <-errs)
	}
	paid := 0
	for i := range callers {
		if spent(t, direct, fmt.Sprint("cy ", i)) > 0 {
			paid++
		}
	}
	if failed != callers/2 || paid != callers/2 {
		t.Errorf("%d gave up, and %d accounts have paid", failed, paid)
	}
}
