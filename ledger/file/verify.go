package file

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Evidence of changes.
//
// Every entry holds the hash of itself and the entry before it. So an entry that was changed,
// removed, inserted or moved no longer fits the ones after it, and a balance or a limit that
// was changed alone no longer fits the entries. There is no secret in this: anybody who can write
// the file can also compute the hashes of another history, or put back a copy of the file as
// it was. Only a head that was noted elsewhere before shows that, because the file then does
// not lead up to it.

// Head implements [ledger.Ledger].
func (l *Ledger) Head() (h ledger.Head, err error) {
	err = l.read(func(db *store) error {
		h, err = db.head()
		return err
	})
	return h, err
}

// Verify implements [ledger.Ledger].
func (l *Ledger) Verify(archive string, earlier *ledger.Head, each func(share float64) error) (v ledger.Verified, err error) {
	err = l.read(func(db *store) error {
		return db.inTransaction("BEGIN", func() error { // entries and balances of one moment
			v, err = db.verify(archive, earlier, each)
			return err
		})
	})
	return v, err
}

func (db *store) verify(archive string, earlier *ledger.Head, each func(share float64) error) (ledger.Verified, error) {
	report, err := db.readText("PRAGMA quick_check(1)")
	if err != nil {
		return ledger.Verified{}, err
	}
	if report != "ok" {
		return ledger.Verified{}, fmt.Errorf("the file is damaged: %s", strings.TrimPrefix(report, "*** in database main ***\n"))
	}
	archived, err := db.archived()
	if err != nil {
		return ledger.Verified{}, err
	}
	last, err := db.head()
	if err != nil {
		return ledger.Verified{}, err
	}
	v := &verifier{Verified: ledger.Verified{Head: archived}, of: last.ID, each: each, wanted: []ledger.Head{archived}, kept: engine.NewTotals()}
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
	for p, noted := range db.programRows() {
		if err = cmp.Or(err, noted); err != nil {
			break
		}
		program, wrong := engine.ParseProgram(p.Key, p.Value)
		v.Programs, err = append(v.Programs, program), wrong
	}
	return v.Verified, err
}

// verifier follows the chain of entries.
type verifier struct {
	ledger.Verified
	of      int64 // the number of the last entry
	each    func(share float64) error
	wanted  []ledger.Head // that the chain has to lead through
	scratch []byte

	kept  *engine.Totals // of the entries in the ledger, with entries that carry archived sums over
	whole *engine.Totals // of all other entries; nil without the archive
}

// readArchive follows the entries that the ledger does not hold any more.
func (v *verifier) readArchive(path, id string, archived ledger.Head) error {
	db, err := openArchive(path, id, false)
	if err != nil {
		return err
	}
	defer db.close()
	v.Head, v.whole = ledger.Genesis(id), engine.NewTotals()
	err = db.query(fmt.Sprintf("%s WHERE id <= %d ORDER BY id", entrySQL, archived.ID), func(s *sqlite.Stmt) error {
		e := scanEntry(s)
		v.addToWhole(&e)
		return v.follow(s, &e)
	})
	if err == nil && v.Head.ID < archived.ID {
		err = fmt.Errorf("the archive ends with entry %d, the ledger begins after entry %d", v.Head.ID, archived.ID)
	}
	return err
}

// addToWhole leaves out the entries that carry sums over, because the entries that they stand
// for were read too.
func (v *verifier) addToWhole(e *ledger.Entry) {
	if e.Function != engine.ArchiveFunction {
		v.whole.Add("", e)
	}
}

// readEntries follows the entries that the ledger holds.
func (v *verifier) readEntries(db *store) error {
	if err := v.checkHead(); err != nil {
		return err
	}
	err := db.query(entrySQL+" ORDER BY id", func(s *sqlite.Stmt) error {
		e := scanEntry(s)
		v.kept.Add("", &e)
		if v.whole != nil {
			v.addToWhole(&e)
		}
		return v.follow(s, &e)
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

// follow makes e, which was read from the row that s is at, the head if it follows the one
// before.
func (v *verifier) follow(s *sqlite.Stmt, e *ledger.Entry) error {
	stored, err := scanHead(s)
	switch {
	case err != nil:
		return err
	case stored.ID != v.Head.ID+1:
		return fmt.Errorf("entry %d is missing", v.Head.ID+1)
	}
	if v.Head = v.Head.Next(e, &v.scratch); v.Head != stored {
		return fmt.Errorf("entry %d was changed, or put in another's place", stored.ID)
	}
	v.Entries++
	return cmp.Or(v.checkHead(), engine.Tell(v.each, v.Head.ID, v.of))
}

// checkHead checks that the head is the wanted one, if one with its ID is wanted.
func (v *verifier) checkHead() error {
	for _, w := range v.wanted {
		if w.ID == v.Head.ID && w.Hash != v.Head.Hash {
			return fmt.Errorf("entry %d has another hash than its head: the ledger was rewritten, or the head is another ledger's", w.ID)
		}
	}
	return nil
}

// compare compares the balances, limits and role budgets in the file with the sums of the entries.
func (v *verifier) compare(db *store) error {
	stored, err := db.contents()
	if err == nil {
		v.Balances, v.Limits, err = v.kept.Check(v.whole, stored)
	}
	return err
}
