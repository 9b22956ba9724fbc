package sqlite

import (
	"bytes"
	"math"
	"runtime"
	"testing"
)

func TestValuesInGoMemory(t *testing.T) {
	var v Value
	v.SetNull()
	if v.Type() != Null {
		t.Errorf("type %v, want NULL", v.Type())
	}
	for _, i := range []int64{0, -1, math.MinInt64, math.MaxInt64} {
		if v.SetInt(i); v.Type() != Integer || v.Int() != i {
			t.Errorf("%v %d, want INTEGER %d", v.Type(), v.Int(), i)
		}
	}
	for _, f := range []float64{0, -0.1, math.Inf(1), math.MaxFloat64} {
		if v.SetFloat(f); v.Type() != Float || v.Float() != f {
			t.Errorf("%v %g, want REAL %g", v.Type(), v.Float(), f)
		}
	}
	for _, b := range [][]byte{nil, {}, {0}, bytes.Repeat([]byte("x"), 1<<16)} {
		if v.SetText(b); v.Type() != Text || !bytes.Equal(v.Bytes(), b) {
			t.Errorf("%v of %d bytes, want TEXT of %d", v.Type(), len(v.Bytes()), len(b))
		}
		if v.SetBlob(b); v.Type() != Blob || !bytes.Equal(v.Bytes(), b) {
			t.Errorf("%v of %d bytes, want BLOB of %d", v.Type(), len(v.Bytes()), len(b))
		}
	}
}

// A value of a stack that moves, and a garbage collector that runs while values change, must not break it.
func TestValuesWhileMemoryMoves(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		values := make([]Value, 64)
		for round := range 2000 {
			local := [8]byte{byte(round), 1, 2, 3}
			for i := range values {
				switch (round + i) % 3 {
				case 0:
					values[i].SetInt(0xc000000001 + int64(i)<<13) // looks like an address
				case 1:
					values[i].SetFloat(float64(round))
				default:
					values[i].SetBlob(local[:])
				}
			}
			if deep(200); values[2-min(2, round%3)].Type() == Blob && values[2-min(2, round%3)].Bytes()[0] != byte(round) {
				t.Error("a value points to what was there before")
				return
			}
			if round%100 == 0 {
				runtime.GC()
			}
		}
	}()
	<-done
}

// deep uses so much of the stack that it has to grow.
func deep(n int) int {
	var room [256]int
	if n == 0 {
		return room[0]
	}
	return deep(n-1) + room[n]
}

func TestValuesAreSetWithoutAllocating(t *testing.T) {
	b := make([]byte, 56)
	var v Value
	if n := testing.AllocsPerRun(100, func() { v.SetBlob(b); v.SetText(b); v.SetFloat(1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
