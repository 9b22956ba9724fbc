//go:build linux && (amd64 || arm64)

package worker

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// callsAllowed are the system calls that Go's runtime, the C library and SQLite need to read an open database. All other
// calls fail as if the kernel did not have them, so that a library which tries a newer one falls back.
var callsAllowed = append([]uintptr{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_LSEEK, unix.SYS_CLOSE,
	unix.SYS_FSTAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_STATX, unix.SYS_FSTATFS,
	unix.SYS_GETCWD, unix.SYS_GETDENTS64,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_BRK, unix.SYS_MINCORE,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_PPOLL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
	unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_TIMES,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_GETCPU,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}, callsOfArchitecture...)

// A callWithArgument is allowed with some values of an argument only.
type callWithArgument struct {
	call     uintptr
	argument int
	bits     uint32 // of the argument that count
	want     []uint32
}

// callsWithArgument returns the calls that are allowed to this process with some arguments only. Of fcntl, F_SETOWN and F_SETSIG
// are not allowed, since with them the kernel sends any signal to any process of the user, nor are leases, since others wait for them.
func callsWithArgument() []callWithArgument {
	self := []uint32{uint32(os.Getpid())}
	return []callWithArgument{
		{unix.SYS_CLONE, 0, unix.CLONE_THREAD, []uint32{unix.CLONE_THREAD}}, // a thread, never a process
		{unix.SYS_TGKILL, 0, ^uint32(0), self},                              // Go's preemption
		{unix.SYS_KILL, 0, ^uint32(0), self},
		{unix.SYS_PRLIMIT64, 0, ^uint32(0), []uint32{0}}, // of itself
		{unix.SYS_SETRLIMIT, 0, ^uint32(0), []uint32{unix.RLIMIT_CPU}},
		{unix.SYS_PRCTL, 0, ^uint32(0), []uint32{unix.PR_SET_VMA}}, // names of memory
		{unix.SYS_FCNTL, 1, ^uint32(0), []uint32{
			unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW,
		}},
	}
}

// Offsets in the kernel's data for a filter (struct seccomp_data).
const (
	callOffset     = 0
	machineOffset  = 4
	argumentOffset = 16 // of the lower half of the first argument; each has 8 bytes
)

// filterCalls lets all threads of the process make the system calls that are allowed, and no other. Calls of another
// machine, such as those of 32 bits, end the process. If opens is set, files may be opened, as far as Landlock lets them:
// without it SQLite cannot read a journal that appears later, which few statements need.
func filterCalls(opens bool) error { return install(callFilter(opens)) }

// machine returns how the kernel tells a filter that a call is one of this machine.
func machine() uint32 {
	return map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
}

// callFilter returns the program of the filter.
func callFilter(opens bool) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	unless := func(k uint32, skip uint8) unix.SockFilter { // skips if the loaded word is not k
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: skip, K: k}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}

	program := []unix.SockFilter{
		load(machineOffset), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: machine()}, end(unix.SECCOMP_RET_KILL_PROCESS),
		load(callOffset),
	}
	allowed := callsAllowed
	if opens {
		allowed = append(allowed[:len(allowed):len(allowed)], callsThatOpen...)
	}
	for _, call := range allowed {
		program = append(program, unless(uint32(call), 1), end(unix.SECCOMP_RET_ALLOW))
	}
	for _, c := range callsWithArgument() {
		program = append(program,
			unless(uint32(c.call), uint8(3+2*len(c.want))),
			load(argumentOffset+8*uint32(c.argument)),
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.bits})
		for _, v := range c.want {
			program = append(program, unless(v, 1), end(unix.SECCOMP_RET_ALLOW))
		}
		program = append(program, end(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
	}
	return append(program, end(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))
}

// install makes a program the filter of all threads.
func install(program []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	stranger, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&p)))
	switch {
	case errno != 0:
		return errno
	case stranger != 0:
		return fmt.Errorf("thread %d has another filter", stranger)
	}
	return nil
}
