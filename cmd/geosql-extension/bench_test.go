package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/sqlitefn"
)

const benchRows = 1_000_000

// BenchmarkCHost runs each query through the Go binding and in a C host that has
// loaded the extension, in turns, and reports the best time in the C host as a
// multiple of the best through the binding. The SQLites of the two differ; base is
// the same ratio for a query without our functions.
func BenchmarkCHost(b *testing.B) {
	needTools(b)
	const base = `SELECT count(max(lat, lon, 0.01)) FROM t`
	path := filepath.Join(b.TempDir(), "bench.db")
	conn := benchConn(b, path)
	for _, q := range []struct{ name, query string }{
		{"table", `SELECT count(g.lat), count(g.lon) FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`},
		{"scalar", `SELECT count(geoind_laplace(account, lat, lon, 0.01)) FROM t`},
		{"sum", `SELECT dx_sum(account, x, 0.01, 'u') FROM t`},
	} {
		b.Run(q.name, func(b *testing.B) {
			queries := [2]string{q.query, base}
			c := startCHost(b, path, queries)
			best := [2][2]time.Duration{{1 << 62, 1 << 62}, {1 << 62, 1 << 62}} // Go, C; query, base
			for b.Loop() {
				for range 5 {
					for i := range queries {
						best[0][i] = min(best[0][i], ask(b, conn, queries[i]))
						best[1][i] = min(best[1][i], c.ask(b, i))
					}
				}
			}
			b.ReportMetric(float64(best[1][0])/float64(best[0][0]), "ratio")
			b.ReportMetric(float64(best[1][1])/float64(best[0][1]), "base-ratio")
			b.ReportMetric(float64(best[0][0].Nanoseconds())/benchRows, "go-ns/row")
			b.ReportMetric(float64(best[1][0].Nanoseconds())/benchRows, "c-ns/row")
		})
	}
}

// benchConn makes a database of benchRows rows of one account.
func benchConn(b *testing.B, path string) *sql.Conn {
	b.Helper()
	db := sql.OpenDB(sqlitefn.Connector(path))
	b.Cleanup(func() { db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	for _, s := range []string{
		`CREATE TABLE t(account TEXT, lat REAL, lon REAL, x REAL)`,
		fmt.Sprintf(`INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT 'ana', 39.5 + (i %% 1000) * 0.001, 116 + (i / 1000) * 0.001, (i %% 3000) * 0.001 FROM n`, benchRows-1),
		`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), dx_universe('u', 0, 10, 0.001, 'kWh'),
			budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000)`,
	} {
		ask(b, conn, s)
	}
	return conn
}

// ask runs a query to its end and returns its time.
func ask(b *testing.B, conn *sql.Conn, query string) time.Duration {
	b.Helper()
	start := time.Now()
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// cHost is testdata/bench.c at work.
type cHost struct {
	in  io.Writer
	out io.Reader
}

func startCHost(b *testing.B, path string, queries [2]string) cHost {
	b.Helper()
	cmd := exec.Command(program("bench").path(b), append([]string{library.path(b), path}, queries[:]...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	return cHost{in, out}
}

// ask runs a query in the host and returns its time there.
func (c cHost) ask(b *testing.B, query int) (took time.Duration) {
	b.Helper()
	fmt.Fprintln(c.in, query)
	if _, err := fmt.Fscanln(c.out, &took); err != nil {
		b.Fatal(err)
	}
	return took
}
