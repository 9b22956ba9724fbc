package collect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/batch"
	"github.com/geosql/geosql/sealed/catalog"
)

// isSealedLines reports whether a file holds batches that devices have sealed, by its name.
func isSealedLines(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl")
}

// A sealedBatch is a batch of package batch, once its collector's signatures are right.
type sealedBatch struct {
	session  sealed.Session
	accounts []sealedAccount
	rows     [][]any // in the order of the table's columns: nil, string, int64, float64 or []byte
}

type sealedAccount struct {
	pseudonym string
	entry     []byte
}

// A batchLine is a line of a batch, of any kind.
type batchLine struct {
	Session   *uint32           `json:"session"`
	Database  string            `json:"database"`
	Table     string            `json:"table"`
	Key       string            `json:"key"`
	Enc       []byte            `json:"enc"`
	Signer    []byte            `json:"signer"`
	Signature []byte            `json:"signature"`
	Account   *string           `json:"account"`
	Sealed    []byte            `json:"sealed"`
	Row       []json.RawMessage `json:"row"`
	End       *int              `json:"end"`
}

// A batchReader reads the batches of a file for a table.
type batchReader struct {
	database sealed.DatabaseID
	table    sealed.Table
	columns  []*sealed.Column
	account  int

	all      []sealedBatch
	now      *sealedBatch // until its end
	begins   int          // where its lines do
	counters map[uint64]bool
	known    map[string]bool // its pseudonyms
}

var errBatchLine = errors.New("is not a line of a batch that a device has sealed, or is not in its place")

// read returns the batches in a text. Nothing of it is believed before the end of a batch has shown that its collector has
// signed it whole, with these lines in this order. Whether the values
// open, only the owner's key tells.
func (r *batchReader) read(text []byte) ([]sealedBatch, error) {
	at, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		if err := r.line(text, line, at); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		at += len(line)
	}
	if r.now != nil || len(r.all) == 0 {
		return nil, errors.New("the last batch has no end: the file is not complete")
	}
	return r.all, nil
}

// line reads a line that begins at a place of a text.
func (r *batchReader) line(text, line []byte, at int) error {
	var l batchLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil || d.InputOffset() != int64(len(bytes.TrimRight(line, "\n"))) {
		return errBatchLine
	}
	switch {
	case l.Session != nil && r.now == nil:
		r.begins = at
		return r.session(&l)
	case r.now == nil:
		return errBatchLine
	case l.Account != nil && len(r.now.rows) == 0:
		return r.enter(*l.Account, l.Sealed)
	case l.Row != nil:
		return r.row(l.Row)
	case l.End != nil:
		if !ed25519.Verify(r.now.session.Signer, batch.Signed(text[r.begins:at]), l.Signature) || *l.End != len(r.now.rows) {
			return errors.New("its collector has signed this batch with other lines")
		}
		r.all, r.now = append(r.all, *r.now), nil
		return nil
	}
	return errBatchLine
}

// session begins a batch.
func (r *batchReader) session(l *batchLine) error {
	key, err := hex.DecodeString(l.Key)
	switch {
	case err != nil || len(key) != len(sealed.KeyID{}):
		return errBatchLine
	case l.Database != hex.EncodeToString(r.database[:]):
		return errors.New("this batch is sealed for another database, or for this one as it was declared before")
	case l.Table != r.table.Name:
		return fmt.Errorf("this batch is for table %s", l.Table)
	}
	s := sealed.Session{Number: *l.Session, Key: sealed.KeyID(key), Enc: l.Enc, Signer: l.Signer, Signature: l.Signature}
	if err := s.Verify(r.database); err != nil {
		return err
	}
	r.now, r.counters, r.known = &sealedBatch{session: s}, map[uint64]bool{}, map[string]bool{}
	return nil
}

// enter adds an account to the batch.
func (r *batchReader) enter(pseudonym string, entry []byte) error {
	if !isPseudonym(pseudonym) || len(entry) <= sealed.ValueSize || r.known[pseudonym] {
		return errBatchLine
	}
	r.known[pseudonym] = true
	r.now.accounts = append(r.now.accounts, sealedAccount{pseudonym, entry})
	return r.sealed(entry[:sealed.ValueSize], 0)
}

// sealed checks the header of a value: its column, its session, and that it has a counter of its own. A value
// that is there twice would be two readings of its account.
func (r *batchReader) sealed(value []byte, column uint32) error {
	h, err := sealed.ParseHeader(value)
	if err != nil || h.Column != column || h.Session != r.now.session.Number || r.counters[h.Counter] {
		return errBatchLine
	}
	r.counters[h.Counter] = true
	return nil
}

// row adds a row to the batch.
func (r *batchReader) row(cells []json.RawMessage) error {
	if len(cells) != len(r.columns) {
		return errBatchLine
	}
	row := make([]any, len(cells))
	for i, c := range cells {
		v, err := jsonCell(c)
		if err != nil {
			return err
		}
		text, isText := v.(string)
		switch column := r.columns[i]; {
		case i == r.account && !(isText && r.known[text]):
			return errBatchLine
		case column != nil && v != nil:
			value, err := base64.StdEncoding.DecodeString(text)
			if err != nil || !isText {
				return errBatchLine
			}
			if err := r.sealed(value, column.Number); err != nil {
				return err
			}
			v = value
		}
		row[i] = v
	}
	r.now.rows = append(r.now.rows, row)
	return nil
}

// jsonCell returns a cell: nil, a string, an int64 or a float64.
func jsonCell(text json.RawMessage) (v any, err error) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, errBatchLine
	}
	switch v.(type) {
	case nil, string, float64:
		return v, nil
	}
	return nil, errBatchLine
}

// appendBatches adds the batches of a file, all or none. They are sealed and signed already: it needs no key.
func (t *Append) appendBatches(ctx context.Context) error {
	text, err := readFileOrZip(t.File)
	if err != nil {
		return err
	}
	r := batchReader{}
	if r.table, r.columns, r.account, err = t.findTable(); err != nil {
		return err
	}
	r.database = t.database
	all, err := r.read(text)
	if err != nil {
		return fmt.Errorf("append: %s: %w", t.File, err)
	}
	for i := range all {
		if err := t.admits(&all[i].session); err != nil {
			return fmt.Errorf("append: %s: %w", t.File, err)
		}
	}
	stop := store.InterruptOn(ctx, t.conn)
	defer stop()
	rows := 0
	err = vault.InTransaction(ctx, t.conn, func() error {
		if id, err := catalog.ReadID(t.conn); err != nil || id != t.database {
			return cmp.Or(err, errReplaced)
		}
		for _, b := range all {
			if err := addBatch(t.conn, r.table, &b); err != nil {
				return fmt.Errorf("append: %s: %w", t.File, err)
			}
			rows += len(b.rows)
		}
		return nil
	})
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	cli.Say("added %s of %s to %s of %s", cli.Count(int64(rows), "row"), cli.Count(int64(len(all)), "session"), r.table.Name, t.Path)
	return nil
}

// admits returns an error if the database is not sealed for the key of a session, or if the ledger is here and has not
// enrolled its collector.
func (t *Append) admits(s *sealed.Session) error {
	known, err := catalog.HasKey(t.conn, s.Key)
	switch {
	case err != nil:
		return err
	case !known:
		return fmt.Errorf("session %d is sealed for another key than %s", s.Number, t.Path)
	case t.owner == nil:
		return nil
	case t.owner.Record.Revoked[string(s.Signer)]:
		return fmt.Errorf("session %d is of collector %s, which is revoked", s.Number, fingerprint(s.Signer))
	case !t.owner.Record.Enrolled(s.Signer):
		return fmt.Errorf("session %d is of collector %s, which is not enrolled", s.Number, fingerprint(s.Signer))
	}
	return nil
}

// addBatch adds a batch in the transaction that is open. A batch whose session is there was added before.
func addBatch(conn *sqlite.Conn, table sealed.Table, b *sealedBatch) error {
	entered, err := catalog.Entered(conn, b.session.Signer)
	if err != nil {
		return err
	}
	switch err := catalog.AddSession(conn, &b.session); {
	case errors.Is(err, catalog.ErrTaken):
		return fmt.Errorf("session %d %w: the device has to seal these rows again", b.session.Number, err)
	case err != nil:
		return fmt.Errorf("session %d %w", b.session.Number, err)
	}
	for _, a := range b.accounts {
		there, err := entered(a.pseudonym)
		if err == nil && !there {
			err = catalog.AddAccount(conn, a.pseudonym, a.entry)
		}
		if err != nil {
			return err
		}
	}
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		names[i] = c.Name
	}
	insert, err := prepareInsert(conn, table.Name, names)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, row := range b.rows {
		for i, v := range row {
			if v == nil {
				insert.BindNull(i + 1)
			} else if err := insert.Bind(i+1, v); err != nil {
				return err
			}
		}
		if err := insert.Run(); err != nil {
			return err
		}
	}
	return nil
}
