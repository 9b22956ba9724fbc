package ledger

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
)

// convert makes a ledger of version 1 one of this version: its entries become a
// chain, with an entry for every limit at its end.
func (db *store) convert() error {
	if err := db.readIdentity(); !errors.Is(err, errEarlier) {
		return err // another process may have been first
	}
	err := db.conn.Exec("DROP TABLE trace; ALTER TABLE entry RENAME TO entry_1; ALTER TABLE budget RENAME TO budget_1; " + logSchema)
	if err != nil {
		return err
	}
	if err := db.prepare(); err != nil {
		return err
	}
	head := genesis(db.id)
	err = db.query(entries1SQL, func(s *sqlite.Stmt) error {
		r := scanRecord(s)
		head = head.chain(&r, &db.room)
		return db.insert(&r, &head)
	})
	if err != nil {
		return err
	}
	return db.conn.Exec(fmt.Sprintf("%s; PRAGMA user_version = %d", limits1SQL, version))
}

const (
	entries1SQL = `
SELECT id, statement, time, spent, reserved, evaluations, NULL, 0, NULL, NULL, function, account, unit, x''
FROM entry_1
UNION ALL
SELECT NULL, (SELECT coalesce(max(id), 0) FROM entry_1) + row_number() OVER (), changed, 0, 0, 0,
       NULL, 0, epsilon, NULL, 'budget_limit', account, unit, x''
FROM budget_1`

	limits1SQL = `
INSERT INTO budget(account, unit, epsilon, changed, entry)
SELECT b.account, b.unit, b.epsilon, b.changed, e.id
FROM budget_1 AS b JOIN entry AS e USING (account, unit) WHERE e.function = 'budget_limit';
DROP TABLE entry_1;
DROP TABLE budget_1`
)
