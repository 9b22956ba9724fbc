package catalog

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
)

// A Keeper opens the values of a sealed database for its owner. It is used by one goroutine at a
// time, as its connection is.
type Keeper struct {
	conn   *sqlite.Conn
	ledger ledger.Facts
	record *Record
	ring   *sealed.Keyring
	opener *sealed.Opener
	reader *sealed.Reader

	columns map[uint32]*Column
	numbers accountIndex // index of the name of each number; unclear for one with several names
	names   []string
	byName  map[string]int
	seen    version           // of the database when sessions and accounts were last read
	signers map[uint32]string // of the sessions that were read
	behind  bool              // whether something was recorded or added since, or reading it has failed
	looked  sqlite.Unchanged  // at the version
}

// A version is another one when sessions or accounts were added, or the file was replaced.
type version struct{ sessions, sum, accounts int64 }

// unclear stands for the name of a number that several sessions have given several names.
const unclear = -1

// A Row is the header and the contents of a value.
type Row struct {
	Session uint32 // with Counter the identity of the value
	Counter uint64
	Account int // index for Keeper.Name: of one account for all its numbers
	Number  uint64
	Column  *Column
	Data    sealed.Data
}

// Open returns the keeper of the main database of a connection, which is charged to a ledger.
// It returns ErrNotSealed for a database that is not sealed.
func Open(ctx context.Context, conn *sqlite.Conn, facts ledger.Facts, keyring *sealed.Keyring) (*Keeper, error) {
	id, err := ReadID(conn)
	if err != nil {
		return nil, err
	}
	record, err := ReadRecord(ctx, facts)
	if err != nil {
		return nil, err
	}
	if record.Database == nil || *record.Database != id {
		return nil, errors.New("the ledger is not that of this sealed database")
	}
	k := &Keeper{
		conn: conn, ledger: facts, record: record, ring: keyring, opener: sealed.NewOpener(id, keyring),
		columns: map[uint32]*Column{}, byName: map[string]int{}, signers: map[uint32]string{},
	}
	k.reader = k.opener.NewReader()
	k.learnColumns()
	return k, k.readDatabase()
}

// learnColumns makes the columns of the record known.
func (k *Keeper) learnColumns() {
	for _, c := range k.record.Columns {
		if k.columns[c.Number] == nil {
			k.columns[c.Number] = &c
		}
	}
}

// Refresh makes the keeper act on all facts recorded in the ledger until now, and on all entries
// added to the database. It is called before the values of a statement are opened.
func (k *Keeper) Refresh(ctx context.Context) error {
	changed, err := k.record.update(ctx, k.ledger)
	if err != nil {
		return err
	}
	if changed {
		k.learnColumns()
		k.behind = true
	}
	if k.behind {
		return k.readDatabase()
	}
	return k.looked.Since(k.conn, func() error {
		now, err := k.version()
		if err != nil || now == k.seen {
			return err
		}
		k.behind = true
		return k.readDatabase()
	})
}

// version returns the version of the database.
func (k *Keeper) version() (now version, err error) {
	err = each(k.conn, `SELECT count(*), coalesce(sum(number), 0), (SELECT coalesce(max(rowid), 0) FROM main.geosql_sealed_account)
		FROM main.geosql_sealed_session`, func(v []sqlite.Value) error {
		now = version{v[0].Int(), v[1].Int(), v[2].Int()}
		return nil
	})
	return now, err
}

// readDatabase reads sessions and accounts. Sessions that are not signed by a collector are not
// added, so that their values do not open.
func (k *Keeper) readDatabase() (err error) {
	if k.seen, err = k.version(); err != nil {
		return err
	}
	err = sessions(k.conn, func(s *sealed.Session) {
		if k.opener.AddSession(s, k.enrolled) == nil {
			k.signers[s.Number] = string(s.Signer)
		}
	})
	if err != nil {
		return err
	}
	for number, signer := range k.signers { // also of sessions that the database has lost
		if k.record.Revoked[signer] {
			k.opener.Revoke(number)
		}
	}
	if err := k.readAccounts(); err != nil {
		return err
	}
	k.behind = false
	return nil
}

// readAccounts reads the names of the accounts, and the erased ones.
func (k *Keeper) readAccounts() error {
	var erased []uint64
	k.numbers = accountIndex{} // entries of a collector that is revoked now do not count
	err := k.EachAccount(func(_ string, number uint64, name string) {
		i, known := k.byName[name]
		if !known {
			i = len(k.names)
			k.names, k.byName[name] = append(k.names, name), i
		}
		if j, known := k.numbers.get(number); known && j != i {
			i = unclear // some session lies: the owner of the number cannot be told
		}
		k.numbers.set(number, i)
		if k.record.Erased[name] {
			erased = append(erased, number)
		}
	})
	if err == nil && len(erased) > 0 {
		k.opener.Erase(erased...)
	}
	return err
}

// EachAccount calls fn with the pseudonym, the number and the name of every account of the
// database. Entries that do not open are left out.
func (k *Keeper) EachAccount(fn func(pseudonym string, number uint64, name string)) error {
	return eachAccount(k.conn, k.reader, fn)
}

// eachAccount calls fn for every account with an entry that a reader opens.
func eachAccount(conn *sqlite.Conn, reader *sealed.Reader, fn func(pseudonym string, number uint64, name string)) error {
	return each(conn, "SELECT pseudonym, sealed FROM main.geosql_sealed_account ORDER BY rowid", func(v []sqlite.Value) error {
		entry, ok := blob(v[1])
		if !ok || v[0].Type() != sqlite.Text {
			return nil
		}
		if number, name, err := reader.OpenAccount(entry); err == nil {
			fn(v[0].Text(), number, name)
		}
		return nil
	})
}

// Pseudonyms returns the pseudonyms of a name, also ones that only revoked collectors have
// given it.
func (k *Keeper) Pseudonyms(name string) (all []string, err error) {
	opener := sealed.NewOpener(k.ID(), k.ring)
	err = sessions(k.conn, func(s *sealed.Session) { _ = opener.AddSession(s, k.enrolled) })
	if err != nil {
		return nil, err
	}
	err = eachAccount(k.conn, opener.NewReader(), func(pseudonym string, _ uint64, of string) {
		if of == name && !slices.Contains(all, pseudonym) {
			all = append(all, pseudonym)
		}
	})
	return all, err
}

// Known returns the first number and pseudonym that the database has for each name that it
// knows, unless the number is also another name's.
func (k *Keeper) Known() (map[string]sealed.Account, error) {
	known := map[string]sealed.Account{}
	err := k.EachAccount(func(pseudonym string, number uint64, name string) {
		i, _ := k.numbers.get(number)
		if _, there := known[name]; !there && i == k.byName[name] {
			known[name] = sealed.Account{Number: number, Pseudonym: pseudonym}
		}
	})
	return known, err
}

// enrolled reports whether the owner has enrolled the key of a signer.
func (k *Keeper) enrolled(signer ed25519.PublicKey) bool { return k.record.Enrolled(signer) }

// Closed counts the sessions with values that do not open although nobody was revoked: the ones
// for other keys than the keeper has, and the ones of collectors that are not enrolled.
func (k *Keeper) Closed() (otherKey, stranger int, err error) {
	err = sessions(k.conn, func(s *sealed.Session) {
		switch {
		case k.record.Revoked[string(s.Signer)]:
		case !k.enrolled(s.Signer):
			stranger++
		case !k.ring.Has(s.Key):
			otherKey++
		}
	})
	return otherKey, stranger, err
}

// Open opens a value. It reports false, without an error, if the value's session is revoked or
// its account erased: then it counts as NULL. The only error is [sealed.ErrValue]. Open does not
// allocate.
func (k *Keeper) Open(value []byte) (row Row, present bool, err error) {
	row, present, err = k.Decrypt(value)
	if !present {
		return Row{}, false, err
	}
	account, known := k.account(row.Number)
	if !known {
		return Row{}, false, sealed.ErrValue
	}
	row.Account = account
	return row, true, nil
}

// Decrypt is Open without the account of the row, which Find finds.
func (k *Keeper) Decrypt(value []byte) (row Row, present bool, err error) {
	h, c, err := k.reader.Open(value)
	switch err {
	case nil:
	case sealed.ErrRevoked, sealed.ErrErased:
		return Row{}, false, nil
	default:
		return Row{}, false, sealed.ErrValue
	}
	column := k.columns[h.Column]
	if column == nil {
		return Row{}, false, sealed.ErrValue
	}
	return Row{Session: h.Session, Counter: h.Counter, Number: c.Account, Column: column, Data: c.Data}, true, nil
}

// Find finds the accounts of rows, up to the first that has none, and returns how many. It waits for the memory of several at once.
func (k *Keeper) Find(rows []Row) int {
	for i := range rows {
		account, known := k.account(rows[i].Number)
		if !known {
			return i
		}
		rows[i].Account = account
	}
	return len(rows)
}

// account returns the index of the account that a number belongs to.
func (k *Keeper) account(number uint64) (index int, known bool) {
	index, known = k.numbers.get(number)
	return index, known && index != unclear
}

// Accounts returns how many accounts the keeper knows. Their indices are below.
func (k *Keeper) Accounts() int { return len(k.names) }

// Name returns the name of an account by its index.
func (k *Keeper) Name(account int) string { return k.names[account] }

// ID returns the id of the database.
func (k *Keeper) ID() sealed.DatabaseID { return *k.record.Database }

// Record returns the owner's record. The caller must not change it.
func (k *Keeper) Record() *Record { return k.record }
