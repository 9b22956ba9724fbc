//go:build linux && (amd64 || arm64)

package worker

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// verdict returns a filter's verdict on a call. It runs the few instructions that callFilter uses.
func verdict(program []unix.SockFilter, machine, call uint32, arguments ...uint64) uint32 {
	data := map[uint32]uint32{callOffset: call, machineOffset: machine}
	for i, a := range arguments {
		data[argumentOffset+8*uint32(i)] = uint32(a)
	}
	var loaded uint32
	for i := 0; ; i++ {
		switch in := program[i]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			loaded = data[in.K]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			loaded &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if loaded == in.K {
				i += int(in.Jt)
			} else {
				i += int(in.Jf)
			}
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			panic(fmt.Sprintf("instruction %d has code %#x", i, in.Code))
		}
	}
}

// A program that takes over a worker finds no other way to a call that the filter refuses: neither the numbers of another
// machine, nor those of x32, which the kernel shows as calls of x86-64, nor other arguments.
func TestCallFilter(t *testing.T) {
	const (
		allow   = unix.SECCOMP_RET_ALLOW
		kill    = unix.SECCOMP_RET_KILL_PROCESS
		refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

		x32 = 1 << 30
	)
	program := callFilter(true)
	self := machine()
	own, keeper := uint64(os.Getpid()), uint64(os.Getppid())
	for _, c := range []struct {
		name          string
		machine, call uint32
		arguments     []uint64
		want          uint32
	}{
		{"read", self, unix.SYS_READ, nil, allow},
		{"read of i386", unix.AUDIT_ARCH_I386, unix.SYS_READ, nil, kill},
		{"read of arm", unix.AUDIT_ARCH_ARM, unix.SYS_READ, nil, kill},
		{"read of a machine without a name", 0, unix.SYS_READ, nil, kill},
		{"read of x32", self, x32 | unix.SYS_READ, nil, missing},
		{"ptrace of x32", self, x32 | 521, nil, missing},
		{"no call", self, ^uint32(0), nil, missing},
		{"thread", self, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD}, allow},
		{"fork", self, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, refuse},
		{"vfork that shares memory", self, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK}, refuse},
		{"kill itself", self, unix.SYS_KILL, []uint64{own}, allow},
		{"kill the keeper", self, unix.SYS_KILL, []uint64{keeper}, refuse},
		{"kill all", self, unix.SYS_KILL, []uint64{^uint64(0)}, refuse},
		{"kill a group", self, unix.SYS_KILL, []uint64{-keeper}, refuse},
		{"tgkill the keeper", self, unix.SYS_TGKILL, []uint64{keeper, keeper}, refuse},
		{"limits of the keeper", self, unix.SYS_PRLIMIT64, []uint64{keeper}, refuse},
		{"size of files", self, unix.SYS_SETRLIMIT, []uint64{unix.RLIMIT_FSIZE}, refuse},
		{"dumpable", self, unix.SYS_PRCTL, []uint64{unix.PR_SET_DUMPABLE}, refuse},
		{"tracer", self, unix.SYS_PRCTL, []uint64{unix.PR_SET_PTRACER}, refuse},
		{"lock", self, unix.SYS_FCNTL, []uint64{5, unix.F_SETLK}, allow},
		{"signals to others", self, unix.SYS_FCNTL, []uint64{5, unix.F_SETOWN, keeper}, refuse},
		{"signals to others, new form", self, unix.SYS_FCNTL, []uint64{5, unix.F_SETOWN_EX}, refuse},
		{"lease", self, unix.SYS_FCNTL, []uint64{5, unix.F_SETLEASE}, refuse},
	} {
		if got := verdict(program, c.machine, c.call, c.arguments...); got != c.want {
			t.Errorf("%s: the filter says %#x, not %#x", c.name, got, c.want)
		}
	}
	for _, call := range []uint32{
		unix.SYS_CLONE3, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_TKILL,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_BPF, unix.SYS_USERFAULTFD,
		unix.SYS_PERF_EVENT_OPEN, unix.SYS_SECCOMP, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_IOCTL, unix.SYS_SOCKET, unix.SYS_SENDMSG,
		unix.SYS_RECVMSG, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_SHMAT, unix.SYS_FTRUNCATE,
		unix.SYS_PWRITE64, unix.SYS_FALLOCATE, unix.SYS_KCMP, unix.SYS_KEYCTL,
	} {
		if got := verdict(program, self, call); got != missing {
			t.Errorf("call %d: the filter says %#x, not %#x", call, got, missing)
		}
	}
	if got := verdict(callFilter(false), self, unix.SYS_OPENAT); got != missing {
		t.Errorf("opening a file without Landlock: the filter says %#x, not %#x", got, missing)
	}
}
