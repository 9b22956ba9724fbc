package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/geosql/geosql/internal/audit/bound"
	"github.com/geosql/geosql/internal/audit/host"
)

// How many pairs of draws each test of independence takes.
const (
	manyPairs = 1 << 11
	fewPairs  = 1 << 9 // where trials are few or slow; enough to show a draw that is used twice
)

// pairs returns how many pairs of draws a test of independence of the attack takes.
func (p *probe) pairs() int {
	if p.fixture.sealed != nil || p.slow {
		return fewPairs
	}
	return manyPairs
}

// measureSpeed notes whether many pairs would take more than the attack's share of the time.
func (p *probe) measureSpeed(ctx context.Context) error {
	begun := time.Now()
	_, err := p.answers(ctx, p.session, checkTrials)
	p.slow = time.Since(begun)/checkTrials*manyPairs*2*dependences > p.run.share()
	return err
}

// A draw that is used twice, or a stream of randomness that begins anew, makes answers depend on each other. The
// claims of two answers add up only if they do not. Each way to get two answers about the same secret is tested.
var ways = []struct {
	name string
	draw func(*probe, context.Context) ([][2]bound.Outcome, error)
}{
	{"within a row", (*probe).pairsInRow},
	{"in neighbouring rows", (*probe).pairsOfRows},
	{"in two statements", (*probe).pairsOfStatements},
	{"on two connections", (*probe).pairsOfConnections},
	{"in a process and its fork", (*probe).pairsOfFork},
	{"about overlapping rows", (*probe).pairsOfSets},
}

// dependences is how many tests of independence a function has.
const dependences = 6

// checkDependence tests whether two answers about the same secret are independent.
func (p *probe) checkDependence(ctx context.Context) error {
	if !p.first {
		return nil
	}
	if err := p.measureSpeed(ctx); err != nil {
		return err
	}
	for _, way := range ways {
		pairs, err := way.draw(p, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		if len(pairs) == 0 {
			continue
		}
		if lower := dependence(pairs, p.run.alpha); lower > 0 {
			p.violated(Violation{Check: dependent, Lower: lower, Draws: len(pairs),
				What: fmt.Sprintf("two answers %s depend on each other: together they are at least e^%.3g times as likely as apart", way.name, lower)})
		}
	}
	return nil
}

// dependence bounds from below how much likelier some pairs are as drawn than with partners from other runs.
func dependence(pairs [][2]bound.Outcome, alpha float64) float64 {
	learning, counted := bound.Halves(bound.Dependence(pairs, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))))
	event := bound.Learn(bound.ByInput(learning), alpha)
	return bound.Measure(event, counted).Epsilon(event.Likelier, alpha)
}

// answers draws answers about the first input.
func (p *probe) answers(ctx context.Context, s host.Session, n int) (list []bound.Outcome, err error) {
	p.pay(0, n)
	return outcomes(ctx, s, p.query(0, p.take(0, n)))
}

// outcomes returns the answers of a statement.
func outcomes(ctx context.Context, s host.Session, sql string) (list []bound.Outcome, err error) {
	err = s.Query(ctx, sql, func(row []any) error {
		list = append(list, outcome(row))
		return nil
	})
	return list, err
}

// pairsInRow draws two answers in each row. SQLite takes two aggregates that are written alike for one, so the second
// is written in another way.
func (p *probe) pairsInRow(ctx context.Context) (pairs [][2]bound.Outcome, err error) {
	if p.alike == "" {
		return nil, nil
	}
	t := p.take(0, p.pairs())
	p.pay(0, p.pairs())
	p.pay(0, p.pairs())
	err = p.session.Query(ctx, p.queryFor(p.answer+", "+p.alike, 0, t), func(row []any) error {
		pairs = append(pairs, [2]bound.Outcome{outcome(row[:len(row)/2]), outcome(row[len(row)/2:])})
		return nil
	})
	return pairs, err
}

// pairsOfRows pairs each row with the next.
func (p *probe) pairsOfRows(ctx context.Context) (pairs [][2]bound.Outcome, err error) {
	list, err := p.answers(ctx, p.session, 2*p.pairs())
	for i := 0; i+1 < len(list); i += 2 {
		pairs = append(pairs, [2]bound.Outcome{list[i], list[i+1]})
	}
	return pairs, err
}

// pairsOfStatements pairs the rows of two statements.
func (p *probe) pairsOfStatements(ctx context.Context) ([][2]bound.Outcome, error) {
	return p.zip(ctx, p.session, p.session)
}

// pairsOfConnections pairs the rows of two connections that have drawn nothing before.
func (p *probe) pairsOfConnections(ctx context.Context) ([][2]bound.Outcome, error) {
	var fresh [2]host.Session
	for i := range fresh {
		s, err := p.database.Connect(ctx)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		fresh[i] = s
	}
	return p.zip(ctx, fresh[0], fresh[1])
}

// zip pairs the rows of two statements.
func (p *probe) zip(ctx context.Context, s, t host.Session) ([][2]bound.Outcome, error) {
	a, err := p.answers(ctx, s, p.pairs())
	if err != nil {
		return nil, err
	}
	b, err := p.answers(ctx, t, p.pairs())
	return pairUp(a, b), err
}

// pairUp pairs two lists.
func pairUp(a, b []bound.Outcome) (pairs [][2]bound.Outcome) {
	for i := range min(len(a), len(b)) {
		pairs = append(pairs, [2]bound.Outcome{a[i], b[i]})
	}
	return pairs
}

// forks is how often a process is forked, unless its fork refuses. One that does not may hang after a while, so each
// draws little.
const forks = 16

// pairsOfFork pairs the rows of a process with those of its fork, where the host can fork.
func (p *probe) pairsOfFork(ctx context.Context) (pairs [][2]bound.Outcome, err error) {
	s, ok := p.session.(host.Forker)
	if !ok {
		return nil, nil
	}
	for range forks {
		rows, err := s.Fork(ctx, p.query(0, p.take(0, p.pairs()/forks)))
		if err != nil {
			return nil, err
		}
		p.pay(0, len(rows[0])+len(rows[1]))
		for i := range min(len(rows[0]), len(rows[1])) {
			pairs = append(pairs, [2]bound.Outcome{outcome(rows[0][i]), outcome(rows[1][i])})
		}
		if len(rows[1]) == 0 {
			break
		}
	}
	return pairs, nil
}
