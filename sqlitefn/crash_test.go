package sqlitefn_test

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec" // exec is taken

	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// roleVariable makes the test binary play a child process of a test.
const roleVariable = "GEOSQL_SQLITEFN_ROLE"

func TestMain(m *testing.M) {
	play, ok := map[string]func(path string) error{"scan": playScan, "spend": playSpend}[os.Getenv(roleVariable)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
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

// scans are released in turn by a child until it is killed. Each row answers
// with the accounts that it is about.
var scans = []struct{ unit, query string }{
	{"m", `SELECT t.account FROM t CROSS JOIN geoind_laplace(t.account, t.lat, t.lon, 0.5) g WHERE g.lat NOT NULL`},
	{"kWh", `SELECT account, dx_value(account, x, 0.5, 'u') FROM t`},
	{"kW", `SELECT group_concat(DISTINCT account), dx_sum(account, x, 0.5, 'power') FROM t GROUP BY i / 7`},
	{"m", `SELECT account, geoind_laplace(account, lat, lon, 0.5) FROM t WHERE account = 'a3'`},
}

// crashAccounts are the accounts of a crash test, whose readings are interleaved.
const crashAccounts = 5

func crashDatabase(t *testing.T) *database {
	d := declared(t)
	d.run(`SELECT dx_universe('power', 0, 10, 1, 'kW')`, `SELECT budget_limit('*', 'kW', 9000000)`,
		`CREATE TABLE t(i INTEGER, account TEXT, lat REAL, lon REAL, x REAL)`,
		`INSERT INTO t `+numbered("400")+fmt.Sprintf(`SELECT i, 'a' || (i %% %d), 39.9, 116.3, 3 FROM s`, crashAccounts))
	return d
}

// playScan writes the unit and accounts of every answer as soon as it has it.
func playScan(path string) error {
	pool := sql.OpenDB(sqlitefn.Connector(path))
	defer pool.Close()
	for {
		for _, s := range scans {
			rows, err := pool.Query(s.query)
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			for rows.Next() {
				var accounts string
				into := []any{&accounts, new(any)}
				if err := rows.Scan(into[:len(columns)]...); err != nil {
					return err
				}
				// One write below the size of a pipe's buffer: whole or not at all.
				if _, err := os.Stdout.WriteString(s.unit + " " + accounts + "\n"); err != nil {
					return err
				}
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
	}
}

// kills is how many times TestKill kills: 20, or what the environment says.
func kills(t *testing.T) int {
	n := 20
	if s := os.Getenv("GEOSQL_KILLS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal("GEOSQL_KILLS: ", err)
		}
	}
	return n
}

type balanceKey struct{ account, unit string }

// TestKill kills a process that releases, at moments it has no say in, again and
// again. Nothing that left it may be missing from the ledger, and a kill wastes at
// most as much as the statement it met had used.
func TestKill(t *testing.T) {
	d := crashDatabase(t)
	d.close()
	answers := map[balanceKey]int{}
	total := 0
	n := kills(t)
	for range n {
		total += killOnce(t, d.path, answers)
		again := open(t, d.path)
		for account := range crashAccounts {
			for _, unit := range []string{"m", "kWh", "kW"} {
				k := balanceKey{fmt.Sprintf("a%d", account), unit}
				spent := again.spent(k.account, k.unit)
				if spent < 0.5*float64(answers[k]) {
					t.Fatalf("%s spent %v/%s for %d answers of 0.5", k.account, spent, k.unit, answers[k])
				}
				// Reserved is at most what was used, and used in vain one row of
				// each scan at most.
				if most := 0.5 * float64(2*answers[k]+2*n*len(scans)); spent > most {
					t.Errorf("%s spent %v/%s for %d answers of 0.5", k.account, spent, k.unit, answers[k])
				}
			}
		}
		again.run(release)
		again.close()
		checkIntegrity(t, d.path+"-ledger")
	}
	if total < n {
		t.Errorf("%d answers before %d kills", total, n)
	}
	t.Logf("%d kills, %d answers", n, total)
}

// killOnce starts a child, kills it, and adds the answers that it wrote.
func killOnce(t *testing.T, path string, answers map[balanceKey]int) (total int) {
	t.Helper()
	cmd, stdout, stderr := child(t, "scan", path)
	after := rand.IntN(2000) // answers; the child runs on until the signal
	lines := bufio.NewScanner(stdout)
	for ; lines.Scan(); total++ {
		if total == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		unit, accounts, _ := strings.Cut(lines.Text(), " ")
		for account := range strings.SplitSeq(accounts, ",") {
			answers[balanceKey{account, unit}]++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); stderr.Len() > 0 || cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v %s", err, stderr)
	}
	return total
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

// What the processes of TestProcesses spend: 300 charges and not one more.
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
// budget: together they get what it holds, exactly.
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
	// Who is refused while others still hold what they will not use stops early.
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
