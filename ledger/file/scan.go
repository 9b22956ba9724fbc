package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// scan reads a table with the primary key (account, unit) at keys in ascending order. It walks
// to a key that is near and searches for one that is far.
type scan struct {
	stmt  *sqlite.Stmt
	state scanState
	row   []sqlite.Value // account, unit and the columns behind them, in memory of SQLite
}

// scanState says where a scan is.
type scanState uint8

const (
	notStarted scanState = iota
	onRow
	ended
)

// nearby is how many rows a scan walks before it searches. A search takes as long as some
// steps.
const nearby = 4

// scan begins a scan of n columns of a table.
func (db *store) scan(table, columns string, n int) (*scan, error) {
	stmt, _, err := db.conn.Prepare("SELECT account, unit, " + columns + " FROM " + table +
		" WHERE account >= ?1 ORDER BY account, unit")
	if err != nil {
		return nil, err
	}
	return &scan{stmt: stmt, row: make([]sqlite.Value, 2+n)}, nil
}

func (s *scan) close() { s.stmt.Close() }

// find returns the columns of a key, or nil if the table does not have it. The key must be above
// all that were looked for before.
func (s *scan) find(account string, unit budget.Unit) ([]sqlite.Value, error) {
	for walked := 0; s.state != ended; walked++ {
		if s.state == onRow {
			if order := s.compare(account, string(unit)); order == 0 {
				return s.row[2:], nil
			} else if order > 0 {
				return nil, nil
			}
		}
		if s.state == notStarted || walked == nearby { // the search finds the account, from where it walks to the unit
			s.stmt.Reset()
			s.stmt.BindText(1, account)
		}
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// step goes to the next row.
func (s *scan) step() error {
	more, err := s.stmt.Step()
	if err != nil {
		return err
	}
	s.state = ended
	if more {
		s.state = onRow
		s.stmt.Row(0, s.row)
	}
	return nil
}

// compare returns -1 if the scan is before a key, 0 if it is there, and 1 if it is behind.
func (s *scan) compare(account, unit string) int {
	at, in := s.row[0].Bytes(), s.row[1].Bytes()
	switch {
	case string(at) < account, string(at) == account && string(in) < unit:
		return -1
	case string(at) == account && string(in) == unit:
		return 0
	}
	return 1
}

// orderedBalances reads the balances of accounts in ascending order.
type orderedBalances struct {
	now           int64
	unknown       ledger.Standing // of accounts that the ledger does not know
	limits, usage *scan
}

// orderedBalances begins to read balances of a unit.
func (db *store) orderedBalances(unit budget.Unit, now int64) (*orderedBalances, error) {
	rest, err := db.standing(ledger.Everyone, unit, now)
	if err != nil {
		return nil, err
	}
	limits, err := db.scan("budget", "epsilon, window_seconds, changed", 3)
	if err != nil {
		return nil, err
	}
	usage, err := db.scan("balance", "spent, reserved, last_charge, window_start, window_spent", 5)
	if err != nil {
		limits.close()
		return nil, err
	}
	return &orderedBalances{now, rest, limits, usage}, nil
}

// Close implements [engine.Standings].
func (o *orderedBalances) Close() {
	o.limits.close()
	o.usage.close()
}

// Standing implements [engine.Standings].
func (o *orderedBalances) Standing(account string) (ledger.Standing, error) {
	b := o.unknown
	b.Account = account
	limit, err := o.limits.find(account, b.Unit)
	if err != nil {
		return b, err
	}
	if limit != nil {
		scanLimit(&b, limit)
	}
	use, err := o.usage.find(account, b.Unit)
	if err != nil {
		return b, err
	}
	if use != nil {
		scanUse(&b, use)
	}
	return b, b.At(o.now)
}
