package worker

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// addressMargin is the address space of a worker beyond its size at the start and the memory of its session: Go reserves
// room for its heap by 64 MB, and each thread has a stack.
const addressMargin = 320 << 20

// openFiles is the largest number of open files of a worker.
const openFiles = 32

// A sandbox lists the restrictions of the process, and the missing ones.
type sandbox struct {
	holds, lacks []string

	files bool     // whether only those of the database can be opened
	statm *os.File // of the process
}

func (s *sandbox) note(what string, err error) {
	if err != nil {
		s.lacks = append(s.lacks, fmt.Sprintf("%s (%v)", what, err))
	} else {
		s.holds = append(s.holds, what)
	}
}

// enter drops all privileges that the kernel lets a worker drop. The database is open by now.
//
// The limit on the number of processes is left alone: the kernel counts those of the user, and threads with them.
func (s *sandbox) enter(c Config) {
	s.note("no new privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	s.note("not dumpable", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	s.note("limits", s.setLimits(c.Memory))
	exitOnLimit()
	s.note("seccomp", filterCalls(s.files))
}

// setLimits sets the resource limits of the process.
func (s *sandbox) setLimits(memory int64) error {
	mapped, err := s.mappedBytes()
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
func (s *sandbox) mappedBytes() (uint64, error) {
	defer s.statm.Close()
	text, err := io.ReadAll(s.statm)
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

// exitOnLimit ends the process at the signal that its processor time is used up, which Go would ignore. To write a file
// is an error.
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

// restrictFiles lets the process read the files of the database and nothing else, and use no network. SQLite opens the log of a
// database, and the index of that, for writing if it can, although the database is only read: an attacker in the worker
// could change through them the values that others read and the owner's programs write back. So the files are restricted
// before they are opened.
func (s *sandbox) restrictFiles(path string) {
	s.statm, _ = os.Open("/proc/self/statm") // for setLimits, which reads it then
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		s.note("Landlock", err)
		return
	}
	var files []string
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			files = append(files, path+suffix)
		}
	}
	err = landlock.V8.BestEffort().Restrict(landlock.PathAccess(llsys.AccessFSReadFile, files...))
	s.note(fmt.Sprintf("Landlock %d", version), err)
	s.files = err == nil
}
