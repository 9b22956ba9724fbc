package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/geosql/geosql/audit/bound"
	"github.com/geosql/geosql/audit/host"
)

// Sizes of samples.
const (
	learnDraws = 1 << 15 // trials to learn the event on, or as many as a quarter of the attack's time allows
	leastLearn = 1 << 10 // but no fewer
	mostDraws  = 1 << 24 // trials to count it in
	firstLook  = 1 << 12
	looks      = 14 // at 2^12, 2^13 .. trials, and at the end
)

// slice is how long an attack works before another has its turn.
const slice = 200 * time.Millisecond

// A probe is the state of an attack.
type probe struct {
	*placed
	run   *runner
	first bool          // of its function: it makes the checks that one attack is enough for
	taken bool          // by a worker
	used  time.Duration // of the workers' time

	database host.Database
	session  host.Session

	checked bool
	charged [2]float64 // to the account whose secrets differ, for a trial with either input
	spent   float64    // what the draws so far should have cost

	learned bool
	draws   [2][]bound.Outcome // to learn from
	count   counter
	counted int // trials
	batch   int // trials of a statement
	next    [2]int
	over    bool // the tables have no more trials
	look    int

	violations []Violation
}

// tests returns how many statistical tests the attack makes.
func (p *probe) tests() int {
	if p.first {
		return looks + dependences
	}
	return looks
}

// complete reports whether the attack has all the draws that it makes.
func (p *probe) complete() bool { return p.over || p.counted >= mostDraws }

// step works on the attack for a while.
func (p *probe) step(ctx context.Context) (err error) {
	if p.session == nil {
		if p.database, p.session, err = p.run.connect(ctx, p); err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
		p.batch = 64
	}
	if !p.checked {
		if err := p.check(ctx); err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
		p.checked = true
		return nil
	}
	for end := time.Now().Add(slice); time.Now().Before(end) && !p.complete(); {
		if err := p.draw(ctx); err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
	}
	return nil
}

// draw makes a batch of trials, whose inputs are chosen by a fair coin.
func (p *probe) draw(ctx context.Context) error {
	total := p.batch
	if p.fixture.sealed != nil {
		total = min(total, sealedTrials-max(p.next[0], p.next[1]))
	}
	begun := time.Now()
	heads := coins(total)
	for input, n := range [2]int{heads, total - heads} {
		if err := p.drawFrom(ctx, input, n); err != nil {
			return err
		}
	}
	if time.Since(begun) < slice/4 {
		p.batch = min(2*p.batch, plainTrials)
	}
	p.over = p.over || p.fixture.sealed != nil && max(p.next[0], p.next[1]) >= sealedTrials
	switch {
	case !p.learned && p.enough(len(p.draws[0])+len(p.draws[1])):
		p.count = learn(p.draws, p.claim.kind, p.run.alpha, p.hints)
		p.learned, p.draws = true, [2][]bound.Outcome{}
	case p.learned && (p.complete() || p.counted >= firstLook<<p.look):
		return p.evaluate(ctx)
	}
	return nil
}

// enough reports whether a number of draws is enough to learn from. It depends on the time that they took, and not
// on what they are.
func (p *probe) enough(draws int) bool {
	most := learnDraws
	if p.fixture.sealed != nil {
		most = sealedTrials / 4
	}
	return draws >= most || draws >= leastLearn && p.used > p.run.share()/4
}

// coins returns how many of n fair coins show heads.
func coins(n int) (heads int) {
	for ; n >= 64; n -= 64 {
		heads += bits.OnesCount64(rand.Uint64())
	}
	return heads + bits.OnesCount64(rand.Uint64()&(1<<n-1))
}

// drawFrom makes trials with an input.
func (p *probe) drawFrom(ctx context.Context, input, n int) error {
	t := trials{p.next[input], n}
	p.next[input] += n
	rows := 0
	err := p.session.Query(ctx, p.query(input, t), func(row []any) error {
		rows++
		if o := outcome(row); !p.learned {
			p.draws[input] = append(p.draws[input], o)
		} else {
			p.count.add(input, o)
			p.counted++
		}
		return nil
	})
	if err == nil && rows != n {
		err = fmt.Errorf("%d trials with input %d have %d answers", n, input, rows)
	}
	p.spent += float64(n) * p.charged[input]
	return err
}

// evaluate looks at the counts.
func (p *probe) evaluate(ctx context.Context) error {
	p.look++
	if err := p.checkSpent(ctx); err != nil {
		return err
	}
	if lower, limit := p.lower(), p.limit(); lower > limit*(1+1e-9) {
		p.violated(Violation{
			Check: loss,
			What:  fmt.Sprintf("the loss is at least %.4g, and %.4g was charged for: %s", lower, limit, p.count.name()),
			Lower: lower, Limit: limit, Draws: p.counted,
		})
	}
	return nil
}

// lower returns the lower bound of the loss.
func (p *probe) lower() float64 {
	if p.counted == 0 {
		return 0
	}
	return p.count.lower(p.run.alpha)
}

// limit returns the largest loss that the charges allow. Where they differ between the inputs, the larger holds.
func (p *probe) limit() float64 { return p.claim.limit(max(p.charged[0], p.charged[1])) }

// checkSpent compares what the ledger says with what the trials should have cost.
func (p *probe) checkSpent(ctx context.Context) error {
	spent, err := p.database.Spent(ctx, p.accounts(), p.unit)
	if err != nil {
		return err
	}
	if p.claim.most == 0 && math.Abs(spent-p.spent) > 1e-6*p.spent {
		p.violated(Violation{Check: charges, What: fmt.Sprintf("the ledger has %v spent, and the same statements charged %v before", spent, p.spent)})
	}
	return nil
}

// violated notes what a check has found, once for each check.
func (p *probe) violated(v Violation) {
	if slices.ContainsFunc(p.violations, func(w Violation) bool { return w.Check == v.Check }) {
		return
	}
	v.Function, v.Pair = p.function, p.pair
	p.violations = append(p.violations, p.run.violated(v))
}

// close ends the attack's connection.
func (p *probe) close() {
	if p.session != nil {
		p.session.Close()
	}
}

// errStop ends a query early.
var errStop = errors.New("stop")
