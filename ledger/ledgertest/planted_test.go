package ledgertest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// plantedVariable names the mistake that an engine makes, in a process that tests it.
const plantedVariable = "GEOSQL_LEDGERTEST_PLANTED"

// planted are engines that make a mistake each, and the subject with tests that must notice it.
var planted = map[string]struct {
	subject string
	mistake func(ledger.Ledger) ledger.Ledger
}{
	"none":                                 {".*", func(l ledger.Ledger) ledger.Ledger { return l }},
	"grants what it refuses":               {"Limit", func(l ledger.Ledger) ledger.Ledger { return generous{l} }},
	"charges one by one":                   {"Limit", func(l ledger.Ledger) ledger.Ledger { return piecemeal{l} }},
	"charges batches one by one":           {"Contention", func(l ledger.Ledger) ledger.Ledger { return piecemeal{l} }},
	"says that more is left":               {"Limit", func(l ledger.Ledger) ledger.Ledger { return boastful{l} }},
	"replaces limits that hold":            {"Limit", func(l ledger.Ledger) ledger.Ledger { return replacing{l} }},
	"never lowers a limit":                 {"Recall", func(l ledger.Ledger) ledger.Ledger { return raising{l} }},
	"charges once as often as wanted":      {"Limit", func(l ledger.Ledger) ledger.Ledger { return often{l} }},
	"reserves nothing":                     {"Limit", func(l ledger.Ledger) ledger.Ledger { return unreserved{l} }},
	"reserves nothing for statements":      {"Statement", func(l ledger.Ledger) ledger.Ledger { return careless{l} }},
	"returns nothing at a statement's end": {"Statement", func(l ledger.Ledger) ledger.Ledger { return endless{l} }},
	"knows no windows":                     {"Window", func(l ledger.Ledger) ledger.Ledger { return windowless{l} }},
	"remembers no answers":                 {"Question", func(l ledger.Ledger) ledger.Ledger { return forgetful{l} }},
	"draws before it checks":               {"Question", func(l ledger.Ledger) ledger.Ledger { return hasty{l} }},
	"lets roles ask for nothing":           {"Question", func(l ledger.Ledger) ledger.Ledger { return roleless{l} }},
	"leaves traces to everybody":           {"Trace", func(l ledger.Ledger) ledger.Ledger { return open{l} }},
	"forgets states of statements":         {"Lease", func(l ledger.Ledger) ledger.Ledger { return stateless{l} }},
	"lets two traces have a name":          {"Lease", func(l ledger.Ledger) ledger.Ledger { return shared{l} }},
	"breaks leases that are in use":        {"Lease", func(l ledger.Ledger) ledger.Ledger { return breaking{l} }},
	"begins a release for each plan":       {"Release", func(l ledger.Ledger) ledger.Ledger { return planless{l} }},
	"seals nothing":                        {"Release", func(l ledger.Ledger) ledger.Ledger { return unsealed{l} }},
	"finds that all can pay":               {"Release", func(l ledger.Ledger) ledger.Ledger { return hopeful{l} }},
	"records facts one by one":             {"Fact", func(l ledger.Ledger) ledger.Ledger { return factual{l} }},
	"lists charges backwards":              {"History", func(l ledger.Ledger) ledger.Ledger { return backwards{l} }},
	"verifies any head":                    {"History", func(l ledger.Ledger) ledger.Ledger { return trusting{l} }},
	"rounds amounts":                       {"History", func(l ledger.Ledger) ledger.Ledger { return rounding{l} }},
	"takes accounts for each other":        {"Name", func(l ledger.Ledger) ledger.Ledger { return blind{l} }},
	"loses some of many":                   {"Many", func(l ledger.Ledger) ledger.Ledger { return sloppy{l} }},
}

// TestPlanted plants mistakes, one in each process, and demands that the tests notice.
func TestPlanted(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "-test.run", "^TestEngine$/^"+p.subject+"$", "-rapid.nofailfile", "-test.failfast")
			cmd.Env = append(os.Environ(), plantedVariable+"="+name)
			out, err := cmd.CombinedOutput()
			if fails := err != nil; fails != (name != "none") || fails && !strings.Contains(string(out), "--- FAIL: TestEngine/"+p.subject) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestEngine tests the engine that a process is told to test.
func TestEngine(t *testing.T) {
	p, ok := planted[os.Getenv(plantedVariable)]
	if !ok {
		t.Skip("for TestPlanted")
	}
	ledgertest.Run(t, ledgertest.Engine{
		New: func(t testing.TB) string {
			l, err := file.OpenMemory("")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return l.ID()
		},
		Open: func(id string) (ledger.Ledger, error) {
			l, err := file.OpenMemory(id)
			if err != nil {
				return nil, err
			}
			return p.mistake(l), nil
		},
		Alone: true,
	})
}

type generous struct{ ledger.Ledger }

func (l generous) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	err := l.Ledger.Charge(function, unit, items)
	if _, ok := errors.AsType[*ledger.RefusalError](err); ok {
		return nil
	}
	return err
}

type piecemeal struct{ ledger.Ledger }

func (l piecemeal) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	for i := range items {
		if err := l.Ledger.Charge(function, unit, items[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

type boastful struct{ ledger.Ledger }

func (l boastful) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	err := l.Ledger.Charge(function, unit, items)
	if r, ok := errors.AsType[*ledger.RefusalError](err); ok {
		r.Left++
	}
	return err
}

type replacing struct{ ledger.Ledger }

func (l replacing) SetFirstLimit(account string, unit budget.Unit, eps budget.Amount) error {
	return l.SetLimit(account, unit, eps, 0)
}

type raising struct{ ledger.Ledger }

func (l raising) SetLimit(account string, unit budget.Unit, eps budget.Amount, window int64) error {
	if b, err := l.Balance(account, unit); err != nil || eps < b.Limit {
		return err
	}
	return l.Ledger.SetLimit(account, unit, eps, window)
}

type often struct{ ledger.Ledger }

func (l often) ChargeOnce(function string, unit budget.Unit, item ledger.Item) error {
	return l.Charge(function, unit, []ledger.Item{item})
}

type unreserved struct{ ledger.Ledger }

func (l unreserved) Reserve(budget.Unit, []ledger.Item) error { return nil }

type careless struct{ ledger.Ledger }

func (l careless) NewStatement() ledger.Statement { return carelessStatement{l.Ledger.NewStatement()} }

type carelessStatement struct{ ledger.Statement }

func (carelessStatement) Reserve([]ledger.Demand) error { return nil }

type endless struct{ ledger.Ledger }

func (l endless) NewStatement() ledger.Statement { return endlessStatement{l.Ledger.NewStatement()} }

type endlessStatement struct{ ledger.Statement }

func (endlessStatement) End() error { return nil }

type windowless struct{ ledger.Ledger }

func (l windowless) SetLimit(account string, unit budget.Unit, eps budget.Amount, _ int64) error {
	return l.Ledger.SetLimit(account, unit, eps, 0)
}

type forgetful struct{ ledger.Ledger }

func (l forgetful) Answer(ctx context.Context, q ledger.Question) (ledger.Answered, error) {
	_, _ = rand.Read(q.Key[:])
	return l.Ledger.Answer(ctx, q)
}

type hasty struct{ ledger.Ledger }

func (l hasty) Answer(ctx context.Context, q ledger.Question) (ledger.Answered, error) {
	if q.Draw == nil || q.LeaveOut {
		return l.Ledger.Answer(ctx, q)
	}
	answer, err := q.Draw(nil)
	q.Draw = func([]string) ([]byte, error) { return answer, err }
	return l.Ledger.Answer(ctx, q)
}

type roleless struct{ ledger.Ledger }

func (l roleless) Answer(ctx context.Context, q ledger.Question) (ledger.Answered, error) {
	q.Role = ""
	return l.Ledger.Answer(ctx, q)
}

type open struct{ ledger.Ledger }

func (l open) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	_, _ = l.RestartTrace(name, account, unit)
	return l.Ledger.OpenTrace(name, account, unit, function)
}

type stateless struct{ ledger.Ledger }

func (l stateless) NewStatement() ledger.Statement {
	return statelessStatement{l.Ledger.NewStatement()}
}

type statelessStatement struct{ ledger.Statement }

func (s statelessStatement) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	t, state, lost, err := s.Statement.OpenTrace(name, account, unit, function)
	return statelessTrace{t}, state, lost, err
}

type statelessTrace struct{ ledger.Trace }

func (t statelessTrace) Close([]byte) error { return t.Trace.Close(nil) }

type shared struct{ ledger.Ledger }

func (l shared) NewStatement() ledger.Statement { return sharedStatement{l.Ledger.NewStatement()} }

type sharedStatement struct{ ledger.Statement }

func (s sharedStatement) OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error) {
	t, state, lost, err := s.Statement.OpenTrace(name, account, unit, function)
	if _, ok := errors.AsType[*ledger.TraceTakenError](err); ok {
		return s.Statement.OpenTrace(name+" again", account, unit, function)
	}
	return t, state, lost, err
}

type breaking struct{ ledger.Ledger }

func (l breaking) RestartTrace(name, account string, unit budget.Unit) (bool, error) {
	_, err := l.Ledger.RestartTrace(name, account, unit)
	return true, err
}

type planless struct{ ledger.Ledger }

func (l planless) OpenRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	return l.Ledger.OpenRelease(id+plan.Settings+plan.Digest+plan.Output, plan)
}

type unsealed struct{ ledger.Ledger }

func (l unsealed) OpenRelease(id string, plan ledger.ReleasePlan) (ledger.Release, error) {
	r, err := l.Ledger.OpenRelease(id, plan)
	return unsealedRelease{r}, err
}

type unsealedRelease struct{ ledger.Release }

func (unsealedRelease) Seal(string) error { return nil }

type hopeful struct{ ledger.Ledger }

func (hopeful) CannotPay(budget.Unit, iter.Seq2[ledger.Item, error], *budget.Amount, func(ledger.Item, ledger.Standing)) error {
	return nil
}

type factual struct{ ledger.Ledger }

func (l factual) Record(facts ...ledger.Fact) error {
	for _, f := range facts {
		if err := l.Ledger.Record(f); err != nil {
			return err
		}
	}
	return nil
}

type backwards struct{ ledger.Ledger }

func (l backwards) Charges() iter.Seq2[ledger.Charge, error] {
	return func(yield func(ledger.Charge, error) bool) {
		var all []ledger.Charge
		for c, err := range l.Ledger.Charges() {
			if err != nil {
				yield(c, err)
				return
			}
			all = append(all, c)
		}
		for _, c := range slices.Backward(all) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

type trusting struct{ ledger.Ledger }

func (l trusting) Verify(archive string, _ *ledger.Head, _ func(float64) error) (ledger.Verified, error) {
	return l.Ledger.Verify(archive, nil, nil)
}

type rounding struct{ ledger.Ledger }

func (l rounding) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	rounded := slices.Clone(items)
	for i := range rounded {
		rounded[i].Epsilon = budget.Amount(float64(rounded[i].Epsilon))
	}
	return l.Ledger.Charge(function, unit, rounded)
}

type blind struct{ ledger.Ledger }

func (l blind) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	seen := slices.Clone(items)
	for i := range seen {
		seen[i].Account = strings.TrimSpace(seen[i].Account)
	}
	return l.Ledger.Charge(function, unit, seen)
}

type sloppy struct{ ledger.Ledger }

func (l sloppy) Charge(function string, unit budget.Unit, items []ledger.Item) error {
	return l.Ledger.Charge(function, unit, items[:min(len(items), 9999)])
}
