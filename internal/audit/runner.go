package audit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/audit/host"
)

// A runner shares the time between the attacks. The attack that has had the least of it is next, so that
// slow statements get as much as fast ones. An attack gets more if it promises or has shown a bound close to its limit: a scale that is
// a little wrong shows in that first. Its counts are looked at after fixed numbers of trials, so that they may have a say in how
// many there are.
type runner struct {
	Config
	folder string
	alpha  float64 // of a look at the counts of an attack
	begun  time.Time

	mu        sync.Mutex
	probes    []*probe
	databases map[place]*database
	err       error // of a host
}

// A place says in which database an attack is. A fixture has one for all functions, or one for each if it is sealed: there each
// trial has an account of its own, which makes ledgers large.
type place struct {
	fixture  *fixture
	function string
}

// place returns where the attack is.
func (p *placed) place() place {
	if p.fixture.sealed != nil {
		return place{p.fixture, p.function}
	}
	return place{fixture: p.fixture}
}

// A database is the database of a place, made when the first attack needs it.
type database struct {
	host.Database
	once sync.Once
	err  error
}

// Tests of a run share the probability of a false alarm equally.
func newRunner(c Config, attacks []*placed, folder string) *runner {
	r := &runner{Config: c, folder: folder, databases: map[place]*database{}, begun: time.Now()}
	tests := 0
	type form struct {
		function string
		sealed   bool
	}
	seen := map[form]bool{}
	for _, a := range attacks {
		f := form{a.function, a.fixture.sealed != nil}
		p := &probe{placed: a, run: r, first: !seen[f]}
		seen[f] = true
		tests += p.tests()
		r.probes = append(r.probes, p)
		if r.databases[a.place()] == nil {
			r.databases[a.place()] = &database{}
		}
	}
	r.alpha = FalseAlarm / float64(tests)
	return r
}

// run works on the attacks until the time is over.
func (r *runner) run(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, r.Time)
	defer stop()
	var workers sync.WaitGroup
	for range max(1, r.Workers) {
		workers.Go(func() { r.work(ctx) })
	}
	workers.Wait()
	if r.err == nil {
		for _, p := range r.probes {
			p.checkCollisions()
		}
	}
	return r.err
}

// work takes one attack after the other. After an error only unchecked attacks are: an error with one attack may be
// shown by another to depend on a secret.
func (r *runner) work(ctx context.Context) {
	for ctx.Err() == nil {
		p := r.next()
		if p == nil {
			return
		}
		begun := time.Now()
		err := p.step(ctx)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
			r.mu.Lock()
			r.err, p.over = cmp.Or(r.err, err), true
			r.mu.Unlock()
		}
		r.put(p, time.Since(begun))
	}
}

// next takes the attack that has had the least time for its worth, or nil if all are complete or taken.
func (r *runner) next() *probe {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := slices.DeleteFunc(slices.Clone(r.probes), func(p *probe) bool { return p.taken || p.complete() || r.err != nil && p.checked })
	if len(free) == 0 {
		return nil
	}
	p := slices.MinFunc(free, func(p, q *probe) int { return cmp.Compare(p.due(), q.due()) })
	p.taken = true
	return p
}

// mostWorth is how many times as much time the sharpest attacks get.
const mostWorth = 8

// due returns the time of an attack so far, over its worth. An attack that has counted nothing is before all others.
func (p *probe) due() float64 {
	if p.counted == 0 {
		return p.used.Seconds() - p.run.Time.Seconds()
	}
	return p.used.Seconds() / min(mostWorth, 1/(1-max(0, min(p.share, 0.99))))
}

// put gives an attack back, after some time.
func (r *runner) put(p *probe, used time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.taken = false
	p.used += used
	if limit := p.limit(); limit > 0 {
		p.share = max(p.share, p.shown/limit)
	}
	if r.Progress != nil {
		r.Progress(min(1, float64(time.Since(r.begun))/float64(r.Time)))
	}
}

// connect opens a connection to the database of an attack.
func (r *runner) connect(ctx context.Context, p *probe) (host.Database, host.Session, error) {
	d := r.databases[p.place()]
	d.once.Do(func() { d.Database, d.err = r.create(ctx, p.place()) })
	if d.err != nil {
		return nil, nil, d.err
	}
	s, err := d.Connect(ctx)
	return d, s, err
}

// create makes a database.
func (r *runner) create(ctx context.Context, at place) (host.Database, error) {
	folder := filepath.Join(r.folder, strings.TrimSpace(at.fixture.name+" "+at.function))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	var list []*placed
	for _, p := range r.probes {
		if p.place() == at {
			list = append(list, p.placed)
		}
	}
	return r.Host.Create(ctx, folder, at.fixture.setup(list))
}

// close ends all connections.
func (r *runner) close() {
	for _, p := range r.probes {
		if p.session != nil {
			p.session.Close()
		}
	}
	for _, d := range r.databases {
		if d.Database != nil {
			d.Close()
		}
	}
}

// violated tells of a violation, and returns it with the time at which it was found.
func (r *runner) violated(v Violation) Violation {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.Seconds = r.seconds()
	if r.Found != nil {
		r.Found(v)
	}
	return v
}

// seconds returns how long the run has lasted.
func (r *runner) seconds() float64 { return time.Since(r.begun).Seconds() }

// share returns the time that each attack has if all have the same.
func (r *runner) share() time.Duration {
	return r.Time * time.Duration(max(1, r.Workers)) / time.Duration(len(r.probes))
}
