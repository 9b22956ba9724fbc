package postgres

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// An archive is a file of lines. Each is a JSON object. The first names the ledger. Each
// other line is an entry. Amounts are integers of 1e-12 and times integers of microseconds
// since 1970, up to 2^63: they have to be read as integers. The hash is that of the writer's chain.
// An unfinished last line, left by a crash, is no part of the archive, and the next call removes it.

// archiveHead is the first line of an archive.
type archiveHead struct {
	Archive string `json:"archive"`
	Version int    `json:"version"`
	Ledger  string `json:"ledger"`
}

const (
	archiveName    = "geosql ledger on a server"
	archiveVersion = 1
)

// archiveLine is an entry in an archive.
type archiveLine struct {
	Writer      string        `json:"writer"`
	Seq         int64         `json:"seq"`
	ID          int64         `json:"id"`
	Statement   int64         `json:"statement"`
	Time        int64         `json:"time"`
	Function    string        `json:"function"`
	Account     string        `json:"account"`
	Unit        budget.Unit   `json:"unit"`
	Spent       budget.Amount `json:"spent"`
	Reserved    budget.Amount `json:"reserved"`
	Evaluations int64         `json:"evaluations"`
	WindowStart int64         `json:"window_start"`
	WindowSpent budget.Amount `json:"window_spent"`
	Limit       int64         `json:"epsilon_limit"` // -1 for none
	LimitWindow int64         `json:"window_seconds"`
	Hash        string        `json:"hash"`
}

func lineOf(e *record) *archiveLine {
	return &archiveLine{
		e.writer, e.ID, e.order, e.Statement, e.Time, e.Function, e.Account, e.Unit, e.Spent, e.Reserved, e.Evaluations,
		e.Window.Start, e.Window.Spent, int64(e.Limit), e.LimitWindow, hex.EncodeToString(e.hash),
	}
}

func (l *archiveLine) record() (*record, error) {
	hash, err := hex.DecodeString(l.Hash)
	return &record{
		Entry: ledger.Entry{
			ID: l.Seq, Statement: l.Statement, Time: l.Time, Function: l.Function, Account: l.Account, Unit: l.Unit,
			Spent: l.Spent, Reserved: l.Reserved, Evaluations: l.Evaluations,
			Window: ledger.WindowUse{Start: l.WindowStart, Spent: l.WindowSpent},
			Limit:  budget.Amount(l.Limit), LimitWindow: l.LimitWindow,
		},
		writer: l.Writer, order: l.ID, hash: hash,
	}, err
}

// Archive implements [ledger.Ledger]. Only its owner can read an archive. While the entries leave
// the ledger, which waits for all transactions, nobody charges.
func (l *Ledger) Archive(path string, before time.Time) (moved int64, err error) {
	var last map[string]ledger.Head
	err = l.read(func(r *reader) error {
		last, err = r.copyEntries(path, before.UnixMicro())
		return err
	})
	if err != nil {
		return 0, err
	}
	err = l.store.update(func(t *transaction) error {
		moved, err = t.dropEntries(last)
		return err
	})
	return moved, err
}

// copyEntries copies the entries before a time that the archive does not have, and returns the last
// entries of all writers in the archive.
func (r *reader) copyEntries(path string, before int64) (last map[string]ledger.Head, err error) {
	arch, err := openArchive(path, r.store.id)
	if err != nil {
		return nil, fmt.Errorf("archive %q: %w", path, err)
	}
	err = r.checkContinues(arch.last)
	if err == nil {
		err = r.copyTo(arch, before)
	}
	if err != nil {
		arch.undo()
		return nil, err
	}
	if err := arch.finish(); err != nil {
		return nil, fmt.Errorf("archive %q: %w", path, err)
	}
	return arch.last, nil
}

// copyTo adds entries to an archive.
func (r *reader) copyTo(arch *archive, before int64) error {
	kept := map[string]int64{} // the first entry of each writer that stays
	err := r.query("SELECT replace(writer::text, '-', ''), min(seq) FROM geosql.entry WHERE time >= $1 GROUP BY writer", func(rows pgx.Rows) error {
		var writer string
		var seq int64
		err := rows.Scan(&writer, &seq)
		kept[writer] = seq
		return err
	}, before)
	if err != nil {
		return err
	}
	var scratch []byte
	return r.entries("WHERE time < $1", func(e *record) error {
		last, ok := arch.last[e.writer]
		if !ok {
			last = genesis(r.store.id, e.writer)
		}
		if first, stays := kept[e.writer]; e.ID <= last.ID || stays && e.ID > first {
			return nil
		}
		seq := e.ID
		if last = last.Next(&e.Entry, &scratch); last.ID != seq || !bytes.Equal(last.Hash[:], e.hash) {
			return fmt.Errorf("entry %d of writer %s was changed; nothing was archived", seq, e.writer)
		}
		arch.last[e.writer] = last
		return arch.add(lineOf(e))
	}, before)
}

// checkContinues checks that the ledger goes on where an archive ends.
func (r *reader) checkContinues(ends map[string]ledger.Head) error {
	all, err := r.chains()
	if err != nil {
		return err
	}
	for writer, c := range all {
		end, ok := ends[writer]
		if !ok {
			end = genesis(r.store.id, writer)
		}
		if end.ID < c.archived.ID {
			return fmt.Errorf("the archive ends with entry %d of writer %s, but entries up to %d are in another", end.ID, writer, c.archived.ID)
		}
	}
	for writer, end := range ends {
		there, err := r.hasEntry(all, writer, end)
		if err != nil {
			return err
		}
		if !there {
			return errors.New("the archive is not of this ledger's past")
		}
	}
	return nil
}

// hasEntry reports whether the chain of a writer leads through a head that it still holds.
func (r *reader) hasEntry(all chains, writer string, h ledger.Head) (bool, error) {
	c := all[writer]
	if c == nil || c.archived.ID == h.ID {
		return c != nil && c.archived == h, nil
	}
	var hash []byte
	_, err := r.row("SELECT hash FROM geosql.entry WHERE writer = $1::uuid AND seq = $2", []any{writer, h.ID}, &hash)
	return bytes.Equal(hash, h.Hash[:]), err
}

// gone is the condition for entries that leave the ledger: $1 and $2 are the writers and the last of
// their entries.
const gone = "unnest($1::text[]::uuid[], $2::bigint[]) AS g(writer, last)"

// dropEntries deletes the entries up to last, and writes the entries that stand for them.
func (t *transaction) dropEntries(last map[string]ledger.Head) (dropped int64, err error) {
	if err := t.alone(); err != nil { // nobody may change a balance between the reading of its entries and the end
		return 0, err
	}
	all, err := t.chains()
	if err != nil {
		return 0, err
	}
	var writers []string
	var seqs []int64
	var hashes [][32]byte
	for writer, h := range last {
		c := all[writer]
		if c == nil || h.ID <= c.archived.ID {
			continue
		}
		there, err := t.hasEntry(all, writer, h)
		if err == nil && !there {
			err = errors.New("the ledger was changed while it was archived")
		}
		if err != nil {
			return 0, err
		}
		writers, seqs, hashes = append(writers, writer), append(seqs, h.ID), append(hashes, h.Hash)
		dropped += h.ID - c.archived.ID
	}
	if dropped == 0 {
		return 0, nil
	}
	for _, carry := range []func([]string, []int64) error{t.carryBalances, t.carryLimits, t.carryRoleBudgets, t.carryEvents} {
		if err := carry(writers, seqs); err != nil {
			return 0, err
		}
	}
	if err := t.write("DELETE FROM geosql.entry AS e USING "+gone+" WHERE e.writer = g.writer AND e.seq <= g.last", writers, seqs); err != nil {
		return 0, err
	}
	return dropped, t.write(`UPDATE geosql.writer AS w SET archived = g.last, archived_hash = g.hash
		FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bytea[]) AS g(writer, last, hash) WHERE w.id = g.writer`, writers, seqs, hashes)
}

// carry is a change that stands for entries that leave the ledger.
type carry struct {
	engine.Change
	window ledger.WindowUse
}

// carryBalances writes, for every account, an entry with the sums of the entries that leave.
func (t *transaction) carryBalances(writers []string, seqs []int64) error {
	run := new(engine.Run)
	all, err := collect(&t.reader, `
SELECT e.account, e.unit, sum(e.spent)::bigint, sum(e.reserved)::bigint, sum(e.evaluations)::bigint,
  coalesce(max(e.time) FILTER (WHERE e.spent <> 0), max(e.time)), coalesce(b.window_start, 0), coalesce(b.window_spent, 0)
FROM `+gone+` JOIN geosql.entry AS e ON e.writer = g.writer AND e.seq <= g.last
LEFT JOIN geosql.balance AS b ON b.account = e.account AND b.unit = e.unit
WHERE e.epsilon_limit IS NULL AND e.unit <> '' GROUP BY e.account, e.unit, b.window_start, b.window_spent ORDER BY e.account, e.unit`,
		func(rows pgx.Rows, c *carry) error {
			var unit budget.Unit
			var at int64
			err := rows.Scan(&c.Account, &unit, &c.Spent, &c.Reserved, &c.Evaluations, &at, &c.window.Start, &c.window.Spent)
			c.Origin = run.Origin(at, engine.ArchiveFunction, unit)
			if a := t.accounts.find(engine.Key{Account: c.Account, Unit: c.Unit}); a != nil { // it may be charged in this transaction
				c.window = a.standing.Stored
			}
			return err
		}, writers, seqs)
	for i := 0; i < len(all) && err == nil; i++ {
		err = t.addEntry(&all[i].Change, all[i].Reserved, all[i].window)
	}
	return err
}

// carryLimits writes the entries anew that set limits which still hold.
func (t *transaction) carryLimits(writers []string, seqs []int64) error {
	run := new(engine.Run)
	all, err := collect(&t.reader, `
SELECT b.account, b.unit, b.epsilon, coalesce(b.window_seconds, 0), b.changed
FROM `+gone+` JOIN geosql.budget AS b ON b.writer = g.writer AND b.entry <= g.last ORDER BY b.unit, b.account`,
		func(rows pgx.Rows, c *engine.Change) error {
			c.Limit = &engine.Limit{}
			var unit budget.Unit
			var at int64
			err := rows.Scan(&c.Account, &unit, &c.Limit.Epsilon, &c.Limit.Seconds, &at)
			c.Origin = run.Origin(at, engine.LimitFunction, unit)
			return err
		}, writers, seqs)
	for i := 0; i < len(all) && err == nil; i++ {
		err = t.SetLimit(&all[i])
	}
	return err
}

// carryRoleBudgets writes, for every role budget, an entry with the sum of the entries that leave.
func (t *transaction) carryRoleBudgets(writers []string, seqs []int64) error {
	return t.carryOthers(`
SELECT e.account, sum(e.spent)::bigint, 0, max(e.time), '`+engine.ArchiveFunction+`'
FROM `+gone+` JOIN geosql.entry AS e ON e.writer = g.writer AND e.seq <= g.last
WHERE e.unit = '' AND e.account <> '*' GROUP BY e.account ORDER BY e.account`, writers, seqs)
}

// carryEvents writes the entries anew that record events.
func (t *transaction) carryEvents(writers []string, seqs []int64) error {
	return t.carryOthers(`
SELECT e.account, e.spent, e.evaluations, e.time, e.function
FROM `+gone+` JOIN geosql.entry AS e ON e.writer = g.writer AND e.seq <= g.last
WHERE e.unit = '' AND e.account = '*' ORDER BY e.id`, writers, seqs)
}

// carryOthers writes the entries without a unit that a query selects.
func (t *transaction) carryOthers(sql string, writers []string, seqs []int64) error {
	run := new(engine.Run)
	all, err := collect(&t.reader, sql, func(rows pgx.Rows, c *engine.Change) error {
		var at int64
		var function string
		err := rows.Scan(&c.Account, &c.Spent, &c.Evaluations, &at, &function)
		c.Origin = run.Origin(at, function, engine.EventUnit)
		return err
	}, writers, seqs)
	for i := 0; i < len(all) && err == nil; i++ {
		err = t.addEntry(&all[i], 0, ledger.WindowUse{})
	}
	return err
}

// archive is an archive that is written to.
type archive struct {
	file  *os.File
	out   *bufio.Writer
	json  *json.Encoder
	fresh bool
	size  int64                  // before anything was added
	last  map[string]ledger.Head // of each writer
}

// openArchive opens an archive, and makes it if it is missing.
func openArchive(path, id string) (*archive, error) {
	file, err := files.OpenShared(path, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	a := &archive{file: file, last: map[string]ledger.Head{}}
	if err := a.open(id); err != nil {
		file.Close()
		return nil, err
	}
	return a, nil
}

func (a *archive) open(id string) error {
	free, err := files.Lock(a.file)
	if err == nil && !free {
		err = errors.New("another process writes to it")
	}
	if err != nil {
		return err
	}
	var scratch []byte
	a.size, err = readArchive(a.file.Name(), id, func(e *record) error {
		last, ok := a.last[e.writer]
		if !ok {
			last = genesis(id, e.writer)
		}
		seq := e.ID
		if last = last.Next(&e.Entry, &scratch); last.ID != seq || !bytes.Equal(last.Hash[:], e.hash) {
			return fmt.Errorf("its entry %d of writer %s was changed", seq, e.writer)
		}
		a.last[e.writer] = last
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.file.Chmod(0o600); err != nil {
		return err
	}
	if err := a.file.Truncate(a.size); err != nil {
		return err
	}
	if _, err := a.file.Seek(a.size, io.SeekStart); err != nil {
		return err
	}
	a.out = bufio.NewWriterSize(a.file, 1<<16)
	a.json = json.NewEncoder(a.out)
	a.json.SetEscapeHTML(false)
	if a.fresh = a.size == 0; a.fresh {
		return a.add(archiveHead{archiveName, archiveVersion, id})
	}
	return nil
}

// add adds a line.
func (a *archive) add(line any) error { return a.json.Encode(line) }

// finish returns when the disk has the archive.
func (a *archive) finish() error {
	err := a.out.Flush()
	if err == nil {
		err = a.file.Sync()
	}
	if err != nil {
		a.undo()
		return err
	}
	if err := a.file.Close(); err != nil || !a.fresh {
		return err
	}
	if err := files.SyncFolder(filepath.Dir(a.file.Name())); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// undo leaves the archive as it was.
func (a *archive) undo() {
	_ = a.file.Truncate(a.size) // the rest is in the ledger too
	if a.fresh {
		_ = os.Remove(a.file.Name())
	}
	a.file.Close()
}

// longestLine bounds how much of a file that is no archive is read.
const longestLine = 1 << 20

// readArchive calls each for the entries of the archive of a ledger. It returns the size of the
// archive, which ends with its last whole line.
func readArchive(path, id string, each func(*record) error) (size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, longestLine)
	start := []byte(`{"archive":"` + archiveName + `"`)
	for n := 0; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && (n > 0 || bytes.HasPrefix(start, line) || bytes.HasPrefix(line, start)):
			return size, nil
		case err == io.EOF || err == bufio.ErrBufferFull:
			return 0, errors.New("the file is not an archive of a ledger on a server")
		case err != nil:
			return 0, err
		}
		if n == 0 {
			err = checkArchiveHead(line, id)
		} else {
			var l archiveLine
			var e *record
			if err = decodeLine(line, &l); err == nil {
				if e, err = l.record(); err == nil {
					err = each(e)
				}
			} else {
				err = fmt.Errorf("its line %d was changed", n+1)
			}
		}
		if err != nil {
			return 0, err
		}
		size += int64(len(line))
	}
}

func decodeLine(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// checkArchiveHead checks that the first line is that of an archive of a ledger.
func checkArchiveHead(line []byte, id string) error {
	var h archiveHead
	switch err := decodeLine(line, &h); {
	case err != nil || h.Archive != archiveName:
		return errors.New("the file is not an archive of a ledger on a server")
	case h.Version != archiveVersion:
		return fmt.Errorf("written by another geosql (archive version %d, this is %d)", h.Version, archiveVersion)
	case h.Ledger != id:
		return fmt.Errorf("the archive is that of ledger %s, not of %s", h.Ledger, id)
	}
	return nil
}
