package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	ledgerfile "github.com/geosql/geosql/ledger/file"
)

// A stage-managed release is one on which several workers run at a time, one step of one worker
// after the other. The steps are the methods of player: everything that others can notice. Before
// each step a scheduler decides at random who goes on. It kills workers before a step and after
// it; files that a killed worker was about to clean up stay.
type schedule struct {
	rng     *rand.Rand
	ledger  ledger.Ledger // for the judge
	shared  func(player int) ledger.Shared
	lease   time.Duration
	spec    Spec
	n       int
	deaths  float64 // probability of a kill at a step
	kept    []string
	charged map[string]budget.Amount

	parked  chan *player
	seen    map[string][sha256.Size]byte // contents of the files with final names
	trace   []string
	kills   map[string]int // by step
	between func(step string)
}

// A player is one worker. After its death nothing that it does has an effect.
type player struct {
	ledger.Shared // for calls that are no steps
	*schedule
	number int
	step   string
	wake   chan int
	dead   bool
	err    error
	over   bool
}

const (
	live = iota
	dieBefore
	dieAfter
)

var errKilled = errors.New("killed")

// act does a step when it is the player's turn.
func (p *player) act(step string, do func() error) error {
	if p.dead {
		return errKilled
	}
	p.step = step
	p.parked <- p
	fate := <-p.wake
	if fate == dieBefore {
		p.dead = true
		return errKilled
	}
	err := do()
	if fate == dieAfter {
		p.dead = true
		return errKilled
	}
	return err
}

// perform starts a player.
func (s *schedule) perform(number, only int) *player {
	p := &player{Shared: s.shared(number), schedule: s, number: number, wake: make(chan int)}
	go func() {
		w := worker(s.spec, p, s.n, only, (*playedTarget)(p))
		w.lease = cmp.Or(s.lease, w.lease)
		w.wait = func(ctx context.Context) error { return p.act("wait", func() error { return nil }) }
		_, p.err = w.work(context.Background())
		w.close()
		p.over = true
		s.parked <- p
	}()
	return p
}

// play runs the release with so many players at a time until none is left, and then one more to the
// end. It returns the first thing that is wrong.
func (s *schedule) play(t *testing.T, players int) error {
	waiting := map[*player]bool{}
	begun := 0
	begin := func() {
		only := -1
		if s.rng.IntN(3) == 0 {
			only = s.rng.IntN(s.n)
		}
		s.perform(begun, only)
		begun++
	}
	finale := false
	for range players {
		begin()
	}
	running := players
	for steps := 0; ; steps++ {
		for ; running > 0; running-- { // only one, but for the beginning
			p := <-s.parked
			if !p.over {
				waiting[p] = true
				continue
			}
			if p.err != nil && !errors.Is(p.err, errKilled) {
				s.drain(waiting)
				return fmt.Errorf("worker %d: %w", p.number, p.err)
			}
			if p.err != nil && begun < 12 {
				begin()
				running++
			}
		}
		if err := s.judge(t); err != nil {
			s.drain(waiting)
			return err
		}
		if len(waiting) == 0 && finale {
			return judgeWhole(t, s.spec, s.n, s.ledger, s.kept, s.charged)
		}
		if len(waiting) == 0 || steps > 5000 {
			if steps > 20000 {
				s.drain(waiting)
				return errors.New("the release does not end")
			}
			if len(waiting) == 0 {
				finale, s.deaths = true, 0
				s.perform(begun, -1)
				running++
				continue
			}
			s.deaths = 0
		}
		p := s.pick(waiting)
		delete(waiting, p)
		fate := live
		if s.rng.Float64() < s.deaths {
			fate = dieBefore + s.rng.IntN(2)
			s.kills[p.step]++
		}
		s.trace = append(s.trace, fmt.Sprintf("%d %s %s", p.number, p.step, []string{"", "killed before", "killed after"}[fate]))
		if s.between != nil {
			s.between(p.step)
		}
		running = 1
		p.wake <- fate
	}
}

// pick chooses who goes on. Some players are slow for a while, so that others overtake them.
func (s *schedule) pick(waiting map[*player]bool) *player {
	var all []*player
	for p := range waiting {
		all = append(all, p)
	}
	lowest := func(a, b *player) bool { return a.number < b.number }
	for i := range all { // maps have no order, and the schedule is that of its seed
		for j := range all[:i] {
			if lowest(all[i], all[j]) {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	if s.rng.IntN(2) == 0 {
		return all[len(s.trace)/40%len(all)]
	}
	return all[s.rng.IntN(len(all))]
}

// drain ends the players that are left.
func (s *schedule) drain(waiting map[*player]bool) {
	for p := range waiting {
		p.wake <- dieBefore
		for q := range s.parked {
			if q == p && q.over {
				break
			}
			if !q.over {
				q.wake <- dieBefore
			}
		}
	}
}

// judge checks the conditions that hold at any time.
func (s *schedule) judge(t *testing.T) error {
	entries, err := os.ReadDir(filepath.Dir(s.spec.Out))
	check(t, err)
	shards := shardFiles(t, s.spec.Out, s.n)
	drawn := false
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(s.spec.Out), e.Name())
		if strings.HasSuffix(path, draftEnding) && !strings.Contains(path, "probe") {
			drawn = true
		}
		if e.Name() == "in.csv" || strings.HasSuffix(path, draftEnding) {
			continue
		}
		text, err := os.ReadFile(path)
		check(t, err)
		sum := sha256.Sum256(text)
		if before, known := s.seen[path]; known && before != sum {
			return fmt.Errorf("there was another %s before", e.Name())
		}
		s.seen[path] = sum
	}
	for path := range s.seen {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	for _, path := range shards {
		_, there := s.seen[path]
		drawn = drawn || there
	}
	got := spent(t, s.ledger)
	for account, amount := range got {
		if amount > s.charged[account] {
			return fmt.Errorf("%s was charged %v, want %v", account, amount, s.charged[account])
		}
	}
	if drawn && !maps.Equal(got, s.charged) {
		return errors.New("something was drawn before everybody was charged")
	}
	return nil
}

// A player is a ledger with calls that are steps.
func (p *player) OpenSharded(id string, plan ledger.ReleasePlan, shards int) (x ledger.Sharded, err error) {
	err = p.act("open", func() (err error) {
		x, err = p.Shared.OpenSharded(id, plan, shards)
		return err
	})
	return &playedSharded{x, p}, err
}

func (p *player) CannotPay(unit budget.Unit, items iter.Seq2[ledger.Item, error], first *budget.Amount, each func(ledger.Item, ledger.Standing)) error {
	// The items are read in steps of their own, before the accounts' standings are.
	var all []ledger.Item
	for x, err := range items {
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	return p.act("can pay", func() error {
		return p.Shared.CannotPay(unit, func(yield func(ledger.Item, error) bool) {
			for _, x := range all {
				if !yield(x, nil) {
					return
				}
			}
		}, first, each)
	})
}

func (p *player) SetFirstLimit(account string, unit budget.Unit, eps budget.Amount) error {
	return p.act("limit", func() error { return p.Shared.SetFirstLimit(account, unit, eps) })
}

type playedSharded struct {
	ledger.Sharded
	p *player
}

func (x *playedSharded) Charge(unit budget.Unit, items []ledger.Item) error {
	return x.p.act("charge", func() error { return x.Sharded.Charge(unit, items) })
}

func (x *playedSharded) Seal(sha256 string) error {
	return x.p.act("seal", func() error { return x.Sharded.Seal(sha256) })
}

func (x *playedSharded) Progress() (y ledger.ShardProgress, err error) {
	err = x.p.act("progress", func() (err error) { y, err = x.Sharded.Progress(); return err })
	return y, err
}

func (x *playedSharded) Shard(i int) (y ledger.Shard, err error) {
	err = x.p.act("shard", func() (err error) { y, err = x.Sharded.Shard(i); return err })
	return y, err
}

func (x *playedSharded) Claim(wanted int, lease time.Duration) (shard int, err error) {
	err = x.p.act("claim", func() (err error) { shard, err = x.Sharded.Claim(wanted, lease); return err })
	return shard, err
}

func (x *playedSharded) SetCount(shard int, digest string, info []byte, accounts iter.Seq2[ledger.Item, error]) error {
	return x.p.act("count", func() error { return x.Sharded.SetCount(shard, digest, info, accounts) })
}

func (x *playedSharded) SetCharged() error { return x.p.act("charged", x.Sharded.SetCharged) }

func (x *playedSharded) Publish(shard int, a ledger.Attempt) (b ledger.Attempt, err error) {
	err = x.p.act("publish", func() (err error) { b, err = x.Sharded.Publish(shard, a); return err })
	return b, err
}

func (x *playedSharded) Accounts(skip int64) iter.Seq2[ledger.Item, error] {
	return inSteps(x.p, "accounts", func() iter.Seq2[ledger.Item, error] { return x.Sharded.Accounts(skip) })
}

func (x *playedSharded) Shards() iter.Seq2[ledger.Shard, error] {
	return inSteps(x.p, "shards", x.Sharded.Shards)
}

// inSteps makes the beginning of a sequence a step.
func inSteps[T any](p *player, step string, begin func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all iter.Seq2[T, error]
		if err := p.act(step, func() error { all = begin(); return nil }); err != nil {
			var none T
			yield(none, err)
			return
		}
		all(yield)
	}
}

// A playedTarget is local files with changes that are steps.
type playedTarget player

func (x *playedTarget) p() *player { return (*player)(x) }

func (x *playedTarget) Create(ctx context.Context, name string) (w io.WriteCloser, err error) {
	err = x.p().act("create", func() (err error) { w, err = LocalFiles.Create(ctx, name); return err })
	if err != nil {
		if w != nil {
			abandon(w) // of a process that is killed, all files are closed, and Windows keeps a removed file until then
		}
		return nil, err
	}
	return &playedFile{w, x.p()}, nil
}

type playedFile struct {
	io.WriteCloser
	p *player
}

func (f *playedFile) Close() error {
	defer abandon(f.WriteCloser) // of a process that is killed, all files are closed
	return f.p.act("close", f.WriteCloser.Close)
}

func (f *playedFile) Abandon() { abandon(f.WriteCloser) }

func (x *playedTarget) Rename(ctx context.Context, from, to string) error {
	return x.p().act("rename", func() error { return LocalFiles.Rename(ctx, from, to) })
}

func (x *playedTarget) Remove(ctx context.Context, name string) error {
	return x.p().act("remove", func() error { return LocalFiles.Remove(ctx, name) })
}

func (x *playedTarget) Exists(ctx context.Context, name string) (there bool, err error) {
	err = x.p().act("exists", func() (err error) { there, err = LocalFiles.Exists(ctx, name); return err })
	return there, err
}

func (x *playedTarget) List(ctx context.Context, prefix string) ([]string, error) {
	return LocalFiles.(Lister).List(ctx, prefix)
}

// newSchedule prepares a release of a small input, with the bugs that plant plants.
func newSchedule(t *testing.T, seed uint64, plant func(*fakeShared)) *schedule {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(seed, 1))
	most := []int{0, 0, 1, 3}[rng.IntN(4)]
	text, kept, charged := crowded(120, most)
	write(t, filepath.Join(dir, "in.csv"), text)
	s := newSpec(dir)
	s.MaxRows, s.Keep, s.Workers, s.Publishable = most, []string{"id"}, 1, rng.IntN(2) == 0
	l, err := ledgerfile.OpenMemory("")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	f := newFakeShared(l)
	f.expired = func() bool { return rng.IntN(3) == 0 }
	if plant != nil {
		plant(f)
	}
	return &schedule{
		rng: rng, ledger: l, shared: func(int) ledger.Shared { return f }, spec: s, n: 1 + rng.IntN(4), deaths: []float64{0, 0.01, 0.05, 0.15}[rng.IntN(4)],
		kept: kept, charged: charged,
		parked: make(chan *player), seen: map[string][sha256.Size]byte{}, kills: map[string]int{},
	}
}

// However the steps of several workers follow one another, and wherever workers are killed, each
// account is charged once, for all of its rows that are kept, nothing is drawn before that, and one
// draw of each shard is ever seen. All schedules together kill workers at every step.
func TestShardsScheduled(t *testing.T) {
	kills := map[string]int{}
	all := make([]uint64, 150)
	for i := range all {
		all[i] = uint64(i)
	}
	seeds := trials.Some(t, 50, all...)
	for _, seed := range seeds {
		s := newSchedule(t, seed, nil)
		if err := s.play(t, 2+int(seed%3)); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(s.trace, "\n"))
		}
		for step, n := range s.kills {
			kills[step] += n
		}
	}
	t.Log(kills)
	for _, step := range []string{"open", "progress", "claim", "count", "can pay", "limit", "charge", "charged", "create", "close", "publish", "rename", "remove", "seal"} {
		if kills[step] == 0 && len(seeds) == len(all) {
			t.Errorf("nobody was killed at %s", step)
		}
	}
}

// The judge must notice ledgers with planted faults.
func TestShardsPlanted(t *testing.T) {
	for name, plant := range map[string]func(*fakeShared){
		"no compare-and-set": func(f *fakeShared) { f.noCompare = true },
		"draw before charge": func(f *fakeShared) { f.eager = true },
	} {
		t.Run(name, func(t *testing.T) {
			caught := 0
			for seed := range uint64(40) {
				s := newSchedule(t, seed, plant)
				if err := s.play(t, 3); err != nil {
					if caught++; caught == 1 {
						t.Logf("seed %d: %v", seed, err)
					}
				}
			}
			if caught == 0 {
				t.Error("nothing was noticed")
			}
			t.Logf("noticed in %d of 40 schedules", caught)
		})
	}
}

// An account that spends its rest between the check and the charge is refused, and nothing
// is released.
func TestShardsPlantedRefusal(t *testing.T) {
	for _, bug := range []bool{false, true} {
		s := newSchedule(t, 3, func(f *fakeShared) { f.paysForShort = bug })
		limit := s.charged["u0"]
		for _, x := range s.charged {
			limit = max(limit, x)
		}
		s.spec.Limit, s.deaths = &limit, 0
		spent := false
		s.between = func(step string) {
			if step == "charge" && !spent {
				spent = true
				check(t, s.ledger.Charge("other", budget.Metre, []ledger.Item{{Account: "u1", Epsilon: limit - s.charged["u1"]/2, Evaluations: 1}}))
				s.charged["u1"] += limit - s.charged["u1"]/2
			}
		}
		err := s.play(t, 2)
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(s.spec.Out), "out-*.csv"))
		switch {
		case !bug && (err == nil || !strings.Contains(err.Error(), "0.190/m asked") || len(files) > 0):
			t.Errorf("got %v, files %v", err, files)
		case bug && err == nil:
			t.Error("a charge that was refused was not noticed")
		}
		t.Log(err)
	}
}

// A shard that is counted twice with different rows keeps its first count, and the release stops: a
// second count would draw rows that nobody has paid for.
func TestShardsPlantedRecount(t *testing.T) {
	for _, bug := range []bool{false, true} {
		dir := t.TempDir()
		before := "id,user,lat,lon\n1,ana,48.85,2.35\n2,ana,48.85,2.35\n"
		write(t, filepath.Join(dir, "in.csv"), before)
		l, s := newShared(t), newSpec(dir)
		l.expired, l.recounts = func() bool { return true }, bug
		s.Keep = []string{"id"}
		first, second := worker(s, l, 1, -1, LocalFiles), worker(s, l, 1, -1, LocalFiles)
		defer first.close()
		defer second.close()
		ctx := context.Background()
		check(t, first.prepare(ctx))
		check(t, second.prepare(ctx))
		check(t, first.countNext(ctx))
		check(t, first.chargeNext(ctx))
		// The file is written anew in its place, with as many bytes.
		write(t, filepath.Join(dir, "in.csv"), strings.ReplaceAll(before, "ana", "ben"))
		err := second.count(ctx, 0)
		if err == nil {
			_, err = second.loop(ctx)
		}
		_, drawing := first.drawNext(ctx)
		published := len(ids(t, existing(shardFiles(t, s.Out, 1))...)) > 0
		honest := err != nil && drawing != nil && !published
		if honest == bug {
			t.Errorf("bug %v: %v, %v, published %v", bug, err, drawing, published)
		}
		if got := spent(t, l.Ledger); got["ben"] != 0 || got["ana"] != 2*cost {
			t.Errorf("charged %v", got)
		}
	}
}

func existing(paths []string) (there []string) {
	for _, path := range paths {
		if exists(path) {
			there = append(there, path)
		}
	}
	return there
}
