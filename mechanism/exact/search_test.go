package exact

import (
	"math"
	"testing"
)

func TestLastReached(t *testing.T) {
	var numbers []uint64
	for n := range uint64(20) {
		numbers = append(numbers, n, 1000+n, 1<<62+n, math.MaxInt64-n, math.MaxInt64-3071-n)
	}
	for _, guess := range numbers {
		for _, last := range numbers {
			if got := lastReached(guess, func(n uint64) bool { return n <= last }); got != int64(last) {
				t.Errorf("from %d: %d, want %d", guess, got, last)
			}
		}
		if got := lastReached(guess, func(n uint64) bool { return true }); got != math.MaxInt64 {
			t.Errorf("from %d: %d, want MaxInt64", guess, got)
		}
	}
}
