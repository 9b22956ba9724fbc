package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// transaction implements [engine.Transaction]. Writes wait in memory until the commit.
type transaction struct {
	reader
	plan  *plan
	open  bool // on the server
	again bool // it has to be given up, and run again

	accounts lockedAccounts
	changed  []*account
	stale    bool // whether limits were set since those of the accounts were read

	head    ledger.Head // of the writer
	entries entries
	pending []statement // to run before the entries are written, or anything is read

	written  int
	numbered []*engine.Run // that got their number here
	undos    []func()      // called if nothing of it is stored
}

// account is a balance that a transaction has locked, and the limit that holds for it.
type account struct {
	standing ledger.Standing
	stored   bool  // whether the balance has a row
	place    place // of the row
	changed  bool
}

// lockedAccounts are the accounts that a transaction has locked. There may be a million of them.
type lockedAccounts struct {
	planned []account // in ascending order
	next    int       // behind the one that was found last: many are found in their order
	others  map[engine.Key]*account
}

// find returns the account of a key, or nil if it is not locked.
func (s *lockedAccounts) find(k engine.Key) *account {
	if s.next >= len(s.planned) || s.planned[s.next].key() != k {
		at, found := sort.Find(len(s.planned), func(i int) int { return compareKeys(k, s.planned[i].key()) })
		if !found {
			return s.others[k]
		}
		s.next = at
	}
	s.next++
	return &s.planned[s.next-1]
}

// all yields the accounts.
func (s *lockedAccounts) all(yield func(*account) bool) {
	for i := range s.planned {
		if !yield(&s.planned[i]) {
			return
		}
	}
	for _, a := range s.others {
		if !yield(a) {
			return
		}
	}
}

// entries are the rows of table entry that a transaction writes, by columns.
type entries struct {
	statement, time           column[int64]
	function, account, unit   column[string]
	spent, reserved, evals    column[int64]
	windowStart, windowSpent  column[int64]
	epsilonLimit, windowLimit column[int64]
	hash                      [][32]byte
	scratch                   []byte
}

// grow makes room for n entries.
func (r *entries) grow(n int) {
	for _, c := range []*column[int64]{&r.statement, &r.time, &r.spent, &r.reserved, &r.evals,
		&r.windowStart, &r.windowSpent, &r.epsilonLimit, &r.windowLimit} {
		*c = slices.Grow(*c, n)
	}
	for _, c := range []*column[string]{&r.function, &r.account, &r.unit} {
		*c = slices.Grow(*c, n)
	}
	r.hash = slices.Grow(r.hash, n)
}

// add adds an entry.
func (r *entries) add(e *ledger.Entry, h *ledger.Head) {
	r.statement = append(r.statement, e.Statement)
	r.time = append(r.time, e.Time)
	r.function = append(r.function, e.Function)
	r.account = append(r.account, e.Account)
	r.unit = append(r.unit, string(e.Unit))
	r.spent = append(r.spent, int64(e.Spent))
	r.reserved = append(r.reserved, int64(e.Reserved))
	r.evals = append(r.evals, e.Evaluations)
	r.windowStart = append(r.windowStart, e.Window.Start)
	r.windowSpent = append(r.windowSpent, int64(e.Window.Spent))
	r.epsilonLimit = append(r.epsilonLimit, int64(e.Limit))
	r.windowLimit = append(r.windowLimit, e.LimitWindow)
	r.hash = append(r.hash, h.Hash)
}

const beginSQL = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

const enterSQL = `SELECT started, recovery, durable, storage, generation, moved, turn, seq, hash, standings, places, now, lost
FROM geosql.enter($1, $2::uuid, $3, $4, $5)`

// begin begins a transaction: the first of its two round trips. It is called in turn.
func (s *store) begin(ctx context.Context, p *plan) (*transaction, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := &transaction{reader: reader{store: s, conn: conn, ctx: ctx}, plan: p, open: true}
	t.before = t.flush
	if s.writer == nil {
		s.writer, err = s.claim(ctx, conn.Conn())
	}
	if err == nil {
		err = t.enter(ctx, p)
	}
	if err != nil {
		t.end()
		if errors.Is(err, errBehind) {
			var found int64
			if s.writer != nil {
				found = s.writer.generation
			}
			_ = noteLoss(ctx, s.pool, s.id, found) // the error is the loss
		}
		return nil, err
	}
	return t, nil
}

// enter locks and reads the rows of the plan.
func (t *transaction) enter(ctx context.Context, p *plan) error {
	slices.SortFunc(p.keys, compareKeys)
	p.keys = slices.Compact(p.keys)
	accounts, units := make([]string, len(p.keys)), make([]string, len(p.keys))
	for i, k := range p.keys {
		if err := checkKey(k); err != nil {
			return err
		}
		accounts[i], units[i] = k.Account, string(k.Unit)
	}
	batch := &pgconn.Batch{}
	(&statement{sql: beginSQL}).queue(batch)
	(&statement{sql: pinSQL}).queue(batch)
	(&statement{enterSQL, []any{version, t.store.writer.file.ID(), p.alone, accounts, units}}).queue(batch)
	sent := moment(time.Now())
	results, err := t.conn.Conn().PgConn().ExecBatch(ctx, batch).ReadAll()
	if err != nil {
		return lost(err)
	}
	if len(results) != 3 || len(results[2].Rows) != 1 || len(results[2].Rows[0]) != 13 {
		return errAnswer
	}
	return t.entered(results[2].Rows[0], p.keys, sent)
}

// entered takes in the answer of geosql.enter.
func (t *transaction) entered(row [][]byte, keys []engine.Key, sent moment) error {
	recovery, durable, storage, moved, hash := string(row[1]) == "\x01", string(row[2]), string(row[3]), row[5], row[8]
	if err := checkServer(recovery, durable, storage); err != nil {
		return err
	}
	switch {
	case moved != nil:
		return errMoved(string(moved))
	case row[12] != nil:
		lost, err := decodeInt(row[12])
		return cmp.Or(err, errLost(lost))
	case row[6] == nil:
		return errBehind
	}
	var at position
	var started, generation int64
	for _, f := range []struct {
		to   *int64
		from []byte
	}{{&started, row[0]}, {&generation, row[4]}, {&at.turn, row[6]}, {&at.head.ID, row[7]}, {&t.now, row[11]}} {
		var err error
		if *f.to, err = decodeInt(f.from); err != nil {
			return err
		}
	}
	if copy(at.head.Hash[:], hash) != len(at.head.Hash) {
		return errAnswer
	}
	t.store.clock.set(started, sent)
	if err := t.store.writer.check(at, generation); err != nil {
		t.store.outdated.Store(err == errOtherGeneration) // and [Open] gives another
		return err
	}
	t.head = at.head
	return t.addStandings(row[9], row[10], keys)
}

// addStandings takes in the server's rows of keys that are locked now.
func (t *transaction) addStandings(standings, places []byte, keys []engine.Key) error {
	if len(keys) == 0 {
		return nil
	}
	all, err := decodeFound(standings, places, len(keys))
	if err != nil {
		return err
	}
	t.accounts.planned = make([]account, len(keys))
	for i := range all {
		t.accounts.planned[all[i].key].set(keys[all[i].key], &all[i])
	}
	return nil
}

// set gives an account the row that was found.
func (a *account) set(k engine.Key, f *found) {
	a.place = f.place
	a.stored = setStanding(&a.standing, k, f.numbers)
}

// checkServer returns an error for a server that may lose its commits.
func checkServer(recovery bool, durable, storage string) error {
	if recovery {
		return errRecovery
	}
	switch durable {
	case "on", "remote_write", "remote_apply":
	default:
		return errNotDurable("synchronous_commit", durable, "set it to on")
	}
	fsync, pages, _ := strings.Cut(storage, " ")
	if fsync != "on" {
		return errNotDurable("fsync", fsync, "set fsync = on in postgresql.conf and reload")
	}
	if pages != "on" {
		return errNotDurable("full_page_writes", pages, "set full_page_writes = on in postgresql.conf and reload")
	}
	return nil
}

func compareKeys(a, b engine.Key) int {
	return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(string(a.Unit), string(b.Unit)))
}

// flush writes the waiting rows, except entries and balances.
func (t *transaction) flush() error {
	if len(t.pending) == 0 {
		return nil
	}
	batch := &pgconn.Batch{}
	for i := range t.pending {
		t.pending[i].queue(batch)
	}
	t.pending = t.pending[:0]
	_, err := t.conn.Conn().PgConn().ExecBatch(t.ctx, batch).ReadAll()
	return lost(err)
}

// write has a statement run before the commit.
func (t *transaction) write(sql string, args ...any) error {
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			if err := checkText(text); err != nil {
				return err
			}
		}
	}
	t.pending = append(t.pending, statement{sql, args})
	t.written++
	return nil
}

const leaveSQL = `SELECT geosql.leave($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
  $17, $18, $19, $20, $21, $22, $23, $24, $25)`

// commit writes everything and commits: the second round trip.
func (t *transaction) commit(ctx context.Context) error {
	batch := &pgconn.Batch{}
	for i := range t.pending {
		t.pending[i].queue(batch)
	}
	leave := t.leave()
	leave.queue(batch)
	(&statement{sql: "COMMIT"}).queue(batch)
	w := t.store.writer
	to := position{w.at.turn + 1, t.head}
	conn := t.conn.Conn().PgConn()
	t.store.warning.Store(nil)
	results, err := conn.ExecBatch(ctx, batch).ReadAll()
	if err == nil {
		last := results[len(results)-1]
		if len(results) != len(t.pending)+2 || last.CommandTag.String() != "COMMIT" {
			return fmt.Errorf("the server has answered COMMIT with %s", last.CommandTag)
		}
		t.open = false
		t.done()
		if err := w.advance(to); err != nil {
			return t.inDoubt(err)
		}
		if warned := t.store.warning.Load(); warned != nil && warned.conn == conn {
			// Such as that somebody has ended the wait for a standby, which may not have the charge.
			return t.inDoubt(fmt.Errorf("the server has stored the charge with a warning, and so nothing is granted: %s", warned.text))
		}
		return nil
	}
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.SeverityUnlocalized == "ERROR" {
		return err // it is rolled back
	}
	if doubt := w.setDoubt(to); doubt != nil {
		return t.inDoubt(fmt.Errorf("%v; %v", explainConnect(err), doubt))
	}
	t.closeConn()
	return t.resolve(explainConnect(err))
}

// resolve finds out whether a commit was stored after an error lost its answer.
func (t *transaction) resolve(lostBy error) error {
	s := t.store
	to := *s.writer.doubt
	err := retry(t.ctx, func(ctx context.Context) error {
		found, err := s.begin(ctx, &plan{}) // waits until the server has ended the old transaction
		if err == nil {
			found.end()
		}
		return err
	})
	switch {
	case err != nil:
		return t.inDoubt(fmt.Errorf("the connection was lost (%v), and so it is not known whether the charge is stored: %v", lostBy, err))
	case s.writer.at == to:
		t.done()
		return nil
	}
	return &lostError{lostBy} // nothing is stored
}

// inDoubt returns the error of a transaction that is stored, or may be: it is not undone in memory.
func (t *transaction) inDoubt(cause error) error {
	t.undos = nil
	return &engine.InDoubtError{Cause: cause}
}

// leave returns the statement that writes entries and balances.
func (t *transaction) leave() statement {
	slices.SortFunc(t.changed, func(a, b *account) int {
		if a.stored != b.stored {
			return compareBool(a.stored, b.stored)
		}
		return compareKeys(a.key(), b.key())
	})
	n := len(t.changed)
	accounts, units, places := make([]string, 0, n), make(column[string], 0, n), make([]place, 0, n)
	var columns [5]column[int64]
	for i := range columns {
		columns[i] = make(column[int64], n)
	}
	for i, a := range t.changed {
		s := &a.standing
		if a.stored {
			places = append(places, a.place)
		} else {
			accounts, units = append(accounts, s.Account), append(units, string(s.Unit))
		}
		for k, v := range [...]int64{int64(s.Spent), int64(s.Reserved), microseconds(s.LastCharge), s.Stored.Start, int64(s.Stored.Spent)} {
			columns[k][i] = v
		}
	}
	e := &t.entries
	return statement{leaveSQL, []any{t.store.writer.file.ID(), t.head.ID, t.head.Hash[:],
		e.statement, e.time, e.function, e.account, e.unit, e.spent, e.reserved, e.evals,
		e.windowStart, e.windowSpent, e.epsilonLimit, e.windowLimit, e.hash,
		int64(len(accounts)), places, accounts, units, columns[0], columns[1], columns[2], columns[3], columns[4]}}
}

// compareBool orders false before true.
func compareBool(a, b bool) int { return cmp.Compare(boolByte(a), boolByte(b)) }

// key returns the account's key.
func (a *account) key() engine.Key {
	return engine.Key{Account: a.standing.Account, Unit: a.standing.Unit}
}

// microseconds returns a time in microseconds since 1970, or 0 for the zero time.
func microseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// done says that the transaction is stored.
func (t *transaction) done() { t.numbered, t.undos = nil, nil }

// end rolls the transaction back unless it was committed, or may be.
func (t *transaction) end() {
	for _, r := range t.numbered {
		r.Number = 0
	}
	for _, undo := range t.undos {
		undo()
	}
	t.done()
	if t.conn == nil {
		return
	}
	if t.open {
		ctx, cancel := context.WithTimeout(t.ctx, answersWithin)
		defer cancel()
		if _, err := t.conn.Conn().PgConn().Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
			t.closeConn()
			return
		}
	}
	t.conn.Release()
	t.conn = nil
}

// closeConn closes the connection.
func (t *transaction) closeConn() {
	discard(t.conn)
	t.conn = nil
}

// Written implements [engine.Transaction].
func (t *transaction) Written() int { return t.written }

// Undo implements [engine.Transaction].
func (t *transaction) Undo(undo func()) { t.undos = append(t.undos, undo) }

// giveUp has the transaction run again with more in its plan.
func (t *transaction) giveUp() error {
	t.again = true
	return again{}
}

// locked returns an account, which it locks if it was not in the plan. It does not wait for
// somebody who has locked it, since the accounts are not locked in their order then: the transaction
// runs again with the account in its plan.
func (t *transaction) locked(k engine.Key) (*account, error) {
	if err := t.refresh(); err != nil {
		return nil, err
	}
	if a := t.accounts.find(k); a != nil {
		return a, nil
	}
	if err := checkKey(k); err != nil {
		return nil, err
	}
	t.plan.keys = append(t.plan.keys, k)
	one, err := t.find(standingsSQL+lockNow, []engine.Key{k})
	if hasCode(err, "55P03") {
		return nil, t.giveUp()
	}
	if err != nil {
		return nil, err
	}
	a := new(account)
	a.set(k, &one[0])
	if t.accounts.others == nil {
		t.accounts.others = map[engine.Key]*account{}
	}
	t.accounts.others[k] = a
	return a, nil
}

// refresh reads the limits of the accounts again if limits were set.
func (t *transaction) refresh() error {
	var keys []engine.Key
	var known []*account
	if t.stale {
		for a := range t.accounts.all {
			keys, known = append(keys, a.key()), append(known, a)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	all, err := t.find(standingsSQL+unlocked, keys)
	if err != nil {
		return err
	}
	for i := range all {
		var now ledger.Standing
		setStanding(&now, keys[all[i].key], all[i].numbers)
		s := &known[all[i].key].standing
		s.Limit, s.Limited, s.Window, s.LimitSet = now.Limit, now.Limited, now.Window, now.LimitSet
	}
	t.stale = false
	return nil
}

// Standing implements [engine.Reader].
func (t *transaction) Standing(k engine.Key) (ledger.Standing, error) {
	a, err := t.locked(k)
	if err != nil {
		return ledger.Standing{}, err
	}
	s := a.standing
	return s, s.At(t.now)
}

// Ascending implements [engine.Reader].
func (t *transaction) Ascending(unit budget.Unit, _ int) (engine.Standings, error) {
	return lockedStandings{t, unit}, nil
}

// lockedStandings reads the standings of accounts that a transaction locks.
type lockedStandings struct {
	t    *transaction
	unit budget.Unit
}

func (s lockedStandings) Standing(account string) (ledger.Standing, error) {
	return s.t.Standing(engine.Key{Account: account, Unit: s.unit})
}

func (lockedStandings) Close() {}

// errNotRead is the error of a balance that is written and was not read.
var errNotRead = errors.New("a balance was not read before it was written")

// Post implements [engine.Transaction].
func (t *transaction) Post(from *engine.Origin, postings []engine.Posting) error {
	if len(postings) > 1 {
		t.entries.grow(max(len(postings), len(t.accounts.planned)-len(t.entries.hash)))
	}
	for i := range postings {
		p := &postings[i]
		a := t.accounts.find(engine.Key{Account: p.Account, Unit: from.Unit})
		if a == nil {
			return errNotRead
		}
		c := engine.Change{Origin: from, Account: p.Account, Spent: p.Spent, Evaluations: p.Evaluations}
		if err := t.addEntry(&c, p.Reserved, p.After.Window); err != nil {
			return err
		}
		if !a.changed {
			a.changed = true
			t.changed = append(t.changed, a)
		}
		s, after := &a.standing, &p.After
		s.Spent, s.Reserved, s.Stored = after.Spent, after.Reserved, after.Window
		if after.LastCharge != 0 {
			s.LastCharge = time.UnixMicro(after.LastCharge).UTC()
		}
	}
	return nil
}

// SetLimit implements [engine.Transaction].
func (t *transaction) SetLimit(c *engine.Change) error {
	if err := t.alone(); err != nil {
		return err
	}
	if err := checkKey(engine.Key{Account: c.Account, Unit: c.Unit}); err != nil {
		return err
	}
	if err := t.addEntry(c, 0, ledger.WindowUse{}); err != nil {
		return err
	}
	t.stale = true
	return t.write(`
INSERT INTO geosql.budget(account, unit, epsilon, window_seconds, changed, writer, entry, revision)
VALUES ($1, $2, $3, nullif($4::bigint, 0), $5, $6::uuid, $7, 1 + (SELECT coalesce(max(revision), 0) FROM geosql.budget))
ON CONFLICT (account, unit) DO UPDATE SET epsilon = excluded.epsilon, window_seconds = excluded.window_seconds,
  changed = excluded.changed, writer = excluded.writer, entry = excluded.entry, revision = excluded.revision`,
		c.Account, string(c.Unit), int64(c.Limit.Epsilon), c.Limit.Seconds, c.Time, t.store.writer.file.ID(), t.head.ID)
}

// addEntry writes a change as the next entry of the writer's chain.
func (t *transaction) addEntry(c *engine.Change, reserved budget.Amount, w ledger.WindowUse) error {
	if err := checkNames(c.Function); err != nil {
		return err
	}
	if c.Run.Number == 0 {
		c.Run.Number = t.head.ID + 1
		t.numbered = append(t.numbered, c.Run)
	}
	e := c.Entry(reserved, w)
	t.head = t.head.Next(&e, &t.entries.scratch)
	t.entries.add(&e, &t.head)
	t.written++
	return nil
}

var _ engine.Transaction = (*transaction)(nil)
