package sqlite

// #include "shim.h"
import "C"

import "unsafe"

// The setters below make values that do not come from SQLite, for Go code that takes values. They are never passed to
// C. Text and blobs stay where they are: the caller keeps them alive, and does not change them, for as long as the
// value is used, since the garbage collector does not see the memory that a value points to.

// SetNull makes the value NULL.
func (v *Value) SetNull() { v.set(Null, 0, 0) }

// SetInt makes the value an Integer.
func (v *Value) SetInt(i int64) { v.set(Integer, 0, uint64(i)) }

// SetFloat makes the value a Float.
func (v *Value) SetFloat(f float64) { v.set(Float, 0, *(*uint64)(unsafe.Pointer(&f))) }

// SetText makes the value a Text that points to text.
func (v *Value) SetText(text []byte) { v.point(Text, text) }

// SetBlob makes the value a Blob that points to b.
func (v *Value) SetBlob(b []byte) { v.point(Blob, b) }

func (v *Value) point(t Type, b []byte) {
	escape(b)
	v.set(t, len(b), uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))))
}

// set writes an address as the number that it is: a write barrier of the garbage collector would take the old content,
// before, perhaps a float, for an address too.
func (v *Value) set(t Type, n int, bits uint64) {
	v.c._type, v.c.n = C.int(t), C.int(n)
	*(*uint64)(unsafe.Pointer(&v.c.u)) = bits
}

var (
	never    bool
	escapeTo []byte
)

// escape keeps the compiler from placing b on a stack, which moves.
func escape(b []byte) {
	if never {
		escapeTo = b
	}
}
