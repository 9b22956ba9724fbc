package release

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// A fakeShared is a ledger that keeps the state of shards in memory, and charges in a ledger of its
// own. Its bugs are planted.
type fakeShared struct {
	ledger.Ledger
	mu    sync.Mutex
	all   map[string]*fakeState
	owner int

	expired func() bool // whether leases have ended; nil: never

	// bugs
	noCompare    bool // Publish stores every attempt
	eager        bool // draws need no charges
	recounts     bool // a second count replaces the first
	paysForShort bool // an account that cannot pay counts as charged
}

type fakeState struct {
	shards  []fakeShard
	charged bool
	paid    int64 // accounts, as paysForShort says
}

type fakeShard struct {
	ledger.Shard
	accounts []ledger.Item
	owner    int
	leased   bool
}

func newFakeShared(l ledger.Ledger) *fakeShared {
	return &fakeShared{Ledger: l, all: map[string]*fakeState{}}
}

func (f *fakeShared) OpenSharded(id string, plan ledger.ReleasePlan, shards int) (ledger.Sharded, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.OpenRelease(id, plan)
	if err != nil {
		return nil, err
	}
	s := f.all[id]
	if s == nil {
		s = &fakeState{shards: make([]fakeShard, shards)}
		f.all[id] = s
	}
	if len(s.shards) != shards {
		return nil, &ledger.ReleaseError{ID: id, Reason: fmt.Sprintf("has %d shards", len(s.shards))}
	}
	f.owner++
	return &fakeSharded{Release: r, ledger: f, id: id, state: s, owner: f.owner}, nil
}

type fakeSharded struct {
	ledger.Release
	ledger *fakeShared
	id     string
	state  *fakeState
	owner  int
}

func (f *fakeSharded) Charged() int64 {
	if f.ledger.paysForShort {
		return f.state.paid
	}
	return f.Release.Charged()
}

func (f *fakeSharded) Charge(unit budget.Unit, items []ledger.Item) error {
	if !f.ledger.paysForShort {
		return f.Release.Charge(unit, items)
	}
	for _, x := range items {
		_ = f.ledger.Ledger.Charge("release", unit, []ledger.Item{x})
		f.state.paid++
	}
	return nil
}

func (f *fakeSharded) lock() func() {
	f.ledger.mu.Lock()
	return f.ledger.mu.Unlock
}

func (f *fakeSharded) progress() (p ledger.ShardProgress) {
	for i := range f.state.shards {
		if f.state.shards[i].Counted {
			p.Counted++
		}
		if f.state.shards[i].Drawn != nil {
			p.Drawn++
		}
	}
	p.Charged = f.state.charged || f.ledger.eager && p.Counted == len(f.state.shards)
	return p
}

func (f *fakeSharded) Progress() (ledger.ShardProgress, error) {
	defer f.lock()()
	return f.progress(), nil
}

func (f *fakeSharded) Shard(i int) (ledger.Shard, error) {
	defer f.lock()()
	return f.state.shards[i].Shard, nil
}

func (f *fakeSharded) Shards() iter.Seq2[ledger.Shard, error] {
	return func(yield func(ledger.Shard, error) bool) {
		for i := range f.state.shards {
			if x, err := f.Shard(i); !yield(x, err) {
				return
			}
		}
	}
}

func (f *fakeSharded) Claim(wanted int, lease time.Duration) (int, error) {
	defer f.lock()()
	p := f.progress()
	for i := range f.state.shards {
		x := &f.state.shards[i]
		free := !x.leased || x.owner == f.owner || f.ledger.expired != nil && f.ledger.expired()
		todo := !x.Counted || p.Charged && x.Drawn == nil
		if wanted >= 0 && wanted != i || !free || !todo {
			continue
		}
		x.owner, x.leased = f.owner, lease > 0
		return i, nil
	}
	return -1, nil
}

func (f *fakeSharded) SetCount(shard int, digest string, info []byte, accounts iter.Seq2[ledger.Item, error]) error {
	var all []ledger.Item
	for x, err := range accounts {
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	defer f.lock()()
	x := &f.state.shards[shard]
	if x.Counted && !f.ledger.recounts {
		if x.Digest != digest {
			return &ledger.ReleaseError{ID: f.id, Reason: fmt.Sprintf("has counted shard %d of another input", shard)}
		}
		return nil
	}
	x.Counted, x.Digest, x.Info, x.accounts, x.leased = true, digest, info, all, false
	return nil
}

func (f *fakeSharded) totals(to int) map[string]int64 {
	n := map[string]int64{}
	for i := range f.state.shards[:to] {
		for _, x := range f.state.shards[i].accounts {
			n[x.Account] += x.Evaluations
		}
	}
	return n
}

func (f *fakeSharded) Accounts(skip int64) iter.Seq2[ledger.Item, error] {
	unlock := f.lock()
	n := f.totals(len(f.state.shards))
	unlock()
	return func(yield func(ledger.Item, error) bool) {
		for _, account := range slices.Sorted(maps.Keys(n))[skip:] {
			if !yield(ledger.Item{Account: account, Evaluations: n[account]}, nil) {
				return
			}
		}
	}
}

func (f *fakeSharded) Excess(shard int, most int64) iter.Seq2[ledger.Item, error] {
	unlock := f.lock()
	n := f.totals(shard)
	here := f.state.shards[shard].accounts
	unlock()
	return func(yield func(ledger.Item, error) bool) {
		for _, x := range here {
			if n[x.Account]+x.Evaluations <= most {
				continue
			}
			if !yield(ledger.Item{Account: x.Account, Evaluations: max(0, most-n[x.Account])}, nil) {
				return
			}
		}
	}
}

func (f *fakeSharded) SetCharged() error {
	defer f.lock()()
	if n := len(f.totals(len(f.state.shards))); int64(n) != f.Charged() {
		return fmt.Errorf("%d of %d accounts are charged", f.Charged(), n)
	}
	f.state.charged = true
	return nil
}

func (f *fakeSharded) Publish(shard int, a ledger.Attempt) (ledger.Attempt, error) {
	defer f.lock()()
	if !f.progress().Charged {
		return ledger.Attempt{}, errors.New("not all accounts are charged")
	}
	x := &f.state.shards[shard]
	if x.Drawn == nil || f.ledger.noCompare {
		x.Drawn = &a
	}
	return *x.Drawn, nil
}

type writeCloser = io.WriteCloser

// tableOf makes a table of SQLite and returns its name.
func tableOf(t testing.TB, dir string) string {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "in.db"), sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	check(t, conn.Exec(`CREATE TABLE x(user TEXT, lat REAL, lon REAL)`))
	check(t, conn.Close())
	return filepath.Join(dir, "in.db#x")
}
