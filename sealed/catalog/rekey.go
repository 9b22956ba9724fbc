package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// Rekeyed counts the results of Rekey.
type Rekeyed struct {
	Values  int64 // sealed anew
	Dropped int64 // values that do not open any more, or never did
	Rows    int64 // rows that had such values only
}

// Rekey seals every value of the database and every account anew under a key, in one new session,
// and removes all others, so that only that key opens anything. Rows keep their numbers. Values
// that do not open are dropped: they become NULL, and a row that had no others is deleted.
//
// It runs in the transaction that is open on the keeper's connection, with secure_delete on. It
// writes each table anew instead of updating rows, because a deleted row of long ago may still be
// in the free part of a page, and leaves nothing of that in the file.
//
// Rekey calls show with the share that is done, and ends with the error that show returns. The
// keeper opens nothing afterwards.
func (k *Keeper) Rekey(to sealed.PublicKey, signer *sealed.PrivateKey, show func(share float64) error) (done Rekeyed, err error) {
	accounts, err := k.entries()
	if err != nil {
		return done, err
	}
	own := []string{"geosql_sealed_account", "geosql_sealed_key", "geosql_sealed_session"}
	if err := declaration.Check(k.conn, own...); err != nil {
		return done, err
	}
	if err := k.clear(own...); err != nil {
		return done, err
	}
	if err := AddKey(k.conn, to); err != nil {
		return done, err
	}
	sealer, err := NewSession(k.conn, k.ID(), to, signer)
	if err != nil {
		return done, err
	}
	for _, a := range accounts {
		entry, err := sealer.SealAccount(a.number, a.name)
		if err == nil {
			err = AddAccount(k.conn, a.pseudonym, entry)
		}
		if err != nil {
			return done, err
		}
	}
	tables := k.record.Tables()
	for i, t := range tables {
		err := k.rekeyTable(t, sealer, &done, func(share float64) error { return show((float64(i) + share) / float64(len(tables))) })
		if err != nil {
			return done, err
		}
	}
	return done, k.overwriteFree()
}

// An entry is an account of a name that is not erased.
type entry struct {
	pseudonym string
	number    uint64
	name      string
}

// entries returns the accounts that are not erased, each once.
func (k *Keeper) entries() (all []entry, err error) {
	seen := map[entry]bool{}
	err = k.EachAccount(func(pseudonym string, number uint64, name string) {
		if e := (entry{pseudonym, number, name}); !k.record.Erased[name] && !seen[e] {
			seen[e] = true
			all = append(all, e)
		}
	})
	return all, err
}

// clear deletes all rows of tables.
func (k *Keeper) clear(tables ...string) error {
	for _, t := range tables {
		if err := exec(k.conn, "DELETE FROM main."+sqlite.QuoteName(t)); err != nil {
			return err
		}
	}
	return nil
}

// A Table has sealed columns.
type Table struct{ Name, Account string }

// Tables returns the tables that have sealed columns.
func (r *Record) Tables() (all []Table) {
	for _, c := range r.Columns {
		if t := (Table{c.Table, c.Account}); !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// rekeyTable seals the values of a table anew. Its rows go through a temporary table, which has
// the new values only.
func (k *Keeper) rekeyTable(t Table, sealer *sealed.Sealer, done *Rekeyed, show func(share float64) error) error {
	names, _, err := TableColumns(k.conn, t.Name)
	if err != nil {
		return err
	}
	if err := k.checkTriggers(t.Name); err != nil {
		return err
	}
	rowid, err := rowidName(names)
	if err != nil {
		return fmt.Errorf("table %s %w", t.Name, err)
	}
	isSealed := make([]bool, len(names))
	for i, name := range names {
		isSealed[i] = slices.ContainsFunc(k.record.Columns, func(c Column) bool {
			return strings.EqualFold(c.Table, t.Name) && strings.EqualFold(c.Name, name)
		})
		names[i] = sqlite.QuoteName(name)
	}
	table, list, width := "main."+sqlite.QuoteName(t.Name), strings.Join(names, ", "), len(names)+1
	marks := strings.Repeat(", ?", width)[2:]
	var total int64
	if err := k.conn.Each("SELECT count(*) FROM "+table, func(v []sqlite.Value) error { total = v[0].Int(); return nil }); err != nil {
		return err
	}
	columns := make([]string, width)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d", i) // without an affinity: values stay as they are
	}
	if err := k.conn.Exec("CREATE TEMP TABLE geosql_rekeyed(" + strings.Join(columns, ", ") + ")"); err != nil {
		return err
	}
	insert, _, err := k.conn.Prepare("INSERT INTO temp.geosql_rekeyed VALUES (" + marks + ")")
	if err != nil {
		return err
	}
	defer insert.Close()
	var row int64
	var v sealed.Value
	err = k.conn.Each("SELECT "+rowid+", "+list+" FROM "+table+" ORDER BY "+rowid, func(values []sqlite.Value) error {
		if row++; row&0xfff == 0 {
			if err := show(float64(row) / float64(total)); err != nil {
				return err
			}
		}
		kept, dropped := int64(0), int64(0)
		for i := range values {
			switch {
			case i == 0 || !isSealed[i-1] || values[i].Type() == sqlite.Null:
				bind(insert, i+1, &values[i])
			case values[i].Type() == sqlite.Blob && k.reseal(&v, sealer, values[i].Bytes()):
				kept++
				insert.BindBlob(i+1, v[:])
			default:
				dropped++
				insert.BindNull(i + 1)
			}
		}
		done.Values += kept
		done.Dropped += dropped
		if kept == 0 && dropped > 0 {
			done.Rows++
			return nil
		}
		return insert.Run()
	})
	if err != nil {
		return err
	}
	if err := k.clear(t.Name); err != nil {
		return err
	}
	return k.conn.Exec("INSERT INTO " + table + "(" + rowid + ", " + list + ") SELECT " + strings.Join(columns, ", ") +
		" FROM temp.geosql_rekeyed ORDER BY c0; DROP TABLE temp.geosql_rekeyed")
}

// reseal sets v to the contents of a value, sealed anew. It reports false if the value does not open.
func (k *Keeper) reseal(v *sealed.Value, sealer *sealed.Sealer, value []byte) bool {
	row, present, err := k.Open(value)
	return err == nil && present && sealer.Seal(v, row.Column.Number, sealed.Contents{Account: row.Number, Data: row.Data}) == nil
}

// bind binds a value that SQLite has returned.
func bind(s *sqlite.Stmt, i int, v *sqlite.Value) {
	switch v.Type() {
	case sqlite.Integer:
		s.BindInts(i, v.Int())
	case sqlite.Float:
		s.BindFloat(i, v.Float())
	case sqlite.Text:
		s.BindText(i, v.Text())
	case sqlite.Blob:
		s.BindBlob(i, v.Bytes())
	default:
		s.BindNull(i)
	}
}

// checkTriggers refuses a table with triggers, which would run for every row.
func (k *Keeper) checkTriggers(table string) error {
	return k.conn.Each("SELECT name FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE", func(v []sqlite.Value) error {
		return fmt.Errorf("table %s has the trigger %s, which would run for every row: drop it first", table, v[0].Text())
	}, table)
}

// rowidName returns a name of the row number that no column has.
func rowidName(columns []string) (string, error) {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, name) }) {
			return name, nil
		}
	}
	return "", errors.New("has columns rowid, _rowid_ and oid, so that its row numbers have no name")
}

// overwriteFree overwrites the pages of the file that are free, which may hold rows deleted
// when secure_delete was off.
func (k *Keeper) overwriteFree() error {
	var pages, size int64
	for pragma, n := range map[string]*int64{"freelist_count": &pages, "page_size": &size} {
		if err := k.conn.Each("PRAGMA main."+pragma, func(v []sqlite.Value) error { *n = v[0].Int(); return nil }); err != nil {
			return err
		}
	}
	if pages == 0 {
		return nil
	}
	const most = 64 << 20 // bytes of a blob
	if err := k.conn.Exec("CREATE TABLE main.geosql_sealed_free(b)"); err != nil {
		return err
	}
	for rest := pages * size; rest > 0; rest -= most {
		if err := exec(k.conn, "INSERT INTO main.geosql_sealed_free VALUES (zeroblob(?1))", min(rest, most)); err != nil {
			return err
		}
	}
	return k.conn.Exec("DROP TABLE main.geosql_sealed_free")
}
