// Package counts keeps a small number for each of very many values that are numbered by a session
// and a counter, in bounded memory. Counters of a session that are near each other share a page,
// and pages that are not in use for long are in a temporary file. It imports internal/files. Start
// at Table.
package counts

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/files"
)

const (
	perPage  = 1 << 10
	pageSize = 4 * perPage // bytes in the file

	// resident is how many pages are in memory at most: 64 MB, the counts of 16 million values
	// of a session.
	resident = 1 << 14

	// taken is the memory of a page, with its places in the map and beside it, and in the ring.
	taken = pageSize + 256
)

// A Table holds a count for each value: 0 before it is set. The zero Table is empty. A Table is
// used by one goroutine at a time.
type Table struct {
	// Take is called before the table takes so many bytes of memory, unless it is nil. If it returns an error, the table does
	// not take them, and At returns the error.
	Take func(bytes int64) error

	found []place // places where pages were found, by the last bits of their numbers; a power of two, or none
	pages map[pageKey]*page
	ring  []*page // the pages in memory, in the order in which they came
	next  int     // the place in ring of the page that leaves next
	most  int     // length of ring at most; 0 stands for resident

	file  *os.File
	slots map[pageKey]int64 // of the pages that are or were in the file
}

// pageKey is the session of a page, and its first counter divided by perPage.
type pageKey struct {
	session uint32
	number  uint64
}

// A place holds a page in memory, or none, with its key beside it: a map waits for memory several times.
type place struct {
	number  uint64
	page    *page
	session uint32
}

// place returns the place where a page may be found.
func (t *Table) place(key pageKey) *place {
	return &t.found[(key.number^uint64(key.session)<<7)&uint64(len(t.found)-1)]
}

type page struct {
	key   pageKey
	count [perPage]uint32
}

// At returns the count of a value, which the caller may change until the next call. The error is
// that of the temporary file, or of Take.
func (t *Table) At(session uint32, counter uint64) (*uint32, error) {
	key := pageKey{session, counter / perPage}
	if len(t.found) > 0 {
		if at := t.place(key); at.page != nil && at.number == key.number && at.session == session {
			return &at.page.count[counter%perPage], nil
		}
	}
	p := t.pages[key]
	if p == nil {
		var err error
		if p, err = t.bring(key); err != nil {
			return nil, err
		}
	}
	*t.place(key) = place{key.number, p, session}
	return &p.count[counter%perPage], nil
}

// Close removes the temporary file, if there is one. The table is empty then.
func (t *Table) Close() {
	if t.file != nil {
		_ = t.file.Close()
		_ = os.Remove(t.file.Name()) // where that was not possible before
	}
	*t = Table{Take: t.Take, most: t.most}
}

// bring brings a page into memory.
func (t *Table) bring(key pageKey) (*page, error) {
	p, err := t.room()
	if err != nil {
		return nil, err
	}
	p.key = key
	if slot, stored := t.slots[key]; stored {
		err = t.read(p, slot)
	} else {
		clear(p.count[:])
	}
	if err == nil {
		t.pages[key] = p
	}
	return p, err
}

// room returns memory for a page: new one, or that of the page that came first.
func (t *Table) room() (*page, error) {
	if t.pages == nil {
		t.pages = map[pageKey]*page{}
	}
	most := t.most
	if most == 0 {
		most = resident
	}
	if len(t.ring) < most {
		if t.Take != nil {
			if err := t.Take(taken); err != nil {
				return nil, err
			}
		}
		p := new(page)
		if t.ring = append(t.ring, p); len(t.ring) > len(t.found) {
			t.found = make([]place, max(16, 4*len(t.found))) // pages are found again as they are needed
		}
		return p, nil
	}
	p := t.ring[t.next]
	t.next = (t.next + 1) % len(t.ring)
	if t.pages[p.key] != p {
		return p, nil // it was not filled
	}
	if err := t.write(p); err != nil {
		return nil, err
	}
	delete(t.pages, p.key)
	if at := t.place(p.key); at.page == p {
		at.page = nil
	}
	return p, nil
}

// write writes a page to the file.
func (t *Table) write(p *page) error {
	if t.file == nil {
		f, err := files.CreateNameless(filepath.Join(os.TempDir(), "geosql-"+rand.Text())) // no crash leaves it
		if err != nil {
			return err
		}
		t.file, t.slots = f, map[pageKey]int64{}
	}
	slot, stored := t.slots[p.key]
	if !stored {
		slot = int64(len(t.slots))
		t.slots[p.key] = slot
	}
	var b [pageSize]byte
	for i, n := range p.count { // a fifth of the time of binary.Encode
		binary.LittleEndian.PutUint32(b[4*i:], n)
	}
	_, err := t.file.WriteAt(b[:], slot*pageSize)
	return err
}

// read reads a page from the file.
func (t *Table) read(p *page, slot int64) error {
	var b [pageSize]byte
	if _, err := t.file.ReadAt(b[:], slot*pageSize); err != nil {
		return err
	}
	for i := range p.count {
		p.count[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return nil
}
