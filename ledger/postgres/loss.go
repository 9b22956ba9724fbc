package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// Lost charges.
//
// A server that was restored from an older copy, or a replica that was behind and took over, lacks charges of
// answers that are out. A machine finds that by the entries that it knows to be stored. It leaves a mark, key lost of table
// meta, with which nobody charges the ledger any more: the accounts could be granted the same amounts again. The owner
// restores a newer copy, which has no mark, or accepts the loss.

// checkKnown checks that the server has the entries that the processes of this machine have stored.
func checkKnown(ctx context.Context, db sender, id string, generation int64) error {
	folder, err := state.Folder()
	if err != nil {
		return nil // a writer will hear of it
	}
	all, err := state.All(folder, id)
	if err != nil {
		return err
	}
	for _, seen := range all {
		if seen.Generation > generation {
			return errBehind
		}
		if seen.Generation < generation || seen.Last.ID == 0 {
			continue
		}
		var known bool
		err := queryRow(ctx, db, `
SELECT EXISTS (SELECT FROM geosql.writer WHERE id = $1::uuid AND archived >= $2)
  OR EXISTS (SELECT FROM geosql.entry WHERE writer = $1::uuid AND seq = $2 AND hash = $3)`,
			[]any{seen.ID, seen.Last.ID, seen.Last.Hash[:]}, &known)
		if err != nil {
			return err
		}
		if !known {
			return errBehind
		}
	}
	return nil
}

// noteLoss marks the ledger as one that lacks charges, if it still is in the generation in which a writer of this process has
// found that, 0 for none, or if the files of this machine say so. A role that may not write leaves no mark.
func noteLoss(ctx context.Context, db beginner, id string, found int64) error {
	return transact(ctx, db, pgx.TxOptions{}, func(tx pgx.Tx) error {
		// Nobody accepts the loss meanwhile.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock_shared($1)", int64(limitLock)); err != nil {
			return err
		}
		_, generation, err := readState(ctx, tx)
		if err != nil {
			return err
		}
		if generation != found {
			if err := checkKnown(ctx, tx, id, generation); err != errBehind {
				return err
			}
		}
		_, err = tx.Exec(ctx, "INSERT INTO geosql.meta VALUES ('lost', geosql.now()::text) ON CONFLICT DO NOTHING")
		return err
	})
}

// readLoss returns when a process has found that charges are missing, or 0.
func readLoss(ctx context.Context, db sender) (found int64, err error) {
	err = queryRow(ctx, db, "SELECT coalesce(max(value)::bigint, 0) FROM geosql.meta WHERE key = 'lost'", nil, &found)
	return found, err
}

// A Loss describes the loss of charges by a server, as far as it is known.
type Loss struct {
	Found      time.Time // when a process noted it in the ledger; zero if none did
	Here       bool      // whether this machine knows of entries that the server lacks
	Unfinished []string  // IDs of the releases that [Accept] forgets, in order
	Generation int64     // of the ledger. Accept begins a later one
}

// Known reports whether anybody knows of a loss.
func (l *Loss) Known() bool { return l.Here || !l.Found.IsZero() }

// ErrNoLoss is the error of accepting a loss that nobody knows of.
var ErrNoLoss = errors.New("ledger: the server has every charge that this machine knows of, and no process has noted a loss")

// FindLoss returns the loss of charges by the server of a ledger. It changes nothing.
func FindLoss(url string) (loss *Loss, err error) {
	err = withLedger(url, func(ctx context.Context, conn *pgxpool.Conn) error {
		loss, err = findLoss(ctx, conn)
		return err
	})
	return loss, err
}

func findLoss(ctx context.Context, db sender) (*Loss, error) {
	s, generation, err := readState(ctx, db)
	if err != nil {
		return nil, err
	}
	l := &Loss{Generation: generation}
	found, err := readLoss(ctx, db)
	if err != nil {
		return nil, err
	}
	if found != 0 {
		l.Found = time.UnixMicro(found).UTC()
	}
	err = checkKnown(ctx, db, s.ID, generation)
	if l.Here = err == errBehind; err != nil && !l.Here {
		return nil, err
	}
	return l, queryRow(ctx, db, "SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM geosql.release WHERE sealed IS NULL", nil, &l.Unfinished)
}

// withLedger runs work with a connection to the database of a ledger.
func withLedger(url string, work func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pool, err := connect(ctx, url, nil)
	if err != nil {
		return engine.Wrap(err)
	}
	defer pool.Close()
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := prepareSchema(ctx, conn.Conn(), false); err != nil {
			return err
		}
		return work(ctx, conn)
	})
	if err == ErrNoLoss {
		return err
	}
	return engine.Wrap(explainConnect(err))
}

// acceptFunction is the function of the entry that says that the owner has accepted a loss.
const acceptFunction = "ledger_accept"

// Accept makes the ledger in a database usable again that lacks charges, for an owner who accepts
// their loss. Accounts can be granted the same amounts again. Without force, accepting a loss that nobody knows of is
// ErrNoLoss. Accept returns the loss, with the ledger's new generation.
//
// An entry records it. Processes that have the ledger open are refused until they open it again, with
// [ledger.ErrLossAccepted].
// Releases of data sets that are not finished are forgotten: the lost part of the ledger may say that
// they were finished, and its charges pay for one draw only.
func Accept(url string, force bool) (loss *Loss, err error) {
	err = withLedger(url, func(ctx context.Context, conn *pgxpool.Conn) error {
		return transact(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
			loss, err = accept(ctx, tx, force)
			return err
		})
	})
	return loss, err
}

// accept accepts a loss. The entry is the only one of a writer that has no state file: the files of
// machine must not change before the transaction is stored.
func accept(ctx context.Context, tx pgx.Tx, force bool) (*Loss, error) {
	writer := newID()
	var recovery bool
	var durable, storage, moved, id string
	var now int64
	// Nobody else writes at the same time.
	err := tx.QueryRow(ctx, `
SELECT recovery, coalesce(durable, ''), coalesce(storage, ''), coalesce(moved, ''), coalesce(now, 0),
  (SELECT value FROM geosql.meta WHERE key = 'id') FROM geosql.enter($1, $2::uuid, true, '{}', '{}')`, version, writer).
		Scan(&recovery, &durable, &storage, &moved, &now, &id)
	if err != nil {
		return nil, err
	}
	if err := checkServer(recovery, durable, storage); err != nil {
		return nil, err
	}
	if moved != "" {
		return nil, fmt.Errorf("the ledger was moved to %s", moved)
	}
	loss, err := findLoss(ctx, tx)
	if err != nil {
		return nil, err
	}
	if !loss.Known() && !force {
		return nil, ErrNoLoss
	}
	if loss.Generation, err = newerGeneration(id, loss.Generation); err != nil {
		return nil, err
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
		{"UPDATE geosql.meta SET value = $1 WHERE key = 'generation'", []any{fmt.Sprint(loss.Generation)}},
		{"DELETE FROM geosql.meta WHERE key = 'lost'", nil},
		{"DELETE FROM geosql.release WHERE sealed IS NULL", nil},
		{"INSERT INTO geosql.writer(id, seq, hash, turn, generation, created) VALUES ($1::uuid, 1, $2, 1, $3, $4)",
			[]any{writer, head.Hash[:], loss.Generation, now}},
		{`INSERT INTO geosql.entry(writer, seq, statement, time, function, account, unit, spent, reserved, evaluations, window_spent, hash)
			VALUES ($1::uuid, 1, 1, $2, $3, $4, $5, 0, 0, 1, 0, $6)`,
			[]any{writer, now, e.Function, e.Account, string(e.Unit), head.Hash[:]}},
	} {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return nil, err
		}
	}
	return loss, nil
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
