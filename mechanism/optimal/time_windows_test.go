package optimal_test

import (
	"syscall"
	"testing"
	"time"
)

// userTime returns the processor time that this process has taken so far.
func userTime(b *testing.B) time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		b.Fatal(err)
	}
	var began, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &began, &ended, &kernel, &user); err != nil {
		b.Fatal(err)
	}
	return 100 * time.Duration(int64(user.HighDateTime)<<32|int64(user.LowDateTime)) // of 100 nanoseconds
}
