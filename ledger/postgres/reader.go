package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// reader implements [engine.Reader] in a transaction.
type reader struct {
	store  *store
	conn   *pgxpool.Conn
	ctx    context.Context // reads end when it is done
	now    int64
	before func() error // called before anything is read; nil in a transaction that only reads
}

var _ engine.Reader = (*reader)(nil)

// longest is how many bytes a name may have. An index holds three of them together.
const longest = 800

// checkKey returns an error for a key that the server cannot store.
func checkKey(k engine.Key) error { return checkNames(k.Account, string(k.Unit)) }

// checkNames returns an error for names that the server cannot store in an index.
func checkNames(names ...string) error {
	for _, s := range names {
		if err := checkText(s); err != nil {
			return err
		}
		if len(s) > longest {
			return fmt.Errorf("a name has %d bytes; a server stores names of at most %d", len(s), longest)
		}
	}
	return nil
}

// checkText returns an error for a text that the server cannot store.
func checkText(s string) error {
	switch {
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not valid UTF-8; a server stores no other texts", printable.SQL(s))
	case strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("%s has a NUL character; a server stores no such texts", printable.SQL(s))
	}
	return nil
}

// standingsSQL reads the columns of geosql.enter for each key.
const (
	standingsSQL = `
SELECT array_agg(ARRAY[k.n, coalesce(l.epsilon, -1), coalesce(l.window_seconds, 0), coalesce(l.changed, 0),
  coalesce(b.spent, -1), coalesce(b.reserved, 0), coalesce(b.last_charge, 0),
  coalesce(b.window_start, 0), coalesce(b.window_spent, 0)]), array_agg(coalesce(b.ctid, '(0,0)'))
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(account, unit, n)
LEFT JOIN LATERAL (SELECT * FROM geosql.budget AS x
  WHERE x.account IN (k.account, '*') AND x.unit = k.unit ORDER BY x.account = '*' LIMIT 1) AS l ON true
LEFT JOIN LATERAL (SELECT x.ctid, x.* FROM geosql.balance AS x
  WHERE x.account = k.account AND x.unit = k.unit`

	unlocked = `) AS b ON true`
	lockNow  = ` FOR NO KEY UPDATE NOWAIT) AS b ON true`

	standingSize = 9 // numbers of each key
)

// found is the server's row of a key.
type found struct {
	key     int     // which one
	numbers []int64 // of limit and balance
	place   place   // of the balance
}

// decodeFound reads the server's rows of n keys.
func decodeFound(standings, places []byte, n int) ([]found, error) {
	numbers, err := decodeInts(standings)
	if err != nil || len(numbers) != standingSize*n {
		return nil, cmp.Or(err, errAnswer)
	}
	at, err := decodePlaces(places)
	if err != nil || len(at) != n {
		return nil, cmp.Or(err, errAnswer)
	}
	all := make([]found, n)
	for i := range all {
		v := numbers[i*standingSize : (i+1)*standingSize]
		if v[0] < 1 || v[0] > int64(n) {
			return nil, errAnswer
		}
		all[i] = found{int(v[0] - 1), v[1:], at[i]}
	}
	return all, nil
}

// find returns the server's rows of keys, by standingsSQL with its end.
func (r *reader) find(sql string, keys []engine.Key) ([]found, error) {
	accounts, units := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		accounts[i], units[i] = k.Account, string(k.Unit)
	}
	if err := r.flushBefore(); err != nil {
		return nil, err
	}
	batch := &pgconn.Batch{}
	(&statement{sql, []any{accounts, units}}).queue(batch)
	results, err := r.conn.Conn().PgConn().ExecBatch(r.ctx, batch).ReadAll()
	if err != nil {
		return nil, lost(err)
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 2 {
		return nil, errAnswer
	}
	return decodeFound(results[0].Rows[0][0], results[0].Rows[0][1], len(keys))
}

// setStanding sets a standing to the numbers that were found. It reports whether there is a balance.
func setStanding(s *ledger.Standing, k engine.Key, v []int64) (stored bool) {
	s.Account, s.Unit = k.Account, k.Unit
	if v[0] >= 0 {
		s.Limit, s.Limited, s.Window, s.LimitSet = budget.Amount(v[0]), true, v[1], v[2]
	}
	if v[3] < 0 {
		return false
	}
	s.Spent, s.Reserved = budget.Amount(v[3]), budget.Amount(v[4])
	if v[5] != 0 {
		s.LastCharge = time.UnixMicro(v[5]).UTC()
	}
	s.Stored = ledger.WindowUse{Start: v[6], Spent: budget.Amount(v[7])}
	return true
}

func (r *reader) flushBefore() error {
	if r.before == nil {
		return nil
	}
	return r.before()
}

// query calls each for every row of a query.
func (r *reader) query(sql string, each func(pgx.Rows) error, args ...any) error {
	if err := r.flushBefore(); err != nil {
		return err
	}
	rows, err := r.conn.Query(r.ctx, sql, args...)
	if err != nil {
		return lost(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return lost(rows.Err())
}

// collect calls scan for each row that a query answers, and returns the results.
func collect[R any](r *reader, sql string, scan func(pgx.Rows, *R) error, args ...any) (all []R, err error) {
	err = r.query(sql, func(rows pgx.Rows) error {
		var one R
		err := scan(rows, &one)
		all = append(all, one)
		return err
	}, args...)
	return all, err
}

// row reads the one row that a query answers. It reports false if there is none.
func (r *reader) row(sql string, args []any, to ...any) (bool, error) {
	if err := r.flushBefore(); err != nil {
		return false, err
	}
	err := r.conn.QueryRow(r.ctx, sql, args...).Scan(to...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, lost(err)
}

// Now implements [engine.Reader].
func (r *reader) Now() int64 { return r.now }

// Standing implements [engine.Reader].
func (r *reader) Standing(k engine.Key) (ledger.Standing, error) {
	var s ledger.Standing
	if err := checkKey(k); err != nil {
		return s, err
	}
	one, err := r.find(standingsSQL+unlocked, []engine.Key{k})
	if err != nil {
		return s, err
	}
	setStanding(&s, k, one[0].numbers)
	return s, s.At(r.now)
}

// LimitedUnits implements [engine.Reader].
func (r *reader) LimitedUnits(account string) ([]budget.Unit, error) {
	return collect(r, "SELECT DISTINCT unit FROM geosql.budget WHERE account IN ($1, '*') ORDER BY unit",
		func(rows pgx.Rows, unit *budget.Unit) error { return rows.Scan(unit) }, account)
}

// limitsSince returns the accounts and units with limits set after a revision, and the last revision.
func (r *reader) limitsSince(revision int64) (set []engine.Key, last int64, err error) {
	last = revision
	set, err = collect(r, "SELECT account, unit, revision FROM geosql.budget WHERE revision > $1 ORDER BY revision",
		func(rows pgx.Rows, k *engine.Key) error { return rows.Scan(&k.Account, &k.Unit, &last) }, revision)
	return set, last, err
}

// Ascending implements [engine.Reader].
func (r *reader) Ascending(unit budget.Unit, n int) (engine.Standings, error) {
	rest, err := r.Standing(engine.Key{Account: ledger.Everyone, Unit: unit})
	if err != nil {
		return nil, err
	}
	return &ascending{r: r, unknown: rest, size: min(max(n, firstChunk), mostChunk)}, nil
}

// ascending reads standings in chunks: of the accounts that the ledger knows, those from the one
// that is asked for on. Chunks grow, because accounts that are asked for may be few or all.
type ascending struct {
	r       *reader
	unknown ledger.Standing // of accounts that the ledger does not know
	size    int

	chunk []ledger.Standing
	next  int  // in the chunk
	last  bool // whether there are none behind the chunk
}

const (
	firstChunk = 64
	mostChunk  = 1 << 14
)

// Standing implements [engine.Standings].
func (a *ascending) Standing(account string) (ledger.Standing, error) {
	if err := checkNames(account); err != nil {
		return ledger.Standing{}, err
	}
	for {
		for ; a.next < len(a.chunk); a.next++ {
			if s := a.chunk[a.next]; s.Account == account {
				return s, s.At(a.r.now)
			} else if s.Account > account {
				break
			}
		}
		if a.next < len(a.chunk) || a.last {
			s := a.unknown
			s.Account = account
			return s, s.At(a.r.now)
		}
		if err := a.read(account); err != nil {
			return ledger.Standing{}, err
		}
	}
}

// read reads the chunk that begins at an account, or behind it.
func (a *ascending) read(account string) error {
	a.chunk, a.next = a.chunk[:0], 0
	unit := a.unknown.Unit
	err := a.r.query(`
WITH known AS (
  (SELECT account FROM geosql.budget WHERE unit = $2 AND account >= $1 AND account <> '*' ORDER BY account LIMIT $3)
  UNION (SELECT account FROM geosql.balance WHERE unit = $2 AND account >= $1 ORDER BY account LIMIT $3)
  ORDER BY account LIMIT $3)
SELECT k.account, coalesce(l.epsilon, -1), coalesce(l.window_seconds, 0), coalesce(l.changed, 0),
  coalesce(b.spent, -1), coalesce(b.reserved, 0), coalesce(b.last_charge, 0),
  coalesce(b.window_start, 0), coalesce(b.window_spent, 0)
FROM known AS k
LEFT JOIN geosql.budget AS l ON l.account = k.account AND l.unit = $2
LEFT JOIN geosql.balance AS b ON b.account = k.account AND b.unit = $2
ORDER BY k.account`, func(rows pgx.Rows) error {
		s := a.unknown
		var v [standingSize - 1]int64
		var name string
		if err := rows.Scan(&name, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
			return err
		}
		setStanding(&s, engine.Key{Account: name, Unit: unit}, v[:])
		a.chunk = append(a.chunk, s)
		return nil
	}, account, string(unit), int64(a.size))
	a.last = len(a.chunk) < a.size
	a.size = min(4*a.size, mostChunk)
	return err
}

// Close implements [engine.Standings].
func (*ascending) Close() {}

// traceSQL reads the row of a trace.
const traceSQL = `SELECT account, unit, state, points, "user", held, lost FROM geosql.leased_trace WHERE trace = $1`

// Trace implements [engine.Reader].
func (r *reader) Trace(name string) (*engine.TraceRow, error) { return r.trace(traceSQL, name) }

func (r *reader) trace(sql, name string) (*engine.TraceRow, error) {
	if err := checkNames(name); err != nil {
		return nil, err
	}
	var row engine.TraceRow
	found, err := r.row(sql, []any{name}, &row.Account, &row.Unit, &row.State, &row.Saved, &row.User, (*int64)(&row.Held), (*int64)(&row.Lost))
	if !found || err != nil {
		return nil, err
	}
	return &row, nil
}

// Lease implements [engine.Reader].
func (r *reader) Lease(k engine.Key) (l engine.LeaseRow, err error) {
	if err := checkKey(k); err != nil {
		return l, err
	}
	_, err = r.row(`SELECT "user", lost FROM geosql.lease WHERE account = $1 AND unit = $2`,
		[]any{k.Account, string(k.Unit)}, &l.User, (*int64)(&l.Lost))
	return l, err
}

// releaseSQL reads the row of a release.
const releaseSQL = "SELECT digest, settings, output, charged, coalesce(sha256, ''), coalesce(sealed, 0) FROM geosql.release WHERE id = $1"

// Release implements [engine.Reader].
func (r *reader) Release(id string) (*engine.ReleaseRow, error) { return r.release(releaseSQL, id) }

func (r *reader) release(sql, id string) (*engine.ReleaseRow, error) {
	if err := checkNames(id); err != nil {
		return nil, err
	}
	var row engine.ReleaseRow
	var sha256 string
	var sealed int64
	found, err := r.row(sql, []any{id}, &row.Plan.Digest, &row.Plan.Settings, &row.Plan.Output, &row.Charged, &sha256, &sealed)
	if !found || err != nil {
		return nil, err
	}
	if sealed != 0 {
		row.Published = &ledger.Published{Output: row.Plan.Output, SHA256: sha256, Time: time.UnixMicro(sealed).UTC()}
	}
	return &row, nil
}

// Releases implements [engine.Reader].
func (r *reader) Releases(each func(*engine.NamedRelease)) error {
	return r.query(releasesSQL, func(rows pgx.Rows) error {
		var x engine.NamedRelease
		err := scanRelease(rows, &x)
		if err == nil {
			each(&x)
		}
		return err
	})
}

// releasesSQL reads the rows of all releases, for [scanRelease].
const releasesSQL = "SELECT id, digest, settings, output, charged, coalesce(sha256, ''), coalesce(sealed, 0), changed FROM geosql.release ORDER BY id"

func scanRelease(rows pgx.Rows, r *engine.NamedRelease) error {
	*r = engine.NamedRelease{}
	var hash string
	var sealed int64
	err := rows.Scan(&r.ID, &r.Plan.Digest, &r.Plan.Settings, &r.Plan.Output, &r.Charged, &hash, &sealed, &r.Changed)
	if sealed != 0 {
		r.Published = &ledger.Published{Output: r.Plan.Output, SHA256: hash, Time: time.UnixMicro(sealed).UTC()}
	}
	return err
}

// Given implements [engine.Reader].
func (r *reader) Given(question []byte, role string) (given []ledger.Given, err error) {
	err = r.query(`
SELECT id, left_out, EXISTS (SELECT FROM geosql.seen WHERE answer = id AND role = $2)
FROM geosql.answer WHERE question = $1 ORDER BY id`, func(rows pgx.Rows) error {
		var g ledger.Given
		var out []byte
		err := rows.Scan(&g.ID, &out, &g.Seen)
		g.LeftOut, g.Seen = out, g.Seen || role == ""
		given = append(given, g)
		return err
	}, question, role)
	return given, err
}

// Answer implements [engine.Reader].
func (r *reader) Answer(id int64) (answer []byte, at time.Time, err error) {
	var given int64
	found, err := r.row("SELECT answer, given FROM geosql.answer WHERE id = $1", []any{id}, &answer, &given)
	if err == nil && !found {
		err = errors.New("the ledger is damaged: an answer is missing")
	}
	return answer, time.UnixMicro(given).UTC(), err
}

// RoleBudgets implements [engine.Reader].
func (r *reader) RoleBudgets(role string, unit budget.Unit) (func(string) (ledger.RoleBudget, error), error) {
	p := &roleBudgets{r: r, role: role, unit: unit, size: firstChunk}
	return p.of, checkNames(role, string(unit))
}

// roleBudgets reads the role budgets of a role in chunks, as ascending does. Accounts may be asked for in any
// order, but one that is not above the last one begins another chunk.
type roleBudgets struct {
	r    *reader
	role string
	unit budget.Unit
	size int

	from, to string // the accounts of the chunk; to is not in it, and "" is behind all
	chunk    map[string]budget.Amount
}

// of returns the role budget for an account.
func (p *roleBudgets) of(account string) (ledger.RoleBudget, error) {
	if p.chunk == nil || account < p.from || p.to != "" && account >= p.to {
		if err := p.read(account); err != nil {
			return ledger.RoleBudget{}, err
		}
	}
	return ledger.RoleBudget{Role: p.role, Account: account, Unit: p.unit, Spent: p.chunk[account]}, nil
}

// read reads the chunk that begins at an account.
func (p *roleBudgets) read(account string) error {
	if err := checkNames(p.role, string(p.unit), account); err != nil {
		return err
	}
	p.chunk, p.from, p.to = make(map[string]budget.Amount, p.size), account, ""
	n := 0
	err := p.r.query(`
SELECT account, spent FROM geosql.purse WHERE role = $1 AND unit = $2 AND account >= $3 ORDER BY account LIMIT $4`, func(rows pgx.Rows) error {
		var name string
		var spent int64
		err := rows.Scan(&name, &spent)
		if n++; n > p.size {
			p.to = name
			return err
		}
		p.chunk[name] = budget.Amount(spent)
		return err
	}, p.role, string(p.unit), account, int64(p.size)+1)
	p.size = min(4*p.size, mostChunk)
	return err
}
