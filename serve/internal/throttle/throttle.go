// Package throttle bounds the burden of clients that have not logged in: it slows down guesses of passwords, and limits the number
// of connections. It imports nothing of geosql's. Start at Throttle and Room.
package throttle

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// freeTries are the wrong passwords for a user that an address may send without waiting. Those
	// beyond them do not count for the address: a program that repeats one wrong password keeps
	// nobody else out.
	freeTries = 5

	// freeOfAddress are the wrong passwords for any users that an address may send without waiting.
	freeOfAddress = 50

	firstWait   = time.Second // doubled by each further wrong password
	longestWait = time.Minute

	memory    = 15 * time.Minute // since the last wrong password
	mostKept  = 10_000           // addresses, with and without a user; beyond it the oldest are forgotten
	mostBytes = 64               // of the name of a user
)

// A Throttle remembers wrong passwords. It is safe for concurrent use. It does not outlive the process.
type Throttle struct {
	now func() time.Time

	mu     sync.Mutex
	judged *sync.Cond // a password has been; with mu
	by     map[key]*list.Element
	recent *list.List // of *record, the one that was tried last first
}

// A key is an address, and a user unless it stands for the whole address.
type key struct {
	address, user string
	whole         bool
}

// A record counts the wrong passwords of a key.
type record struct {
	key
	wrong    int
	last     time.Time // of the wrong ones
	checking int       // passwords that are being checked
}

// New returns a throttle that remembers nothing yet, and reads the time from a clock.
func New(now func() time.Time) *Throttle {
	t := &Throttle{now: now, by: map[key]*list.Element{}, recent: list.New()}
	t.judged = sync.NewCond(&t.mu)
	return t
}

// Try runs right, which checks a password, and returns its result. After too many wrong passwords it does not run it:
// the password then counts as wrong for the time wait. Tries at the same time do not get around that, and right
// passwords among them are not refused: they wait for each other once wrong ones could be too many. A slow check makes
// nobody else wait.
func (t *Throttle) Try(remote net.Addr, user string, right func() bool) (ok bool, wait time.Duration) {
	whole := key{address: source(remote), whole: true}
	pair := key{address: whole.address, user: user[:min(len(user), mostBytes)]}
	if wait := t.begin(pair, whole); wait > 0 {
		return false, wait
	}
	defer func() { t.end(pair, whole, ok) }()
	return right(), 0
}

// begin returns the time that a try has to wait, or counts it as being checked.
func (t *Throttle) begin(pair, whole key) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		now := t.now()
		t.forget(now)
		p, w := t.at(pair), t.at(whole)
		if wait := max(p.wait(freeTries, now), w.wait(freeOfAddress, now)); wait > 0 {
			return wait
		}
		if p.mayCheck(freeTries) && w.mayCheck(freeOfAddress) {
			break
		}
		t.judged.Wait()
	}
	for _, k := range []key{pair, whole} {
		t.touch(k).checking++
	}
	for len(t.by) > mostKept {
		t.remove(t.recent.Back())
	}
	return 0
}

// end counts the outcome of a try.
func (t *Throttle) end(pair, whole key, right bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.judged.Broadcast()
	now := t.now()
	p, w := t.touch(pair), t.touch(whole)
	for _, r := range []*record{p, w} {
		r.checking = max(0, r.checking-1) // it may have been forgotten meanwhile, for many others
	}
	if right {
		p.wrong = 0
	} else {
		p.wrong, p.last = p.wrong+1, now
		if p.wrong <= freeTries {
			w.wrong, w.last = w.wrong+1, now
		}
	}
	for _, r := range []*record{p, w} {
		if r.wrong == 0 && r.checking == 0 {
			t.remove(t.by[r.key])
		}
	}
}

// at returns the record of a key, or an empty one.
func (t *Throttle) at(k key) *record {
	if e := t.by[k]; e != nil {
		return e.Value.(*record)
	}
	return &record{}
}

// touch returns the record of a key, and makes it the latest. There is one from now on.
func (t *Throttle) touch(k key) *record {
	e := t.by[k]
	if e == nil {
		e = t.recent.PushFront(&record{key: k, last: t.now()})
		t.by[k] = e
	}
	t.recent.MoveToFront(e)
	return e.Value.(*record)
}

// wait returns the time that a key has to wait. The first wrong passwords are free.
func (r *record) wait(free int, now time.Time) time.Duration {
	if r.wrong < free {
		return 0
	}
	wait := longestWait
	if doubled := r.wrong - free; doubled < 16 {
		wait = min(wait, firstWait<<doubled)
	}
	return max(0, r.last.Add(wait).Sub(now))
}

// mayCheck reports whether there would not be too many wrong passwords if all that are being checked, and another one, were
// wrong.
func (r *record) mayCheck(free int) bool { return r.checking == 0 || r.wrong+r.checking < free }

// forget drops the records that are older than memory.
func (t *Throttle) forget(now time.Time) {
	for e := t.recent.Back(); e != nil; e = t.recent.Back() {
		if r := e.Value.(*record); r.checking > 0 || now.Sub(r.last) <= memory {
			return
		}
		t.remove(e)
	}
}

func (t *Throttle) remove(e *list.Element) {
	t.recent.Remove(e)
	delete(t.by, e.Value.(*record).key)
}

// source returns the network that an address counts for: with version 6 of the protocol a customer has 2^64 addresses.
func source(remote net.Addr) string {
	if remote == nil {
		return ""
	}
	at, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return remote.Network()
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64) // which every address has
	return network.String()
}
