//go:build !unix

package keeper

import (
	"errors"
	"syscall"
)

func hideMemory() error { return errors.New("only Linux is known to hide it") }

func attributes() *syscall.SysProcAttr { return nil }
