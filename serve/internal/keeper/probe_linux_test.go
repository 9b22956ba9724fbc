package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
	"github.com/geosql/geosql/sqlitefn"
)

// probe is a worker that attempts, as statements, actions that a worker must not take.
func probe([]string) int {
	err := worker.Serve(pipe.Inherited(), func(c worker.Config, _ wire.Client, _ sqlitefn.Remote) (wire.Session, error) {
		conn, err := sqlite.Open(c.Path, sqlite.ReadOnly)
		if err != nil {
			return nil, err
		}
		return &prober{c, conn}, conn.Exec("SELECT 1 FROM sqlite_schema")
	})
	if err != nil {
		return 1
	}
	return 0
}

// A prober is a session that takes statements NAME [ARGUMENT]. Prepare returns the outcome of the attempt, as an error.
type prober struct {
	config worker.Config
	conn   *sqlite.Conn
}

func (p *prober) Ready(bool) wire.TxStatus { return wire.Idle }

func (p *prober) Hold(int64) error { return nil }

func (p *prober) IdleTimeout(bool) (time.Duration, *wire.Error) { return 0, nil }

func (p *prober) Close() {}

func (p *prober) Prepare(_ context.Context, sql string, _ []uint32) (wire.Statement, string, error) {
	name, argument, _ := strings.Cut(sql, " ")
	err := p.try(name, argument)
	if err == nil {
		return nil, "", &wire.Error{Code: "00000", Message: "done"}
	}
	return nil, "", &wire.Error{Code: "42501", Message: err.Error()}
}

func errorOf(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func (p *prober) try(name, argument string) error {
	parent := os.Getppid()
	switch name {
	case "query":
		return p.conn.Exec("SELECT count(*) FROM reading")
	case "threads": // that Go and the C library start
		done := make(chan bool)
		for range 8 {
			go func() { time.Sleep(10 * time.Millisecond); done <- true }()
		}
		for range 8 {
			<-done
		}
		return nil
	case "memory":
		n, _ := strconv.Atoi(argument)
		b, err := unix.Mmap(-1, 0, n<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err == nil {
			return unix.Munmap(b)
		}
		return err
	case "read":
		_, err := os.ReadFile(argument)
		return err
	case "list":
		_, err := os.ReadDir(argument)
		return err
	case "write":
		f, err := os.OpenFile(argument, os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.Write([]byte("x"))
		}
		return err
	case "append":
		f, err := os.OpenFile(argument, os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "remove":
		return os.Remove(argument)
	case "dial":
		c, err := net.DialTimeout("tcp", argument, time.Second)
		if err == nil {
			c.Close()
		}
		return err
	case "unix":
		_, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "exec":
		return exec.Command("/bin/true").Run()
	case "execve":
		return syscall.Exec("/bin/true", []string{"true"}, nil)
	case "fork":
		pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		return errorOf(errno)
	case "clone3":
		_, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		return errorOf(errno)
	case "ptrace":
		return unix.PtraceAttach(parent)
	case "vm":
		b := make([]byte, 8)
		local := []unix.Iovec{{Base: &b[0], Len: 8}}
		_, err := unix.ProcessVMReadv(parent, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&b[0])), Len: 8}}, 0)
		return err
	case "kill":
		return unix.Kill(parent, 0)
	case "own": // signals to the owner of a file
		_, err := unix.FcntlInt(3, unix.F_SETOWN, parent)
		return err
	case "setsig":
		_, err := unix.FcntlInt(3, unix.F_SETSIG, int(unix.SIGKILL))
		return err
	case "lease":
		f, err := os.Open(p.config.Path)
		if err == nil {
			_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
			f.Close()
		}
		return err
	case "memfd":
		_, err := unix.MemfdCreate("", 0)
		return err
	case "pidfd":
		_, err := unix.PidfdOpen(parent, 0)
		return err
	case "undump":
		return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	case "raise":
		l := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		return unix.Setrlimit(unix.RLIMIT_FSIZE, &l)
	case "others":
		l := unix.Rlimit{Cur: 1, Max: 1}
		return unix.Prlimit(parent, unix.RLIMIT_NOFILE, &l, nil)
	case "uring":
		_, _, errno := syscall.RawSyscall(425, 4, 0, 0)
		return errorOf(errno)
	case "bpf":
		_, _, errno := syscall.RawSyscall(unix.SYS_BPF, 0, 0, 0)
		return errorOf(errno)
	case "userfaultfd":
		_, _, errno := syscall.RawSyscall(unix.SYS_USERFAULTFD, 0, 0, 0)
		return errorOf(errno)
	case "keyctl":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		return err
	case "mount":
		return unix.Mount("none", "/mnt", "tmpfs", 0, "")
	case "perf":
		_, err := unix.PerfEventOpen(&unix.PerfEventAttr{}, 0, -1, -1, 0)
		return err
	case "files":
		var open []string
		for fd := range 64 {
			var st unix.Stat_t
			if unix.Fstat(fd, &st) == nil {
				open = append(open, fmt.Sprint(fd))
			}
		}
		return fmt.Errorf("%s", strings.Join(open, " "))
	case "writable": // a file that is open
		for fd := range 64 {
			var st unix.Stat_t
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			if err == nil && unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && flags&unix.O_ACCMODE != unix.O_RDONLY {
				return nil
			}
		}
		return errors.New("no open file can be written")
	case "environment":
		return fmt.Errorf("%q", os.Environ())
	}
	return fmt.Errorf("there is no attempt %q", name)
}

// A worker cannot do anything that it need not do.
func TestSandbox(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Worker = self("probe") })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	x := s.session()
	log := s.log.String()
	for _, part := range []string{"Landlock", "seccomp"} {
		if !strings.Contains(log, part) || strings.Contains(log, "missing") {
			t.Skipf("this kernel does not hold workers by all that a server uses:\n%s", log)
		}
	}
	attempt := func(what string) string {
		_, _, err := x.Prepare(context.Background(), what, nil)
		return describe(err)
	}
	done := func(got string) bool { return strings.Contains(got, "00000: done") }
	for _, what := range []string{"query", "threads", "memory 200"} {
		if got := attempt(what); !done(got) {
			t.Errorf("a worker cannot do %q: %s", what, got)
		}
	}
	other := filepath.Join(filepath.Dir(s.path), "other")
	if err := os.WriteFile(other, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{
		"memory 2000", "read " + other, "read " + sqlitefn.LedgerPath(s.path), "read /etc/hostname", "read /proc/self/status",
		"read /proc/" + strconv.Itoa(os.Getpid()) + "/environ", "list /", "list " + filepath.Dir(s.path),
		"write " + other, "write " + other + "2", "append " + s.path, "append " + s.path + "-wal", "append " + s.path + "-shm", "writable", "remove " + other,
		"dial " + listener.Addr().String(), "unix", "exec", "execve", "fork", "clone3", "ptrace", "vm", "kill", "own", "setsig", "lease", "memfd", "pidfd", "undump", "raise",
		"others", "uring", "bpf", "userfaultfd", "keyctl", "mount", "perf",
	} {
		got := attempt(what)
		if done(got) || !strings.Contains(got, "42501") || strings.Contains(got, "no attempt") {
			t.Errorf("a worker can do %q: %s", what, got)
		}
		t.Log(what, got)
	}
	if got := attempt("files"); !strings.Contains(got, "0 1 2 3") || len(strings.Fields(got)) > 20 {
		t.Errorf("open files: %s", got)
	} else {
		t.Log(got)
	}
	if got := attempt("environment"); !strings.Contains(got, `: ["MALLOC_ARENA_MAX=1" "GOGC=off"] `) {
		t.Errorf("the environment is %s", got)
	}
	if !done(attempt("query")) {
		t.Error("the database cannot be read any more")
	}
	// The keeper cannot be read either.
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		t.Errorf("the keeper is dumpable: %d, %v", n, err)
	}
}

// A worker that uses all its memory costs its own session.
func TestMemoryOfWorkers(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Memory = 32 << 20 })
	x := s.session()
	_, err := x.query("WITH RECURSIVE n(i, s) AS (SELECT 1, zeroblob(900000) UNION ALL SELECT i + 1, zeroblob(900000) FROM n WHERE i < 1000) SELECT group_concat(hex(s)) FROM n")
	if e := describe(err); !strings.Contains(e, "53200") && !strings.Contains(e, "54000") && !strings.Contains(e, "57P01") {
		t.Errorf("the error is %s", e)
	}
	s.session().want("SELECT count(*) FROM reading")
}
