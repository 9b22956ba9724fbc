package console

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// Logins may fail so often at once, from an address and for a user. After that each has to wait twice as long as
// the one before.
const (
	quickFailures = 5
	firstWait     = time.Second
	longestWait   = time.Minute
	forgetAfter   = 15 * time.Minute
	forgetTrusted = 24 * time.Hour
	maxTracked    = 10_000 // keys; the one that failed longest ago is forgotten for another
)

// A throttleKey is an address, a user, or both together, by its hash: what clients send has any length.
type throttleKey [sha256.Size]byte

func keyOf(kind string, parts ...string) throttleKey {
	h := sha256.New()
	h.Write([]byte(kind))
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		h.Write(sum[:])
	}
	return throttleKey(h.Sum(nil))
}

// A throttle slows down those who guess passwords. Users that do not exist are like others.
//
// An address from which a user has logged in is not slowed down for what fails for the user elsewhere, so that nobody
// can keep others out by failing in their name.
type throttle struct {
	mu      sync.Mutex
	failed  map[throttleKey]failures
	trusted map[throttleKey]time.Time // address and user of logins
}

type failures struct {
	n    int
	last time.Time
}

// attempt counts an attempt as failed, unless it has to wait: it returns how long. Attempts are counted before they
// are judged, so that many at once count as many.
func (t *throttle) attempt(addr, user string) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	keys := t.keys(addr, user, now)
	for _, k := range keys {
		wait = max(wait, t.failed[k].wait(now))
	}
	if wait > 0 {
		return wait
	}
	if t.failed == nil {
		t.failed = map[throttleKey]failures{}
	}
	for _, k := range keys {
		f := t.failed[k]
		if now.Sub(f.last) > forgetAfter {
			f = failures{}
		}
		if _, found := t.failed[k]; !found && len(t.failed) >= maxTracked {
			forgetOldest(t.failed, func(f failures) time.Time { return f.last })
		}
		t.failed[k] = failures{f.n + 1, now}
	}
	return 0
}

// succeed takes back an attempt: the password was right.
func (t *throttle) succeed(addr, user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, k := range t.keys(addr, user, now) {
		if f := t.failed[k]; f.n > 1 {
			t.failed[k] = failures{f.n - 1, f.last}
		} else {
			delete(t.failed, k)
		}
	}
	delete(t.failed, keyOf("user", user))
	if t.trusted == nil {
		t.trusted = map[throttleKey]time.Time{}
	}
	if len(t.trusted) >= maxTracked {
		forgetOldest(t.trusted, func(at time.Time) time.Time { return at })
	}
	t.trusted[keyOf("both", addr, user)] = now
}

// keys returns what an attempt is counted under.
func (t *throttle) keys(addr, user string, now time.Time) []throttleKey {
	keys := []throttleKey{keyOf("address", addr)}
	if at, ok := t.trusted[keyOf("both", addr, user)]; !ok || now.Sub(at) > forgetTrusted {
		keys = append(keys, keyOf("user", user))
	}
	return keys
}

func (f failures) wait(now time.Time) time.Duration {
	if f.n < quickFailures || now.Sub(f.last) > forgetAfter {
		return 0
	}
	wait := min(firstWait<<min(f.n-quickFailures, 10), longestWait)
	return max(0, wait-now.Sub(f.last))
}

func forgetOldest[V any](of map[throttleKey]V, when func(V) time.Time) {
	var oldest throttleKey
	var at time.Time
	for k, v := range of {
		if t := when(v); at.IsZero() || t.Before(at) {
			oldest, at = k, t
		}
	}
	delete(of, oldest)
}

// addressOf returns the address that a request is counted under: of IPv6 the network of a household.
func addressOf(remote string) string {
	if a, err := netip.ParseAddrPort(remote); err == nil {
		addr := a.Addr().Unmap().WithZone("")
		if addr.Is6() {
			if p, err := addr.Prefix(64); err == nil {
				return p.String()
			}
		}
		return addr.String()
	}
	return remote
}
