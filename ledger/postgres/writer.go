package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// writer is this process as a writer of the ledger.
type writer struct {
	file       *state.Writer
	generation int64
	at         position
	doubt      *position // where it may be, if it is not known whether the last transaction was committed
}

// position is how far a writer is: how many transactions it has committed, and its last entry.
type position struct {
	turn int64
	head ledger.Head
}

// movedWriter is the writer of entries that a ledger in a file had before it was moved here. Their
// chain begins as it did there.
const movedWriter = "00000000000000000000000000000000"

// genesis returns the head of a writer that has written nothing.
func genesis(id, writer string) ledger.Head {
	if writer == movedWriter {
		return ledger.Genesis(id)
	}
	return ledger.Genesis(id + " " + writer)
}

var (
	errBehind          = fmt.Errorf("%w that this machine knows it has stored%s", ledger.ErrLost, lossText)
	errOtherGeneration = fmt.Errorf("%w; the reservations of this process may be among them", ledger.ErrLossAccepted)
	errSameWriter      = errors.New("somebody else writes under this machine's name: its state folder was copied; remove the copy")
)

// lossText says how charges are lost, and how the ledger is used again.
const lossText = ": it was restored from an older copy, or a replica that was behind took over; its owner accepts the loss with: geosql ledger accept URL"

// errLost returns the error of a ledger with the mark of a loss that was found at a time.
func errLost(found int64) error {
	return fmt.Errorf("%w, as another process found at %s%s", ledger.ErrLost, time.UnixMicro(found).UTC().Format(time.RFC3339), lossText)
}

// claim makes this process a writer.
func (s *store) claim(ctx context.Context, conn *pgx.Conn) (*writer, error) {
	var generation int64
	if err := queryRow(ctx, conn, "SELECT value::bigint FROM geosql.meta WHERE key = 'generation'", nil, &generation); err != nil {
		return nil, lost(err)
	}
	folder, err := state.Folder()
	if err != nil {
		return nil, err
	}
	file, err := state.Claim(folder, s.id, generation)
	if engine.Is[*fs.PathError](err) {
		err = fmt.Errorf("cannot keep this machine's record of the ledger: %w; %s names another folder", err, state.FolderVariable)
	}
	if err != nil {
		return nil, err
	}
	w := &writer{file: file, generation: generation}
	if err := w.find(ctx, conn, s.id); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// find finds out where the writer is. The server may have more than the file says, if the process
// was killed before it could acknowledge its last transactions.
func (w *writer) find(ctx context.Context, conn *pgx.Conn, id string) error {
	last := w.file.Last()
	if last.ID == 0 {
		first := genesis(id, w.file.ID())
		err := transact(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO geosql.writer(id, seq, hash, generation, created)
				VALUES ($1::uuid, 0, $2, $3, geosql.now()) ON CONFLICT DO NOTHING`, w.file.ID(), first.Hash[:], w.generation)
			return err
		})
		if err != nil {
			return lost(err)
		}
		last = first
	}
	// The row is locked because a transaction may not have ended that this writer's last process has
	// begun.
	var hash []byte
	var archived int64
	err := queryRow(ctx, conn, "SELECT turn, seq, hash, archived FROM geosql.writer WHERE id = $1::uuid FOR UPDATE", []any{w.file.ID()},
		&w.at.turn, &w.at.head.ID, &hash, &archived)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errBehind
	case err != nil:
		return lost(err)
	case len(hash) != len(w.at.head.Hash):
		return errAnswer
	}
	copy(w.at.head.Hash[:], hash)
	if known, err := w.knows(ctx, conn, last, archived); err != nil || !known {
		return cmp.Or(err, errBehind)
	}
	if last == w.at.head {
		return nil
	}
	return w.file.Acknowledge(w.at.head)
}

// knows reports whether the server has the writer's entry of a head. Those up to archived it does
// not have any more.
func (w *writer) knows(ctx context.Context, conn *pgx.Conn, h ledger.Head, archived int64) (bool, error) {
	switch {
	case h.ID >= w.at.head.ID:
		return h == w.at.head, nil
	case h.ID <= archived:
		return true, nil
	}
	var hash []byte
	err := queryRow(ctx, conn, "SELECT hash FROM geosql.entry WHERE writer = $1::uuid AND seq = $2", []any{w.file.ID(), h.ID}, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return bytes.Equal(hash, h.Hash[:]), lost(err)
}

// check checks that the server knows the writer to be where it is. A transaction that was in doubt
// has ended, since the server has locked the writer's row.
func (w *writer) check(found position, generation int64) error {
	switch {
	case generation < w.generation:
		return errBehind
	case generation > w.generation:
		return errOtherGeneration
	case w.doubt != nil && found == *w.doubt:
		if err := w.advance(found); err != nil {
			return err
		}
	case found.turn > w.at.turn:
		return errSameWriter
	case found != w.at:
		return errBehind
	}
	w.doubt = nil
	return nil
}

// advance notes that a transaction was committed.
func (w *writer) advance(to position) error {
	changed := to.head != w.at.head
	w.at, w.doubt = to, nil
	if !changed {
		return nil
	}
	if err := w.file.Acknowledge(to.head); err != nil {
		return fmt.Errorf("cannot note the charge: %w", err)
	}
	return nil
}

// setDoubt notes that it is not known whether a transaction was committed.
func (w *writer) setDoubt(to position) error {
	w.doubt = &to
	if to.head == w.at.head {
		return nil
	}
	return w.file.InDoubt(to.head)
}
