//go:build !unix

package pgtest

import (
	"errors"
	"io/fs"
	"syscall"
)

func supported() error { return errors.New("they run on Unix only") }

type account struct{}

func ordinaryUser() (*account, error)             { return nil, nil }
func attributes(*account) *syscall.SysProcAttr    { return nil }
func detached() *syscall.SysProcAttr              { return nil }
func (a *account) give(string) error              { return nil }
func (a *account) mayEnter(info fs.FileInfo) bool { return true }

const (
	fastStop      = syscall.SIGINT
	immediateStop = syscall.SIGQUIT
	pause         = syscall.SIGTERM
	reload        = syscall.SIGHUP
)
