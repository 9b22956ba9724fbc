package throttle

import (
	"container/list"
	"net"
	"sync"
)

// A Room bounds the number of connections that have not logged in. If it is full, the address with most connections loses its
// oldest one to a new one. So a flood ends its own connections, and clients at other addresses are served. An address has no
// bound of its own: it may be the proxy of many people. A Room is safe for concurrent use.
type Room struct {
	most int

	mu  sync.Mutex
	all *list.List // of guest, the oldest first
	by  map[net.Conn]*list.Element
	of  map[string]int // how many an address has
}

// A guest is a connection in a room.
type guest struct {
	conn    net.Conn
	address string
}

// NewRoom returns a room for so many connections.
func NewRoom(most int) *Room {
	return &Room{most: most, all: list.New(), by: map[net.Conn]*list.Element{}, of: map[string]int{}}
}

// Enter lets a connection in. It closes the one that gives way, if the room is full.
func (r *Room) Enter(c net.Conn) {
	r.mu.Lock()
	g := guest{c, source(c.RemoteAddr())}
	r.by[c] = r.all.PushBack(g)
	r.of[g.address]++
	var surplus net.Conn
	if r.all.Len() > r.most {
		surplus = r.surplus()
		r.remove(surplus)
	}
	r.mu.Unlock()
	if surplus != nil {
		surplus.Close() // which may call Leave
	}
}

// Leave says that a connection has ended, or is no stranger's any more. It need not be in the room.
func (r *Room) Leave(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(c)
}

// surplus returns the oldest connection of the addresses that have most.
func (r *Room) surplus() (oldest net.Conn) {
	most := 0
	for e := r.all.Front(); e != nil; e = e.Next() {
		g := e.Value.(guest)
		if n := r.of[g.address]; n > most {
			oldest, most = g.conn, n
		}
	}
	return oldest
}

func (r *Room) remove(c net.Conn) {
	e := r.by[c]
	if e == nil {
		return
	}
	delete(r.by, c)
	address := r.all.Remove(e).(guest).address
	if r.of[address]--; r.of[address] == 0 {
		delete(r.of, address)
	}
}
