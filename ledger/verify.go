package ledger

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// Evidence of changes.
//
// Every entry holds the hash of itself and the entry before it, so one that was
// changed, removed, inserted or moved no longer fits the ones after it, and a
// balance or a limit that was changed alone no longer fits the entries. There is
// no secret in this: whoever can write the file can also compute the hashes of
// another history, or put back a copy of the file as it was. Only a head that was
// noted elsewhere before shows that, for then the file does not lead up to it.

// Verified is what [Ledger.Verify] has read and found in order.
type Verified struct {
	Entries  int64 // the archive's included
	Balances int64
	Limits   int64
	Head     Head
}

// Head is the ledger's last entry, which stands for all before it. Noted outside
// of the file it is evidence: see [Ledger.Verify].
func (l *Ledger) Head() (h Head, err error) {
	err = l.read(func(db *store) error {
		h, err = db.head()
		return err
	})
	return h, err
}

// Verify reads everything and makes sure that no entry was changed, removed,
// inserted or moved after it was written, and that balances and limits are what
// the entries say. With an earlier head, that of [Ledger.Head] at another time,
// it also makes sure that the ledger has grown out of that state: that the file
// was not replaced by an older one or rewritten. Archive is "" or the file that
// [Ledger.Archive] moved the first entries to; without it a head from before
// the archive's end cannot be verified.
func (l *Ledger) Verify(archive string, earlier *Head) (v Verified, err error) {
	err = l.read(func(db *store) error {
		return db.within("BEGIN", func() error { // entries and balances of one moment
			v, err = db.verify(archive, earlier)
			return err
		})
	})
	return v, err
}

func (db *store) verify(archive string, earlier *Head) (Verified, error) {
	report, err := db.readText("PRAGMA quick_check(1)")
	if err != nil {
		return Verified{}, err
	}
	if report != "ok" {
		return Verified{}, fmt.Errorf("the file is damaged: %s", strings.TrimPrefix(report, "*** in database main ***\n"))
	}
	archived, err := db.archived()
	if err != nil {
		return Verified{}, err
	}
	v := &verifier{Verified: Verified{Head: archived}, wanted: []Head{archived}, kept: newBooks()}
	if earlier != nil {
		v.wanted = append(v.wanted, *earlier)
	}
	if archive != "" {
		err = v.readArchive(archive, db.id, archived)
	} else if earlier != nil && earlier.ID < archived.ID {
		err = fmt.Errorf("the head given, of entry %d, can only be verified with the archive that holds entries 1 to %d", earlier.ID, archived.ID)
	}
	if err == nil {
		err = v.readEntries(db)
	}
	if err == nil {
		err = v.compare(db)
	}
	return v.Verified, err
}

// verifier follows the chain of entries.
type verifier struct {
	Verified
	wanted []Head // that the chain has to lead through
	room   []byte

	kept  *books // of the entries in the ledger, those that carry archived sums over included
	whole *books // of all other entries; nil without the archive
}

// readArchive follows the entries that the ledger does not hold any more.
func (v *verifier) readArchive(path, id string, archived Head) error {
	db, err := openArchive(path, id, false)
	if err != nil {
		return err
	}
	defer db.close()
	v.Head, v.whole = genesis(id), newBooks()
	err = db.query(fmt.Sprintf("%s WHERE id <= %d ORDER BY id", entrySQL, archived.ID), func(s *sqlite.Stmt) error {
		r := scanRecord(s)
		v.addWhole(&r)
		return v.follow(s, &r)
	})
	if err == nil && v.Head.ID < archived.ID {
		err = fmt.Errorf("the archive ends with entry %d, the ledger begins after entry %d", v.Head.ID, archived.ID)
	}
	return err
}

// addWhole leaves out what stands for entries that it has seen themselves.
func (v *verifier) addWhole(r *record) {
	if r.function != archiveFunction {
		v.whole.add(r)
	}
}

// readEntries follows the entries that the ledger holds.
func (v *verifier) readEntries(db *store) error {
	if err := v.meet(); err != nil {
		return err
	}
	err := db.query(entrySQL+" ORDER BY id", func(s *sqlite.Stmt) error {
		r := scanRecord(s)
		v.kept.add(&r)
		if v.whole != nil {
			v.addWhole(&r)
		}
		return v.follow(s, &r)
	})
	if err != nil {
		return err
	}
	for _, w := range v.wanted {
		if w.ID > v.Head.ID {
			return fmt.Errorf("the ledger ends with entry %d, before entry %d of the head given: "+
				"entries were removed, or an older file was put back", v.Head.ID, w.ID)
		}
	}
	return nil
}

// follow makes r, the row that s is at, the head if it follows the one before.
func (v *verifier) follow(s *sqlite.Stmt, r *record) error {
	stored, err := scanHead(s)
	switch {
	case err != nil:
		return err
	case stored.ID != v.Head.ID+1:
		return fmt.Errorf("entry %d is missing", v.Head.ID+1)
	}
	if v.Head = v.Head.chain(r, &v.room); v.Head != stored {
		return fmt.Errorf("entry %d is not what was written: it was changed, or put in another's place", stored.ID)
	}
	v.Entries++
	return v.meet()
}

// meet makes sure that the head is the wanted one, where one is wanted.
func (v *verifier) meet() error {
	for _, w := range v.wanted {
		if w.ID == v.Head.ID && w.Hash != v.Head.Hash {
			return fmt.Errorf("entry %d has another hash than its head: the ledger was rewritten, or the head is another ledger's", w.ID)
		}
	}
	return nil
}

// compare compares the balances and limits with what the entries lead to.
func (v *verifier) compare(db *store) error {
	found, err := db.books()
	if err != nil {
		return err
	}
	v.Balances, v.Limits = int64(len(found.balances)), int64(len(found.limits))
	n, same := agree(v.kept.balances, found.balances)
	if same && v.whole != nil {
		n, same = agree(v.whole.balances, found.balances)
	}
	if !same {
		return fmt.Errorf("the balance of account %s in %s is not what its entries say", printable.SQL(n.account), printable.SQL(n.unit))
	}
	if n, same := agree(v.kept.limits, found.limits); !same {
		return fmt.Errorf("the limit of account %s in %s is not what its entries say", printable.SQL(n.account), printable.SQL(n.unit))
	}
	return nil
}

// agree reports whether both maps are the same, and else where they differ.
func agree[V comparable](a, b map[name]V) (differ name, same bool) {
	for n, v := range a {
		if w, ok := b[n]; !ok || v != w {
			return n, false
		}
	}
	for n := range b {
		if _, ok := a[n]; !ok {
			return n, false
		}
	}
	return name{}, true
}

// name names a balance or a limit.
type name struct{ account, unit string }

// standing is what a balance says; last is the time of its last charge.
type standing struct {
	spent, reserved, last int64
	window                usage
}

// setting is what a limit says, and the entry that says so.
type setting struct{ epsilon, seconds, changed, entry int64 }

// books are balances and limits.
type books struct {
	balances map[name]standing
	limits   map[name]setting
}

func newBooks() *books { return &books{map[name]standing{}, map[name]setting{}} }

// add enters an entry.
func (b *books) add(r *record) {
	n := name{r.account, r.unit}
	if r.limit != noLimit {
		b.limits[n] = setting{r.limit, r.seconds, r.time, r.id}
		return
	}
	s := b.balances[n]
	s.spent += r.spent
	s.reserved += r.reserved
	s.window = r.window
	if r.spent != 0 {
		s.last = max(s.last, r.time)
	}
	b.balances[n] = s
}

// books reads the balances and limits of the file.
func (db *store) books() (*books, error) {
	b := newBooks()
	err := db.query("SELECT account, unit, spent, reserved, last_charge, window_start, window_spent FROM balance", func(s *sqlite.Stmt) error {
		var v [7]sqlite.Value
		s.Row(0, v[:])
		b.balances[name{v[0].Text(), v[1].Text()}] = standing{
			v[2].Int(), v[3].Int(), v[4].Int(), usage{intOr0(&v[5]), budget.Amount(v[6].Int())},
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = db.query("SELECT account, unit, epsilon, window_seconds, changed, entry FROM budget", func(s *sqlite.Stmt) error {
		var v [6]sqlite.Value
		s.Row(0, v[:])
		b.limits[name{v[0].Text(), v[1].Text()}] = setting{v[2].Int(), intOr0(&v[3]), v[4].Int(), v[5].Int()}
		return nil
	})
	return b, err
}
