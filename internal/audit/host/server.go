package host

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/processes"
	"github.com/geosql/geosql/sqlitefn"
)

// Server is the host that asks geosql serve about sealed databases, as an analyst does. Each database has a server of
// its own.
type Server struct {
	// Command is the path of the command geosql.
	Command string
}

// Describe implements [Host].
func (Server) Describe() string { return "geosql " + sqlitefn.Version + " serve" }

// Makes implements [Host].
func (Server) Makes(sealed bool) bool { return sealed }

// The analyst, who may ask as long and as much as the accounts can pay.
const (
	analyst  = "analyst"
	password = "an audit asks on this machine only"
	enough   = "1000000" // seconds, rows, thousands of answers, MB of these
)

// Create implements [Host].
func (h Server) Create(ctx context.Context, folder string, setup Setup) (Database, error) {
	made, err := Library(h).Create(ctx, folder, setup)
	if err != nil {
		return nil, err
	}
	files := filesIn(folder)
	if err := h.addRole(ctx, made, files, setup); err != nil {
		return nil, err
	}
	d := &serverDatabase{Database: made}
	if err := d.start(ctx, h.Command, files); err != nil {
		return nil, err
	}
	return d, nil
}

// addRole adds the analyst, with the budget of an account.
func (h Server) addRole(ctx context.Context, d Database, files sealedFiles, setup Setup) error {
	secret := files.key + ".password"
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	var columns []string
	for _, t := range setup.Sealed {
		for _, c := range t.Columns {
			columns = append(columns, t.Table+"."+sealedName(c))
		}
	}
	args := []string{"role", files.database, "add", analyst, "--password-file", secret, "--columns", strings.Join(columns, ","),
		"--timeout", enough, "--rows", enough, "--answers", enough + "000", "--answer-bytes", enough + "000000", "--max-repeat", strconv.Itoa(max(1, setup.Repeat))}
	owner, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	defer owner.Close()
	err = owner.Query(ctx, `SELECT unit, CAST(epsilon_limit AS TEXT) FROM ledger_limits WHERE account = '*'`, func(row []any) error {
		args = append(args, "--epsilon", row[0].(string)+"="+row[1].(string))
		return nil
	})
	if err != nil {
		return err
	}
	return runCommand(ctx, h.Command, args...)
}

// A serverDatabase is a sealed database with its server. Its owner reads the ledger in this process.
type serverDatabase struct {
	Database
	address string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when the server has ended
	release func() bool   // of the context that stops the server

	mu   sync.Mutex
	said string // by the server last
}

// start starts the server and waits until it listens. It ends with the context.
func (d *serverDatabase) start(ctx context.Context, command string, files sealedFiles) error {
	d.cmd = exec.Command(command, "serve", files.database, "--key", files.key, "--listen", "127.0.0.1:0", "--drain", "0")
	processes.Group(d.cmd) // a terminal's Ctrl-C is for the audit, which then stops it
	out, err := d.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.ended = make(chan struct{})
	listening := make(chan string, 1)
	go d.read(bufio.NewScanner(out), listening)
	d.release = context.AfterFunc(ctx, d.stop)
	select {
	case d.address = <-listening:
		return nil
	case <-d.ended:
		return d.gone(ctx)
	}
}

// read reads the server's output, until it ends.
func (d *serverDatabase) read(lines *bufio.Scanner, listening chan<- string) {
	for lines.Scan() {
		d.mu.Lock()
		d.said = lines.Text()
		d.mu.Unlock()
		if at, use, found := strings.Cut(lines.Text(), ": psql "); found && use != "" {
			listening <- strings.TrimPrefix(at, "listening on ") // said once
		}
	}
	_ = d.cmd.Wait()
	close(d.ended)
}

// gone returns the error about a server that has ended.
func (d *serverDatabase) gone(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Errorf("geosql serve has ended: %v: %s", d.cmd.ProcessState, d.said)
}

// stop stops the server.
func (d *serverDatabase) stop() {
	wait := patience
	if d.cmd.Process.Signal(syscall.SIGTERM) != nil { // Windows has none
		wait = 0
	}
	select {
	case <-d.ended:
	case <-time.After(wait):
		_ = d.cmd.Process.Kill()
		<-d.ended
	}
}

// Close implements [Database].
func (d *serverDatabase) Close() error {
	d.release()
	d.stop()
	return d.Database.Close()
}

// Connect implements [Database].
func (d *serverDatabase) Connect(ctx context.Context) (Session, error) {
	server, port, err := net.SplitHostPort(d.address)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s user=%s password='%s' dbname=sealed sslmode=disable", server, port, analyst, password))
	if err != nil {
		return nil, err
	}
	s := &serverSession{database: d}
	config.OnNotice = s.note
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, s.explain(ctx, err)
	}
	return s, nil
}

// sealedName returns the name of a sealed column: a pair of coordinates is called location.
func sealedName(column string) string {
	name, _, _ := strings.Cut(column, ":")
	if strings.Contains(name, ",") {
		return "location"
	}
	return name
}
