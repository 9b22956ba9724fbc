package pgtest

import "syscall"

// dieWithParent has the process shut down at once when the thread that starts it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = immediateStop }
