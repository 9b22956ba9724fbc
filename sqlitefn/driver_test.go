//go:build !geosql_loadable

package sqlitefn_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// hooked opens connections to a file with an application's own driver.
type hooked struct {
	path string
	hook func(*sqlite3.SQLiteConn) error
}

func (h hooked) Driver() driver.Driver { return &sqlite3.SQLiteDriver{ConnectHook: h.hook} }

func (h hooked) Connect(context.Context) (driver.Conn, error) { return h.Driver().Open(h.path) }

// pool opens a pool that the end of the test closes.
func pool(t *testing.T, c driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

// pinned takes a connection of its own out of a pool.
func pinned(t *testing.T, db *sql.DB) *database {
	t.Helper()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &database{TB: t, pool: db, conn: conn}
}

// declaredFile is the path of a database with declarations that nobody has open.
func declaredFile(t *testing.T) string {
	t.Helper()
	d := declared(t)
	d.close()
	return d.path
}

// auto gives the functions to every connection until the end of the test.
func auto(t *testing.T, opts ...sqlitefn.Option) {
	t.Helper()
	t.Cleanup(sqlitefn.Cancel)
	if err := sqlitefn.Auto(opts...); err != nil {
		t.Fatal(err)
	}
}

func checkOtherOptions(t *testing.T, err error) {
	t.Helper()
	if err == nil || err.Error() != "geosql: connection already has the functions with other options" {
		t.Errorf("error %v", err)
	}
}

// Register is one step of an application's own hook, before and after others.
func TestRegisterInAConnectHook(t *testing.T) {
	db := pool(t, hooked{declaredFile(t), func(c *sqlite3.SQLiteConn) error {
		return errors.Join(
			c.RegisterFunc("before", func() string { return "before" }, true),
			sqlitefn.Register(c),
			c.RegisterFunc("after", func() string { return "after" }, true))
	}})
	a, b := pinned(t, db), pinned(t, db)
	for _, d := range []*database{a, b} {
		d.answers(`SELECT before(), after(), dx_value('ana', 3, 100, 'u')`, `[[before after 3]]`)
	}
	a.spends("ana", "kWh", 200)
	b.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, -1)`, "geoind_laplace: epsilon must be above 0, got -1")
}

func TestRefusalReachesTheDriver(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'm', 0)`)
	_, err := d.try(release)
	var e sqlite3.Error
	if !errors.As(err, &e) || e.Code != sqlite3.ErrAuth || e.ExtendedCode != sqlite.CodeDenied {
		t.Errorf("%#v", err)
	}
}

func TestRegisterErrors(t *testing.T) {
	if err := sqlitefn.Register(nil); err == nil || err.Error() != "geosql: nil connection" {
		t.Error(err)
	}
	conn, err := (&sqlite3.SQLiteDriver{}).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := sqlitefn.Register(conn.(*sqlite3.SQLiteConn)); err == nil || err.Error() != "geosql: connection is closed" {
		t.Error(err)
	}
}

// Eight connections release at the same time. Each charge is spent, once.
func TestConcurrentConnections(t *testing.T) {
	const (
		connections = 8
		statements  = 5
		rows        = 20
	)
	path := declaredFile(t)
	db := pool(t, sqlitefn.Connector(path))
	var open []*database
	for range connections {
		open = append(open, pinned(t, db))
	}
	var wait sync.WaitGroup
	for i, d := range open {
		wait.Go(func() {
			own := fmt.Sprintf("a%d", i)
			for range statements {
				for _, query := range []string{
					`SELECT geoind_laplace('all', 39.9, 116.3, 0.25) FROM s`,
					`SELECT dx_value('` + own + `', 3, 0.25, 'u') FROM s`,
					`SELECT dx_sum(CASE i % 2 WHEN 0 THEN 'all' ELSE '` + own + `' END, 3, 0.5, 'u') FROM s`,
				} {
					if _, err := d.try(numbered(fmt.Sprint(rows)) + query); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	for _, d := range open {
		d.spends("all", "m", connections*statements*rows*0.25)
		d.spends("all", "kWh", connections*statements*0.5)
	}
	for i := range connections {
		open[0].spends(fmt.Sprintf("a%d", i), "kWh", statements*(rows*0.25+0.5))
	}
	if r := open[0].reserved(); r != 0 {
		t.Errorf("%v stays reserved", r)
	}
}

// Raw equips the one pooled connection that it is called on.
func TestRegisterThroughRaw(t *testing.T) {
	db := pool(t, plainConnector(declaredFile(t)))
	a, b := pinned(t, db), pinned(t, db)
	for range 2 { // twice is once
		if err := a.conn.Raw(func(c any) error { return sqlitefn.Register(c.(*sqlite3.SQLiteConn)) }); err != nil {
			t.Fatal(err)
		}
	}
	a.run(release)
	a.spends("ana", "m", 0.5)
	b.fails(release, "no such function: geoind_laplace")
	err := a.conn.Raw(func(c any) error {
		return sqlitefn.Register(c.(*sqlite3.SQLiteConn), sqlitefn.WithLedger("elsewhere"))
	})
	checkOtherOptions(t, err)
	a.run(release)
	a.spends("ana", "m", 1)
}

// Auto serves an application that opens its connections with the driver's name,
// from then on.
func TestAuto(t *testing.T) {
	path := declaredFile(t)
	earlier := pinned(t, pool(t, plainConnector(path)))
	auto(t)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a, b := pinned(t, db), pinned(t, db)
	a.run(release)
	b.run(release)
	b.spends("ana", "m", 1)
	earlier.fails(release, "no such function: geoind_laplace")
}

func TestAutoTwice(t *testing.T) {
	auto(t)
	if err := sqlitefn.Auto(); err != nil {
		t.Error(err)
	}
	const other = "geosql: connections already get the functions with other options"
	if err := sqlitefn.Auto(sqlitefn.WithLedger("book")); err == nil || err.Error() != other {
		t.Error(err)
	}
	pinned(t, pool(t, plainConnector(":memory:"))).answers(`SELECT geosql_version()`, `[[`+sqlitefn.Version+`]]`)
	sqlitefn.Cancel()
	if err := sqlitefn.Auto(sqlitefn.WithLedger("book")); err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	auto(t)
	earlier := pinned(t, pool(t, plainConnector(":memory:")))
	for range 2 { // twice is once
		sqlitefn.Cancel()
	}
	earlier.answers(`SELECT geosql_version()`, `[[`+sqlitefn.Version+`]]`)
	pinned(t, pool(t, plainConnector(":memory:"))).fails(`SELECT geosql_version()`, "no such function")
}

// Connections that open while others call Auto and Cancel have all functions or none.
func TestAutoWhileConnectionsOpen(t *testing.T) {
	t.Cleanup(sqlitefn.Cancel)
	names := sqlitefn.ScalarNames()
	done := make(chan struct{})
	var switching, opening sync.WaitGroup
	for range 2 {
		switching.Go(func() {
			for {
				if err := sqlitefn.Auto(); err != nil {
					t.Error(err)
				}
				sqlitefn.Cancel()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 4 {
		opening.Go(func() {
			for range 50 {
				var n int
				db := sql.OpenDB(plainConnector(":memory:"))
				err := db.QueryRow(`SELECT count(DISTINCT name) FROM pragma_function_list WHERE name IN ('` + strings.Join(names, `', '`) + `')`).Scan(&n)
				if err != nil || n != 0 && n != len(names) {
					t.Errorf("%d functions of %d, %v", n, len(names), err)
				}
				db.Close()
			}
		})
	}
	opening.Wait()
	close(done)
	switching.Wait()
}

func TestAutoAndConnector(t *testing.T) {
	path, ledgerAt := declaredFile(t), filepath.Join(t.TempDir(), "book")
	connect := func(opts ...sqlitefn.Option) (*sql.DB, error) {
		db := pool(t, sqlitefn.Connector(path, opts...))
		return db, db.Ping()
	}
	fresh := newFile(t)
	t.Run("without options", func(t *testing.T) {
		auto(t)
		db, err := connect()
		if err != nil {
			t.Fatal(err)
		}
		pinned(t, db).run(release)
		_, err = connect(sqlitefn.WithLedger(ledgerAt))
		checkOtherOptions(t, err)
	})
	t.Run("with a ledger", func(t *testing.T) {
		path = fresh
		auto(t, sqlitefn.WithLedger(ledgerAt))
		db, err := connect(sqlitefn.WithLedger(ledgerAt))
		if err != nil {
			t.Fatal(err)
		}
		d := pinned(t, db)
		d.run(declarations...)
		d.run(release)
		d.spends("ana", "m", 0.5)
		_, err = connect()
		checkOtherOptions(t, err)
		_, err = connect(sqlitefn.WithLedger(ledgerAt + "2"))
		checkOtherOptions(t, err)
		d.run(release)
		d.spends("ana", "m", 1)
	})
	if _, err := os.Stat(ledgerAt); err != nil {
		t.Error(err)
	}
	if _, err := connect(sqlitefn.WithLedger(ledgerAt + "2")); err != nil {
		t.Error("after Auto ended: ", err)
	}
}

// newFile is the path of a new database without declarations.
func newFile(t *testing.T) string {
	t.Helper()
	d := newDatabase(t)
	d.close()
	return d.path
}

// attachedConn opens a connection without a driver, as the command does.
func attachedConn(t *testing.T, opts ...sqlitefn.Option) *sqlite.Conn {
	t.Helper()
	c, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := sqlitefn.Attach(c.Handle(), opts...); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAttachTwice(t *testing.T) {
	c := attachedConn(t, sqlitefn.WithMaxRepeat(2))
	if err := sqlitefn.Attach(c.Handle(), sqlitefn.WithMaxRepeat(2)); err != nil {
		t.Error(err)
	}
	for _, opts := range [][]sqlitefn.Option{
		nil, {sqlitefn.WithMaxRepeat(3)}, {sqlitefn.WithMaxRepeat(2), sqlitefn.WithLedger("book")},
	} {
		checkOtherOptions(t, sqlitefn.Attach(c.Handle(), opts...))
	}
	if err := c.Exec(`SELECT geosql_version()`); err != nil {
		t.Error(err)
	}
}

// A connection that was closed is forgotten, although a later one may get its
// handle.
func TestAttachAfterClose(t *testing.T) {
	handles := map[unsafe.Pointer]bool{}
	for i := range 50 {
		c := attachedConn(t, sqlitefn.WithLedger(fmt.Sprint("book", i)))
		handles[c.Handle()] = true
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(handles) == 50 {
		t.Log("no handle was used again")
	}
}

func TestAttachWhileAFunctionIsInUse(t *testing.T) {
	c, err := sqlite.Open(":memory:", sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	own := sqlite.Scalar{Name: "geo_domain", Args: []int{6}, Call: func(*sqlite.Call) error { return nil }}
	if err := c.Register(sqlite.Library{Scalars: []sqlite.Scalar{own}}); err != nil {
		t.Fatal(err)
	}
	s, _, err := c.Prepare(`VALUES (1), (2)`)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	err = sqlitefn.Attach(c.Handle())
	if err == nil || !strings.Contains(err.Error(), "geosql: cannot register geo_domain: unable to delete/modify user-function due to active statements") {
		t.Error(err)
	}
	s.Reset()
	if err := sqlitefn.Attach(c.Handle()); err != nil {
		t.Error(err)
	}
}

func TestRegisterWithLedger(t *testing.T) {
	path, ledgerAt := newFile(t), filepath.Join(t.TempDir(), "book")
	db := pool(t, hooked{path, func(c *sqlite3.SQLiteConn) error {
		return sqlitefn.Register(c, sqlitefn.WithLedger(ledgerAt))
	}})
	d := pinned(t, db)
	d.run(declarations...)
	d.run(release)
	d.spends("ana", "m", 0.5)
	if _, err := os.Stat(ledgerAt); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + "-ledger"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a second ledger stands beside the database: ", err)
	}
}

// A database in memory may keep its ledger in a file.
func TestMemoryDatabaseWithLedger(t *testing.T) {
	ledgerAt := filepath.Join(t.TempDir(), "book")
	d := open(t, ":memory:", sqlitefn.WithLedger(ledgerAt))
	d.run(declarations...)
	d.run(release)
	d.close()
	d = open(t, ":memory:", sqlitefn.WithLedger(ledgerAt))
	d.spends("ana", "m", 0.5)
}

// openFiles lists the open files of the process with names that begin with
// path, and false on systems that do not tell.
func openFiles(t *testing.T, path string) (files []string, told bool) {
	t.Helper()
	if runtime.GOOS == "windows" { // wine shows this machine's folders, but not a program's open files
		return nil, false
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(name, path) {
			files = append(files, name)
		}
	}
	return files, true
}

// The last connection returns reservations and closes the ledger's files.
func TestLastConnectionClosesTheLedger(t *testing.T) {
	path := declaredFile(t)
	db := pool(t, sqlitefn.Connector(path))
	db.SetMaxIdleConns(0) // a released connection is closed
	a, b, c := pinned(t, db), pinned(t, db), pinned(t, db)
	a.run(`SELECT budget_limit('ana', 'm', 10)`, `SELECT budget_reserve('ana', 'm', 9.5)`)
	b.run(release)
	c.spends("ana", "m", 9.5)
	a.conn.Close()
	b.conn.Close()
	c.spends("ana", "m", 9.5)
	if files, told := openFiles(t, path+"-ledger"); told && len(files) == 0 {
		t.Error("the ledger is closed under a connection")
	}
	c.conn.Close()
	if files, _ := openFiles(t, path); len(files) != 0 {
		t.Errorf("open files %v", files)
	}
	if _, err := os.Stat(path + "-ledger-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the ledger's log is left: ", err)
	}
	again := open(t, path)
	again.spends("ana", "m", 0.5)
	again.answers(`SELECT budget_remaining('ana', 'm')`, `[[9.5]]`)
}

// A connection with a hook that fails after Register leaves nothing behind.
func TestHookThatFailsAfterRegister(t *testing.T) {
	path := declaredFile(t)
	db := pool(t, hooked{path, func(c *sqlite3.SQLiteConn) error {
		if err := sqlitefn.Register(c); err != nil {
			return err
		}
		if _, err := c.Exec(release, nil); err != nil {
			return err
		}
		return errors.New("changed its mind")
	}})
	if err := db.Ping(); err == nil || err.Error() != "changed its mind" {
		t.Error(err)
	}
	if files, _ := openFiles(t, path); len(files) != 0 {
		t.Errorf("open files %v", files)
	}
	open(t, path).spends("ana", "m", 0.5)
}

type panickingReader struct{}

func (panickingReader) Read([]byte) (int, error) { panic("the reader panics") }

// shortReader gives less than a buffer, again and again.
type shortReader struct{ given bool }

func (r *shortReader) Read(b []byte) (int, error) {
	r.given = !r.given
	if r.given {
		return rand.Read(b[:100])
	}
	return 0, io.EOF
}

// Without entropy nothing is released. The charge, which comes first, stands.
func TestNoEntropy(t *testing.T) {
	for name, source := range map[string]struct {
		entropy io.Reader
		err     string
	}{
		"error": {iotest.ErrReader(errors.New("no entropy")), "geosql internal error: entropy failed: no entropy"},
		"panic": {panickingReader{}, "geosql internal error: the reader panics"},
		"end":   {strings.NewReader(""), "geosql internal error: entropy failed: EOF"},
		"short": {new(shortReader), "geosql internal error: entropy failed: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, declaredFile(t)).drawing(source.entropy)
			for _, q := range []struct {
				query, unit string
				cost        float64
			}{
				{release, "m", 0.5},
				{`SELECT lat FROM geoind_laplace('ana', 39.9, 116.3, 0.5)`, "m", 0.5},
				{numbered("50") + release + ` FROM s`, "m", 0.5},
				{`SELECT dx_value('ana', 3, 0.5, 'u')`, "kWh", 0.5},
				{numbered("50") + `SELECT dx_sum('ana', 3, 0.5, 'u') FROM s`, "kWh", 0.5},
				{`SELECT dx_count('ana', 0.5)`, "record", 0.5},
				{`SELECT dx_median('ana', 3, 0.5, 'u')`, "kWh", 0.5},
			} {
				before := d.spent("ana", q.unit)
				if rows := d.fails(q.query, source.err); len(rows) != 0 {
					t.Errorf("%s\nreleases %v", q.query, rows)
				}
				d.spends("ana", q.unit, before+q.cost)
			}
			if reserved := d.reserved(); reserved != 0 {
				t.Errorf("%v stays reserved", reserved)
			}
			d.answers(`SELECT geo_outside('beijing', 39.9, 116.3)`, `[[0]]`) // a function that draws nothing works
		})
	}
}

// Entropy that ends in mid-scan ends the scan: the rows before were released
// and charged, the one that could not be drawn was charged, and no more is.
// Entropy that comes back is used again.
func TestEntropyEndsInMidScan(t *testing.T) {
	for name, query := range map[string]string{
		"scalar":       `SELECT geoind_laplace('ana', 39.9, 116.3, 0.5) FROM s`,
		"table-valued": `SELECT g.lat FROM s CROSS JOIN geoind_laplace(substr('ana', 1, 2 + i), 39.9, 116.3, 0.5) g`,
	} {
		t.Run(name, func(t *testing.T) {
			r := &io.LimitedReader{R: rand.Reader, N: 4096}
			d := open(t, declaredFile(t)).drawing(r)
			rows := d.fails(numbered("100000")+query, "geosql internal error: entropy failed: EOF")
			if len(rows) == 0 {
				t.Error("no row before the end")
			}
			d.checkCharged(int64(len(rows)+1), int64(len(rows)+1))
			r.N = 1 << 20
			d.run(numbered("10") + query)
			d.checkCharged(int64(len(rows)+11), int64(len(rows)+11))
		})
	}
}
