package file

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Moving.
//
// A ledger that moves to another place is retired: it is marked, in table meta and by its application
// id, and every transaction on it fails. It can still be read, as evidence of its history. The
// mark is looked for where that of a copy is. One that arrives is written to a file of another name,
// which takes the ledger's once it is complete.

// RetiredID is the application_id of a ledger that has moved elsewhere, "geoM".
const RetiredID = 0x67656f4d

// arrivingSuffix is that of a file that a ledger arrives in.
const arrivingSuffix = ".moving"

// A Place implements [engine.Place].
type Place struct {
	path    string // real
	mode    fs.FileMode
	lock    *sqlite.Conn
	db      *store // nil if there is no ledger
	arrived *store // nil if none has arrived
}

// NewPlace returns the place of a ledger's file, which need not be there. It lets one move of the file go on
// at a time.
func NewPlace(path string, mode fs.FileMode) (*Place, error) {
	real, err := realPath(path)
	if err != nil {
		return nil, engine.Wrap(fmt.Errorf("cannot open %q: %w", path, err))
	}
	p := &Place{path: real, mode: mode}
	if err := p.open(); err != nil {
		_ = p.Close()
		return nil, engine.Wrap(fmt.Errorf("%q: %w", path, err))
	}
	return p, nil
}

func (p *Place) open() error {
	if p.mode != 0 {
		if err := CheckMode(p.mode); err != nil {
			return err
		}
	}
	if err := p.enter(); err != nil {
		return err
	}
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() == 0:
		return errors.New("the file is empty, and no ledger")
	}
	if err := checkUnshared(p.path); err != nil {
		return err
	}
	if p.mode == 0 {
		p.mode = info.Mode().Perm()
	}
	p.db, err = openStore(p.path, false, options{})
	return err
}

// lockSuffix is that of the empty file that is locked during a move.
const lockSuffix = "-move"

var errMoving = errors.New("another 'geosql ledger move' of this ledger is running: wait for its end")

// enter waits for nobody: one move goes on at a time. A lock of SQLite ends with its process on every
// system.
func (p *Place) enter() error {
	name := p.path + lockSuffix
	made, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, privateMode)
	if err != nil {
		return err
	}
	before, err := made.Stat()
	if err = cmp.Or(err, made.Close()); err != nil {
		return err
	}
	lock, err := sqlite.Open(name, sqlite.ReadWrite)
	if err != nil {
		return err
	}
	err = lock.Exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
	if busy, ok := errors.AsType[*sqlite.Error](err); ok && busy.Busy() {
		err = errMoving
	}
	if err == nil { // a process that had the lock may have removed the file that was opened
		if after, gone := os.Stat(name); gone != nil || !os.SameFile(before, after) {
			err = errMoving
		}
	}
	if err != nil {
		lock.Close()
		return err
	}
	p.lock = lock
	return nil
}

// Close implements [engine.Place].
func (p *Place) Close() error {
	var errs []error
	if p.db != nil {
		errs = append(errs, p.db.close())
	}
	if p.arrived != nil { // and is not complete
		errs = append(errs, p.arrived.close(), removeFiles(p.path+arrivingSuffix))
	}
	if p.lock != nil {
		errs = append(errs, os.Remove(p.path+lockSuffix), p.lock.Close()) // in this order
	}
	return errors.Join(errs...)
}

// Path returns the real path of the file.
func (p *Place) Path() string { return p.path }

// State implements [engine.Place].
func (p *Place) State() (s engine.State, err error) {
	if p.db == nil {
		return s, nil
	}
	s.ID = p.db.id
	o, err := p.db.origin()
	if err != nil {
		return s, err
	}
	if o != nil {
		return s, p.db.errMarked(p.path)
	}
	if s.Retired, _, err = p.db.retired(); err != nil {
		return s, err
	}
	c, err := p.db.contents()
	if err == nil {
		s.Moves = c.Moves
	}
	return s, err
}

// retired returns where the ledger has moved to, and when, or "".
func (db *store) retired() (to string, at int64, err error) {
	err = db.query("SELECT m.value, t.value FROM meta AS m JOIN meta AS t ON t.key = 'moved_at' WHERE m.key = 'moved'", func(s *sqlite.Stmt) error {
		place, when := s.Column(0), s.Column(1)
		to, at = place.Text(), when.Int()
		return nil
	})
	return to, at, err
}

// errRetired returns the error of a transaction on a ledger that has moved.
func errRetired(path, to string) error {
	return fmt.Errorf("%s was moved to %s: name that as the ledger", printable.Text(path), printable.Text(to))
}

// Retired returns where the ledger was moved to, and when. It returns "" for one that was not.
func (l *Ledger) Retired() (to string, at time.Time, err error) {
	err = l.readStored(func(db *store) error {
		where, when, err := db.retired()
		to, at = where, time.UnixMicro(when).UTC()
		return err
	})
	return to, at, err
}

// Retire implements [engine.Place].
func (p *Place) Retire(to string) error {
	return p.db.inTransaction("BEGIN IMMEDIATE", func() error {
		marked, err := p.db.sameLedger()
		if err != nil || marked {
			return err
		}
		if err := p.db.put("INSERT INTO meta VALUES ('moved', ?1), ('moved_at', ?2)", to, time.Now().UnixMicro()); err != nil {
			return err
		}
		return p.db.conn.Exec(fmt.Sprintf("PRAGMA application_id = %d", RetiredID))
	})
}

// Reinstate implements [engine.Place].
func (p *Place) Reinstate() error {
	return p.db.inTransaction("BEGIN IMMEDIATE", func() error {
		return p.db.conn.Exec(fmt.Sprintf("DELETE FROM meta WHERE key IN ('moved', 'moved_at'); PRAGMA application_id = %d", ApplicationID))
	})
}

// Arrive implements [engine.Place].
func (p *Place) Arrive(c *engine.Contents) error {
	at := p.path + arrivingSuffix
	if err := removeFiles(at); err != nil { // of a move that was interrupted
		return err
	}
	created, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode)
	if err != nil {
		return err
	}
	if err := created.Close(); err != nil {
		return err
	}
	if p.arrived, err = openStore(at, true, options{}); err != nil {
		return err
	}
	return p.arrived.inTransaction("BEGIN IMMEDIATE", func() error { return p.arrived.fill(c) })
}

// removeFiles removes a ledger's files.
func removeFiles(path string) error {
	for _, suffix := range append(slices.Clone(companions), "") {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Verify implements [engine.Place].
func (p *Place) Verify(each func(share float64) error) (v ledger.Verified, err error) {
	db := cmp.Or(p.arrived, p.db)
	err = db.inTransaction("BEGIN", func() error {
		v, err = db.verify("", nil, each)
		return err
	})
	return v, err
}

// Complete implements [engine.Place].
func (p *Place) Complete() error {
	if err := p.arrived.conn.Exec("PRAGMA journal_mode = DELETE"); err != nil { // all in one file
		return err
	}
	err := p.arrived.close()
	p.arrived = nil
	at := p.path + arrivingSuffix
	if err == nil && p.mode != 0 {
		err = os.Chmod(at, p.mode)
	}
	if err == nil && p.db != nil { // the log of the retired ledger must not meet the file that takes its name
		err = p.db.conn.Exec("PRAGMA journal_mode = DELETE")
		err = cmp.Or(err, p.db.close())
		p.db = nil
	}
	if err == nil {
		err = files.Rename(at, p.path)
	}
	if err == nil {
		p.db, err = openStore(p.path, false, options{})
	}
	return err
}

// Read implements [engine.Place].
func (p *Place) Read(work func(*engine.Contents) error) error {
	db := cmp.Or(p.arrived, p.db)
	return db.inTransaction("BEGIN", func() error {
		c, err := db.contents()
		if err != nil {
			return err
		}
		return work(c)
	})
}

// contents returns the contents of the ledger.
func (db *store) contents() (*engine.Contents, error) {
	c := &engine.Contents{ID: db.id}
	var err error
	if c.Archived, err = db.archived(); err != nil {
		return nil, err
	}
	last, err := db.head()
	if err != nil {
		return nil, err
	}
	c.Last = last.ID
	err = db.query("SELECT key, value FROM meta WHERE key IN ('created', 'generation', 'moves')", func(s *sqlite.Stmt) error {
		key, value := s.Column(0), s.Column(1)
		switch key.Text() {
		case "created":
			c.Created = value.Int()
		case "generation":
			c.Generation = value.Int()
		case "moves":
			c.Moves = value.Int()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.Entries = rowsOf(db, "", entrySQL+" ORDER BY id", func(s *sqlite.Stmt, e *ledger.Entry) { *e = scanEntry(s) })
	c.Balances, c.Limits = db.balanceRows(), db.limitRows()
	c.Traces = rowsOf(db, "", "SELECT account, unit, trace, state, points, user, held, lost, changed FROM leased_trace ORDER BY trace",
		func(s *sqlite.Stmt, r *engine.NamedTrace) {
			var v [9]sqlite.Value
			s.Row(0, v[:])
			k := keyOf(v[:])
			*r = engine.NamedTrace{Name: v[2].Text(), Changed: v[8].Int(), TraceRow: engine.TraceRow{
				Account: k.Account, Unit: k.Unit, State: slices.Clone(v[3].Bytes()), Saved: v[4].Int(),
				Held: budget.Amount(v[6].Int()), Lost: budget.Amount(v[7].Int())}}
			if v[5].Type() == sqlite.Blob {
				r.User = slices.Clone(v[5].Bytes())
			}
		})
	c.Runs = rowsOf(db, "", "SELECT trace, first, points FROM run ORDER BY trace, first",
		func(s *sqlite.Stmt, r *engine.RunRow) {
			var v [3]sqlite.Value
			s.Row(0, v[:])
			*r = engine.RunRow{Trace: v[0].Text(), First: v[1].Int(), Points: slices.Clone(v[2].Bytes())}
		})
	c.Leases = rowsOf(db, "", "SELECT account, unit, user, most, lost FROM lease ORDER BY account, unit",
		func(s *sqlite.Stmt, r *engine.KeyedLease) {
			var v [5]sqlite.Value
			s.Row(0, v[:])
			*r = engine.KeyedLease{Key: keyOf(v[:]), Most: budget.Amount(v[3].Int()), LeaseRow: engine.LeaseRow{Lost: budget.Amount(v[4].Int())}}
			if v[2].Type() == sqlite.Blob {
				r.User = slices.Clone(v[2].Bytes())
			}
		})
	c.Releases = releases(db)
	c.Answers = rowsOf(db, "answer", "SELECT id, question, left_out, answer, given FROM answer ORDER BY id",
		func(s *sqlite.Stmt, r *engine.AnswerRow) {
			var v [5]sqlite.Value
			s.Row(0, v[:])
			*r = engine.AnswerRow{ID: v[0].Int(), Question: slices.Clone(v[1].Bytes()), LeftOut: slices.Clone(v[2].Bytes()),
				Answer: slices.Clone(v[3].Bytes()), Given: v[4].Int()}
		})
	c.Seen = rowsOf(db, "seen", "SELECT answer, role FROM seen ORDER BY answer, role",
		func(s *sqlite.Stmt, r *engine.SeenRow) {
			answer, role := s.Column(0), s.Column(1)
			*r = engine.SeenRow{Answer: answer.Int(), Role: role.Text()}
		})
	c.RoleBudgets = rowsOf(db, "purse", "SELECT account, unit, role, spent FROM purse ORDER BY role, unit, account",
		func(s *sqlite.Stmt, r *ledger.RoleBudget) {
			var v [4]sqlite.Value
			s.Row(0, v[:])
			k := keyOf(v[:])
			*r = ledger.RoleBudget{Role: v[2].Text(), Account: k.Account, Unit: k.Unit, Spent: budget.Amount(v[3].Int())}
		})
	c.Facts = rowsOf(db, "fact", "SELECT id, kind, text, recorded FROM fact ORDER BY id",
		func(s *sqlite.Stmt, r *engine.FactRow) {
			var v [4]sqlite.Value
			s.Row(0, v[:])
			*r = engine.FactRow{Fact: ledger.Fact{ID: v[0].Int(), Kind: v[1].Text(), Text: v[2].Text()}, Recorded: v[3].Int()}
		})
	c.Programs = db.programRows()
	return c, nil
}

// programRows returns the rows of programs, in the order of their first writes.
func (db *store) programRows() iter.Seq2[*engine.ProgramRow, error] {
	const sql = "SELECT key, value FROM meta WHERE key > '" + engine.ProgramKey + "' AND key < '" + engine.ProgramKey + "~' ORDER BY value"
	return rowsOf(db, "", sql, func(s *sqlite.Stmt, r *engine.ProgramRow) {
		key, value := s.Column(0), s.Column(1)
		*r = engine.ProgramRow{Key: key.Text(), Value: value.Text()}
	})
}

// keyOf returns the key in the first two columns of a row.
func keyOf(row []sqlite.Value) engine.Key {
	return engine.Key{Account: row[0].Text(), Unit: budget.Unit(row[1].Text())}
}

// errStop ends a query early.
var errStop = errors.New("stop")

// balanceRows returns the stored rows of all balances.
func (db *store) balanceRows() iter.Seq2[*engine.KeyedBalance, error] {
	const sql = "SELECT account, unit, spent, reserved, last_charge, window_start, window_spent FROM balance ORDER BY account, unit"
	return rowsOf(db, "", sql, func(s *sqlite.Stmt, r *engine.KeyedBalance) {
		var v [7]sqlite.Value
		s.Row(0, v[:])
		*r = engine.KeyedBalance{Key: keyOf(v[:]), BalanceRow: engine.BalanceRow{
			Spent: budget.Amount(v[2].Int()), Reserved: budget.Amount(v[3].Int()), LastCharge: v[4].Int(),
			Window: ledger.WindowUse{Start: intOr0(&v[5]), Spent: budget.Amount(v[6].Int())},
		}}
	})
}

// limitRows returns the stored rows of all limits.
func (db *store) limitRows() iter.Seq2[*engine.KeyedLimit, error] {
	const sql = "SELECT account, unit, epsilon, window_seconds, changed, entry FROM budget ORDER BY account, unit"
	return rowsOf(db, "", sql, func(s *sqlite.Stmt, r *engine.KeyedLimit) {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		*r = engine.KeyedLimit{Key: keyOf(v[:]), LimitRow: engine.LimitRow{
			Epsilon: budget.Amount(v[2].Int()), Seconds: intOr0(&v[3]), Changed: v[4].Int(), Entry: v[5].Int(),
		}}
	})
}

// rowsOf returns the rows of a query, none if its table is one that not every ledger has. Each is
// valid until the next.
func rowsOf[R any](db *store, table, sql string, scan func(*sqlite.Stmt, *R)) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		if table != "" {
			if some, err := db.hasTable(table); err != nil || !some {
				if err != nil {
					yield(nil, err)
				}
				return
			}
		}
		var r R
		err := db.query(sql, func(s *sqlite.Stmt) error {
			scan(s, &r)
			if !yield(&r, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

// fill writes the contents of a ledger to an empty one, which takes its ID.
func (db *store) fill(c *engine.Contents) error {
	if err := db.conn.Exec(releaseSchema + ";" + answerSchema + ";" + factSchema); err != nil {
		return err
	}
	db.id = c.ID
	err := cmp.Or(
		db.put("UPDATE meta SET value = ?1 WHERE key = 'id'", c.ID),
		db.put("UPDATE meta SET value = ?1 WHERE key = 'created'", c.Created),
		db.put("INSERT INTO meta VALUES ('generation', ?1), ('moves', ?2)", c.Generation, c.Moves+1))
	if err == nil && c.Archived.ID > 0 {
		err = db.put("INSERT INTO meta VALUES ('archived', ?1)", c.Archived.String())
	}
	if err != nil {
		return err
	}
	head := c.Archived
	for e, err := range c.Entries {
		if err != nil {
			return err
		}
		head = head.Next(e, &db.scratch)
		if err := db.insert(e, &head); err != nil {
			return err
		}
	}
	return db.fillTables(c)
}

// fillTables writes everything but the entries.
func (db *store) fillTables(c *engine.Contents) error {
	err := fillTable(nil, c.Balances, func(r *engine.KeyedBalance) error {
		return db.put("INSERT INTO balance(account, unit, spent, reserved, last_charge, window_start, window_spent) VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7)",
			r.Account, string(r.Unit), int64(r.Spent), int64(r.Reserved), r.LastCharge, r.Window.Start, int64(r.Window.Spent))
	})
	err = fillTable(err, c.Limits, func(r *engine.KeyedLimit) error {
		return db.put("INSERT INTO budget(account, unit, epsilon, window_seconds, changed, entry) VALUES (?1, ?2, ?3, nullif(?4, 0), ?5, ?6)",
			r.Account, string(r.Unit), int64(r.Epsilon), r.Seconds, r.Changed, r.Entry)
	})
	err = fillTable(err, c.Traces, func(r *engine.NamedTrace) error {
		return db.put("INSERT INTO leased_trace(trace, account, unit, state, points, user, held, lost, changed) VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, x''), ?7, ?8, ?9)",
			r.Name, r.Account, string(r.Unit), r.State, r.Saved, r.User, int64(r.Held), int64(r.Lost), r.Changed)
	})
	err = fillTable(err, c.Runs, func(r *engine.RunRow) error {
		return db.put("INSERT INTO run(trace, first, points) VALUES (?1, ?2, ?3)", r.Trace, r.First, r.Points)
	})
	err = fillTable(err, c.Leases, func(r *engine.KeyedLease) error {
		return db.put("INSERT INTO lease(account, unit, user, most, lost) VALUES (?1, ?2, nullif(?3, x''), ?4, ?5)",
			r.Account, string(r.Unit), r.User, int64(r.Most), int64(r.Lost))
	})
	err = fillTable(err, c.Releases, func(r *engine.NamedRelease) error {
		hash, sealed := "", int64(0)
		if p := r.Published; p != nil {
			hash, sealed = p.SHA256, p.Time.UnixMicro()
		}
		return db.put("INSERT INTO release(id, digest, settings, output, charged, sha256, sealed, changed) VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, ''), nullif(?7, 0), ?8)",
			r.ID, r.Plan.Digest, r.Plan.Settings, r.Plan.Output, r.Charged, hash, sealed, r.Changed)
	})
	err = fillTable(err, c.Answers, func(r *engine.AnswerRow) error {
		return db.put("INSERT INTO answer(id, question, left_out, answer, given) VALUES (?1, ?2, ?3, ?4, ?5)", r.ID, r.Question, r.LeftOut, r.Answer, r.Given)
	})
	err = fillTable(err, c.Seen, func(r *engine.SeenRow) error {
		return db.put("INSERT INTO seen(answer, role) VALUES (?1, ?2)", r.Answer, r.Role)
	})
	err = fillTable(err, c.RoleBudgets, func(r *ledger.RoleBudget) error {
		return db.put("INSERT INTO purse(role, account, unit, spent) VALUES (?1, ?2, ?3, ?4)", r.Role, r.Account, string(r.Unit), int64(r.Spent))
	})
	err = fillTable(err, c.Facts, func(r *engine.FactRow) error {
		return db.put("INSERT INTO fact(id, kind, text, recorded) VALUES (?1, ?2, ?3, ?4)", r.ID, r.Kind, r.Text, r.Recorded)
	})
	return fillTable(err, c.Programs, func(r *engine.ProgramRow) error { return db.put("INSERT INTO meta VALUES (?1, ?2)", r.Key, r.Value) })
}

// fillTable writes rows, unless there was an error before.
func fillTable[R any](before error, rows iter.Seq2[*R, error], put func(*R) error) error {
	if before != nil {
		return before
	}
	for r, err := range rows {
		if err == nil {
			err = put(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
