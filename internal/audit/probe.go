package audit

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/geosql/geosql/internal/audit/bound"
	"github.com/geosql/geosql/internal/audit/host"
)

// Sizes of samples.
const (
	learnDraws = 1 << 15               // trials to learn the event on, or as many as a quarter of the attack's time allows
	leastLearn = 1 << 11               // but no fewer
	learnTime  = 20 * time.Microsecond // about the time to learn from a trial
	mostDraws  = 1 << 24               // trials to count it in
	firstLook  = 1 << 9
	looks      = 2*(24-9) + 2 // at 2^9, 2^9.5, 2^10 .. 2^24 trials, and when the tables have no more
)

// largestLimit is the budget of an account of an attack: the largest limit that there is.
const largestLimit = 9_000_000

// slice is how long an attack works before another has its turn.
const slice = 200 * time.Millisecond

// A probe is the state of an attack.
type probe struct {
	*placed
	run   *runner
	first bool          // of its function: it makes the checks that one attack is enough for
	taken bool          // by a worker
	used  time.Duration // of the workers' time
	slow  bool          // its draws are
	share float64       // of its limit, which it promises to show, or has shown; of the runner

	database host.Database
	session  host.Session

	checked bool
	charged [2]float64 // to the account with different secrets, for a trial with either input
	spent   float64    // the right charge for the draws so far
	unsure  bool       // a statement has failed, or was interrupted, after it may have charged something
	columns int        // of an answer

	learned bool
	draws   [2][]bound.Outcome // to learn from
	count   counter
	counted int // trials
	batch   int // trials of a statement
	next    [2]int
	over    bool // nothing more is to be learned
	look    int
	shown   float64 // lower bound of the loss at the last look

	single          bool // each trial has a statement of its own
	tried, failures int  // of those

	fine     []int64 // answers of the first input on a smooth lattice
	collided int     // how often they were tested

	violations []Violation
}

// tests returns how many statistical tests the attack makes.
func (p *probe) tests() int {
	n := looks
	if p.first {
		n += dependences
	}
	if p.smooth != nil {
		n += len(smoothLooks) + 1 // and at the end
	}
	return n
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
			p.unsure = true
			return fmt.Errorf("%v: %w", p, err)
		}
	}
	return nil
}

// draw makes a batch of trials. A fair coin chooses their inputs.
func (p *probe) draw(ctx context.Context) error {
	total := p.batch
	if p.single {
		total = min(total, 64)
	}
	if p.fixture.sealed != nil {
		total = min(total, sealedTrials-max(p.next[0], p.next[1]))
	}
	if p.spent+float64(total)*max(p.charged[0], p.charged[1]) > largestLimit {
		p.over = true
		return nil
	}
	begun := time.Now()
	heads := coins(total)
	var batch [2]sample
	for input, n := range [2]int{heads, total - heads} {
		var err error
		if batch[input], err = p.sample(ctx, input, n); err != nil {
			return p.fail(ctx, err)
		}
	}
	p.keep(batch)
	if time.Since(begun) < slice/4 {
		p.batch = min(2*p.batch, plainTrials)
	}
	p.over = p.over || p.fixture.sealed != nil && max(p.next[0], p.next[1]) >= sealedTrials
	switch {
	case !p.learned && p.enough(len(p.draws[0])+len(p.draws[1])):
		var promise float64
		p.count, promise = learn(p.draws, p.claim.kind, p.run.alpha, p.hints)
		if limit := p.limit(); limit > 0 {
			p.share = promise / limit
		}
		p.learned, p.draws = true, [2][]bound.Outcome{}
	case p.learned && (p.complete() || p.counted >= p.nextLook()):
		if err := p.checkSpent(ctx); err != nil {
			return err
		}
		p.judge()
	}
	return nil
}

// A sample holds the answers of some trials with an input.
type sample struct {
	answers []bound.Outcome
	smooth  []int64
}

// keep counts a batch. A batch with only one drawn input, because the time was over, is not counted: its
// inputs would not be the choice of coins.
func (p *probe) keep(batch [2]sample) {
	for input, s := range batch {
		if !p.learned {
			p.draws[input] = append(p.draws[input], s.answers...)
			continue
		}
		for _, o := range s.answers {
			p.count.add(input, o)
		}
		p.counted += len(s.answers)
	}
	if room := smoothLooks[len(smoothLooks)-1] - len(p.fine); room > 0 {
		p.fine = append(p.fine, batch[0].smooth[:min(room, len(batch[0].smooth))]...)
	}
	if p.collided < len(smoothLooks) && len(p.fine) >= smoothLooks[p.collided] {
		p.collided++
		p.checkCollisions()
	}
}

// sample makes trials with an input.
func (p *probe) sample(ctx context.Context, input, n int) (s sample, err error) {
	if p.single {
		return p.sampleSingly(ctx, input, n)
	}
	if n == 0 {
		return s, nil
	}
	rows := 0
	err = p.session.Query(ctx, p.query(input, p.take(input, n)), func(row []any) error {
		rows++
		p.see(&s, row)
		return nil
	})
	if err == nil && rows != n {
		err = fmt.Errorf("%d trials with input %d have %d answers", n, input, rows)
	}
	p.pay(input, n)
	return s, err
}

// see adds an answer to a sample.
func (p *probe) see(s *sample, row []any) {
	if p.grid != nil && !p.grid(row) {
		p.violates(support, "the answer %s is none that may be given", outcome(row).Text)
	}
	if p.smooth != nil {
		if i, ok := p.smooth.of(row); ok {
			s.smooth = append(s.smooth, i)
		}
	}
	s.answers = append(s.answers, outcome(row))
}

// fail begins anew, with a statement for each trial, when a statement of many trials has failed: an error, or an answer
// that is missing, is then the result of a trial, and may tell the inputs apart.
func (p *probe) fail(ctx context.Context, err error) error {
	p.unsure = true
	if ctx.Err() != nil || p.single {
		return err
	}
	p.single, p.learned = true, false
	p.draws, p.count, p.counted = [2][]bound.Outcome{}, nil, 0
	return nil
}

// sampleSingly makes each trial with a statement of its own. The error is one that all trials have.
func (p *probe) sampleSingly(ctx context.Context, input, n int) (s sample, err error) {
	for range n {
		rows := 0
		var last []any
		failed := p.session.Query(ctx, p.query(input, p.take(input, 1)), func(row []any) error {
			rows++
			last = slices.Clone(row)
			return nil
		})
		p.tried++
		switch {
		case ctx.Err() != nil:
			return s, ctx.Err()
		case failed != nil:
			p.failures++
			s.answers = append(s.answers, bound.Outcome{Text: "error: " + anonymous(failed.Error())})
		case rows != 1:
			s.answers = append(s.answers, bound.Outcome{Text: fmt.Sprintf("%d rows", rows)})
		default:
			p.see(&s, last)
		}
		if p.failures == p.tried && p.tried >= 64 {
			return s, failed
		}
	}
	return s, nil
}

// take returns further trials with an input.
func (p *probe) take(input, n int) trials {
	t := trials{p.next[input], n}
	p.next[input] += n
	return t
}

// pay notes the right charge for a statement of some trials.
func (p *probe) pay(input, trials int) {
	p.spent += p.trialsCharged(trials) * p.charged[input]
}

// enough reports whether a number of draws is enough to learn from. It depends on the time that they took and that learning
// takes, and not on its answers.
func (p *probe) enough(draws int) bool {
	quarter := p.run.share() / 4
	most := min(learnDraws, max(leastLearn, int(quarter/learnTime)))
	if p.fixture.sealed != nil {
		most = sealedTrials / 4
	}
	return draws >= most || draws >= leastLearn && p.used > quarter
}

// coins returns how many of n fair coins show heads.
func coins(n int) (heads int) {
	for ; n >= 64; n -= 64 {
		heads += bits.OnesCount64(rand.Uint64())
	}
	return heads + bits.OnesCount64(rand.Uint64()&(1<<n-1))
}

// nextLook returns how many trials there are at the next look. Looks are at numbers that are fixed beforehand, since
// its results decide how much time an attack gets.
func (p *probe) nextLook() int { return int(firstLook * math.Exp2(float64(p.look)/2)) }

// judge compares the bound of the loss with the charge.
func (p *probe) judge() {
	for p.look++; p.counted >= p.nextLook(); p.look++ { // a batch may pass several
	}
	p.shown = p.count.lower(p.run.alpha)
	if limit := p.limit(); p.shown > limit*(1+1e-9) {
		p.violated(Violation{
			Check: loss,
			What:  fmt.Sprintf("the loss is at least %.4g, and %.4g was charged for: %s", p.shown, limit, p.count.name()),
			Lower: p.shown, Limit: limit, Draws: p.counted,
		})
	}
}

// smoothLooks is after how many answers they are tested for collisions.
var smoothLooks = [...]int{1 << 16, 1 << 20}

// checkCollisions tests whether answers are equal more often than they may be.
func (p *probe) checkCollisions() {
	if len(p.fine) == 0 {
		return
	}
	if found, many := bound.Collisions(p.fine, p.smooth.rate, p.run.alpha); many {
		p.violated(Violation{Check: support, Draws: len(p.fine),
			What: fmt.Sprintf("answers repeat as if there were few of them: %d of %d pairs of neighbours are equal, %.4g may be", found.Equal, found.Pairs, found.Expected)})
	}
}

// limit returns the largest loss that the charges allow. Where they differ between the inputs, the larger holds.
func (p *probe) limit() float64 { return p.claim.limit(max(p.charged[0], p.charged[1])) }

// checkSpent compares the ledger with the right charges for the trials.
func (p *probe) checkSpent(ctx context.Context) error {
	spent, err := p.database.Spent(ctx, p.accounts(), p.unit)
	if err != nil {
		return err
	}
	if !p.unsure && p.claim.most == 0 && math.Abs(spent-p.spent) > 1e-6*p.spent {
		p.violates(charges, "the ledger has %v spent, and the same statements charged %v before", spent, p.spent)
	}
	return nil
}

// violates notes a finding of a check without statistics.
func (p *probe) violates(check Check, format string, args ...any) {
	p.violated(Violation{Check: check, What: fmt.Sprintf(format, args...)})
}

// violated notes the finding of a check, once for each check.
func (p *probe) violated(v Violation) {
	if slices.ContainsFunc(p.violations, func(w Violation) bool { return w.Check == v.Check }) {
		return
	}
	v.Function, v.Pair = p.function, p.pair
	p.violations = append(p.violations, p.run.violated(v))
}
