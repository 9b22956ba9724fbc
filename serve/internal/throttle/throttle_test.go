package throttle

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A clock is a throttle with a clock that the test sets.
type clock struct {
	*Throttle
	t   *testing.T
	now time.Time
}

func newClock(t *testing.T) *clock {
	c := &clock{t: t, now: time.Unix(1e9, 0)}
	c.Throttle = New(func() time.Time { return c.now })
	return c
}

func address(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }

// want tries a password and demands an outcome.
func (c *clock) want(from, user string, right, ok bool, wait time.Duration) {
	c.t.Helper()
	called := false
	gotOK, got := c.Try(address(from), user, func() bool { called = true; return right })
	if gotOK != ok || got != wait || called != (wait == 0) {
		c.t.Errorf("%s from %s: %v, wait %v, asked %v; want %v, %v", user, from, gotOK, got, called, ok, wait)
	}
}

func TestWaitsDouble(t *testing.T) {
	c := newClock(t)
	for range freeTries {
		c.want("192.0.2.1:1", "ana", false, false, 0)
	}
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		wait *= time.Second
		c.want("192.0.2.1:2", "ana", true, false, wait) // not even the right one
		c.now = c.now.Add(wait - time.Millisecond)
		c.want("192.0.2.1:3", "ana", true, false, time.Millisecond)
		c.now = c.now.Add(time.Millisecond)
		c.want("192.0.2.1:4", "ana", false, false, 0)
	}
	c.want("192.0.2.1:5", "bo", true, true, 0)  // another user
	c.want("192.0.2.2:5", "ana", true, true, 0) // another address
	c.now = c.now.Add(longestWait)
	c.want("192.0.2.1:6", "ana", true, true, 0)
	c.want("192.0.2.1:7", "ana", false, false, 0)
	c.want("192.0.2.1:8", "ana", true, true, 0) // which counts from the beginning
}

func TestForgets(t *testing.T) {
	c := newClock(t)
	for range freeTries {
		c.want("192.0.2.1:1", "ana", false, false, 0)
	}
	c.now = c.now.Add(memory + 1)
	c.want("192.0.2.1:1", "ana", false, false, 0)
	c.want("192.0.2.1:1", "ana", false, false, 0)
	if len(c.by) != 2 || c.recent.Len() != 2 {
		t.Errorf("%d records, %d in order", len(c.by), c.recent.Len())
	}
}

// A guesser who tries many users has to wait for each of them.
func TestManyUsers(t *testing.T) {
	c := newClock(t)
	for i := range freeOfAddress {
		c.want("[2001:db8::1]:1", fmt.Sprint("user", i), false, false, 0)
	}
	c.want("[2001:db8::ffff:2]:1", "ana", true, false, time.Second) // of the same network
	c.want("[2001:db8:0:1::1]:1", "ana", true, true, 0)
	c.now = c.now.Add(time.Second)
	c.want("[2001:db8::1]:1", "ana", true, true, 0)
}

// A program that repeats a wrong password does not keep out others at its address.
func TestRepeatedPassword(t *testing.T) {
	c := newClock(t)
	for range 1000 {
		c.Try(address("192.0.2.1:1"), "dashboard", func() bool { return false })
		c.now = c.now.Add(10 * time.Second)
	}
	c.want("192.0.2.1:1", "ana", true, true, 0)
}

// Tries at the same time get no more guesses than one after the other.
func TestAtTheSameTime(t *testing.T) {
	for _, user := range []string{"ana", "user%d"} { // one user, and many
		throttle, free := newClock(t), freeTries // no wait is over meanwhile
		if strings.HasPrefix(user, "user") {
			free = freeOfAddress
		}
		var guesses atomic.Int32
		var all sync.WaitGroup
		for i := range 4 * freeOfAddress {
			all.Go(func() {
				throttle.Try(address("192.0.2.1:1"), strings.ReplaceAll(user, "%d", fmt.Sprint(i)), func() bool {
					guesses.Add(1)
					time.Sleep(time.Millisecond)
					return false
				})
			})
		}
		all.Wait()
		if int(guesses.Load()) != free {
			t.Errorf("%s: %d guesses, want %d", user, guesses.Load(), free)
		}
	}
}

// A program that opens many connections at once, as pools do, is not refused.
func TestRightAtTheSameTime(t *testing.T) {
	throttle := New(time.Now)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if ok, wait := throttle.Try(address("192.0.2.1:1"), "ana", func() bool { time.Sleep(time.Millisecond); return true }); !ok || wait != 0 {
				t.Errorf("a right password is refused: wait %v", wait)
			}
		})
	}
	all.Wait()
	if len(throttle.by) != 0 || throttle.recent.Len() != 0 {
		t.Errorf("%d records, %d in order", len(throttle.by), throttle.recent.Len())
	}
}

// While a password is checked, others are.
func TestSlowCheck(t *testing.T) {
	throttle := New(time.Now)
	slow, checked := make(chan bool), make(chan bool)
	go func() {
		defer close(checked)
		throttle.Try(address("192.0.2.1:1"), "ana", func() bool { <-slow; return false })
	}()
	for _, user := range []string{"ana", "bo"} {
		if ok, _ := throttle.Try(address("192.0.2.1:1"), user, func() bool { return true }); !ok {
			t.Errorf("%s is refused", user)
		}
	}
	close(slow)
	<-checked
}

func TestBounded(t *testing.T) {
	c := newClock(t)
	long := string(make([]byte, 1000))
	for i := range 2 * mostKept {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1)
		c.Try(net.TCPAddrFromAddrPort(from), long, func() bool { return false })
	}
	if len(c.by) != mostKept || c.recent.Len() != mostKept {
		t.Errorf("%d records, %d in order", len(c.by), c.recent.Len())
	}
	if user := c.recent.Back().Value.(*record).user; len(user) > mostBytes {
		t.Errorf("a user of %d bytes is kept", len(user))
	}
}

func TestSource(t *testing.T) {
	for _, c := range []struct {
		remote net.Addr
		want   string
	}{
		{address("192.0.2.1:5432"), "192.0.2.1"},
		{address("[::ffff:192.0.2.1]:5432"), "192.0.2.1"},
		{address("[2001:db8:1:2:3:4:5:6]:5432"), "2001:db8:1:2::/64"},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Port: 1, Zone: "eth0"}, "fe80::/64"},
		{&net.UnixAddr{Name: "@", Net: "unix"}, "unix"},
		{nil, ""},
	} {
		if got := source(c.remote); got != c.want {
			t.Errorf("%v is %q, want %q", c.remote, got, c.want)
		}
	}
}
