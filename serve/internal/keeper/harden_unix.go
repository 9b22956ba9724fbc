//go:build unix && !linux

package keeper

import (
	"errors"
	"syscall"
)

func hideMemory() error { return errors.New("only Linux is known to hide it") }

// attributes are those of a worker, which what a terminal sends to the keeper does not reach.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
