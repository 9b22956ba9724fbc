//go:build unix

package clitest

import (
	"os"
	"syscall"
)

// Killed is the exit status of a process that was killed.
const Killed = -1

// Sends reports whether a process can be sent a signal here.
func Sends(syscall.Signal) bool { return true }

// Signal sends a process that [Command] made a signal.
func Signal(p *os.Process, s syscall.Signal) error { return p.Signal(s) }

func interruptible() *syscall.SysProcAttr { return nil }
func prepareInterrupts()                  {}
func heedInterrupt()                      {}
