package audit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/audit/host"
)

// runFake audits the function of a fake host until a violation is found, or the time is over.
func runFake(t *testing.T, h host.Host, d time.Duration) (*Report, error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r := newRunner(Config{Host: h, Time: d, Workers: 1, Found: func(Violation) { stop() }}, []*placed{{attack{
		function: "f", pair: "0 and 10", fixture: &fixture{name: "fake", release: "g()"},
		inputs: [2][]string{{"{ana}, 0"}, {"{ana}, 10"}}, columns: "account, x",
		answer: "f(account, x)", alike: "f(+account, x)", from: "FROM {rows}",
		unit: "u", claim: pure(10),
		grid: func(row []any) bool { x, ok := row[0].(float64); return !ok || x == float64(int64(x)) },
	}, 0}}, t.TempDir())
	defer r.close()
	err := r.run(ctx)
	return r.report(), err
}

func TestARightFunctionPasses(t *testing.T) {
	for name, newFake := range map[string]func() *fake{
		"as it should be":          func() *fake { return &fake{} },
		"more noise than it needs": func() *fake { return &fake{rate: 0.1} },
		"answers of random types": func() *fake {
			return &fake{answer: func(_ int, x, noise int64) any {
				if (x+noise)%7 == 0 {
					return nil
				}
				return x + noise
			}}
		},
		"failures that depend on nothing secret": func() *fake {
			statements := 0
			return &fake{fails: func(int) error {
				if statements++; statements < 200 {
					return nil // the checks before the draws
				}
				return sometimes(0.05)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for d := time.Second; d <= time.Minute; d *= 2 { // until there was time to measure
				report, err := runFake(t, newFake(), d)
				if err != nil {
					t.Fatal(err)
				}
				if report.Violated {
					t.Fatalf("%+v", report.Functions)
				}
				if report.Functions[0].Draws > 0 {
					return
				}
			}
			t.Error("nothing was measured")
		})
	}
}

func TestAWrongFunctionIsFound(t *testing.T) {
	broken := errors.New("x is not in its universe")
	for name, test := range map[string]struct {
		fake
		finds Check
	}{
		"the scale is too small by a tenth": {fake{rate: 0.22}, loss},
		"there is no noise":                 {fake{noise: func(*fakeSession, int) int64 { return 0 }}, loss},
		"tails are cut off":                 {fake{noise: func(s *fakeSession, _ int) int64 { return max(-15, min(s.geometric(), 15)) }}, loss},
		"an answer off the grid":            {fake{answer: func(_ int, x, noise int64) any { return float64(x+noise) + 0.5 }}, support},
		"the type tells the input": {fake{answer: func(input int, x, noise int64) any {
			if input == 1 {
				return float64(x + noise)
			}
			return x + noise
		}}, types},
		"an error tells the input": {fake{fails: func(input int) error {
			if input == 1 {
				return broken
			}
			return nil
		}}, failures},
		"an error tells the input now and then": {fake{fails: func(input int) error { return sometimes(0.1 * float64(input)) }}, loss},
		"the number of rows tells the input":    {fake{rows: func(input, n int) int { return n + input }}, failures},
		"the charge tells the input":            {fake{charge: func(input, n int) float64 { return 0.2 * float64(n-input) }}, charges},
		"an answer is free":                     {fake{charge: func(_, n int) float64 { return 0 }}, charges},
		"large statements are cheaper":          {fake{charge: func(_, n int) float64 { return 0.2 * float64(min(n, 1000)) }}, charges},
		"a refusal tells the input": {fake{refusal: func(input int) error {
			if input == 1 {
				return broken
			}
			return errors.New("refused")
		}}, refusals},
		"a blocked account has answers":       {fake{refusal: func(int) error { return nil }}, refusals},
		"a dry run draws":                     {fake{forecast: func(s *fakeSession, _ int) float64 { return 0.2 * float64(s.geometric()&1) }}, dryRunning},
		"a dry run tells the input":           {fake{forecast: func(_ *fakeSession, input int) float64 { return 0.2 * float64(1+input) }}, dryRunning},
		"a dry run says less than is charged": {fake{forecast: func(*fakeSession, int) float64 { return 0.1 }}, dryRunning},
		"noise is reused within a row": {fake{noise: func(s *fakeSession, column int) int64 {
			if column == 1 {
				return s.last
			}
			return s.geometric()
		}}, dependent},
		"noise is reused in the next row": {fake{noise: func(s *fakeSession, column int) int64 {
			if s.row%2 == 1 && column == 0 {
				return s.last
			}
			return s.geometric()
		}}, dependent},
		"a statement begins the same stream": {fake{noise: func(s *fakeSession, column int) int64 {
			if s.row == 0 && column == 0 {
				s.random = seeded(1)
			}
			return s.geometric()
		}}, dependent},
		"a connection begins the same stream": {fake{noise: func(s *fakeSession, column int) int64 {
			if s.statements == 1 && s.row == 0 && column == 0 {
				s.random = seeded(2)
			}
			return s.geometric()
		}}, dependent},
		"a child goes on with the stream of its parent": {fake{forks: func(s *fakeSession) *fakeSession {
			s.random = seeded(3)
			return &fakeSession{fakeDatabase: s.fakeDatabase, random: seeded(3)}
		}}, dependent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for d := 20 * time.Second; ; d *= 3 { // a machine that does more besides needs longer
				report, err := runFake(t, &test.fake, d)
				if err != nil {
					t.Fatal(err)
				}
				found := report.Functions[0].Attacks[0].Violations
				if report.Violated && slices.ContainsFunc(found, func(v Violation) bool { return v.Check == test.finds }) {
					return
				}
				if report.Violated || d > time.Minute {
					t.Fatalf("found %+v, want %s", found, test.finds)
				}
			}
		})
	}
}

// A host that fails is no violation.
func TestAHostThatFailsIsNoViolation(t *testing.T) {
	report, err := runFake(t, &fake{fails: func(int) error { return errors.New("disk full") }}, time.Second)
	if err == nil || report.Violated {
		t.Errorf("error %v, violated %v", err, report.Violated)
	}
}
