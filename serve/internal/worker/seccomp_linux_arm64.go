package worker

import "golang.org/x/sys/unix"

// callsOfArchitecture are calls that other architectures have under other names.
var callsOfArchitecture = []uintptr{unix.SYS_FSTATAT}

var callsThatOpen = []uintptr{unix.SYS_OPENAT}
