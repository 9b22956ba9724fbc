package file_test

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// release is a statement with rows that are answers; the first column has the
// accounts that they are about.
type release struct {
	unit  budget.Unit
	query string
}

var tableValued = release{"m", `SELECT t.account, g.lat FROM t CROSS JOIN geoind_laplace(t.account, t.lat, t.lon, 0.5) AS g`}

// report runs the statement and says each answer as soon as it is there.
func (r release) report(db *sql.DB, eps budget.Amount, say reporter) error {
	asked := time.Now().UnixMicro()
	rows, err := db.Query(r.query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var accounts string
		if err := rows.Scan(&accounts, new(any)); err != nil {
			return err
		}
		if err := say.answer(asked, eps, r.unit, accounts); err != nil {
			return err
		}
		asked = time.Now().UnixMicro()
	}
	return rows.Err()
}

func connect(dir string) *sql.DB { return sql.OpenDB(sqlitefn.Connector(mainFile(dir))) }

// scan runs releases in turn.
func scan(eps budget.Amount, releases ...release) play {
	return func(dir string, say reporter) error {
		db := connect(dir)
		defer db.Close()
		say.ready()
		for {
			for _, r := range releases {
				if err := r.report(db, eps, say); err != nil {
					return err
				}
			}
		}
	}
}

// scanOnce opens the database for every scan. Closing a ledger moves its log
// into it and removes the log.
func scanOnce(dir string, say reporter) error {
	say.ready()
	for {
		db := connect(dir)
		if err := tableValued.report(db, half, say); err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
}

// stepTraces reports steps of the traces a0, a1, .., over a table and one by one,
// after it has restarted the traces that were left by a kill.
func stepTraces(dir string, say reporter) error {
	db := connect(dir)
	defer db.Close()
	if err := restartTraces(db); err != nil {
		return err
	}
	say.ready()
	for {
		now := nextRound()
		for _, query := range []string{
			`SELECT account, predictive_step(account, %d + i * 1e-3, lat, lon) OVER (PARTITION BY account ORDER BY i ROWS UNBOUNDED PRECEDING) FROM t`,
			`SELECT 'a3', predictive_step('a3', %d + 0.5, 39.9, 116.3)`,
		} {
			if err := (release{"m", fmt.Sprintf(query, now)}).report(db, half, say); err != nil {
				return err
			}
		}
	}
}

// restartTraces restarts the traces that were left by a kill.
func restartTraces(db *sql.DB) error {
	for a := range scanAccounts {
		if err := db.QueryRow("SELECT trace_restart(?)", fmt.Sprint("a", a)).Scan(new(any)); err != nil {
			return err
		}
	}
	return nil
}

// nextRound returns the time of a round of steps. Every round starts later than the one before, also of an
// earlier process: in its time a millisecond is a second.
func nextRound() int64 {
	time.Sleep(2 * time.Millisecond)
	return time.Now().UnixMilli() % 1e12
}

// stepReserved reports two steps of every trace at a time, from amounts set aside.
func stepReserved(dir string, say reporter) error {
	db := connect(dir)
	defer db.Close()
	if err := restartTraces(db); err != nil {
		return err
	}
	say.ready()
	for {
		var n int
		err := db.QueryRow(`SELECT budget_reserve(account, 'm', ?) FROM (SELECT DISTINCT account FROM t)`, 0.5*setAside).Scan(&n)
		if err != nil {
			return err
		}
		for range setAside * 3 / 4 / 2 {
			query := `SELECT account, predictive_step(account, %d + i * 1e-3, lat, lon) OVER (PARTITION BY account ORDER BY i ROWS UNBOUNDED PRECEDING) FROM t WHERE i < %d`
			if err := (release{"m", fmt.Sprintf(query, nextRound(), 2*scanAccounts)}).report(db, half, say); err != nil {
				return err
			}
		}
	}
}

// scanInConnections scans in several connections at once. Their charges share
// transactions.
func scanInConnections(dir string, say reporter) error {
	db := connect(dir)
	say.ready()
	failed := make(chan error)
	for i := range connections {
		r := tableValued
		if i%2 == 0 {
			r = release{"m", fmt.Sprintf(`SELECT 'c%d', geoind_laplace('c%[1]d', 39.9, 116.3, 0.5)`, i)}
		}
		go func() {
			for {
				if err := r.report(db, half, say); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// setAside is for how many answers an account budget_reserve sets aside at a
// time; three quarters of them are used before the next time.
const setAside = 40

func reserveAndScan(dir string, say reporter) error {
	db := connect(dir)
	say.ready()
	for {
		var n int
		err := db.QueryRow(`SELECT budget_reserve(account, 'm', ?) FROM (SELECT DISTINCT account FROM t)`, 0.5*setAside).Scan(&n)
		if err != nil {
			return err
		}
		r := release{"m", fmt.Sprintf(`SELECT account, geoind_laplace(account, lat, lon, 0.5) FROM t WHERE i < %d`, scanAccounts*setAside*3/4)}
		if err := r.report(db, half, say); err != nil {
			return err
		}
	}
}

// reserveForScan reserves the charges of each scan.
func reserveForScan(dir string, say reporter) error {
	db := connect(dir)
	say.ready()
	for {
		var n int
		r := release{"m", fmt.Sprintf(`SELECT account, geoind_laplace(account, lat, lon, 0.5) FROM t WHERE i < %d`, counted)}
		if err := db.QueryRow(`SELECT budget_reserve_for(?)`, r.query).Scan(&n); err != nil {
			return err
		}
		if err := r.report(db, half, say); err != nil {
			return err
		}
	}
}

// counted is how many rows such a scan has.
const counted = scanAccounts * setAside

// Accounts called w0, w1, .. have windows of a second and changing limits, at
// most windowMost answers; those called v0, v1, .. have windows that change too.
const (
	windowed   = "w"
	windowMost = 600
	windows    = 3
)

func scanWindows(dir string, say reporter) error {
	db := connect(dir)
	say.ready()
	for i := 0; ; i++ {
		account := fmt.Sprintf("%c%d", "wv"[i%2], i/2%windows)
		r := release{"kWh", fmt.Sprintf(`SELECT '%s', dx_value('%[1]s', x, 0.5, 'u') FROM t LIMIT %d`, account, 1+i%90)}
		err := r.report(db, half, say)
		if refused(err) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
	}
}

func refused(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrAuth
}

func setWindows(dir string, say reporter) error {
	db := connect(dir)
	say.ready()
	for i := 0; ; i++ {
		s := setting{half * budget.Amount(1+i*37%windowMost), 1}
		k := key{fmt.Sprintf("%c%d", "wv"[i%2], i/2%windows), "kWh"}
		query := `SELECT budget_limit(?1, 'kWh', ?2, ?3)`
		if k.account[0] == 'v' {
			if s.seconds = int64(i % 3); s.seconds == 0 {
				query = `SELECT budget_limit(?1, 'kWh', ?2 + 0 * ?3)`
			}
		}
		if err := say.limit("asked", s, k); err != nil {
			return err
		}
		if _, err := db.Exec(query, k.account, s.eps.Float64(), s.seconds); err != nil {
			return err
		}
		if err := say.limit("set", s, k); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// checkpoint moves the ledger's log into it again and again, as another program
// may.
func checkpoint(dir string, say reporter) error {
	conn, err := sqlite.Open(ledgerFile(dir), sqlite.ReadWrite)
	if err != nil {
		return err
	}
	conn.BusyTimeout(10)
	say.ready()
	for {
		err := conn.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		var e *sqlite.Error
		if err != nil && !(errors.As(err, &e) && e.Busy()) {
			return err
		}
	}
}

// archive moves all entries into an archive again and again.
func archive(dir string, say reporter) error {
	l, err := file.Open(ledgerFile(dir), false)
	if err != nil {
		return err
	}
	say.ready()
	for {
		if _, err := l.Archive(archiveFile(dir), time.Now()); err != nil {
			return err
		}
	}
}

// createAndScan starts with no database.
func createAndScan(dir string, say reporter) error {
	say.ready()
	db := connect(dir)
	if _, err := db.Exec(declareDomain); err != nil {
		return err
	}
	everyone, limit := key{"*", "m"}, setting{1_000_000 * half, 0} // more than it can charge before it is killed
	if err := say.limit("asked", limit, everyone); err != nil {
		return err
	}
	if _, err := db.Exec(`SELECT budget_limit('*', 'm', 500000)`); err != nil {
		return err
	}
	if err := say.limit("set", limit, everyone); err != nil {
		return err
	}
	r := release{"m", `SELECT 'ana', geoind_laplace('ana', 39.9, 116.3, 0.5) FROM (VALUES (1), (2), (3), (4), (5), (6), (7))`}
	for {
		if err := r.report(db, half, say); err != nil {
			return err
		}
	}
}

// createLedger makes the ledger's file at the same time.
func createLedger(dir string, say reporter) error {
	say.ready()
	for {
		l, err := file.Open(ledgerFile(dir), true)
		if err != nil {
			return err
		}
		if err := l.SetLimit("bob", "m", 1, 0); err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
}
