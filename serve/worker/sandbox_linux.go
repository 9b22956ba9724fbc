package worker

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// addressMargin is how much address space a worker may take beside what it has when it starts and the memory of its
// session: Go reserves room for its heap by 64 MB, and each thread has a stack.
const addressMargin = 320 << 20

// openFiles is how many files a worker may have open.
const openFiles = 32

// enterSandbox drops what the kernel lets a worker drop. It returns what holds the worker from now on, and what is
// missing. The database is open by now.
//
// The limit on the number of processes is left alone: the kernel counts those of the user, and threads with them.
func enterSandbox(c Config) (holds, lacks []string) {
	note := func(what string, err error) {
		if err != nil {
			lacks = append(lacks, fmt.Sprintf("%s (%v)", what, err))
		} else {
			holds = append(holds, what)
		}
	}
	note("no new privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	note("not dumpable", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	note("limits", setLimits(c.Memory))
	exitOnLimit()
	what, err := restrictFiles(c.Path)
	note(what, err)
	note("seccomp", filterCalls(err == nil))
	return holds, lacks
}

// setLimits limits what the process may use.
func setLimits(memory int64) error {
	mapped, err := mappedBytes()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_AS, mapped + uint64(memory) + addressMargin},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, openFiles},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return err
		}
	}
	return nil
}

// mappedBytes returns the size of the process's address space.
func mappedBytes() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

// exitOnLimit ends the process when it has used its processor time, whose signal Go would ignore. To write a file is an
// error.
func exitOnLimit() {
	signal.Ignore(unix.SIGXFSZ)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGXCPU)
	go func() {
		<-caught
		fmt.Fprintln(os.Stderr, "geosql worker: it has used its processor time")
		os.Exit(1)
	}()
}

// allowProcessorTime lets the process use so much more processor time: on two processors, while the garbage
// collector runs beside a statement. The keeper looks at the clock.
func allowProcessorTime(timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return
	}
	limit := unix.Rlimit{Cur: uint64(used.Utime.Sec+used.Stime.Sec) + 2*uint64(timeout.Seconds()+1) + 2, Max: unix.RLIM_INFINITY}
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &limit)
}

// restrictFiles lets the process read the files of the database and nothing else, and use no network.
func restrictFiles(path string) (what string, err error) {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return "Landlock", err
	}
	var files []string
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			files = append(files, path+suffix)
		}
	}
	err = landlock.V8.BestEffort().Restrict(landlock.PathAccess(llsys.AccessFSReadFile, files...))
	return fmt.Sprintf("Landlock %d", version), err
}
