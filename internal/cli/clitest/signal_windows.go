package clitest

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Killed is the exit status of a process that was killed.
const Killed = 1

// Sends reports whether a process can be sent a signal here: Windows knows that a console is interrupted, and that a
// process is ended.
func Sends(s syscall.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGKILL }

// Signal sends a process that [Command] made a signal.
func Signal(p *os.Process, s syscall.Signal) error {
	switch s {
	case syscall.SIGKILL:
		return p.Kill()
	case syscall.SIGINT:
		// Windows sends no Ctrl-C to one of the groups of a console, and wine no Ctrl-Break to any. A Go program
		// takes both for the same.
		if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil {
			return nil
		}
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, uint32(p.Pid))
	}
	return fmt.Errorf("Windows does not send %v", s)
}

// interruptible makes a process one that can be interrupted without the test.
func interruptible() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

var (
	kernel          = windows.NewLazySystemDLL("kernel32.dll")
	getConsoleCP    = kernel.NewProc("GetConsoleCP")
	freeConsole     = kernel.NewProc("FreeConsole")
	allocConsole    = kernel.NewProc("AllocConsole")
	setCtrlHandlers = kernel.NewProc("SetConsoleCtrlHandler")
)

// prepareInterrupts gives this process and its children a console, without which none is interrupted.
func prepareInterrupts() {
	if page, _, _ := getConsoleCP.Call(); page == 0 {
		freeConsole.Call() // one without a window, which is none
		allocConsole.Call()
	}
}

// heedInterrupt undoes that the first process of a group ignores Ctrl-C.
func heedInterrupt() { setCtrlHandlers.Call(0, 0) }
