//go:build unix

package optimal_test

import (
	"syscall"
	"testing"
	"time"
)

// userTime returns the processor time that this process has taken so far.
func userTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}
