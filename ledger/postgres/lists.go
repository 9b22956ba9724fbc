package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Lists for people.

// BalancesAfter implements [ledger.Ledger].
func (l *Ledger) BalancesAfter(account string, unit budget.Unit) ([]ledger.Balance, error) {
	return l.balances(pageSQL, account, string(unit))
}

// AccountBalances implements [ledger.Ledger].
func (l *Ledger) AccountBalances(account string) ([]ledger.Balance, error) {
	return l.balances(accountSQL, account)
}

func (l *Ledger) balances(sql string, args ...any) (balances []ledger.Balance, err error) {
	err = l.read(func(r *reader) error {
		return r.query(sql, func(rows pgx.Rows) error {
			var account, unit string
			var v [standingSize - 1]int64
			if err := rows.Scan(&account, &unit, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
				return err
			}
			var s ledger.Standing
			setStanding(&s, engine.Key{Account: account, Unit: budget.Unit(unit)}, v[:])
			err := s.At(r.now)
			balances = append(balances, s.Balance)
			return err
		}, args...)
	})
	return balances, err
}

var (
	accountSQL = fmt.Sprintf(balancesSQL, "WHERE account = $1", "")
	pageSQL    = fmt.Sprintf(balancesSQL, "WHERE (account, unit) > ($1, $2)", fmt.Sprint("ORDER BY account, unit LIMIT ", engine.Page))
)

// balancesSQL has places for the condition on accounts and for the end of a page, which is said of each table, too.
const balancesSQL = `
WITH known AS (
  (SELECT account, unit FROM geosql.budget %[1]s %[2]s) UNION (SELECT account, unit FROM geosql.balance %[1]s %[2]s) %[2]s)
SELECT k.account, k.unit, coalesce(own.epsilon, rest.epsilon, -1),
  CASE WHEN own.epsilon IS NULL THEN coalesce(rest.window_seconds, 0) ELSE coalesce(own.window_seconds, 0) END,
  coalesce(own.changed, rest.changed, 0),
  coalesce(b.spent, -1), coalesce(b.reserved, 0), coalesce(b.last_charge, 0),
  coalesce(b.window_start, 0), coalesce(b.window_spent, 0)
FROM known AS k
  LEFT JOIN geosql.budget AS own ON own.account = k.account AND own.unit = k.unit
  LEFT JOIN geosql.budget AS rest ON rest.account = '*' AND rest.unit = k.unit
  LEFT JOIN geosql.balance AS b ON b.account = k.account AND b.unit = k.unit
ORDER BY k.account, k.unit`

// Stored implements [ledger.Ledger].
func (l *Ledger) Stored(most int) (n int, err error) {
	err = l.read(func(r *reader) error {
		_, err := r.row(`SELECT count(*) FROM (SELECT 1 FROM geosql.balance UNION ALL SELECT 1 FROM geosql.budget LIMIT $1) AS stored`, []any{most}, &n)
		return err
	})
	return n, err
}

// Size implements [ledger.Ledger]. The numbers of answers are in order, with gaps where transactions failed.
func (l *Ledger) Size(ctx context.Context) (s ledger.Size, err error) {
	s.Room, s.Waits = -1, l.store.pool.Stat().EmptyAcquireCount()
	err = engine.Wrap(l.store.view(ctx, func(r *reader) error {
		_, err := r.row(`SELECT sum(pg_total_relation_size(oid))::bigint, (SELECT coalesce(max(id), 0) FROM geosql.answer)
FROM pg_class WHERE relnamespace = 'geosql'::regnamespace AND relkind = 'r'`, nil, &s.Bytes, &s.Answers)
		return err
	}))
	return s, err
}

// roomSQL writes some 300 kB to a temporary file on the disk of the database, which fails with 53100 where that is full. Nothing of it
// stays, not even a dead row.
const roomSQL = "SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = ''; SELECT count(*) FROM generate_series(1, 10000)"

// Ready implements [ledger.Ledger]. It also finds out whether the server's disk has room.
func (l *Ledger) Ready(ctx context.Context) error {
	if err := l.Core.Ready(ctx); err != nil {
		return err
	}
	return engine.Wrap(l.store.view(ctx, func(r *reader) error {
		_, err := r.conn.Conn().PgConn().Exec(ctx, roomSQL).ReadAll()
		return lost(err)
	}))
}

// Charges implements [ledger.Ledger].
func (l *Ledger) Charges() iter.Seq2[ledger.Charge, error] {
	return engine.Sequence(l.readCharges)
}

// chargesSQL leaves out runs that only reserved, which have spent and evaluated nothing, and the spending of
// roles.
const chargesSQL = `
SELECT min(id), min(time), function, account, unit, sum(spent)::bigint, sum(evaluations)::bigint
FROM geosql.entry WHERE NOT (` + engine.OfRoleBudget + `) GROUP BY writer, statement, function, account, unit
HAVING sum(spent) <> 0 OR sum(evaluations) <> 0
ORDER BY min(id)`

// readCharges reads all charges before it returns the first. The loop over them may use the ledger,
// and takes as long as it likes.
func (l *Ledger) readCharges() (charges []ledger.Charge, err error) {
	err = l.read(func(r *reader) error {
		charges, err = collect(r, chargesSQL, func(rows pgx.Rows, c *ledger.Charge) error {
			var at int64
			err := rows.Scan(&c.ID, &at, &c.Function, &c.Account, &c.Unit, &c.Epsilon, &c.Evaluations)
			c.Time = time.UnixMicro(at).UTC()
			return err
		})
		return err
	})
	return charges, err
}

// LimitChanges implements [ledger.Ledger].
func (l *Ledger) LimitChanges() (changes []ledger.LimitChange, err error) {
	err = l.read(func(r *reader) error {
		changes, err = collect(r, `
SELECT id, time, account, unit, epsilon_limit, coalesce(window_seconds, 0)
FROM geosql.entry WHERE epsilon_limit IS NOT NULL ORDER BY id`, func(rows pgx.Rows, c *ledger.LimitChange) error {
			var at int64
			err := rows.Scan(&c.ID, &at, &c.Account, &c.Unit, &c.Limit, &c.Window)
			c.Time = time.UnixMicro(at).UTC()
			return err
		})
		return err
	})
	return changes, err
}

// RoleBudgets implements [ledger.Ledger].
func (l *Ledger) RoleBudgets(role string) (list []ledger.RoleBudget, err error) {
	if err := checkNames(role); err != nil {
		return nil, engine.Wrap(err)
	}
	err = l.store.view(context.Background(), func(r *reader) error {
		list, err = collect(r, "SELECT role, account, unit, spent FROM geosql.purse WHERE role = $1 ORDER BY unit, account", scanRoleBudget, role)
		return err
	})
	return list, engine.Wrap(err)
}

// TraceRun implements [ledger.Ledger].
func (l *Ledger) TraceRun(name string) (points []ledger.Point, err error) {
	if err := checkNames(name); err != nil {
		return nil, engine.Wrap(err)
	}
	err = l.read(func(r *reader) error {
		return r.query("SELECT points FROM geosql.run WHERE trace = $1 ORDER BY first", func(rows pgx.Rows) error {
			var block []byte
			err := rows.Scan(&block)
			if err == nil {
				points, err = engine.AppendPoints(points, block)
			}
			return err
		}, name)
	})
	return points, err
}

// Record implements [ledger.Ledger].
func (l *Ledger) Record(facts ...ledger.Fact) error {
	if err := ledger.CheckFacts(facts); err != nil {
		return err
	}
	for _, f := range facts {
		if err := checkNames(f.Kind); err != nil {
			return engine.Wrap(err)
		}
		if err := checkText(f.Text); err != nil {
			return engine.Wrap(err)
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return l.store.update(func(t *transaction) error { return t.addFacts(facts) })
}

// addFacts adds those facts that are not there. Others wait until the transaction ends, so that
// nobody sees the second of two facts before the first.
func (t *transaction) addFacts(facts []ledger.Fact) error {
	if err := t.write("SELECT pg_advisory_xact_lock($1)", int64(factLock)); err != nil {
		return err
	}
	kinds, texts, digests := make([]string, len(facts)), make([]string, len(facts)), make([][32]byte, len(facts))
	for i, f := range facts {
		kinds[i], texts[i], digests[i] = f.Kind, f.Text, sha256.Sum256([]byte(f.Text))
	}
	return t.write(`
INSERT INTO geosql.fact(id, kind, text, digest, recorded)
SELECT n + (SELECT coalesce(max(id), 0) FROM geosql.fact), kind, text, digest, $4
FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS f(kind, text, digest, n)
ON CONFLICT (kind, digest) DO NOTHING`, kinds, texts, digests, t.now)
}

// Facts implements [ledger.Ledger]. It waits for no transaction, since a program that acts on facts asks
// for new ones all the time.
func (l *Ledger) Facts(ctx context.Context, after int64) (facts []ledger.Fact, err error) {
	err = l.store.view(ctx, func(r *reader) error {
		facts, err = collect(r, "SELECT id, kind, text FROM geosql.fact WHERE id > $1 ORDER BY id",
			func(rows pgx.Rows, f *ledger.Fact) error { return rows.Scan(&f.ID, &f.Kind, &f.Text) }, after)
		return err
	})
	return facts, engine.Wrap(err)
}
