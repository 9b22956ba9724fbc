package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Moving.
//
// A ledger that moves elsewhere is retired: key moved of table meta says where it is, and every
// transaction that finds the key fails. One that arrives is written in one transaction, with
// the key, which is empty until all is proved to be there. The entries of a file become
// those of one writer, and its chain is the file's.

// limitLock is the advisory lock that everybody who charges shares: see the schema.
const limitLock = 0x67656f4c_00000001

// errMoved returns the error of a transaction on a ledger that has moved to a place, or that has not
// arrived completely.
func errMoved(to string) error {
	if to == "" {
		return errors.New("the ledger was moved here, but not to the end: run the same 'geosql ledger move' again")
	}
	return fmt.Errorf("the ledger was moved to %s: name that as the ledger", to)
}

// A Place implements [engine.Place].
type Place struct {
	url    string
	pool   *pgxpool.Pool
	warned atomic.Pointer[string] // the server's last warning
}

// NewPlace returns the place of the ledger in the database that a URL names, in which there may be
// none.
func NewPlace(url string) (*Place, error) {
	p := &Place{url: url}
	err := p.try(func(ctx context.Context) (err error) {
		if p.pool, err = connect(ctx, url, func(_ *pgconn.PgConn, text string) { p.warned.Store(&text) }); err != nil {
			return err
		}
		var recovery bool
		var storage string
		if err := queryRow(ctx, p.pool, recoverySQL, nil, &recovery, &storage); err != nil {
			return err
		}
		return checkServer(recovery, "on", storage)
	})
	if err != nil {
		if p.pool != nil {
			p.pool.Close()
		}
		return nil, err
	}
	return p, nil
}

// try runs work that should not take long.
func (p *Place) try(work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return engine.Wrap(explainConnect(work(ctx)))
}

// inTransaction runs work in a transaction that waits until nobody charges the ledger, with a commit that is
// durable.
func (p *Place) inTransaction(ctx context.Context, work func(pgx.Tx) error) error {
	p.warned.Store(nil)
	err := transact(ctx, p.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		const durable = `SELECT set_config('synchronous_commit',
			CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' ELSE current_setting('synchronous_commit') END, true)`
		if _, err := tx.Exec(ctx, durable); err != nil {
			return err
		}
		for _, lock := range []int64{schemaLock, limitLock} {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lock); err != nil {
				return err
			}
		}
		return work(tx)
	})
	if warned := p.warned.Load(); err == nil && warned != nil { // such as that a standby was not waited for
		err = fmt.Errorf("the server has stored the ledger with a warning: %s", *warned)
	}
	return engine.Wrap(explainConnect(err))
}

// Close implements [engine.Place].
func (p *Place) Close() error {
	p.pool.Close()
	return nil
}

// State implements [engine.Place].
func (p *Place) State() (s engine.State, err error) {
	err = p.try(func(ctx context.Context) error {
		conn, err := p.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		if err := prepareSchema(ctx, conn.Conn(), false); err != nil {
			if errors.Is(err, errNoLedger) {
				return nil
			}
			return err
		}
		s, _, err = readState(ctx, conn)
		return err
	})
	return s, err
}

// readState returns the state and the generation of a ledger that is there.
func readState(ctx context.Context, db sender) (s engine.State, generation int64, err error) {
	var moved *string
	err = queryRow(ctx, db, `SELECT max(value) FILTER (WHERE key = 'id'), max(value) FILTER (WHERE key = 'moved'),
		(max(value) FILTER (WHERE key = 'generation'))::bigint, coalesce((max(value) FILTER (WHERE key = 'moves'))::bigint, 0) FROM geosql.meta`,
		nil, &s.ID, &moved, &generation, &s.Moves)
	if moved != nil {
		s.Retired, s.Arriving = *moved, *moved == ""
	}
	return s, generation, err
}

// Retire implements [engine.Place].
func (p *Place) Retire(to string) error {
	return p.try(func(ctx context.Context) error {
		return p.inTransaction(ctx, func(tx pgx.Tx) error {
			if err := checkShardsComplete(ctx, tx); err != nil {
				return err
			}
			if lost, err := readLoss(ctx, tx); lost != 0 || err != nil {
				return cmp.Or(err, errLost(lost))
			}
			_, err := tx.Exec(ctx, "INSERT INTO geosql.meta VALUES ('moved', $1), ('moved_at', geosql.now()::text) ON CONFLICT DO NOTHING", to)
			return err
		})
	})
}

// checkShardsComplete returns an error if a release in shards is not complete: the state of its
// shards does not move. Without it the charged accounts would pay for other draws than the ones that
// may have been published.
func checkShardsComplete(ctx context.Context, tx pgx.Tx) error {
	var id string
	err := tx.QueryRow(ctx, `SELECT r.id FROM geosql.sharding AS s JOIN geosql.release AS r ON r.id = s.release
		WHERE r.sealed IS NULL ORDER BY r.id LIMIT 1`).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("release %s is not complete, and its shards cannot move: complete it with its 'geosql release' command first, "+
		"or give it up with 'geosql ledger accept --force', which forgets all unfinished releases and keeps their charges", printable.Text(id))
}

// Reinstate implements [engine.Place].
func (p *Place) Reinstate() error { return p.unmark() }

// unmark removes the mark of a ledger that has moved, or has not arrived completely.
func (p *Place) unmark() error {
	return p.try(func(ctx context.Context) error {
		return p.inTransaction(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM geosql.meta WHERE key IN ('moved', 'moved_at')")
			return err
		})
	})
}

// Complete implements [engine.Place]. It asks again if the answer of the server is lost.
func (p *Place) Complete() error {
	err := p.unmark()
	if err == nil {
		return nil
	}
	if s, unread := p.State(); unread == nil && !s.Arriving && s.Retired == "" {
		return nil
	}
	return err
}

// Verify implements [engine.Place].
func (p *Place) Verify(each func(share float64) error) (ledger.Verified, error) {
	l, err := Open(p.url, false)
	if err != nil {
		return ledger.Verified{}, err
	}
	v, err := l.Verify("", nil, each)
	return v, errors.Join(err, l.Close())
}

// Arrive implements [engine.Place].
func (p *Place) Arrive(c *engine.Contents) error {
	ctx := context.Background() // it may take long
	return p.inTransaction(ctx, func(tx pgx.Tx) error {
		generation, err := makeRoom(ctx, tx, c)
		if err != nil {
			return err
		}
		for key, value := range map[string]string{
			"id": c.ID, "created": strconv.FormatInt(c.Created, 10), "generation": strconv.FormatInt(generation, 10), "moves": strconv.FormatInt(c.Moves+1, 10), "moved": "",
		} {
			_, err := tx.Exec(ctx, "INSERT INTO geosql.meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
			if err != nil {
				return err
			}
		}
		return fillTables(ctx, tx, c, generation)
	})
}

// makeRoom makes the tables of a ledger, or empties those of one that may be replaced. It returns the generation
// of the writers that come, which no writer before had.
func makeRoom(ctx context.Context, tx pgx.Tx, c *engine.Contents) (generation int64, err error) {
	known, err := readMigrations()
	if err != nil {
		return 0, err
	}
	have, err := schemaVersion(ctx, tx.Conn(), len(known))
	if err == nil && have < len(known) {
		err = migrate(ctx, tx.Conn(), known)
	}
	if err != nil || have == 0 {
		return c.Generation + 1, err
	}
	s, generation, err := readState(ctx, tx)
	switch {
	case err != nil:
		return 0, err
	case s.ID != c.ID:
		return 0, fmt.Errorf("the database has another ledger, %s", s.ID)
	case s.Retired == "" && !s.Arriving:
		return 0, errors.New("the ledger of the database is in use")
	}
	_, err = tx.Exec(ctx, `TRUNCATE geosql.writer, geosql.entry, geosql.balance, geosql.budget, geosql.leased_trace, geosql.run, geosql.lease,
		geosql.release, geosql.sharding, geosql.part, geosql.part_count, geosql.answer, geosql.seen, geosql.purse, geosql.fact, geosql.head;
		DELETE FROM geosql.meta WHERE key IN ('moved_at', 'lost') OR starts_with(key, '`+engine.ProgramKey+`')`)
	return max(generation, c.Generation) + 1, err
}

// fillTables writes everything that a ledger holds into empty tables.
func fillTables(ctx context.Context, tx pgx.Tx, c *engine.Contents, generation int64) error {
	head := c.Archived
	var scratch []byte
	err := copyRows(nil, ctx, tx, "entry", []string{"writer", "seq", "id", "statement", "time", "function", "account", "unit", "spent", "reserved",
		"evaluations", "window_start", "window_spent", "epsilon_limit", "window_seconds", "hash"}, c.Entries,
		func(e *ledger.Entry) ([]any, error) {
			head = head.Next(e, &scratch)
			var limit *int64
			if e.Limit != ledger.NoLimit {
				limit = new(int64(e.Limit))
			}
			hash := head.Hash
			return []any{movedWriter, e.ID, e.ID, e.Statement, e.Time, e.Function, e.Account, string(e.Unit), int64(e.Spent), int64(e.Reserved),
				e.Evaluations, orNull(e.Window.Start), int64(e.Window.Spent), limit, orNull(e.LimitWindow), hash[:]}, checkTexts(e.Function, e.Account, string(e.Unit))
		})
	if err == nil && head.ID > 0 {
		_, err = tx.Exec(ctx, `INSERT INTO geosql.writer(id, seq, hash, generation, archived, archived_hash, created)
			VALUES ($1::uuid, $2, $3, $4, $5, $6, geosql.now())`, movedWriter, head.ID, head.Hash[:], generation-1, c.Archived.ID, c.Archived.Hash[:])
	}
	if err == nil {
		_, err = tx.Exec(ctx, "SELECT setval('geosql.entry_id', greatest($1::bigint, 1), $1::bigint > 0)", head.ID)
	}
	err = copyRows(err, ctx, tx, "balance", []string{"account", "unit", "spent", "reserved", "last_charge", "window_start", "window_spent"}, c.Balances,
		func(r *engine.KeyedBalance) ([]any, error) {
			return []any{r.Account, string(r.Unit), int64(r.Spent), int64(r.Reserved), r.LastCharge, orNull(r.Window.Start), int64(r.Window.Spent)}, checkNames(r.Account, string(r.Unit))
		})
	revision := int64(0)
	err = copyRows(err, ctx, tx, "budget", []string{"account", "unit", "epsilon", "window_seconds", "changed", "writer", "entry", "revision"}, c.Limits,
		func(r *engine.KeyedLimit) ([]any, error) {
			revision++
			return []any{r.Account, string(r.Unit), int64(r.Epsilon), orNull(r.Seconds), r.Changed, movedWriter, r.Entry, revision}, checkNames(r.Account, string(r.Unit))
		})
	err = copyRows(err, ctx, tx, "leased_trace", []string{"trace", "account", "unit", "state", "points", "user", "held", "lost", "changed"}, c.Traces,
		func(r *engine.NamedTrace) ([]any, error) {
			return []any{r.Name, r.Account, string(r.Unit), notNull(r.State), r.Saved, r.User, int64(r.Held), int64(r.Lost), r.Changed}, checkNames(r.Name)
		})
	err = copyRows(err, ctx, tx, "run", []string{"trace", "first", "points"}, c.Runs,
		func(r *engine.RunRow) ([]any, error) { return []any{r.Trace, r.First, notNull(r.Points)}, nil })
	err = copyRows(err, ctx, tx, "lease", []string{"account", "unit", "user", "most", "lost"}, c.Leases,
		func(r *engine.KeyedLease) ([]any, error) {
			return []any{r.Account, string(r.Unit), r.User, int64(r.Most), int64(r.Lost)}, checkNames(r.Account, string(r.Unit))
		})
	err = copyRows(err, ctx, tx, "release", []string{"id", "digest", "settings", "output", "charged", "sha256", "sealed", "changed"}, c.Releases,
		func(r *engine.NamedRelease) ([]any, error) {
			var hash *string
			var sealed *int64
			if p := r.Published; p != nil {
				hash, sealed = &p.SHA256, new(p.Time.UnixMicro())
			}
			return []any{r.ID, r.Plan.Digest, r.Plan.Settings, r.Plan.Output, r.Charged, hash, sealed, r.Changed},
				checkTexts(r.ID, r.Plan.Digest, r.Plan.Settings, r.Plan.Output)
		})
	last := int64(0)
	err = copyRows(err, ctx, tx, "answer", []string{"id", "question", "left_out", "answer", "given"}, c.Answers,
		func(r *engine.AnswerRow) ([]any, error) {
			last = r.ID
			return []any{r.ID, notNull(r.Question), notNull(r.LeftOut), notNull(r.Answer), r.Given}, nil
		})
	if err == nil {
		_, err = tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('geosql.answer', 'id'), greatest($1::bigint, 1), $1::bigint > 0)", last)
	}
	err = copyRows(err, ctx, tx, "seen", []string{"answer", "role"}, c.Seen,
		func(r *engine.SeenRow) ([]any, error) { return []any{r.Answer, r.Role}, checkNames(r.Role) })
	err = copyRows(err, ctx, tx, "purse", []string{"role", "account", "unit", "spent"}, c.RoleBudgets,
		func(r *ledger.RoleBudget) ([]any, error) {
			return []any{r.Role, r.Account, string(r.Unit), int64(r.Spent)}, checkNames(r.Role, r.Account, string(r.Unit))
		})
	err = copyRows(err, ctx, tx, "fact", []string{"id", "kind", "text", "digest", "recorded"}, c.Facts,
		func(r *engine.FactRow) ([]any, error) {
			digest := sha256.Sum256([]byte(r.Text))
			return []any{r.ID, r.Kind, r.Text, digest[:], r.Recorded}, checkTexts(r.Kind, r.Text)
		})
	return copyRows(err, ctx, tx, "meta", []string{"key", "value"}, c.Programs,
		func(r *engine.ProgramRow) ([]any, error) { return []any{r.Key, r.Value}, checkTexts(r.Key, r.Value) })
}

// programsSQL reads the programs, in the order of their first writes.
const programsSQL = "SELECT key, value FROM geosql.meta WHERE starts_with(key, '" + engine.ProgramKey + "') ORDER BY value"

// checkTexts returns an error if a text cannot be stored.
func checkTexts(texts ...string) error {
	for _, text := range texts {
		if err := checkText(text); err != nil {
			return err
		}
	}
	return nil
}

// orNull returns nil for 0.
func orNull(v int64) *int64 {
	if v == 0 {
		return nil
	}
	return &v
}

// notNull returns bytes that are not nil.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// copyRows writes rows to a table, unless there was an error before.
func copyRows[R any](before error, ctx context.Context, tx pgx.Tx, table string, columns []string, rows iter.Seq2[*R, error], row func(*R) ([]any, error)) error {
	if before != nil {
		return before
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	var failed error // which the server would wrap
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"geosql", table}, columns, pgx.CopyFromFunc(func() (values []any, err error) {
		r, err, more := next()
		if err == nil && more {
			values, err = row(r)
		}
		failed = err
		return values, err
	}))
	return cmp.Or(failed, err)
}

// Read implements [engine.Place].
func (p *Place) Read(work func(*engine.Contents) error) error {
	ctx := context.Background() // it may take long
	err := transact(ctx, p.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		c, err := contents(ctx, tx)
		if err != nil {
			return err
		}
		return work(c)
	})
	return engine.Wrap(explainConnect(err))
}

// moveFunction begins the function of the entries that record the heads which a merged ledger comes from.
const moveFunction = "ledger_move"

// mergedSQL numbers all entries from one behind $1, in the order in which they were written. A run of a statement
// has the number of its first entry, except in the chain that came from a file. Its entries stay as they are: they
// are the first.
const mergedSQL = `
SELECT e.n, e.writer, e.seq, CASE WHEN e.writer = $2::uuid THEN e.statement ELSE min(e.n) OVER (PARTITION BY e.writer, e.statement) END AS statement,
  e.time, e.function, e.account, e.unit, e.spent, e.reserved, e.evaluations, e.window_start, e.window_spent, e.epsilon_limit, e.window_seconds
FROM (SELECT *, $1::bigint + row_number() OVER (ORDER BY id) AS n FROM geosql.entry) AS e`

// contents returns the contents of a ledger, as one chain. If it has the entries of several writers, an entry for each
// writer stands at the end, with the head of its own chain.
func contents(ctx context.Context, tx pgx.Tx) (*engine.Contents, error) {
	c := &engine.Contents{}
	var at *int64
	err := tx.QueryRow(ctx, `SELECT max(value) FILTER (WHERE key = 'id'), (max(value) FILTER (WHERE key = 'created'))::bigint,
		(max(value) FILTER (WHERE key = 'generation'))::bigint, (max(value) FILTER (WHERE key = 'moved_at'))::bigint,
		coalesce((max(value) FILTER (WHERE key = 'moves'))::bigint, 0) FROM geosql.meta`).
		Scan(&c.ID, &c.Created, &c.Generation, &at, &c.Moves)
	if err != nil {
		return nil, err
	}
	c.Archived = ledger.Genesis(c.ID)
	var hash []byte
	err = tx.QueryRow(ctx, "SELECT archived, archived_hash FROM geosql.writer WHERE id = $1::uuid AND archived > 0", movedWriter).Scan(&c.Archived.ID, &hash)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	copy(c.Archived.Hash[:], hash)
	if err := tx.QueryRow(ctx, "SELECT coalesce(sum(seq - archived), 0)::bigint FROM geosql.writer").Scan(&c.Last); err != nil {
		return nil, err
	}
	c.Last += c.Archived.ID
	moved := time.Now().UnixMicro()
	if at != nil {
		moved = *at
	}
	c.Entries = func(yield func(*ledger.Entry, error) bool) {
		last := c.Archived.ID
		sql := mergedSQL + " ORDER BY e.n"
		for e, err := range query(ctx, tx, sql, scanMerged, c.Archived.ID, movedWriter) {
			if err == nil {
				last = e.ID
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		first := last + 1
		const heads = "SELECT id::text, seq, hash FROM geosql.writer WHERE id <> $1::uuid AND seq > 0 ORDER BY id"
		for e, err := range query(ctx, tx, heads, func(rows pgx.Rows, e *ledger.Entry) error {
			var writer string
			var h ledger.Head
			var hash []byte
			err := rows.Scan(&writer, &h.ID, &hash)
			copy(h.Hash[:], hash)
			*e = ledger.Entry{Time: moved, Function: fmt.Sprintf("%s %s %v", moveFunction, writer, h), Account: ledger.Everyone, Evaluations: 1, Limit: ledger.NoLimit}
			return err
		}, movedWriter) {
			if err == nil {
				last++
				e.ID, e.Statement = last, first
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	c.Balances = query(ctx, tx, storedSQL, scanStored)
	c.Limits = query(ctx, tx, `
SELECT b.account, b.unit, b.epsilon, coalesce(b.window_seconds, 0), b.changed, coalesce(m.n, b.entry)
FROM geosql.budget AS b LEFT JOIN (`+mergedSQL+`) AS m ON m.writer = b.writer AND m.seq = b.entry ORDER BY b.account, b.unit`,
		func(rows pgx.Rows, r *engine.KeyedLimit) error {
			return rows.Scan(&r.Account, &r.Unit, &r.Epsilon, &r.Seconds, &r.Changed, &r.Entry)
		}, c.Archived.ID, movedWriter)
	c.Traces = query(ctx, tx, `SELECT trace, account, unit, state, points, "user", held, lost, changed FROM geosql.leased_trace ORDER BY trace`,
		func(rows pgx.Rows, r *engine.NamedTrace) error {
			*r = engine.NamedTrace{}
			return rows.Scan(&r.Name, &r.Account, &r.Unit, &r.State, &r.Saved, &r.User, &r.Held, &r.Lost, &r.Changed)
		})
	c.Runs = query(ctx, tx, "SELECT trace, first, points FROM geosql.run ORDER BY trace, first",
		func(rows pgx.Rows, r *engine.RunRow) error { return rows.Scan(&r.Trace, &r.First, &r.Points) })
	c.Leases = query(ctx, tx, `SELECT account, unit, "user", most, lost FROM geosql.lease ORDER BY account, unit`,
		func(rows pgx.Rows, r *engine.KeyedLease) error {
			*r = engine.KeyedLease{}
			return rows.Scan(&r.Account, &r.Unit, &r.User, &r.Most, &r.Lost)
		})
	c.Releases = query(ctx, tx, releasesSQL, scanRelease)
	c.Answers = query(ctx, tx, "SELECT id, question, left_out, answer, given FROM geosql.answer ORDER BY id",
		func(rows pgx.Rows, r *engine.AnswerRow) error {
			return rows.Scan(&r.ID, &r.Question, &r.LeftOut, &r.Answer, &r.Given)
		})
	c.Seen = query(ctx, tx, "SELECT answer, role FROM geosql.seen ORDER BY answer, role",
		func(rows pgx.Rows, r *engine.SeenRow) error { return rows.Scan(&r.Answer, &r.Role) })
	c.RoleBudgets = query(ctx, tx, roleBudgetsSQL, scanRoleBudget)
	c.Facts = query(ctx, tx, "SELECT id, kind, text, recorded FROM geosql.fact ORDER BY id",
		func(rows pgx.Rows, r *engine.FactRow) error { return rows.Scan(&r.ID, &r.Kind, &r.Text, &r.Recorded) })
	c.Programs = query(ctx, tx, programsSQL, func(rows pgx.Rows, r *engine.ProgramRow) error { return rows.Scan(&r.Key, &r.Value) })
	return c, nil
}

// storedSQL reads the stored balances.
const storedSQL = `
SELECT account, unit, spent, reserved, last_charge, coalesce(window_start, 0), window_spent FROM geosql.balance ORDER BY account, unit`

// scanStored reads a row of storedSQL.
func scanStored(rows pgx.Rows, b *engine.KeyedBalance) error {
	return rows.Scan(&b.Account, &b.Unit, &b.Spent, &b.Reserved, &b.LastCharge, &b.Window.Start, &b.Window.Spent)
}

const roleBudgetsSQL = "SELECT role, account, unit, spent FROM geosql.purse ORDER BY role, unit, account"

// scanRoleBudget reads a row of roleBudgetsSQL.
func scanRoleBudget(rows pgx.Rows, b *ledger.RoleBudget) error {
	return rows.Scan(&b.Role, &b.Account, &b.Unit, &b.Spent)
}

// scanMerged reads a row of mergedSQL.
func scanMerged(rows pgx.Rows, e *ledger.Entry) error {
	*e = ledger.Entry{}
	var writer [16]byte
	var seq int64
	var start, limit, seconds *int64
	err := rows.Scan(&e.ID, &writer, &seq, &e.Statement, &e.Time, &e.Function, &e.Account, &e.Unit, &e.Spent, &e.Reserved, &e.Evaluations,
		&start, &e.Window.Spent, &limit, &seconds)
	e.Limit = ledger.NoLimit
	if start != nil {
		e.Window.Start = *start
	}
	if limit != nil {
		e.Limit = budget.Amount(*limit)
	}
	if seconds != nil {
		e.LimitWindow = *seconds
	}
	return err
}

// A querier is a transaction, or a connection in one.
type querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}

// query returns the rows of a query. Each is valid until the next.
func query[R any](ctx context.Context, tx querier, sql string, scan func(pgx.Rows, *R) error, args ...any) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			yield(nil, lost(err))
			return
		}
		defer rows.Close()
		var r R
		for rows.Next() {
			if err := scan(rows, &r); err != nil {
				yield(nil, err)
				return
			}
			if !yield(&r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, lost(err))
		}
	}
}
