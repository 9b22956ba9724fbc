package sqlitefn_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec" // exec is taken
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// roleVariable makes the test binary play a child process of a test.
const roleVariable = "GEOSQL_SQLITEFN_ROLE"

func TestMain(m *testing.M) {
	play := map[string]func(path string) error{"spend": playSpend, "erase": playErase, "sealed": playSealed}[os.Getenv(roleVariable)]
	if play == nil {
		os.Exit(run(m))
	}
	if err := play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the tests, with a folder for all knowledge of ledgers on servers.
func run(m *testing.M) (status int) {
	folder, err := os.MkdirTemp("", "geosql-state-")
	if err == nil {
		defer os.RemoveAll(folder)
		err = os.Setenv("GEOSQL_STATE_DIR", folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	trials.Histories(25)
	return m.Run()
}

// child starts the test binary in a role on the database at path.
func child(t *testing.T, role, path string) (cmd *osexec.Cmd, stdout io.Reader, stderr *strings.Builder) {
	t.Helper()
	cmd = osexec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr = new(strings.Builder)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stdout, stderr
}

// checkIntegrity looks at a ledger that this process has not open.
func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db := sql.OpenDB(plainConnector(path))
	defer db.Close()
	var ok string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&ok); err != nil || ok != "ok" {
		t.Fatalf("integrity_check: %s, %v", ok, err)
	}
	var wrong int
	err := db.QueryRow(`SELECT count(*) FROM balance b LEFT JOIN
		(SELECT account, unit, sum(spent) AS spent, sum(reserved) AS reserved FROM entry WHERE epsilon_limit IS NULL GROUP BY account, unit) e USING (account, unit)
		WHERE (b.spent, b.reserved) IS NOT (e.spent, e.reserved)`).Scan(&wrong)
	if err != nil || wrong != 0 {
		t.Fatalf("%d balances are not the sums of their entries, %v", wrong, err)
	}
}

// plainConnector opens a file with SQLite as it comes.
type plainConnector string

func (c plainConnector) Connect(context.Context) (driver.Conn, error) {
	return (&sqlite3.SQLiteDriver{}).Open(string(c))
}

func (c plainConnector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// The processes of TestProcesses spend 300 charges and not one more.
const (
	granted   = 300
	processes = 3
	perPool   = 8
)

// playSpend releases over pooled connections until it is refused, some alone,
// some several in a statement, and writes how many answers it got.
func playSpend(path string) error {
	pool := sql.OpenDB(sqlitefn.Connector(path))
	defer pool.Close()
	pool.SetMaxOpenConns(perPool)
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		total  int
		failed error
	)
	for i := range perPool {
		wait.Go(func() {
			n, err := spendAll(pool, i)
			mu.Lock()
			defer mu.Unlock()
			total += n
			failed = errors.Join(failed, err)
		})
	}
	wait.Wait()
	fmt.Println(total)
	return failed
}

func spendAll(pool *sql.DB, i int) (n int, err error) {
	query := `SELECT geoind_laplace('ana', 39.9, 116.3, 0.1)`
	if i%2 == 1 {
		query = numbered("3") + query + ` FROM s`
	}
	for {
		rows, err := pool.Query(query)
		if err != nil {
			return n, err
		}
		for rows.Next() {
			n++
		}
		err = rows.Err()
		rows.Close()
		var refusal sqlite3.Error
		if errors.As(err, &refusal) && refusal.Code == sqlite3.ErrAuth {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// TestProcesses lets several processes with several connections each spend one
// budget: together they get all of it, exactly.
func TestProcesses(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'm', 30)`)
	type started struct {
		cmd    *osexec.Cmd
		stdout io.Reader
		stderr *strings.Builder
	}
	var children []started
	for range processes {
		cmd, stdout, stderr := child(t, "spend", d.path)
		children = append(children, started{cmd, stdout, stderr})
	}
	total := 0
	for _, c := range children {
		out, err := io.ReadAll(c.stdout)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.cmd.Wait(); err != nil {
			t.Fatal(err, c.stderr)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	// A process that is refused while others still hold unused amounts stops early.
	for {
		if _, err := d.try(`SELECT geoind_laplace('ana', 39.9, 116.3, 0.1)`); err != nil {
			d.mentions(err, "account 'ana' has 0.0/m left of 30.0/m, 0.1/m asked")
			break
		}
		total++
	}
	if total != granted {
		t.Errorf("granted %d charges, want %d", total, granted)
	}
	d.spends("ana", "m", 30)
	if n := d.evaluations(); n != granted {
		t.Errorf("%d evaluations charged, want %d", n, granted)
	}
	d.close()
	checkIntegrity(t, d.path+"-ledger")
}
