package ledger_test

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// version1 is the schema of version 1.
const version1 = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE budget(
  account TEXT NOT NULL, unit TEXT NOT NULL,
  epsilon INTEGER NOT NULL CHECK (epsilon >= 0),
  window_seconds INTEGER,
  changed INTEGER NOT NULL,
  PRIMARY KEY (account, unit)) WITHOUT ROWID, STRICT;
CREATE TABLE balance(
  account TEXT NOT NULL, unit TEXT NOT NULL,
  spent INTEGER NOT NULL CHECK (spent >= 0),
  reserved INTEGER NOT NULL CHECK (reserved >= 0),
  window_start INTEGER, window_spent INTEGER NOT NULL DEFAULT 0,
  last_charge INTEGER NOT NULL,
  PRIMARY KEY (account, unit)) WITHOUT ROWID, STRICT;
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  statement INTEGER NOT NULL,
  time INTEGER NOT NULL,
  function TEXT NOT NULL,
  account TEXT NOT NULL, unit TEXT NOT NULL,
  spent INTEGER NOT NULL, reserved INTEGER NOT NULL,
  evaluations INTEGER NOT NULL,
  hash BLOB) STRICT;
CREATE TABLE trace(
  trace TEXT PRIMARY KEY, account TEXT NOT NULL, unit TEXT NOT NULL,
  state BLOB, changed INTEGER NOT NULL) WITHOUT ROWID, STRICT;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16)))), ('created', unixepoch() * 1000000)`

// What version 1 ran to charge and to set a limit, and what it read before.
const (
	standing1 = `
SELECT coalesce((SELECT epsilon FROM budget WHERE account = ?1 AND unit = ?2),
                (SELECT epsilon FROM budget WHERE account = '*' AND unit = ?2)),
       spent, reserved, last_charge
FROM (SELECT 1) LEFT JOIN balance ON account = ?1 AND unit = ?2`
	addEntry1 = `
INSERT INTO entry(statement, time, function, unit, account, spent, reserved, evaluations, id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	putBalance1 = `
INSERT INTO balance(unit, account, spent, reserved, last_charge) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET spent = excluded.spent, reserved = excluded.reserved, last_charge = excluded.last_charge`
	putLimit1 = `
INSERT INTO budget(account, unit, epsilon, changed) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET epsilon = excluded.epsilon, changed = excluded.changed`
)

// writeVersion1 makes a ledger of version 1 in which accounts a0, a1, .. have
// spent half a unit by each of n entries, and reserved a whole one.
func writeVersion1(t *testing.T, path string, n int) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec(fmt.Sprintf(`PRAGMA journal_mode = WAL; BEGIN; %s;
		INSERT INTO budget(account, unit, epsilon, changed) VALUES ('*', 'm', 9000000000000000000, 7), ('ana', 'm', %[3]d, 8);
		INSERT INTO entry(id, statement, time, function, account, unit, spent, reserved, evaluations)
		  SELECT i + 1, 1 + i / 100 * 100, 1000 + i, 'f', 'a' || (i %% %[4]d), 'm', %[3]d, iif(i < %[4]d, 2 * %[3]d, 0), 1 FROM (%[2]s);
		INSERT INTO balance(account, unit, spent, reserved, last_charge)
		  SELECT account, unit, sum(spent), sum(reserved), max(time) FROM entry GROUP BY account, unit;
		PRAGMA application_id = 0x67656f4c; PRAGMA user_version = 1; COMMIT`, version1, numbers(n), half, scanAccounts)))
}
