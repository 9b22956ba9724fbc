//go:build unix && !geosql_loadable

package powerloss

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Trace is what was recorded, in its order.
type Trace struct{ done []operation }

// operation is a change of a file or of the folder, or a sync.
type operation struct {
	kind kind
	file int    // its number
	name string // of files that come and go
	at   int64  // offset, or length of a truncated file
	data []byte
}

type kind int

const (
	nothing kind = iota
	existed
	created
	deleted
	written
	truncated
	synced
	notSynced // a sync that failed
	folderSynced
)

// Len is the number of operations.
func (t *Trace) Len() int { return len(t.done) }

// WithoutSyncs is the trace on a disk that syncs nothing.
func (t *Trace) WithoutSyncs() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == synced || t.done[i].kind == folderSynced })
}

// WithoutFolderSyncs is the trace on a disk that syncs no folders.
func (t *Trace) WithoutFolderSyncs() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == folderSynced })
}

// WithoutSyncedDeletions is the trace of an SQLite that does not sync the folder after
// a deletion.
func (t *Trace) WithoutSyncedDeletions() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == folderSynced && t.done[i-1].kind == deleted })
}

// without is the trace without what some operations do; the others keep their places.
func (t *Trace) without(which func(i int) bool) *Trace {
	done := slices.Clone(t.done)
	for i := range done {
		if which(i) {
			done[i] = operation{}
		}
	}
	return &Trace{done}
}

// Points are the disks after the first n operations, for every n up to all of them.
// (What existed before counts as operations, too, which came before the first point.)
// A disk is only valid until the next.
func (t *Trace) Points() iter.Seq2[int, *Disk] {
	return func(yield func(int, *Disk) bool) {
		d := &Disk{map[int]*file{}, map[string]*name{}}
		for n, o := range t.done {
			if o.kind != existed && !yield(n, d) {
				return
			}
			d.do(o)
		}
		yield(len(t.done), d)
	}
}

// Disk is what is on a disk for certain, and what may be.
type Disk struct {
	files map[int]*file
	names map[string]*name
}

// file is what a file holds for certain, and its changes since.
type file struct {
	content []byte
	changes []piece
}

// name is which file has a name for certain, and which ones have had it since; 0 is
// none.
type name struct {
	file    int
	changes []int
}

// sector is how much a disk writes at a time.
const sector = 512

// piece is what a change does to a sector, or a truncation. SQLite relies on the
// bytes beside a write in its sector being safe (it is told so by the device
// characteristic POWERSAFE_OVERWRITE).
type piece struct {
	change    int // pieces of one change have the same number
	truncates bool
	at        int64
	data      []byte
}

func (d *Disk) do(o operation) {
	switch o.kind {
	case existed:
		d.files[o.file] = &file{content: o.data}
		d.names[o.name] = &name{file: o.file}
	case created:
		d.files[o.file] = new(file)
		d.name(o.name).now(o.file)
	case deleted:
		d.name(o.name).now(0)
	case written:
		d.files[o.file].write(o.at, o.data)
	case truncated:
		f := d.files[o.file]
		f.changes = append(f.changes, piece{change: f.next(), truncates: true, at: o.at})
	case synced:
		f := d.files[o.file]
		f.content, f.changes = f.after(slices.Repeat([]fate{there}, len(f.changes))), nil
	case notSynced:
		d.files[o.file].forget()
	case folderSynced:
		for _, n := range d.names {
			n.file, n.changes = n.after(slices.Repeat([]fate{there}, len(n.changes))), nil
		}
	}
}

func (d *Disk) name(s string) *name {
	if d.names[s] == nil {
		d.names[s] = new(name)
	}
	return d.names[s]
}

func (n *name) now(file int) { n.changes = append(n.changes, file) }

func (f *file) next() int {
	if len(f.changes) == 0 {
		return 0
	}
	return f.changes[len(f.changes)-1].change + 1
}

func (f *file) write(at int64, data []byte) {
	change := f.next()
	for len(data) > 0 {
		n := min(sector-int(at%sector), len(data))
		f.changes = append(f.changes, piece{change: change, at: at, data: data[:n]})
		at, data = at+int64(n), data[n:]
	}
}

// forget loses what was written before a sync that failed: a system need not try
// again with the next one.
func (f *file) forget() {
	f.changes = slices.DeleteFunc(f.changes, func(p piece) bool { return !p.truncates })
}

// fate is what becomes of a piece that was not synced.
type fate int

const (
	gone  fate = iota
	there      // as it was written
	zeros      // there is room for it, but nothing in it
)

// after is the content when the changes have had their fates.
func (f *file) after(fates []fate) []byte {
	content := slices.Clone(f.content)
	for i, p := range f.changes {
		switch {
		case fates[i] == gone:
		case p.truncates:
			if fates[i] == there && p.at < int64(len(content)) {
				content = content[:p.at]
			}
		default:
			content = grown(content, p.at+int64(len(p.data)))
			clear(content[p.at : p.at+int64(len(p.data))])
			if fates[i] == there {
				copy(content[p.at:], p.data)
			}
		}
	}
	return content
}

// grown is the content with zeros up to a length.
func grown(content []byte, length int64) []byte {
	if more := length - int64(len(content)); more > 0 {
		return append(content, make([]byte, more)...)
	}
	return content
}

// after is the file that has the name when the changes have had their fates.
func (n *name) after(fates []fate) int {
	file := n.file
	for i, changed := range n.changes {
		if fates[i] == there {
			file = changed
		}
	}
	return file
}

// chooser decides about the changes of a file or a name. It is given the change that
// each piece is of.
type chooser func(changes []int) []fate

// WithNothing is the disk after a power cut by which nothing was lost but what was not
// synced, and all of that.
func (d *Disk) WithNothing() Image {
	return d.image(func(changes []int) []fate { return make([]fate, len(changes)) })
}

// WithEverything is the disk after a power cut by which nothing was lost.
func (d *Disk) WithEverything() Image {
	return d.image(func(changes []int) []fate { return slices.Repeat([]fate{there}, len(changes)) })
}

// WithSome is a disk after a power cut by which some of what was not synced was lost.
func (d *Disk) WithSome(rng *rand.Rand) Image {
	return d.image(func(changes []int) []fate { return randomFates(changes, rng) })
}

// randomFates is one of several patterns of loss: disks lose the last changes, some
// in between, or parts of them.
func randomFates(changes []int, rng *rand.Rand) []fate {
	fates := make([]fate, len(changes))
	if len(changes) == 0 {
		return fates
	}
	last := changes[len(changes)-1]
	cut, keep, fill := rng.IntN(last+2), rng.Float64(), rng.Float64()/2
	whole := make([]bool, last+1)
	for i := range whole {
		whole[i] = rng.Float64() < keep
	}
	patterns := []func(change int) bool{
		func(change int) bool { return change < cut },
		func(change int) bool { return change >= cut },
		func(change int) bool { return whole[change] },
		func(int) bool { return rng.Float64() < keep },
		func(change int) bool { return change < cut || change == cut && rng.Float64() < keep },
	}
	kept := patterns[rng.IntN(len(patterns))]
	for i, change := range changes {
		if kept(change) {
			fates[i] = there
		} else if rng.Float64() < fill {
			fates[i] = zeros
		}
	}
	return fates
}

func (d *Disk) image(choose chooser) Image {
	image := Image{}
	for _, s := range slices.Sorted(maps.Keys(d.names)) { // in an order, for chance to be repeatable
		n := d.names[s]
		each := make([]int, len(n.changes))
		for i := range each {
			each[i] = i
		}
		if number := n.after(choose(each)); number != 0 {
			f := d.files[number]
			image[s] = f.after(choose(f.numbers()))
		}
	}
	return image
}

func (f *file) numbers() []int {
	numbers := make([]int, len(f.changes))
	for i, p := range f.changes {
		numbers[i] = p.change
	}
	return numbers
}

// Image is what a folder holds: contents by name.
type Image map[string][]byte

// Write writes the files into a folder.
func (m Image) Write(folder string) error {
	for name, content := range m {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Sum is a hash that no other image has.
func (m Image) Sum() [sha256.Size]byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%q %d ", name, len(m[name]))
		b.Write(m[name])
	}
	return sha256.Sum256(b.Bytes())
}
