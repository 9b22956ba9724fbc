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

// A Trace holds the recorded operations, in order.
type Trace struct{ done []operation }

// An operation is a change of a file or of the folder, or a sync.
type operation struct {
	kind kind
	file int    // number of the file
	name string // of a file that is created or deleted
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

// Len returns the number of operations.
func (t *Trace) Len() int { return len(t.done) }

// WithoutSyncs returns the trace on a disk that syncs nothing.
func (t *Trace) WithoutSyncs() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == synced || t.done[i].kind == folderSynced })
}

// WithoutFolderSyncs returns the trace on a disk that syncs no folders.
func (t *Trace) WithoutFolderSyncs() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == folderSynced })
}

// WithoutSyncedDeletions returns the trace of an SQLite that does not sync the folder
// after a deletion.
func (t *Trace) WithoutSyncedDeletions() *Trace {
	return t.without(func(i int) bool { return t.done[i].kind == folderSynced && t.done[i-1].kind == deleted })
}

// without returns the trace without the effects of some operations. The others keep their
// places.
func (t *Trace) without(which func(i int) bool) *Trace {
	done := slices.Clone(t.done)
	for i := range done {
		if which(i) {
			done[i] = operation{}
		}
	}
	return &Trace{done}
}

// Points returns the disks after the first n operations, for every n up to all of them.
// Files that existed before count as operations before the first point. A disk is valid
// only until the next.
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

// A Disk holds the certain content of a disk, and the possible one.
type Disk struct {
	files map[int]*file
	names map[string]*name
}

// A file holds the certain content of a file, and its changes since.
type file struct {
	content []byte
	changes []piece
}

// A name holds which file has a name for certain, and which files have had it since; 0 is
// no file.
type name struct {
	file    int
	changes []int
}

// sector is the number of bytes that a disk writes at a time.
const sector = 512

// A piece is the effect of a change on a sector, or a truncation. SQLite relies on the
// bytes beside a write in the same sector being safe, as the device characteristic
// POWERSAFE_OVERWRITE promises.
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
		d.files[o.file].loseUnsynced()
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

// loseUnsynced drops the writes before a sync that failed: a system need not write them
// again at the next sync.
func (f *file) loseUnsynced() {
	f.changes = slices.DeleteFunc(f.changes, func(p piece) bool { return !p.truncates })
}

// A fate is the end of a piece that was not synced.
type fate int

const (
	gone  fate = iota
	there      // as it was written
	zeros      // there is room for it, but nothing in it
)

// after returns the content when the changes have had their fates.
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

// grown returns the content with zeros up to a length.
func grown(content []byte, length int64) []byte {
	if more := length - int64(len(content)); more > 0 {
		return append(content, make([]byte, more)...)
	}
	return content
}

// after returns the file that has the name when the changes have had their fates.
func (n *name) after(fates []fate) int {
	file := n.file
	for i, changed := range n.changes {
		if fates[i] == there {
			file = changed
		}
	}
	return file
}

// A chooser decides on the fates of the pieces of a file or a name. It is given the number
// of each piece's change.
type chooser func(changes []int) []fate

// WithNothing returns the disk after a power cut that lost everything that was not synced.
func (d *Disk) WithNothing() Image {
	return d.image(func(changes []int) []fate { return make([]fate, len(changes)) })
}

// WithEverything returns the disk after a power cut that lost nothing.
func (d *Disk) WithEverything() Image {
	return d.image(func(changes []int) []fate { return slices.Repeat([]fate{there}, len(changes)) })
}

// WithSome returns a disk after a power cut that lost some of the unsynced changes.
func (d *Disk) WithSome(rng *rand.Rand) Image {
	return d.image(func(changes []int) []fate { return randomFates(changes, rng) })
}

// randomFates returns fates in one of several patterns of loss: disks lose the last
// changes, some in between, or parts of them.
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
	for _, s := range slices.Sorted(maps.Keys(d.names)) { // sorted, so that random choices are repeatable
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

// An Image is the content of a folder: the contents of its files by name.
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

// Sum returns a hash that no other image has.
func (m Image) Sum() [sha256.Size]byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%q %d ", name, len(m[name]))
		b.Write(m[name])
	}
	return sha256.Sum256(b.Bytes())
}
