package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// acceptFunction is the function of the entry that says that the owner has accepted a loss.
const acceptFunction = "ledger_accept"

// Accept makes the ledger in a database usable again that lacks charges, for an owner who accepts
// their loss: it was restored from an older copy, or a replica that was behind took over. Accounts
// can be granted the same amounts again. Accept returns the ledger's new generation.
//
// An entry records it. Processes that have the ledger open are refused until they open it again.
// Releases of data sets that are not finished are forgotten: the lost part of the ledger may say that
// they were finished, and its charges pay for one draw only.
func Accept(url string) (generation int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pool, err := connect(ctx, url, nil)
	if err != nil {
		return 0, engine.Wrap(err)
	}
	defer pool.Close()
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := prepareSchema(ctx, conn.Conn(), false); err != nil {
			return err
		}
		return transact(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
			generation, err = accept(ctx, tx)
			return err
		})
	})
	return generation, engine.Wrap(explainConnect(err))
}

// accept accepts a loss. The entry is the only one of a writer that has no state file: the files of
// machine must not change before the transaction is stored.
func accept(ctx context.Context, tx pgx.Tx) (generation int64, err error) {
	writer := newID()
	var recovery bool
	var durable, storage, moved, id string
	var now int64
	// Nobody else writes at the same time.
	err = tx.QueryRow(ctx, `
SELECT recovery, coalesce(durable, ''), coalesce(storage, ''), coalesce(moved, ''), coalesce(generation, 0), coalesce(now, 0),
  (SELECT value FROM geosql.meta WHERE key = 'id') FROM geosql.enter($1::uuid, true, '{}', '{}')`, writer).
		Scan(&recovery, &durable, &storage, &moved, &generation, &now, &id)
	if err != nil {
		return 0, err
	}
	if err := checkServer(recovery, durable, storage); err != nil {
		return 0, err
	}
	if moved != "" {
		return 0, fmt.Errorf("the ledger was moved to %s", moved)
	}
	if generation, err = newerGeneration(id, generation); err != nil {
		return 0, err
	}
	run := new(engine.Run)
	event := engine.Change{Origin: run.Origin(now, acceptFunction, engine.EventUnit), Account: ledger.Everyone, Evaluations: 1}
	run.Number = 1
	e := event.Entry(0, ledger.WindowUse{})
	var scratch []byte
	head := genesis(id, writer).Next(&e, &scratch)
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"UPDATE geosql.meta SET value = $1 WHERE key = 'generation'", []any{fmt.Sprint(generation)}},
		{"DELETE FROM geosql.release WHERE sealed IS NULL", nil},
		{"INSERT INTO geosql.writer(id, seq, hash, turn, generation, created) VALUES ($1::uuid, 1, $2, 1, $3, $4)",
			[]any{writer, head.Hash[:], generation, now}},
		{`INSERT INTO geosql.entry(writer, seq, statement, time, function, account, unit, spent, reserved, evaluations, window_spent, hash)
			VALUES ($1::uuid, 1, 1, $2, $3, $4, $5, 0, 0, 1, 0, $6)`,
			[]any{writer, now, e.Function, e.Account, string(e.Unit), head.Hash[:]}},
	} {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return 0, err
		}
	}
	return generation, nil
}

// newerGeneration returns a generation after the one of the server and the ones that this machine has
// seen.
func newerGeneration(id string, generation int64) (int64, error) {
	folder, err := state.Folder()
	if err != nil {
		return generation + 1, nil // nothing is known here
	}
	all, err := state.All(folder, id)
	for _, seen := range all {
		generation = max(generation, seen.Generation)
	}
	return generation + 1, err
}
