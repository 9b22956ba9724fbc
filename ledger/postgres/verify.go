package postgres

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Verify implements [ledger.Ledger].
//
// The order of entries of different writers is not part of their chains. It decides only which
// window of an account is the last, and that is compared with its balance.
func (l *Ledger) Verify(archive string, earlier *ledger.Head, each func(share float64) error) (v ledger.Verified, err error) {
	err = l.read(func(r *reader) error {
		v, err = r.verify(archive, earlier, each)
		return err
	})
	if err != nil {
		return v, err
	}
	// Somebody may note the head that was found, so it is stored as Head does. If that fails, or others
	// have written meanwhile, a later Verify will not know it: that is no fault of the ledger.
	_, _ = l.Head()
	return v, nil
}

func (r *reader) verify(archive string, earlier *ledger.Head, each func(share float64) error) (ledger.Verified, error) {
	v := &verifier{each: each, kept: engine.NewTotals()}
	err := v.read(r, archive, earlier)
	if err == nil {
		err = r.query(programsSQL, func(rows pgx.Rows) error {
			var key, value string
			if err := rows.Scan(&key, &value); err != nil {
				return err
			}
			p, err := engine.ParseProgram(key, value)
			v.Programs = append(v.Programs, p)
			return err
		})
	}
	return v.Verified, err
}

// verifier follows the chains of entries.
type verifier struct {
	ledger.Verified
	of      int64 // how many entries there are to read
	each    func(share float64) error
	chains  chains
	scratch []byte

	kept   *engine.Totals // of the entries in the ledger, with entries that carry archived sums over
	whole  *engine.Totals // of all other entries; nil without the archive
	latest map[engine.Key]window
}

// window is an account's window after an entry.
type window struct {
	order int64 // of the entry
	ledger.WindowUse
}

func (v *verifier) read(r *reader, archive string, earlier *ledger.Head) (err error) {
	if v.chains, err = r.chains(); err != nil {
		return err
	}
	if archive != "" {
		v.whole, v.latest = engine.NewTotals(), map[engine.Key]window{}
	}
	if earlier != nil {
		if err := v.want(r, *earlier); err != nil {
			return err
		}
	}
	for _, c := range v.chains {
		c.wanted = append(c.wanted, c.archived, c.end)
		if v.of += c.end.ID; archive == "" {
			v.of -= c.archived.ID
		}
	}
	if archive != "" {
		if err := v.readArchive(r.store.id, archive); err != nil {
			return err
		}
	}
	if err := v.readEntries(r); err != nil {
		return err
	}
	v.Head, _ = v.chains.combine(r.store.id, func(c *chain) ledger.Head { return c.head })
	for k, w := range v.latest {
		b := v.whole.Balances[k]
		b.Window = w.WindowUse
		v.whole.Balances[k] = b
	}
	v.Balances, v.Limits, err = v.kept.Check(v.whole, r.stored())
	return err
}

// readArchive follows the entries that the ledger does not hold any more.
func (v *verifier) readArchive(id, path string) error {
	for writer, c := range v.chains {
		c.head = genesis(id, writer)
	}
	_, err := readArchive(path, id, func(e *record) error {
		if c := v.chains[e.writer]; c != nil && e.ID > c.archived.ID { // the ledger still has it
			return nil
		}
		v.addToWhole(e)
		return v.follow(e)
	})
	if err != nil {
		return fmt.Errorf("archive %q: %w", path, err)
	}
	for _, writer := range slices.Sorted(maps.Keys(v.chains)) {
		if c := v.chains[writer]; c.head.ID < c.archived.ID {
			return fmt.Errorf("the archive ends with entry %d of writer %s, the ledger begins after entry %d", c.head.ID, writer, c.archived.ID)
		}
	}
	return nil
}

// addToWhole leaves out the entries that carry sums over, because the entries that they stand
// for were read too.
func (v *verifier) addToWhole(e *record) {
	if e.Function == engine.ArchiveFunction {
		return
	}
	v.whole.Add(e.writer, &e.Entry)
	k := engine.Key{Account: e.Account, Unit: e.Unit}
	if e.Unit != engine.EventUnit && e.Limit == ledger.NoLimit && e.order >= v.latest[k].order {
		v.latest[k] = window{e.order, e.Window}
	}
}

// readEntries follows the entries that the ledger holds.
func (v *verifier) readEntries(r *reader) error {
	for writer, c := range v.chains {
		if err := c.check(writer); err != nil {
			return err
		}
	}
	err := r.entries("", func(e *record) error {
		v.kept.Add(e.writer, &e.Entry)
		if v.whole != nil {
			v.addToWhole(e)
		}
		return v.follow(e)
	})
	if err != nil {
		return err
	}
	for _, writer := range slices.Sorted(maps.Keys(v.chains)) {
		c := v.chains[writer]
		for _, w := range c.wanted {
			if w.ID > c.head.ID {
				return fmt.Errorf("the entries of writer %s end with entry %d, before entry %d, which was there: entries were removed, or an older copy was put back", writer, c.head.ID, w.ID)
			}
		}
		if c.head != c.end {
			return fmt.Errorf("writer %s has entries behind entry %d, its last: its row is an older one", writer, c.end.ID)
		}
	}
	return nil
}

// follow makes e the head of its chain if it follows the one before.
func (v *verifier) follow(e *record) error {
	c := v.chains[e.writer]
	switch {
	case c == nil:
		return fmt.Errorf("entry %d is of writer %s, which the ledger does not know", e.ID, e.writer)
	case e.ID != c.head.ID+1:
		return fmt.Errorf("entry %d of writer %s is missing", c.head.ID+1, e.writer)
	}
	if c.head = c.head.Next(&e.Entry, &v.scratch); !bytes.Equal(c.head.Hash[:], e.hash) {
		return fmt.Errorf("entry %d of writer %s was changed, or put in another's place", e.ID, e.writer)
	}
	v.Entries++
	return cmp.Or(c.check(e.writer), engine.Tell(v.each, v.Entries, v.of))
}

// record is an entry as it is stored. Its ID is its number in the writer's chain.
type record struct {
	ledger.Entry
	writer string
	order  int64 // among those of all writers
	hash   []byte
}

// entries calls each for the entries that a condition selects, in their order.
func (r *reader) entries(where string, each func(*record) error, args ...any) error {
	const sql = `
SELECT replace(writer::text, '-', ''), seq, id, statement, time, function, account, unit, spent, reserved, evaluations,
  coalesce(window_start, 0), window_spent, coalesce(epsilon_limit, -1), coalesce(window_seconds, 0), hash
FROM geosql.entry `
	var e record
	return r.query(sql+where+" ORDER BY id", func(rows pgx.Rows) error {
		err := rows.Scan(&e.writer, &e.ID, &e.order, &e.Statement, &e.Time, &e.Function, &e.Account, (*string)(&e.Unit),
			(*int64)(&e.Spent), (*int64)(&e.Reserved), &e.Evaluations,
			&e.Window.Start, (*int64)(&e.Window.Spent), (*int64)(&e.Limit), &e.LimitWindow, &e.hash)
		if err != nil {
			return err
		}
		return each(&e)
	}, args...)
}

// stored returns the balances, limits and role budgets that are stored.
func (r *reader) stored() *engine.Contents {
	return &engine.Contents{
		Balances: query(r.ctx, r.conn, storedSQL, scanStored),
		Limits: query(r.ctx, r.conn, `
SELECT account, unit, epsilon, coalesce(window_seconds, 0), changed, replace(writer::text, '-', ''), entry FROM geosql.budget`,
			func(rows pgx.Rows, l *engine.KeyedLimit) error {
				return rows.Scan(&l.Account, &l.Unit, &l.Epsilon, &l.Seconds, &l.Changed, &l.Writer, &l.Entry)
			}),
		RoleBudgets: query(r.ctx, r.conn, roleBudgetsSQL, scanRoleBudget),
	}
}
