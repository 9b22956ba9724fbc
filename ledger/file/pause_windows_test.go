package file

import (
	"testing"

	"golang.org/x/sys/windows"
)

// Windows has no documented call that suspends a process; debuggers use these two.
var (
	ntdll     = windows.NewLazySystemDLL("ntdll.dll")
	ntSuspend = ntdll.NewProc("NtSuspendProcess")
	ntResume  = ntdll.NewProc("NtResumeProcess")
)

// suspend stops the process until it is resumed.
func (h *helper) suspend(t *testing.T) {
	t.Helper()
	h.call(t, ntSuspend)
}

func (h *helper) resume(t *testing.T) {
	t.Helper()
	h.call(t, ntResume)
}

func (h *helper) call(t *testing.T, procedure *windows.LazyProc) {
	t.Helper()
	process, err := windows.OpenProcess(windows.PROCESS_SUSPEND_RESUME, false, uint32(h.cmd.Process.Pid))
	check(t, err)
	defer windows.CloseHandle(process)
	if status, _, _ := procedure.Call(uintptr(process)); status != 0 {
		t.Fatalf("%s: status %#x", procedure.Name, status)
	}
}
