package postgres

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// The writes of a transaction beside charges and limits. Rows that it depends on are locked when they
// are read, so that nobody else changes them before the transaction ends.

// Trace implements [engine.Reader].
func (t *transaction) Trace(name string) (*engine.TraceRow, error) {
	return t.trace(traceSQL+" FOR UPDATE", name)
}

// Release implements [engine.Reader].
func (t *transaction) Release(id string) (*engine.ReleaseRow, error) {
	return t.release(releaseSQL+" FOR UPDATE", id)
}

// Advisory locks that are taken by a class and a number. The number may be the same for two
// questions, or two roles: then one waits for the other.
const (
	questionClass   = 1
	roleBudgetClass = 2
)

// Given implements [engine.Reader]. Nobody else answers the question before the transaction ends.
func (t *transaction) Given(question []byte, role string) ([]ledger.Given, error) {
	if err := t.lock(questionClass, int64(int32(binary.BigEndian.Uint32(question)))); err != nil {
		return nil, err
	}
	return t.reader.Given(question, role)
}

// RoleBudgets implements [engine.Reader]. Nobody else charges the role budgets before the transaction ends.
func (t *transaction) RoleBudgets(role string, unit budget.Unit) (func(string) (ledger.RoleBudget, error), error) {
	h := fnv.New32()
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(role)))) // never fails
	_, _ = h.Write([]byte(role + string(unit)))
	if err := t.lock(roleBudgetClass, int64(int32(h.Sum32()))); err != nil {
		return nil, err
	}
	return t.reader.RoleBudgets(role, unit)
}

// lock takes an advisory lock until the transaction ends.
func (t *transaction) lock(class, number int64) error {
	t.pending = append(t.pending, statement{"SELECT pg_advisory_xact_lock($1::bigint::integer, $2::bigint::integer)", []any{class, number}})
	return t.flush() // a statement of its own, so that the next one sees the writes of the last holder
}

// ChargeRoleBudgets implements [engine.Transaction].
func (t *transaction) ChargeRoleBudgets(role string, from *engine.Origin, items []ledger.Item) error {
	if len(items) == 0 {
		return nil
	}
	of := *from
	of.Unit = engine.EventUnit
	accounts, amounts := make([]string, len(items)), make([]int64, len(items))
	for i, item := range items {
		if err := checkNames(role, string(from.Unit), item.Account); err != nil {
			return err
		}
		p := ledger.RoleBudget{Role: role, Account: item.Account, Unit: from.Unit}
		c := &engine.Change{Origin: &of, Account: p.EntryAccount(), Spent: item.Epsilon}
		if err := t.addEntry(c, 0, ledger.WindowUse{}); err != nil {
			return err
		}
		accounts[i], amounts[i] = item.Account, int64(item.Epsilon)
	}
	return t.write(`
INSERT INTO geosql.purse AS p(role, account, unit, spent)
SELECT $1, i.account, $2, i.spent FROM unnest($3::text[], $4::bigint[]) AS i(account, spent)
ON CONFLICT (role, unit, account) DO UPDATE SET spent = p.spent + excluded.spent`, role, string(from.Unit), accounts, amounts)
}

// TakeTrace implements [engine.Transaction]. The random user is the token that fences others off: each
// later write compares it with the row, which it has locked, so that a process that was stopped
// and wakes up after somebody else has taken the trace writes nothing.
func (t *transaction) TakeTrace(name string, row *engine.TraceRow) error {
	return t.write(`
INSERT INTO geosql.leased_trace(trace, account, unit, state, points, "user", held, lost, changed)
VALUES ($1, $2, $3, '', 0, $4, $5, 0, $6)
ON CONFLICT (trace) DO UPDATE SET "user" = excluded."user", held = excluded.held, changed = excluded.changed`,
		name, row.Account, string(row.Unit), row.User, int64(row.Held), t.now)
}

// PutTrace implements [engine.Transaction].
func (t *transaction) PutTrace(name string, row *engine.TraceRow) error {
	var user any
	if row.User != nil {
		user = row.User
	}
	return t.write(`
INSERT INTO geosql.leased_trace(trace, account, unit, state, "user", points, held, lost, changed)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)
ON CONFLICT (trace) DO UPDATE SET account = excluded.account, unit = excluded.unit, state = excluded.state,
  "user" = excluded."user", points = excluded.points, held = excluded.held, lost = 0, changed = excluded.changed`,
		name, row.Account, string(row.Unit), row.State, user, row.Saved, int64(row.Held), t.now)
}

// AddPoints implements [engine.Transaction].
func (t *transaction) AddPoints(name string, saved int64, points []ledger.Point) error {
	if len(points) == 0 {
		return nil
	}
	return t.write("INSERT INTO geosql.run(trace, first, points) VALUES ($1, $2, $3)", name, saved+1, engine.EncodePoints(points))
}

// FreeTrace implements [engine.Transaction].
func (t *transaction) FreeTrace(name string, saved int64, lost budget.Amount) error {
	return t.write(`UPDATE geosql.leased_trace SET points = $2, "user" = NULL, held = 0, lost = lost + $3, changed = $4 WHERE trace = $1`,
		name, saved, int64(lost), t.now)
}

// alone has the transaction run when no other does.
func (t *transaction) alone() error {
	if !t.plan.alone {
		t.plan.alone = true
		return t.giveUp()
	}
	return nil
}

// TakeLeases implements [engine.Transaction].
func (t *transaction) TakeLeases(user []byte, unit budget.Unit, accounts []string, most budget.Amount) (taken []string, err error) {
	if err := t.alone(); err != nil {
		return nil, err
	}
	t.written++
	err = t.query(`
INSERT INTO geosql.lease AS l(account, unit, "user", most, lost) SELECT a, $2, $3, $4, 0 FROM unnest($1::text[]) AS a
ON CONFLICT (account, unit) DO UPDATE SET "user" = excluded."user", most = greatest(l.most, excluded.most)
  WHERE l."user" IS NULL OR l."user" = excluded."user"
RETURNING account`, func(rows pgx.Rows) error {
		var account string
		err := rows.Scan(&account)
		taken = append(taken, account)
		return err
	}, accounts, string(unit), user, int64(most))
	return taken, err
}

// TraceKeys implements [engine.Transaction].
func (t *transaction) TraceKeys(names []string) (map[string]engine.Key, error) {
	if len(names) == 0 {
		return nil, nil
	}
	keys := map[string]engine.Key{}
	err := t.query("SELECT trace, account, unit FROM geosql.leased_trace WHERE trace = ANY($1)", func(rows pgx.Rows) error {
		var name string
		var k engine.Key
		err := rows.Scan(&name, &k.Account, (*string)(&k.Unit))
		keys[name] = k
		return err
	}, names)
	return keys, err
}

// LeasedTraces implements [engine.Transaction].
func (t *transaction) LeasedTraces(user []byte) (all []engine.LeasedTrace, err error) {
	err = t.query(`
SELECT t.trace, t.points, l.most FROM geosql.lease AS l JOIN geosql.leased_trace AS t USING (account, unit)
WHERE l."user" = $1 AND t."user" IS NULL`, func(rows pgx.Rows) error {
		var l engine.LeasedTrace
		err := rows.Scan(&l.Name, &l.Saved, (*int64)(&l.Most))
		all = append(all, l)
		return err
	}, user)
	return all, err
}

// EndLeases implements [engine.Transaction].
func (t *transaction) EndLeases(user []byte) error {
	if err := t.write(`DELETE FROM geosql.lease WHERE "user" = $1 AND lost = 0`, user); err != nil {
		return err
	}
	return t.write(`UPDATE geosql.lease SET "user" = NULL, most = 0 WHERE "user" = $1`, user)
}

// BreakLeases implements [engine.Transaction].
func (t *transaction) BreakLeases(user []byte) error {
	if err := t.alone(); err != nil {
		return err
	}
	return t.write(`UPDATE geosql.lease SET "user" = NULL, most = 0, lost = lost + most WHERE "user" = $1`, user)
}

// AddRelease implements [engine.Transaction].
func (t *transaction) AddRelease(id string, plan ledger.ReleasePlan) error {
	return t.write("INSERT INTO geosql.release(id, digest, settings, output, charged, changed) VALUES ($1, $2, $3, $4, 0, $5)",
		id, plan.Digest, plan.Settings, plan.Output, t.now)
}

// SetCharged implements [engine.Transaction].
func (t *transaction) SetCharged(id string, charged int64) error {
	return t.write("UPDATE geosql.release SET charged = $2, changed = $3 WHERE id = $1", id, charged, t.now)
}

// SealRelease implements [engine.Transaction].
func (t *transaction) SealRelease(id, sha256 string) error {
	return t.write("UPDATE geosql.release SET sealed = $2, sha256 = $3 WHERE id = $1", id, t.now, sha256)
}

// AddAnswer implements [engine.Transaction].
func (t *transaction) AddAnswer(question []byte, out ledger.LeftOut, answer []byte, role string) error {
	return t.write(`
WITH a AS (INSERT INTO geosql.answer(question, left_out, answer, given) VALUES ($1, $2, $3, $4) RETURNING id)
INSERT INTO geosql.seen(answer, role) SELECT id, $5 FROM a WHERE $5 <> ''`, question, []byte(out), answer, t.now, role)
}

// AddSeen implements [engine.Transaction].
func (t *transaction) AddSeen(answer int64, role string) error {
	return t.write("INSERT INTO geosql.seen(answer, role) VALUES ($1, $2)", answer, role)
}
