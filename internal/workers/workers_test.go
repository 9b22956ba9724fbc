package workers

import (
	"sync/atomic"
	"testing"
)

func TestRun(t *testing.T) {
	var calls atomic.Int32
	Run(5, func() { calls.Add(1) })
	if n := calls.Load(); n != 5 {
		t.Errorf("%d calls", n)
	}
}

// The others end before the caller panics.
func TestPanicIsTheCallers(t *testing.T) {
	var calls atomic.Int32
	defer func() {
		if p := recover(); p != "planted" || calls.Load() != 5 {
			t.Errorf("%v after %d calls", p, calls.Load())
		}
	}()
	Run(5, func() {
		if calls.Add(1) == 3 {
			panic("planted")
		}
	})
}
