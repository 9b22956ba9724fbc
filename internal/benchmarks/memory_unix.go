//go:build unix

package main

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the bytes that a process which has ended had at most.
func peakMemory(p *os.ProcessState) (int64, error) {
	taken, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("this system does not report the memory of a process")
	}
	if runtime.GOOS == "darwin" { // where it is in bytes
		return int64(taken.Maxrss), nil
	}
	return int64(taken.Maxrss) << 10, nil
}
