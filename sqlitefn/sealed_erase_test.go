package sqlitefn_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
)

// record records facts in the ledger, over the connection of d.
func (d *database) record(facts ...ledger.Fact) {
	d.Helper()
	d.raw(func(c *sqlitefn.Conn) {
		if err := c.Record(facts...); err != nil {
			d.Fatal(err)
		}
	})
}

// collectors returns the collectors that the owner has recorded.
func (d *database) collectors() (list []catalog.Collector) {
	d.Helper()
	d.raw(func(c *sqlitefn.Conn) {
		record, err := c.ReadRecord()
		if err != nil {
			d.Fatal(err)
		}
		list = record.Collectors
	})
	return list
}

// again opens another connection to the database of a test, with its key.
func (d *sealedDatabase) again(opts ...sqlitefn.Option) *database {
	d.Helper()
	return open(d, d.path, append(opts, sqlitefn.WithKeyring(sealed.NewKeyring(d.key)))...)
}

// collector returns the database as another collector, enrolled by the owner, writes it over a
// connection.
func (d *sealedDatabase) collector(over *database, name string) *sealedtest.Database {
	d.Helper()
	key := sealedtest.NewKey(d)
	d.record(catalog.Collector{Name: name, Verify: key.Public().Verifier()}.Fact())
	return d.stranger(over, key)
}

// stranger returns the database as another collector writes it.
func (d *sealedDatabase) stranger(over *database, key *sealed.PrivateKey) (seal *sealedtest.Database) {
	d.Helper()
	over.raw(func(c *sqlitefn.Conn) { seal = c.Collect(d, d.seal, key) })
	return seal
}

// insert adds a row of s.
func (d *database) insert(seal *sealedtest.Database, who string, kwh int64) {
	d.Helper()
	d.run(fmt.Sprintf(`INSERT INTO s(who, zone, kwh) VALUES('%s', 1, %s)`, seal.Account(who).Pseudonym, seal.Reading(columnKWh, who, kwh)))
}

// A connection acts on the records of another one in its next statement, be it prepared
// already, in a transaction, or the next run of one that has run.
func TestErasureOnAnotherConnection(t *testing.T) {
	for _, in := range []string{"", "BEGIN", "BEGIN IMMEDIATE"} {
		d := newSealed(t, sealedRows)
		other := d.again()
		second := d.collector(d.database, "second")
		d.insert(second, "di", 8)
		prepared, err := other.conn.PrepareContext(t.Context(), `SELECT dx_sum(kwh, 100) FROM s`)
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		if in != "" {
			other.run(in)
		}
		for _, step := range []struct {
			name string
			fact ledger.Fact
			want any
		}{
			{"before", catalog.Erased("nobody"), 31.0},
			{"ana is erased", catalog.Erased("ana"), 19.0},
			{"the second collector is revoked", d.collectors()[1].Revoked(), 11.0},
			{"all are", d.collectors()[0].Revoked(), nil},
		} {
			d.record(step.fact)
			var got any
			if err := prepared.QueryRow().Scan(&got); err != nil || got != step.want {
				t.Errorf("%s, after %q: prepared: %v, %v; want %v", step.name, in, got, err, step.want)
			}
			other.with(t).answers(`SELECT dx_sum(kwh, 100) FROM s`, fmt.Sprintf("[[%v]]", step.want))
		}
		if in != "" {
			other.run("COMMIT")
		}
		d.spends("ana", "kWh", 200)
	}
}

// A revoked or erased value stays gone on a connection that has read of it in the database, whatever is
// missing there by the time that the owner erases or revokes: a value without its account or session
// in the database is no value of it any more, and one of a revoked session counts as NULL.
func TestErasureOfWhatTheDatabaseLacks(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	d.run(`DELETE FROM geosql_sealed_account`)
	d.record(catalog.Erased("ana"))
	d.fails(`SELECT dx_sum(kwh, 100) FROM s`, "is not a value that was sealed for this database")
	d = newSealed(t, sealedRows)
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	d.run(`DELETE FROM geosql_sealed_session`)
	d.record(d.collectors()[0].Revoked())
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[<nil>]]")
}

// A failure to read the database does not lose an erasure.
func TestErasureAfterAFailure(t *testing.T) {
	for _, table := range []string{"geosql_sealed_account", "geosql_sealed_session"} {
		d := newSealed(t, sealedRows)
		d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
		d.record(catalog.Erased("ana"))
		d.run(`ALTER TABLE ` + table + ` RENAME TO away`)
		d.fails(`SELECT dx_sum(kwh, 100) FROM s`, "no such table")
		d.run(`ALTER TABLE away RENAME TO ` + table)
		d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[11]]")
	}
}

// A statement that was prepared before sees the sessions that another connection begins, and
// their new accounts.
func TestSessionOfAnotherConnection(t *testing.T) {
	d := newSealed(t, sealedRows)
	other := d.again()
	prepared, err := d.conn.PrepareContext(t.Context(), `SELECT dx_sum(kwh, 100) FROM s`)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	sums := func(want float64) {
		t.Helper()
		var got any
		if err := prepared.QueryRow().Scan(&got); err != nil || got != want {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	sums(23)
	other.insert(d.collector(other, "second"), "di", 8)
	sums(31)
	other.insert(d.collector(other, "third"), "ana", 7)
	sums(38)
	other.insert(d.stranger(other, sealedtest.NewKey(t)), "eve", 1)
	d.fails(`SELECT dx_sum(kwh, 100) FROM s`, "dx_sum: sealed is not a value that was sealed for this database")
	other.run(`DELETE FROM s WHERE id = 8`)
	sums(38)
	d.spends("di", "kWh", 300)
}

// An account is charged as one, whatever numbers and pseudonyms it has: under d1 the largest of
// its values', per row their sum.
func TestAccountOfSeveralNumbers(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.insert(d.collector(d.database, "second"), "ana", 6)
	d.answers(`SELECT count(DISTINCT who) FROM s`, "[[4]]")
	d.run(`SELECT dx_sum(kwh, 1) FROM s`)
	d.spends("ana", "kWh", 1)
	d.run(`SELECT dx_sum(kwh, 1) FROM s GROUP BY who`)
	d.spends("ana", "kWh", 2)
	d.run(`SELECT dx_max(kwh, 1, 'dinf') FROM s`)
	d.spends("ana", "kWh", 3)
	d.run(`SELECT dx_sum(kwh, 1, 'dh') FROM s`)
	d.spends("ana", "record", 4)
	d.record(catalog.Erased("ana"))
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[11]]")
}

// A number that two names claim opens for neither, whichever came first.
func TestNumberOfTwoAccounts(t *testing.T) {
	for _, late := range []bool{false, true} {
		d := newSealed(t, sealedRows)
		if late {
			d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
		}
		before := d.evaluations()
		d.collector(d.database, "second").Name("eve", d.seal.Account("ana"))
		d.fails(`SELECT dx_sum(kwh, 100) FROM s`, "dx_sum: sealed is not a value that was sealed for this database")
		d.answers(`SELECT dx_sum(kwh, 100) FROM s WHERE id > 3`, "[[11]]")
		if n := d.evaluations() - before; n != 2 {
			t.Errorf("%d evaluations, want those of bo and cy", n)
		}
	}
}

// playErase is a process that erases an account.
func playErase(path string) error {
	pool := sql.OpenDB(sqlitefn.Connector(path))
	defer pool.Close()
	conn, err := pool.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error { return c.(*sqlitefn.Conn).Record(catalog.Erased("ana")) })
}

func TestErasureInAnotherProcess(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[23]]")
	cmd, _, stderr := child(t, "erase", strings.TrimSuffix(d.path, "?_sync=OFF"))
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, stderr)
	}
	d.answers(`SELECT dx_sum(kwh, 100) FROM s`, "[[11]]")
	d.spends("ana", "kWh", 100)
}
