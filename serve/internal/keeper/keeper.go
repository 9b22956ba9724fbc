// Package keeper serves a sealed database to analysts who are not trusted. It holds the secrets: the owner's key, the
// ledger, the roles. Each session's SQL runs in a process of its own, which has neither: see package worker. The keeper
// evaluates the functions over sealed values that the process calls, and trusts none of its other messages. It imports
// the other packages of the server but the console. Start at Open and Session.
//
// A worker that breaks the protocol, hangs or dies costs its own session and no other.
//
// An analyst's SELECT dx_sum(kwh, 1) FROM reading takes this way:
//
//  1. Package wire has logged the role in and reads the statement. Session.Compile and Statement.Run (statement.go) read the role
//     again and pass the statement on to the session's worker, over package pipe.
//  2. The worker's Session.Prepare classifies it, rewrites PostgreSQL's dialect (package pgcatalog), finds the types of its
//     columns, and refuses misuses of sealed values. Nothing is stepped before Rows.Next.
//  3. SQLite steps the aggregate, which the worker has registered by sqlitefn.RegisterRemote: it checks its arguments and sends
//     rows to the keeper, in batches.
//  4. The keeper passes them to an Evaluation (sqlitefn/internal/unseal), on a connection that has the key. It opens values,
//     checks that the role may ask, and adds them up.
//  5. At the end of the group its question has a name, a keyed hash of settings and row identities, and a price for each account
//     and for the role. The ledger's Answer gives a remembered answer, or charges, draws and remembers, in one transaction.
//  6. The worker completes the row with the answer; rows go through the keeper to the client. A NOTICE at the end says the cost.
//
// When the statement is executed again, the keeper goes through 4 and 5 with the rows that it has, and the worker finds the answer there.
package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
	"github.com/geosql/geosql/sqlitefn"
)

// Options configure a keeper. An option with a default has it if it is zero.
type Options struct {
	Path    string // of the sealed database
	Name    string // under which clients know it; by default that of the file, without its extension
	Keyring *sealed.Keyring
	Ledger  string // as sqlitefn.WithLedger has it

	// Worker returns the command that starts a worker: a program that calls worker.Main.
	Worker func() *exec.Cmd

	MaxSessions int           // at a time; 100
	Memory      int64         // of a session in bytes, unless its role says otherwise; worker.DefaultMemory
	TotalMemory int64         // that the keeper may hold for all sessions together; half of the machine's
	Grace       time.Duration // for a worker to stop before it is killed; 2 s
	Start       time.Duration // for a worker to start; 20 s

	// IdleInTransaction is how long a client may ask nothing while it is in a transaction or reads a result, unless it
	// asks for less by idle_in_transaction_session_timeout; 10 minutes.
	IdleInTransaction time.Duration

	// IdleSession is how long a client may ask nothing otherwise, unless it asks for less by idle_session_timeout; 8 hours.
	IdleSession time.Duration

	Logger   *slog.Logger     // nothing is logged unless it is set
	Observer monitor.Observer // or nil
}

func (o Options) withDefaults() (Options, error) {
	real, err := filepath.Abs(o.Path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return o, err
	}
	base := filepath.Base(o.Path)
	o.Path = real
	o.Name = cmp.Or(o.Name, strings.TrimSuffix(base, filepath.Ext(base)), base)
	o.Ledger = cmp.Or(o.Ledger, sqlitefn.LedgerPath(real))
	o.MaxSessions = cmp.Or(o.MaxSessions, 100)
	o.Memory = cmp.Or(o.Memory, worker.DefaultMemory)
	o.TotalMemory = cmp.Or(o.TotalMemory, machineMemory()/2)
	o.Grace = cmp.Or(o.Grace, 2*time.Second)
	o.Start = cmp.Or(o.Start, 20*time.Second)
	o.IdleInTransaction = cmp.Or(o.IdleInTransaction, 10*time.Minute)
	o.IdleSession = cmp.Or(o.IdleSession, 8*time.Hour)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observer == nil {
		o.Observer = monitor.Observers(nil)
	}
	return o, nil
}

// questionsPurpose derives the key that names questions. Another keyring has another key, and then earlier answers are not
// found: they are drawn and charged again. After a rekey that is so anyway, since every value has a new identity.
const questionsPurpose = "names of questions"

// A Keeper serves one sealed database. It implements wire.Handler.
type Keeper struct {
	options   Options
	log       *slog.Logger
	questions [32]byte // the key that names them

	starts  chan func() // run by one thread that lives as long as the keeper: see startWorkers
	stopped chan struct{}
	workers sync.WaitGroup // the thread and the workers

	ledgerMu sync.Mutex // guards the fields below
	ledger   ledger.Ledger
	conn     *sqlite.Conn
	logs     bool                // the database keeps a write-ahead log because of the keeper
	names    *catalog.Keeper     // opens names of accounts
	known    map[string][]string // pseudonyms by name

	roles      knownRoles
	evaluators pool
	memory     memory
	drawn      tallies
	complaints complaints

	mu       sync.Mutex
	sessions map[*Session]bool
	closed   bool
	told     bool // whether the workers' sandbox has been logged

	waiting   *workerProcess // for the next session; nil if there is none
	preparing bool           // whether it is being started
}

// Open opens a sealed database and its ledger, to serve them. From now on other processes of the same user cannot read the
// memory of this one, where the kernel lets it say so.
func Open(o Options) (*Keeper, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := hideMemory(); err != nil {
		o.Logger.Warn("the memory of the server can be read by other processes of its user", "error", err)
	}
	k := &Keeper{options: o, log: o.Logger, sessions: map[*Session]bool{}}
	if err := k.open(); err != nil {
		k.closeFiles()
		return nil, err
	}
	k.memory.most = o.TotalMemory
	k.drawn.now = time.Now
	k.evaluators = pool{open: k.openEvaluator, memory: &k.memory}
	k.starts, k.stopped = make(chan func()), make(chan struct{})
	k.workers.Go(k.startWorkers)
	go k.watchRoles()
	return k, nil
}

func (k *Keeper) open() (err error) {
	if k.logs, err = setJournal(k.options.Path, "wal"); err != nil {
		k.log.Warn("sessions and owners who write wait for each other, since the database cannot have a write-ahead log", "error", err)
	}
	if k.conn, err = k.connect(); err != nil {
		return err
	}
	if err := k.openLedger(); err != nil {
		return err
	}
	k.questions, err = k.options.Keyring.Derive(k.names.ID(), questionsPurpose)
	return err
}

// openLedger opens the ledger and reads its facts. After an error the keeper is as before.
func (k *Keeper) openLedger() error {
	l, err := engines.Open(k.options.Ledger, false, 0)
	if err != nil {
		return err
	}
	names, err := catalog.Open(context.Background(), k.conn, l, k.options.Keyring)
	if err == nil {
		err = k.roles.open(l)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	k.ledger, k.names, k.known = l, names, map[string][]string{}
	return nil
}

// renewLedger opens the ledger again after its owner has accepted a loss: facts that were read may be lost too. Evaluators
// with the old one have errors once, and then there are none of them any more.
func (k *Keeper) renewLedger() {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	old := k.ledger
	if !errors.Is(old.Ready(context.Background()), ledger.ErrLossAccepted) {
		return // it was renewed
	}
	if err := k.openLedger(); err != nil {
		k.complaints.say(k.log, err)
		return
	}
	k.evaluators.drop()
	_ = old.Close() // its reservations stay
	k.log.Warn("the ledger was opened anew, since its owner has accepted a loss")
}

// setJournal sets the journal mode of a database, and reports whether that has changed. With a write-ahead log, readers
// and writers do not wait for each other.
func setJournal(path, mode string) (changed bool, err error) {
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	conn.BusyTimeout(busyTimeout)
	if err := conn.Distrust(); err != nil {
		return false, err
	}
	was, is := "", ""
	read := func(to *string) func([]sqlite.Value) error {
		return func(v []sqlite.Value) error {
			*to = v[0].Text()
			return nil
		}
	}
	err = cmp.Or(conn.Each("PRAGMA journal_mode", read(&was)), conn.Each("PRAGMA journal_mode = "+mode, read(&is)))
	if err == nil && is != mode {
		err = fmt.Errorf("its journal stays in mode %s", is)
	}
	return err == nil && was != is, err
}

// connect opens a connection to the database, which only reads.
func (k *Keeper) connect() (*sqlite.Conn, error) {
	conn, err := sqlite.Open(k.options.Path, sqlite.ReadOnly)
	if err != nil {
		return nil, err
	}
	conn.BusyTimeout(busyTimeout)
	if err := conn.Distrust(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// busyTimeout bounds the wait for a locked database, in milliseconds.
const busyTimeout = 5000

// Name returns the name under which clients know the database.
func (k *Keeper) Name() string { return k.options.Name }

// Login implements wire.Handler.
func (k *Keeper) Login(_ context.Context, user, _ string) (wire.Verifier, bool, error) {
	r, err := k.Role(user)
	if r == nil || err != nil {
		return wire.Verifier{}, false, err
	}
	return r.Verifier, true, nil
}

// Role returns the role of a name as it is now, or nil: see knownRoles.
func (k *Keeper) Role(name string) (found *role.Role, err error) {
	err = k.roles.look(func(all *role.Roles) { found = all.Find(name) })
	return found, err
}

// LoggedIn returns the role of a name as it is now, if it is still the one with a verifier, which a password has fitted: names
// can be given again. Otherwise that role has been dropped, which is a *wire.Error.
func (k *Keeper) LoggedIn(name string, v wire.Verifier) (*role.Role, error) {
	r, err := k.Role(name)
	if err == nil && (r == nil || !r.Verifier.Equal(v)) {
		return nil, errDropped(name)
	}
	return r, err
}

// Roles returns all roles as they are now, in the order of their names.
func (k *Keeper) Roles() (list []*role.Role, err error) {
	err = k.roles.look(func(all *role.Roles) { list = all.All() })
	return list, err
}

// mostKnown bounds the accounts with pseudonyms that the keeper remembers.
const mostKnown = 10000

// pseudonyms returns the pseudonyms of an account. Analysts see them in place of its name.
func (k *Keeper) pseudonyms(name string) []string {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	if all, ok := k.known[name]; ok {
		return all
	}
	all, err := k.names.Pseudonyms(name)
	if err != nil {
		k.log.Error("pseudonyms of an account cannot be read", "error", err)
		return nil
	}
	if len(k.known) >= mostKnown {
		clear(k.known)
	}
	k.known[name] = all
	return all
}

// NewSession implements wire.Handler.
func (k *Keeper) NewSession(ctx context.Context, login *wire.Login) (wire.Session, error) {
	s, err := k.Begin(ctx, login)
	if err != nil {
		return nil, err // not a nil *Session
	}
	return s, nil
}

// Begin begins the session of a role that has logged in.
func (k *Keeper) Begin(ctx context.Context, login *wire.Login) (*Session, error) {
	if login.Database != k.options.Name {
		return nil, &wire.Error{Code: "3D000", Message: fmt.Sprintf("database %q does not exist", login.Database),
			Hint: fmt.Sprintf("This server has the database %q.", k.options.Name)}
	}
	s := &Session{
		keeper: k, client: login.Client, end: login.End, verifier: login.Verifier, status: wire.Idle, groups: map[uint32]*openGroup{},
		info: monitor.Session{Number: login.ProcessID, Role: login.User, Remote: login.Remote, TLS: login.TLS, Began: time.Now()},
	}
	if err := s.readRole(); err != nil {
		return nil, err
	}
	if err := k.admit(s); err != nil {
		return nil, err
	}
	if err := s.start(ctx, login.Parameters); err != nil {
		k.forget(s)
		return nil, err
	}
	s.rest(false)
	k.options.Observer.SessionBegan(s.info)
	return s, nil
}

// roleInterval is how often the keeper looks whether roles have been dropped.
const roleInterval = 300 * time.Millisecond

// watchRoles ends the sessions of roles that are dropped, whatever they are doing.
func (k *Keeper) watchRoles() {
	ticker := time.NewTicker(roleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-k.stopped:
			return
		}
		sessions := k.running()
		if len(sessions) == 0 {
			continue
		}
		roles, err := k.Roles()
		if err != nil {
			continue // the next statement says that
		}
		for _, s := range sessions {
			if !slices.ContainsFunc(roles, func(r *role.Role) bool { return r.Name == s.info.Role && r.Verifier.Equal(s.verifier) }) {
				s.drop()
			}
		}
	}
}

// running returns the sessions that have a worker.
func (k *Keeper) running() (list []*Session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := range k.sessions {
		if s.worker != nil {
			list = append(list, s)
		}
	}
	return list
}

// States counts the sessions in each state.
func (k *Keeper) States() map[monitor.State]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	counts := map[monitor.State]int{}
	for s := range k.sessions {
		state, _ := s.state.Load().(monitor.State)
		counts[cmp.Or(state, monitor.Starting)]++
	}
	return counts
}

// admit adds a session, unless there are too many.
func (k *Keeper) admit(s *Session) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return errStops
	case len(k.sessions) >= k.options.MaxSessions:
		return &wire.Error{Code: "53300", Message: "sorry, too many sessions already",
			Detail: fmt.Sprintf("This server has at most %d at a time.", k.options.MaxSessions)}
	}
	k.sessions[s] = true
	return nil
}

func (k *Keeper) forget(s *Session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, s)
}

func errDropped(role string) *wire.Error {
	return &wire.Error{Severity: "FATAL", Code: "57P01", Message: fmt.Sprintf("the role %q has been dropped", role)}
}

var errStops = &wire.Error{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"}

// Close ends the keeper. It kills the workers of sessions that have not ended. Their users still have to close them.
func (k *Keeper) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return nil
	}
	k.closed = true
	k.mu.Unlock()
	if w := k.takeWaiting(); w != nil {
		w.stop(0)
	}
	for _, s := range k.running() {
		s.worker.kill(monitor.ServerStops, "the server stops")
		<-s.worker.exited
	}
	close(k.stopped)
	k.workers.Wait() // also for those of sessions that have ended: they have the database open
	k.evaluators.close()
	return k.closeFiles()
}

func (k *Keeper) closeFiles() (err error) {
	k.ledgerMu.Lock()
	defer k.ledgerMu.Unlock()
	if k.ledger != nil {
		err = k.ledger.Close()
	}
	if k.conn != nil {
		err = errors.Join(err, k.conn.Close())
	}
	if k.logs {
		// It is one file again, if nobody else has it open.
		_, _ = setJournal(k.options.Path, "delete")
	}
	return err
}

// addressOf returns an address as text.
func addressOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}
