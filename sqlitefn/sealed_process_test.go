package sqlitefn_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// Both charge ana 0.25 for each of many answers, the second by groups.
var sealedSpending = []string{
	`SELECT dx_value(kwh, 0.25) FROM s, n`,
	`SELECT dx_max(kwh, 0.25, 'dinf') FROM s, n GROUP BY n.i`,
}

// playSealed runs sealedSpending on the database at path, with the key beside it, and writes a
// line for each answer.
func playSealed(path string) error {
	text, err := os.ReadFile(path + ".key")
	if err != nil {
		return err
	}
	key, err := sealed.ParsePrivateKey(text, nil)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(sqlitefn.Connector(path, sqlitefn.WithKeyring(sealed.NewKeyring(key))))
	defer pool.Close()
	for _, query := range sealedSpending {
		rows, err := pool.Query(query)
		if err != nil {
			return err
		}
		for rows.Next() {
			fmt.Println("answer")
		}
		if err := rows.Err(); err != nil {
			return err
		}
		rows.Close()
	}
	return nil
}

// TestKillOverSealedValues kills a process at its work: every answer that it has given is
// charged, and so are at most as many more as it had reserved ahead.
func TestKillOverSealedValues(t *testing.T) {
	const each = 0.25
	d := newSealed(t, sealedRows[:1])
	path := strings.TrimSuffix(d.path, "?_sync=OFF")
	text, err := d.key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".key", text, 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(`CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 400) SELECT i FROM c`)
	d.close()
	for _, kill := range []int{1, 2, 5, 30, 399, 400, 401, 402, 450} {
		before := spentIn(t, path)
		cmd, stdout, _ := child(t, "sealed", path)
		answers := 0
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if answers++; answers == kill {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		charged := (spentIn(t, path) - before) / each
		if answers < kill || charged < float64(answers) || charged > 2*float64(answers)+8 {
			t.Errorf("killed at %d: %d answers, %v charged", kill, answers, charged)
		}
		checkIntegrity(t, path+"-ledger")
	}
}

// spentIn returns the amount that ana has spent in a database that nobody has open.
func spentIn(t *testing.T, path string) float64 {
	t.Helper()
	d := open(t, path)
	defer d.close()
	return d.spent("ana", "kWh")
}
