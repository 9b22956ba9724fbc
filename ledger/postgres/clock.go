package postgres

import (
	"sync"
	"time"
)

// clock estimates the server's clock. It never lags behind it, as long as the clocks of both
// machines run: windows that are over there must not seem to go on here.
type clock struct {
	mu          sync.Mutex
	began       time.Time
	steady      int64 // the server's clock less the time since began, in microseconds
	wall        int64 // and of this machine's clock, which goes on while the machine sleeps
	initialised bool
}

// moment is when a request was sent.
type moment time.Time

// set learns that the server's clock has shown a time since a moment. It showed it at that moment
// or later, so that the estimate can only be ahead.
func (c *clock) set(server int64, sent moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.initialised {
		c.began, c.initialised = time.Now(), true
	}
	c.steady = server - time.Time(sent).Sub(c.began).Microseconds()
	c.wall = server - time.Time(sent).UnixMicro()
}

// now returns the estimate, in microseconds since 1970.
func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	return max(c.steady+now.Sub(c.began).Microseconds(), c.wall+now.UnixMicro())
}
