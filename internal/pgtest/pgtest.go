// Package pgtest starts PostgreSQL servers for tests: private ones, in a temporary folder, on a Unix
// socket, as an ordinary user. They end with the test process, however it ends. Tests that need
// a server are skipped where PostgreSQL is not installed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/need"
)

// patience is how long a server may take to start, to stop or to obey.
const patience = 60 * time.Second

// superuser is the role that owns everything.
const superuser = "postgres"

// A Server is a PostgreSQL server, with settings that lose nothing when it crashes.
type Server struct {
	place   *place
	data    string // folder
	socket  string // folder
	process *process
	private bool // it may be killed

	making    sync.Mutex // of templates
	templates map[string]bool
}

// place is shared by the servers of the test process.
type place struct {
	folder   string
	bin      string // folder of the programs
	user     *account
	guard    *guard
	template string // folder: the data of a new server
	number   atomic.Int64
}

var (
	prepare = sync.OnceValues(newPlace)
	shared  = sync.OnceValues(func() (*Server, error) {
		p, err := prepare()
		if err != nil {
			return nil, err
		}
		return p.newServer("")
	})
)

// errAbsent is the reason to skip a test.
type errAbsent struct{ error }

// check ends a test after an error.
func check(t testing.TB, err error) {
	t.Helper()
	var absent errAbsent
	switch {
	case errors.As(err, &absent):
		need.Missing(t, fmt.Sprintf("no PostgreSQL server for tests: %v", err))
	case err != nil:
		t.Fatal(err)
	}
}

// Start returns the server that all tests of this process share.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	check(t, err)
	return s
}

// Own starts a server for one test, which may kill it.
func Own(t testing.TB) *Server {
	t.Helper()
	p, err := prepare()
	check(t, err)
	s, err := p.newServer("")
	check(t, err)
	s.private = true
	t.Cleanup(s.remove)
	return s
}

// newPlace creates the folder of this process's servers, and the data of a new one.
func newPlace() (*place, error) {
	if err := supported(); err != nil {
		return nil, errAbsent{err}
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	p := &place{bin: bin}
	if p.user, err = ordinaryUser(); err != nil {
		return nil, errAbsent{err}
	}
	if p.folder, err = newFolder(p.user); err != nil {
		return nil, err
	}
	if p.guard, err = startGuard(p.folder); err != nil {
		os.RemoveAll(p.folder)
		return nil, err
	}
	p.template = p.path("data")
	return p, p.makeTemplate()
}

// settings are those of a new server, beside PostgreSQL's own. Nothing of one that is killed stays outside of its folder.
const settings = `
listen_addresses = ''
shared_buffers = 32MB
dynamic_shared_memory_type = mmap
max_connections = 200
timezone = UTC
log_timezone = UTC
`

// makeTemplate creates the data of a new server.
func (p *place) makeTemplate() error {
	err := p.run(exec.Command(p.program("initdb"), "--pgdata", p.template, "--username", superuser,
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--wal-segsize", "1", "--no-sync"))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(p.template, "postgresql.conf"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(settings)
	return errors.Join(err, file.Close())
}

// programs returns the folder of the server's programs.
func programs() (folder string, err error) {
	path, err := need.Find("initdb")
	if err != nil {
		return "", errAbsent{err}
	}
	path, err = filepath.EvalSymlinks(path)
	return filepath.Dir(path), err
}

// newFolder creates a folder that belongs to a user, in one that the user can enter. Paths of
// sockets have to be short.
func newFolder(user *account) (string, error) {
	const longest = 60
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		if len(parent) > longest || !reachable(parent, user) {
			continue
		}
		folder, err := os.MkdirTemp(parent, "pgtest-")
		if err != nil {
			continue
		}
		return folder, user.give(folder)
	}
	return "", fmt.Errorf("neither %s nor /tmp is a folder that the server can use: the user must be able to enter it, and its path must be short", os.TempDir())
}

// reachable reports whether a user can enter a folder.
func reachable(folder string, user *account) bool {
	for {
		info, err := os.Stat(folder)
		if err != nil || !user.mayEnter(info) {
			return false
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return true
		}
		folder = parent
	}
}

// path returns a path in the folder that does not exist yet.
func (p *place) path(what string) string {
	return filepath.Join(p.folder, what+strconv.FormatInt(p.number.Add(1), 10))
}

// program returns the path of one of PostgreSQL's programs.
func (p *place) program(name string) string { return filepath.Join(p.bin, name) }

// run runs a command as the servers' user.
func (p *place) run(cmd *exec.Cmd) error {
	cmd.Dir = p.folder
	cmd.Env = environment()
	cmd.SysProcAttr = attributes(p.user)
	runtime.LockOSThread() // see attributes
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// environment returns the environment of servers and their programs: nothing of the user's that
// says where another server is, and messages in English.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "PG") || strings.HasPrefix(s, "LC_") || strings.HasPrefix(s, "LANG")
	})
	return append(env, "LC_ALL=C", "TZ=UTC")
}

// process is a server's first process.
type process struct {
	pid  int
	done chan struct{} // closed at its end
}

// start starts a process that ends with this one.
func (p *place) start(cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.folder, environment(), file, file
	cmd.SysProcAttr = attributes(p.user)
	started := make(chan error)
	running := &process{done: make(chan struct{})}
	go func() {
		runtime.LockOSThread() // the process ends when this thread does
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		running.pid = cmd.Process.Pid
		p.guard.watch(running.pid, true)
		started <- nil
		_ = cmd.Wait() // many are killed
		p.guard.watch(running.pid, false)
		close(running.done)
	}()
	return running, <-started
}

// running reports whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// wait waits for the process's end.
func (p *process) wait() error {
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("process %d has not ended after %v", p.pid, patience)
	}
}

// signal sends a signal to the process, unless it has ended.
func (p *process) signal(s os.Signal) error {
	found, err := os.FindProcess(p.pid)
	if err == nil {
		err = found.Signal(s)
	}
	if !p.running() {
		return nil
	}
	return err
}

// newServer starts a server on data that no other server uses, or on new data.
func (p *place) newServer(data string) (*Server, error) {
	if data == "" {
		data = p.path("data")
		if err := p.run(exec.Command("cp", "-R", p.template, data)); err != nil {
			return nil, err
		}
	}
	s := &Server{place: p, data: data, socket: p.path("socket"), templates: map[string]bool{}}
	if err := os.Mkdir(s.socket, 0o700); err != nil {
		return nil, err
	}
	if err := p.user.give(s.socket); err != nil {
		return nil, err
	}
	return s, s.start()
}

// start starts the server and waits until it answers. While processes of a server that was killed
// still run, a new one does not start: start tries again.
func (s *Server) start() error {
	for end := time.Now().Add(patience); ; {
		cmd := exec.Command(s.place.program("postgres"), "-D", s.data, "-k", s.socket)
		var err error
		if s.process, err = s.place.start(cmd, s.log()); err != nil {
			return err
		}
		for s.process.running() && time.Now().Before(end) {
			if err = s.query(func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) }); err == nil {
				return nil
			}
			time.Sleep(10 * time.Millisecond)
		}
		if time.Now().After(end) || !strings.Contains(s.logEnd(), "still in use") {
			return fmt.Errorf("the server does not start: %v\n%s", err, s.logEnd())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) log() string { return s.socket + ".log" }

// logEnd returns the end of the server's log.
func (s *Server) logEnd() string {
	log, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-2000):])
}

// query works on a connection of its own as superuser.
func (s *Server) query(work func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return work(ctx, c)
}

// exec runs a statement as superuser.
func (s *Server) exec(sql string) error {
	return s.query(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, sql)
		return err
	})
}

// url returns the URL of a database.
func (s *Server) url(database string) string { return socketURL(s.socket, database) }

func socketURL(socket, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database, RawQuery: "host=" + url.QueryEscape(socket)}
	return u.String()
}

// databases counts the databases of this process, for their names.
var databases atomic.Int64

// Database creates an empty database, which the end of the test drops, and returns its URL. Its
// texts are UTF-8 and ordered by their bytes, and the role of the URL may do everything.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.copyOf(t, "template1")
}

// Copy creates a database as Database does, with the contents of a template. The first call for a template makes it: fill gets the
// URL of an empty database, and must leave no connection to it.
func (s *Server) Copy(t testing.TB, template string, fill func(url string)) string {
	t.Helper()
	s.making.Lock()
	defer s.making.Unlock()
	if !s.templates[template] {
		check(t, s.exec("CREATE DATABASE "+template))
		fill(s.url(template))
		s.templates[template] = true
	}
	return s.copyOf(t, template)
}

// DatabaseIn creates a database as Database does, on a server of the test's own, with its data in a folder of
// the test's.
func (s *Server) DatabaseIn(t testing.TB, folder string) string {
	t.Helper()
	s.mine(t)
	data := filepath.Join(folder, "data")
	check(t, os.Mkdir(data, 0o700))
	check(t, s.place.user.give(data))
	check(t, os.Chmod(filepath.Dir(folder), 0o711)) // so that the server can enter
	check(t, s.exec(fmt.Sprintf("CREATE TABLESPACE elsewhere LOCATION '%s'", data)))
	return s.copyOf(t, "template1 TABLESPACE elsewhere")
}

// copyOf creates a database as a copy of another, which the end of the test drops, and returns its URL.
func (s *Server) copyOf(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprint("test", databases.Add(1))
	check(t, s.exec("CREATE DATABASE "+name+" TEMPLATE "+template))
	if !s.private { // else it goes with the server
		t.Cleanup(func() {
			if err := s.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
				t.Error(err)
			}
		})
	}
	return s.url(name)
}
