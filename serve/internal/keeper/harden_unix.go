//go:build unix && !linux

package keeper

import (
	"errors"
	"syscall"
)

func hideMemory() error { return errors.New("only Linux is known to hide it") }

func lateTimers() {}

// attributes are those of a worker: the terminal's signals to the keeper do not reach it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
