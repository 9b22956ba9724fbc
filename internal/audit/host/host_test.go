package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/need"
)

var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "geosql-host-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}())
}

// build builds a program of the project once, and returns its path.
func build(name string, args ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path := filepath.Join(scratch, name)
		if out, err := exec.Command("go", append([]string{"build", "-o", path}, args...)...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return path, nil
	})
}

var (
	command   = build("geosql", "github.com/geosql/geosql/cmd/geosql")
	extension = sync.OnceValues(func() (string, error) { // as everybody builds it: its objects are in Go's cache once
		if out, err := exec.Command("make", "-C", "../../..", "extension", "BUILD="+scratch).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return filepath.Join(scratch, "geosql.so"), nil
	})
)

// newExtension returns the host of the extension, or skips the test.
func newExtension(t *testing.T) Host {
	t.Helper()
	if emulate.Emulator() != "" {
		t.Skip("Python here is a program of another platform than the extension")
	}
	need.Python(t, "import sqlite3; sqlite3.Connection.enable_load_extension", "python3")
	need.Header(t, "sqlite3ext.h", "libsqlite3-dev")
	need.Programs(t, "make", "gcc")
	file, err := extension()
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewExtension(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newLibrary(t *testing.T) Host {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return Library{path}
}

// create makes a database of a host.
func create(t *testing.T, h Host, setup Setup) Database {
	t.Helper()
	d, err := h.Create(t.Context(), t.TempDir(), setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// connect opens a session.
func connect(t *testing.T, d Database) Session {
	t.Helper()
	s, err := d.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ask returns the rows of a statement with the types of their values, or its error.
func ask(t *testing.T, s Session, sql string) string {
	t.Helper()
	var rows []string
	err := s.Query(t.Context(), sql, func(row []any) error {
		var values []string
		for _, v := range row {
			values = append(values, fmt.Sprintf("%T %v", v, v))
		}
		rows = append(rows, strings.Join(values, ", "))
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return strings.Join(rows, "; ")
}

var plainSetup = Setup{SQL: []string{
	`SELECT dx_universe('u', 0, 1000000, 1, 'kWh'), budget_limit('*', 'kWh', 9000000)`,
	`SELECT budget_limit('poor', 'kWh', 0)`,
}}

var plainHosts = map[string]func(*testing.T) Host{"library": newLibrary, "extension": newExtension}

// numbers makes a table n of a million rows.
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000000) `

// Every host answers with the same types, values and errors.
func TestPlain(t *testing.T) {
	for name, newHost := range plainHosts {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if !h.Makes(false) || h.Describe() == "" {
				t.Errorf("%q does not make plain databases", h.Describe())
			}
			d := create(t, h, plainSetup)
			s := connect(t, d)
			for sql, want := range map[string]string{
				` SELECT 1, 1.0, 0.1, 'a', x'00ff', NULL`:                            "int64 1, float64 1, float64 0.1, string a, []uint8 [0 255], <nil> <nil>",
				`SELECT -9223372036854775808, 9223372036854775807, 1e300, 9e999, ''`: "int64 -9223372036854775808, int64 9223372036854775807, float64 1e+300, float64 +Inf, string ",
				"SELECT 'line\nand \u00e9'":                                          "string line\nand \u00e9",
				`SELECT cast(x'c3' AS TEXT)`:                                         "string \xc3",
				`VALUES (1), (2)`:                                                    "int64 1; int64 2",
				`SELECT 1 WHERE 0`:                                                   "",
				`SELECT typeof(dx_value('ana', 500000, 1, 'u'))`:                     "string real",
				`SELECT x`:                          "no such column: x",
				`SELECT dx_value('ana', 1, 0, 'u')`: "dx_value: epsilon must be above 0, got 0",
			} {
				if got := ask(t, s, sql); got != want {
					t.Errorf("%s\nanswers %q, want %q", sql, got, want)
				}
			}
			if got, err := d.Spent(t.Context(), "an*", "kWh"); got != 1 || err != nil {
				t.Errorf("spent %v, %v", got, err)
			}
			if got := ask(t, s, `SELECT dx_value('poor', 1, 1, 'u')`); !strings.Contains(got, "account 'poor'") {
				t.Errorf("a refusal: %q", got)
			}
		})
	}
}

var sealedSetup = Setup{
	SQL: []string{
		`SELECT dx_universe('u', 0, 10, 1, 'kWh'), geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1)`,
		`SELECT budget_limit('*', 'kWh', 9000000), budget_limit('*', 'm', 9000000), budget_limit('poor', 'kWh', 0)`,
		`CREATE TABLE r(trial INTEGER, account TEXT, x REAL, lat REAL, lon REAL)`,
		`INSERT INTO r VALUES (1, 'ana', 3, 48.85, 2.3), (1, 'ben', 4, 48.85, 2.3), (2, 'poor', 5, 48.85, 2.3)`,
	},
	Sealed: []Sealed{{Table: "r", Columns: []string{"x:u", "lat,lon:city"}}},
	Repeat: 2,
}

func newServer(t *testing.T) Host { return Server(newLibrary(t).(Library)) }

// answers reports whether got is want, or contains the part that is between two "…".
func answers(got, want string) bool {
	part := strings.Trim(want, "…")
	return got == want || part != want && strings.Contains(got, part)
}

// Sealed databases answer the same in this process and at a server.
func TestSealed(t *testing.T) {
	for name, newHost := range map[string]func(*testing.T) Host{"library": newLibrary, "server": newServer} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if audited := h.Makes(true); audited != (name == "server") || h.Describe() == "" {
				t.Errorf("%q audits functions over sealed values: %t", h.Describe(), audited)
			}
			d := create(t, h, sealedSetup)
			s := connect(t, d)
			for _, c := range []struct{ sql, want string }{
				{`SELECT 1, 1.5, 'a', NULL`, "int64 1, float64 1.5, string a, <nil> <nil>"},
				{`SELECT count(x), dx_sum(x, 100) FROM r WHERE trial = 1`, "int64 2, float64 7"},
				{`SELECT trial, count(x) FROM r GROUP BY trial`, "int64 1, int64 2; int64 2, int64 1"},
				{`SELECT dx_sum(x, 50) FROM r JOIN (VALUES (1), (2)) WHERE trial = 1`, "float64 14"},
				{`SELECT typeof(geoind_laplace(location, 0.01)) FROM r WHERE trial = 1`, "string text; string text"},
				{`SELECT dx_sum(x, 0) FROM r WHERE trial = 1`, "…epsilon…"},
				{`SELECT dx_sum(x, 1) FROM r JOIN (VALUES (1), (2), (3)) WHERE trial = 1`, "…max-repeat…"},
				{`SELECT dx_sum(x, 1) FROM r`, "…0/kWh…"},
			} {
				if got := ask(t, s, c.sql); !answers(got, c.want) {
					t.Errorf("%s\nanswers %q, want %q", c.sql, got, c.want)
				}
			}
			if got, err := d.Spent(t.Context(), "an*", "kWh"); got != 200 || err != nil {
				t.Errorf("spent %v, %v", got, err)
			}
		})
	}
}

// A session ends a statement with an ended context, or with unwanted rows, and goes on.
func TestEnded(t *testing.T) {
	hosts := maps.Clone(plainHosts)
	hosts["server"] = newServer
	for name, newHost := range hosts {
		t.Run(name, func(t *testing.T) {
			h, setup := newHost(t), plainSetup
			if h.Makes(true) {
				setup = sealedSetup
			}
			s := connect(t, create(t, h, setup))
			enough := errors.New("enough")
			if err := s.Query(t.Context(), numbers+`SELECT i FROM n`, func([]any) error { return enough }); err != enough {
				t.Errorf("a statement that is given up ends with %v", err)
			}
			if got := ask(t, s, `SELECT 1`); got != "int64 1" {
				t.Errorf("afterwards: %q", got)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begun := time.Now()
			err := s.Query(ctx, numbers+`SELECT count(*) FROM n CROSS JOIN n AS m`, func([]any) error { return nil })
			if err == nil || time.Since(begun) > 20*time.Second {
				t.Errorf("a statement whose context ends: %v after %v", err, time.Since(begun))
			}
		})
	}
}

// A database that cannot be reached any more gives no session.
func TestNoSession(t *testing.T) {
	for name, newHost := range map[string]func(*testing.T) Host{"extension": newExtension, "server": newServer} {
		t.Run(name, func(t *testing.T) {
			h, setup := newHost(t), plainSetup
			if h.Makes(true) {
				setup = sealedSetup
			}
			d := create(t, h, setup)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if s, err := d.Connect(ctx); s != nil || err == nil {
				t.Errorf("connecting answers %v, %v", s, err)
			}
		})
	}
}

// A process and its fork never answer alike: a fork refuses.
func TestFork(t *testing.T) {
	s := connect(t, create(t, newExtension(t), plainSetup)).(Forker)
	for range 3 {
		rows, err := s.Fork(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) SELECT dx_value('ana', 500000 + 0*i, 0.001, 'u') FROM n`)
		if err != nil || len(rows[0]) != 1000 || len(rows[1]) != 0 {
			t.Errorf("%d and %d rows, %v", len(rows[0]), len(rows[1]), err)
		}
	}
}

// Without Python, or without an extension, the error is one line.
func TestNoExtension(t *testing.T) {
	if _, err := NewExtension(t.Context(), filepath.Join(t.TempDir(), "geosql.so")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.so")
	if err := os.WriteFile(other, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(pythons()) > 0 {
		if _, err := NewExtension(t.Context(), other); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("with another file: %v", err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := NewExtension(t.Context(), other); err == nil || !strings.Contains(err.Error(), "no python3 in PATH") {
		t.Errorf("without Python: %v", err)
	}
}

// A server that ends makes its sessions fail, and is not waited for.
func TestServerEnds(t *testing.T) {
	d := create(t, newServer(t), sealedSetup).(*serverDatabase)
	s := connect(t, d)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.ended
	if got := ask(t, s, `SELECT 1`); !strings.Contains(got, "geosql serve has ended") {
		t.Errorf("answers %q", got)
	}
}
