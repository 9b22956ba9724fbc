package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
)

// cutter stands between clients and a server, and cuts all connections behind a message of the
// protocol, in either direction.
type cutter struct {
	server string // socket

	mu     sync.Mutex
	left   int // messages until it cuts; it does not if it is below 0
	passed int
	stays  bool // whether it takes no connections after it has cut
	cut    bool
	conns  map[net.Conn]bool
}

// newCutter returns a cutter and the URL that leads through it.
func newCutter(t *testing.T, where string) (*cutter, string) {
	u, err := url.Parse(where)
	check(t, err)
	query := u.Query()
	c := &cutter{server: filepath.Join(query.Get("host"), ".s.PGSQL.5432"), left: -1, conns: map[net.Conn]bool{}}
	if port := query.Get("port"); port != "" {
		c.server = filepath.Join(query.Get("host"), ".s.PGSQL."+port)
	}
	folder, err := os.MkdirTemp("", "cut") // a short path: sockets have at most about 100 bytes
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			c.serve(client)
		}
	}()
	query.Set("host", folder)
	query.Del("port")
	u.RawQuery = query.Encode()
	return c, u.String()
}

// arm has the cutter cut behind so many messages. A cut may be for good.
func (c *cutter) arm(messages int, stays bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.passed, c.stays, c.cut = messages, 0, stays, false
}

// disarm ends the cutting, and returns how many messages have passed.
func (c *cutter) disarm() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.cut = -1, false
	return c.passed
}

// fewCuts is how many of the messages are cut behind without GEOSQL_WHOLE, others in each run.
const fewCuts = 8

// tryCuts calls try with a number of messages that is never reached, and then with those of messages to cut behind. Try returns
// how many have passed.
func tryCuts(t *testing.T, atLeast int, try func(messages int) (passed int)) {
	t.Helper()
	passed := try(math.MaxInt)
	t.Logf("%d messages", passed)
	if passed < atLeast {
		t.Errorf("only %d messages", passed)
	}
	all := make([]int, passed)
	for i := range all {
		all[i] = i + 1
	}
	for _, n := range trials.Some(t, fewCuts, all...) {
		try(n)
	}
}

func (c *cutter) serve(client net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut && c.stays {
		client.Close()
		return
	}
	server, err := net.Dial("unix", c.server)
	if err != nil {
		client.Close()
		return
	}
	c.conns[client], c.conns[server] = true, true
	go c.pass(client, server, false)
	go c.pass(server, client, true)
}

// pass passes messages on. The first one of a client has no type.
func (c *cutter) pass(from, to net.Conn, typed bool) {
	defer from.Close()
	defer to.Close()
	for {
		head := make([]byte, 5)
		if !typed {
			head = head[:4]
		}
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		typed = true
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if !c.send(to, append(head, body...)) {
			return
		}
	}
}

// send sends a message and cuts behind it if it is time to.
func (c *cutter) send(to net.Conn, message []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		c.cutNow() // before the message, if it is the first one
		return false
	}
	if _, err := to.Write(message); err != nil {
		return false
	}
	c.passed++
	if c.left > 0 {
		if c.left--; c.left == 0 {
			c.cutNow()
			return false
		}
	}
	return true
}

// cutNow closes all connections. It is called under the lock.
func (c *cutter) cutNow() {
	c.left, c.cut = -1, true
	for conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
}

// TestConnectionIsCutBehindEachMessage charges an account while the connection is cut behind the
// first message, the second, or any other. A charge that a client was told of
// must be recorded. Where the server can be reached again, nothing else may be.
func TestConnectionIsCutBehindEachMessage(t *testing.T) {
	defer func(before time.Duration) { away = before }(away)
	where := pgtest.Start(t).Database(t)
	direct := open(t, where)
	const limit = 3 * tenth
	check(t, direct.SetLimit("*", unit, limit, 0))
	for _, stays := range []bool{false, true} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("stays=%v/known=%v", stays, known), func(t *testing.T) {
				cutter, through := newCutter(t, where)
				if away = 10 * time.Second; stays {
					away = time.Millisecond
				}
				try := func(n int) (messages int) {
					account := fmt.Sprint("a", stays, known, n)
					if known {
						check(t, direct.Charge("f", unit, items(tenth/2, account)))
						check(t, direct.Charge("f", unit, items(tenth/2, account)))
					}
					cutter.arm(n, stays)
					acknowledged, failed := chargeThrough(t, through, account, 3)
					messages = cutter.disarm()
					if known {
						acknowledged += tenth
					}
					b, err := direct.Balance(account, unit)
					check(t, err)
					recorded := b.Spent + b.Reserved
					if acknowledged > recorded || recorded > limit {
						t.Fatalf("cut behind message %d: %v acknowledged, %v recorded", n, acknowledged, recorded)
					}
					if recorded > acknowledged && !failed {
						t.Fatalf("cut behind message %d: %v acknowledged, %v recorded, and no call has failed", n, acknowledged, recorded)
					}
					if !stays && recorded != acknowledged {
						t.Errorf("cut behind message %d: %v acknowledged, %v recorded, although the server could be asked", n, acknowledged, recorded)
					}
					return messages
				}
				tryCuts(t, 20, try)
			})
		}
	}
}

// chargeThrough charges an account a number of times, and returns the sum that it was told is charged, and
// whether a call has failed.
func chargeThrough(t *testing.T, where, account string, times int) (acknowledged budget.Amount, failed bool) {
	l, err := Open(where, false)
	if err != nil {
		return 0, true
	}
	for range times {
		err := l.Charge("f", unit, items(tenth, account))
		if _, ok := errors.AsType[*ledger.RefusalError](err); ok {
			continue
		}
		if err != nil {
			failed = true
			continue
		}
		acknowledged += tenth
	}
	_ = l.Close() // nothing is set aside
	return acknowledged, failed
}
