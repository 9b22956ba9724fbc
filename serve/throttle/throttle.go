// Package throttle slows down who guesses passwords.
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
	by     map[key]*list.Element
	recent *list.List // of *record, the one with the latest wrong password first
}

// A key is an address, and a user unless it stands for the whole address.
type key struct {
	address, user string
	whole         bool
}

// A record is what has happened to a key.
type record struct {
	key
	wrong int
	last  time.Time
}

// New returns a throttle that remembers nothing yet.
func New() *Throttle {
	return &Throttle{now: time.Now, by: map[key]*list.Element{}, recent: list.New()}
}

// Try returns what right, which checks a password, reports, and does not call it if there were too
// many wrong ones before: the password then counts as wrong for as long as wait says. Tries at the same time do not
// get around that.
func (t *Throttle) Try(remote net.Addr, user string, right func() bool) (ok bool, wait time.Duration) {
	whole := key{address: source(remote), whole: true}
	pair := key{address: whole.address, user: user[:min(len(user), mostBytes)]}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.forget(now)
	if wait = max(t.wait(pair, freeTries, now), t.wait(whole, freeOfAddress, now)); wait > 0 {
		return false, wait
	}
	if right() {
		if e := t.by[pair]; e != nil {
			t.remove(e)
		}
		return true, 0
	}
	if t.count(pair, now) <= freeTries {
		t.count(whole, now)
	}
	return false, 0
}

// wait returns how long a key has to wait.
func (t *Throttle) wait(k key, free int, now time.Time) time.Duration {
	e := t.by[k]
	if e == nil {
		return 0
	}
	r := e.Value.(*record)
	if r.wrong < free {
		return 0
	}
	wait := longestWait
	if doubled := r.wrong - free; doubled < 16 {
		wait = min(wait, firstWait<<doubled)
	}
	return max(0, r.last.Add(wait).Sub(now))
}

// count counts a wrong password and returns how many there are.
func (t *Throttle) count(k key, now time.Time) int {
	e := t.by[k]
	if e == nil {
		e = t.recent.PushFront(&record{key: k})
		t.by[k] = e
	}
	t.recent.MoveToFront(e)
	r := e.Value.(*record)
	r.wrong, r.last = r.wrong+1, now
	for len(t.by) > mostKept {
		t.remove(t.recent.Back())
	}
	return r.wrong
}

// forget forgets what was long ago.
func (t *Throttle) forget(now time.Time) {
	for e := t.recent.Back(); e != nil && now.Sub(e.Value.(*record).last) > memory; e = t.recent.Back() {
		t.remove(e)
	}
}

func (t *Throttle) remove(e *list.Element) {
	t.recent.Remove(e)
	delete(t.by, e.Value.(*record).key)
}

// source returns what an address is counted as: with version 6 of the protocol a customer has 2^64 addresses.
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
