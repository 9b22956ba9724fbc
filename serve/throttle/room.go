package throttle

import (
	"container/list"
	"net"
	"sync"
)

// A Room bounds how many connections of strangers there are at a time: of those who have not logged in. If it is full, a
// connection of the address that has most of them gives way to a new one, the oldest of that address. So a flood ends
// its own connections, and who comes from another address is served. An address of many people, such as that of a
// proxy, has no bound of its own. It is safe for concurrent use.
type Room struct {
	most int

	mu  sync.Mutex
	all *list.List     // of guest, the oldest first
	of  map[string]int // how many an address has
}

// A guest is a connection in a room.
type guest struct {
	conn    net.Conn
	address string
}

// NewRoom returns a room for so many connections.
func NewRoom(most int) *Room { return &Room{most: most, all: list.New(), of: map[string]int{}} }

// Enter lets a connection in. It closes the one that gives way, if the room is full. The caller calls leave, once or
// more often, when the connection has ended or is no stranger's any more.
func (r *Room) Enter(c net.Conn) (leave func()) {
	r.mu.Lock()
	g := guest{c, source(c.RemoteAddr())}
	r.of[g.address]++
	e := r.all.PushBack(g)
	var surplus net.Conn
	if r.all.Len() > r.most {
		surplus = r.remove(r.surplus())
	}
	r.mu.Unlock()
	if surplus != nil {
		surplus.Close() // which may call leave
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.remove(e)
	}
}

// Clear closes all connections in the room.
func (r *Room) Clear() {
	r.mu.Lock()
	var all []net.Conn
	for r.all.Len() > 0 {
		all = append(all, r.remove(r.all.Front()))
	}
	r.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

// surplus returns the oldest guest of the addresses that have most.
func (r *Room) surplus() *list.Element {
	oldest := r.all.Front()
	for e := oldest; e != nil; e = e.Next() {
		if r.of[e.Value.(guest).address] > r.of[oldest.Value.(guest).address] {
			oldest = e
		}
	}
	return oldest
}

// remove removes a guest, unless it has been, and returns its connection.
func (r *Room) remove(e *list.Element) net.Conn {
	g := e.Value.(guest)
	before := r.all.Len()
	if r.all.Remove(e); r.all.Len() == before {
		return g.conn
	}
	if r.of[g.address]--; r.of[g.address] == 0 {
		delete(r.of, g.address)
	}
	return g.conn
}
