package throttle

import (
	"net"
	"strings"
	"testing"
)

// A caller is a connection with an address that notes whether it is closed.
type caller struct {
	net.Conn
	name   string
	from   net.Addr
	room   *Room
	closed bool
}

func (c *caller) RemoteAddr() net.Addr { return c.from }

// Close leaves the room, as connections do that are served.
func (c *caller) Close() error {
	c.closed = true
	c.room.Leave(c)
	return nil
}

func TestRoom(t *testing.T) {
	const proxy, flood, ana, customer = "192.0.2.1:1", "198.51.100.7:1", "203.0.113.5:1", "[2001:db8::1]:1"
	for _, c := range []struct {
		name   string
		come   string // a letter for each connection, upper case for one that leaves again
		closed string // places of the connections that give way
	}{
		{"there is room", "aaaa", ""},
		{"the oldest of one address", "aaaaaa", "0 1"},
		{"others are not touched by a flood", "apffffff", "2 3 4 5"},
		{"a flood that was there first", "fffffapf", "0 1 2 3"},
		{"nobody has most: the oldest", "apfcapfc", "0 1 2 3"},
		{"who has left takes no room", "AAAAaaaa", ""},
		{"a network of a customer counts as one address", "acccc", "1"},
	} {
		room := NewRoom(4)
		var all []*caller
		for i, letter := range c.come {
			from := map[rune]string{'p': proxy, 'f': flood, 'a': ana, 'c': customer}[letter|0x20]
			now := &caller{name: string(rune('0' + i)), from: address(from), room: room}
			room.Enter(now)
			all = append(all, now)
			if letter < 'a' {
				room.Leave(now)
				room.Leave(now) // which makes room only once
			}
		}
		var closed []string
		for _, one := range all {
			if one.closed {
				closed = append(closed, one.name)
			}
		}
		if got := strings.Join(closed, " "); got != c.closed {
			t.Errorf("%s: %q are closed, want %q", c.name, got, c.closed)
		}
		for _, one := range all {
			room.Leave(one)
		}
		if len(room.of) != 0 || room.all.Len() != 0 || len(room.by) != 0 {
			t.Errorf("%s: %v are left", c.name, room.of)
		}
	}
}
