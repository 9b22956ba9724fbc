package file_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// planted are processes that do forbidden things. Each of them answers once
// for account ana.
var planted = []*scenario{
	{name: "answers before it charges", players: []play{
		answerAnd(func(*file.Ledger) error { return nil }),
	}},
	{name: "refunds what it has answered", players: []play{
		answerAnd(func(l *file.Ledger) error {
			if err := charge(l, "ana", "m"); err != nil {
				return err
			}
			return l.Refund("ana", "m", half)
		}),
	}},
	{name: "shows an answer before it is stored", players: []play{
		func(dir string, say reporter) error {
			l, err := file.Open(ledgerFile(dir), false)
			if err != nil {
				return err
			}
			q := ledger.Question{Function: "f", Unit: "m", Members: []ledger.Member{{Account: "ana", Epsilon: half, Due: half, RoleDue: half, Evaluations: 1}}}
			q.Draw = func([]string) ([]byte, error) {
				if err := say.answer(time.Now().UnixMicro(), half, "m", "ana"); err != nil {
					return nil, err
				}
				say.ready()
				select {} // killed between draw and commit
			}
			_, err = l.Answer(context.Background(), q)
			return err
		},
	}},
	{name: "says that a limit is set and does not", players: []play{
		func(_ string, say reporter) error {
			say.ready()
			say.limit("set", setting{7, 0}, key{"ana", "m"})
			select {}
		},
	}},
	{name: "charges four times", players: []play{
		answerAnd(func(l *file.Ledger) error {
			for range 4 {
				if err := charge(l, "ana", "m"); err != nil {
					return err
				}
			}
			return nil
		}),
	}},
}

func charge(l *file.Ledger, account string, unit budget.Unit) error {
	return l.Charge("f", unit, []ledger.Item{{Account: account, Epsilon: half, Evaluations: 1}})
}

func answerAnd(then func(*file.Ledger) error) play {
	return func(dir string, say reporter) error {
		l, err := file.Open(ledgerFile(dir), false)
		if err != nil {
			return err
		}
		if err := say.answer(time.Now().UnixMicro(), half, "m", "ana"); err != nil {
			return err
		}
		if err := then(l); err != nil {
			return err
		}
		say.ready()
		select {}
	}
}

// The judge must notice each of the planted processes.
func TestCrashJudgeNotices(t *testing.T) {
	want := []string{"charged 0 for answers", "charged 0 for answers", "charged 0 for answers", "the limit of", "wastes too much"}
	for i, s := range planted {
		dir := t.TempDir()
		prepareScan(t, dir)
		s.eps, s.most, s.span = half, exactly, span
		before, err := readState(ledgerFile(dir))
		check(t, err)
		told := newTestimony()
		s.kill(t, dir, &told)
		after, _, err := recovered(dir, nil)
		check(t, err)
		v := judge(s, before, after, told)
		if len(v.faults) != 1 || !strings.Contains(v.faults[0].Error(), want[i]) || (i < 3) != (v.uncharged == 1) {
			t.Errorf("%s: %+v", s.name, v)
		}
	}
}

// It must notice a window that lost an amount granted in it, one that holds too
// much, and accounts that were not charged together.
func TestCrashJudgeNoticesWindows(t *testing.T) {
	k := key{windowed + "0", "kWh"}
	s := &scenario{window: 4 * half}
	seen := testimony{answers: map[key][]answer{k: {{99, half}, {100, half}, {120, half}}}}
	for spent, wrong := range map[budget.Amount]bool{half: true, 2 * half: false, 3 * half: false, 5 * half: true} {
		after := state{balances: map[key]standing{k: {spent: int64(5 * half), windowStart: 100, windowSpent: int64(spent)}}}
		if faults := judgeWindows(s, after, seen); (len(faults) > 0) != wrong {
			t.Errorf("%v in the window: %v", spent, faults)
		}
	}
	together := state{balances: map[key]standing{{"b0", "kWh"}: {spent: 5}, {"b1", "kWh"}: {spent: 5}}}
	check(t, allOrNone(state{}, together))
	together.balances[key{"b2", "kWh"}] = standing{spent: 6}
	if allOrNone(state{}, together) == nil {
		t.Error("accounts that were not charged together were not noticed")
	}
}

// It must notice role budgets that were not charged with their accounts, and accounts that were not
// charged together.
func TestCrashJudgeNoticesRoleBudgets(t *testing.T) {
	after := state{balances: map[key]standing{}, roleBudgets: map[key]int64{}}
	for _, account := range askedAccounts() {
		after.balances[key{account, "m"}] = standing{spent: 5}
		after.roleBudgets[key{account, "m"}] = 5
	}
	check(t, roleBudgetsFollow(state{}, after))
	after.roleBudgets[key{"q3", "m"}] = 4
	if roleBudgetsFollow(state{}, after) == nil {
		t.Error("a role budget that was not charged was not noticed")
	}
	after.balances[key{"q3", "m"}] = standing{spent: 4}
	if roleBudgetsFollow(state{}, after) == nil {
		t.Error("accounts that were not charged together were not noticed")
	}
}

// It must notice an answer that is forgotten, and one that has changed.
func TestCrashPlayerNoticesAnswers(t *testing.T) {
	dir := t.TempDir()
	prepareScan(t, dir)
	l, err := file.Open(ledgerFile(dir), false)
	check(t, err)
	defer l.Close()
	_, err = askAbout(l, "1", func([]string) ([]byte, error) { return []byte("a"), nil })
	check(t, err)
	for line, fits := range map[string]bool{"1\ta": true, "1\tb": false, "2\ta": false} {
		check(t, os.WriteFile(answersFile(dir), []byte(line+"\n"), 0o600))
		if err := sameAsBefore(l, answersFile(dir)); (err == nil) != fits {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// It must notice a ledger that was put back as it was before.
func TestCrashJudgeNoticesAnOlderLedger(t *testing.T) {
	dir := t.TempDir()
	prepareScan(t, dir)
	_, head, err := recovered(dir, nil)
	check(t, err)
	wrong := *head
	wrong.ID++
	if _, _, err := recovered(dir, &wrong); err == nil {
		t.Error(fmt.Sprint("a ledger that did not grow out of its head was not noticed: ", wrong))
	}
}
