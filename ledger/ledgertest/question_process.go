package ledgertest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

func init() {
	clients["ask the same"] = askTheSame
	clients["ask until refused"] = func(l ledger.Ledger, args []string) error {
		return tellGranted(together(func(l ledger.Ledger) (int, error) { return askUntilRefused(l, args[0]) }))(l, nil)
	}
}

// sameQuestions is how many questions all processes ask.
const sameQuestions = 25

// randomly asks a question about ana who owes 1 of its 3, with an answer that nobody draws twice.
func randomly(l ledger.Ledger, key, role string, limit budget.Amount) (string, ledger.Answered, error) {
	q := ledger.Question{
		Function: "dx_sum", Unit: "m", Members: []ledger.Member{{Account: "ana", Epsilon: 3, Due: 1, RoleDue: 1, Evaluations: 1}},
		Role: role, RoleLimit: limit,
		Draw: func([]string) ([]byte, error) { return []byte(rand.Text()), nil },
	}
	copy(q.Key[:], key)
	a, err := l.Answer(context.Background(), q)
	return string(a.Answer), a, err
}

// askTheSame asks from several goroutines, writes the answers of each, and how many were drawn.
func askTheSame(l ledger.Ledger, args []string) error {
	lines, errs := make([]string, callers), make([]error, callers)
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			drawn, answers := 0, make([]string, sameQuestions)
			for i := range answers {
				answer, a, err := randomly(l, fmt.Sprint(i), args[0], sameQuestions)
				if err != nil {
					errs[g] = err
					return
				}
				if answers[i] = answer; !a.Remembered {
					drawn++
				}
			}
			lines[g] = fmt.Sprintln(drawn, strings.Join(answers, ","))
		})
	}
	all.Wait()
	for g, err := range errs {
		if err != nil {
			return err
		}
		fmt.Print(lines[g])
	}
	return nil
}

// The same questions asked by several processes at once are drawn and charged once, everybody
// gets the same answers, and each role pays once.
func processesShareAnswers(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", sameQuestions, 0)) // enough for one draw of each
	var players []*player
	names := []string{"sales", "night", "sales", "night"}
	for _, role := range names {
		players = append(players, l.start(t, "ask the same", role))
	}
	total, answers := 0, ""
	for _, p := range players {
		lines := strings.Split(p.end(), "\n")
		if len(lines) != callers {
			t.Fatalf("told %q", lines)
		}
		for _, line := range lines {
			drawn, got, _ := strings.Cut(line, " ")
			n, err := strconv.Atoi(drawn)
			check(t, err)
			total += n
			if answers == "" {
				answers = got
			}
			if got != answers {
				t.Errorf("answers %s, others got %s", got, answers)
			}
		}
	}
	if total != sameQuestions {
		t.Errorf("%d draws of %d questions", total, sameQuestions)
	}
	for _, role := range names[:2] {
		WantSpent(t, l, role, Amounts{"ana": {sameQuestions, sameQuestions}})
	}
}

// askUntilRefused asks questions that nobody else asks.
func askUntilRefused(l ledger.Ledger, role string) (granted int, err error) {
	for err == nil {
		if _, _, err = randomly(l, rand.Text(), role, askedMost); err == nil {
			granted++
		}
	}
	return granted, unlessRefused(err)
}

// askedMost is the limit of a role for ana.
const askedMost = 150

// Processes with different questions stop exactly at the budget of the account, or of the role.
func processesStopAtTheRoleBudget(t *testing.T, e Engine) {
	e.shared(t)
	for limit, want := range map[budget.Amount]budget.Amount{100: 100, 1000: askedMost} {
		l := e.fresh(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		var players []*player
		for range 3 {
			players = append(players, l.start(t, "ask until refused", "sales"))
		}
		total := 0
		for _, p := range players {
			n, err := strconv.Atoi(p.end())
			check(t, err)
			total += n
		}
		if total != int(want) {
			t.Errorf("limit %d: %d answers", int64(limit), total)
		}
		WantSpent(t, l, "sales", Amounts{"ana": {want, want}})
		check(t, verify(l, "", nil))
	}
}
