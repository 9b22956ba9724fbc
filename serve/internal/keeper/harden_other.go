//go:build !unix

package keeper

import (
	"errors"
	"syscall"
)

// Supported returns why no sessions are served on this system, or nil.
func Supported() error {
	return errors.New("this system cannot confine the process that runs an analyst's SQL, as Linux can: serve from Linux")
}

func hideMemory() error { return errors.New("only Linux is known to hide it") }

func lateTimers() {}

func attributes() *syscall.SysProcAttr { return nil }
