package serve

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// callers is how many sessions, or callers of a ledger, ask at a time.
const callers = 64

// perSecond returns how often all callers together call fn in a second.
func perSecond(b *testing.B, fn func(caller, n int) error) float64 {
	b.Helper()
	var calls atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for caller := range callers {
		all.Go(func() {
			for n := 0; time.Since(begun) < 5*time.Second; n++ {
				if err := fn(caller, n); err != nil {
					b.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	all.Wait()
	return float64(calls.Load()) / time.Since(begun).Seconds()
}

// BenchmarkCharges compares 64 sessions with questions that each charge 12 accounts, and the role for them, with 64 callers
// of a ledger that charge 12 accounts.
func BenchmarkCharges(b *testing.B) {
	p := newPlace(b, "1000000")
	p.analyst("ann", "1000000", "--epsilon-min", "kWh=1e-9", "--answers", "1000000000") // no question comes twice
	l, err := file.Open(filepath.Join(b.TempDir(), "ledger"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if err := l.SetLimit(ledger.Everyone, "kWh", 1_000_000*budget.One, 0); err != nil {
		b.Fatal(err)
	}
	items := make([]ledger.Item, meters)
	for i := range items {
		items[i] = ledger.Item{Account: fmt.Sprint(owner, i), Epsilon: 1, Evaluations: 1}
	}
	s := p.serve()
	sessions := make([]*session, callers)
	for i := range sessions {
		sessions[i] = s.session("ann")
	}
	for range b.N {
		own := perSecond(b, func(int, int) error { return l.Charge("dx_sum", "kWh", items) })
		served := perSecond(b, func(caller, n int) error { // no question comes twice
			_, err := sessions[caller].ask(`SELECT dx_sum(kwh, $1) FROM reading WHERE rowid <= 12`, 1e-9*float64(callers*n+caller+1))
			return err
		})
		b.ReportMetric(own, "ledger/s")
		b.ReportMetric(served, "served/s")
		b.ReportMetric(served/own, "ratio")
	}
}

// BenchmarkIdle reports the memory that an idle session takes: its own memory, and its part of shared memory.
func BenchmarkIdle(b *testing.B) {
	p := newPlace(b, "1000000")
	p.analyst("ann", "1000000")
	s := p.serve()
	pss := func() (kb float64) {
		for _, pid := range append(s.workers(), s.PID()) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
			if err != nil {
				b.Skip("no /proc/PID/smaps_rollup: ", err)
			}
			for line := range strings.Lines(string(text)) {
				if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
					n, _ := strconv.ParseFloat(fields[1], 64)
					kb += n
				}
			}
		}
		return kb
	}
	s.session("ann").answers("SELECT 1", "1") // from then on a worker waits
	time.Sleep(time.Second)
	for range b.N {
		before := pss()
		for range 16 {
			s.session("ann").answers("SELECT 1", "1")
		}
		time.Sleep(time.Second)
		b.ReportMetric((pss()-before)/16/1024, "MB/session")
	}
}

// newMillion makes a sealed database with a million rows, of 60 accounts.
func newMillion(b *testing.B) *place {
	b.Helper()
	dir := b.TempDir()
	p := &place{b, filepath.Join(dir, "energy.db"), filepath.Join(dir, "owner.key")}
	plain := filepath.Join(dir, "plain.db")
	p.run(plain, `CREATE TABLE reading(id INTEGER PRIMARY KEY, meter TEXT NOT NULL, hour INTEGER, degrees REAL, name TEXT, kwh REAL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		INSERT INTO reading SELECT i, 'm' || (i % 60), i / 60, i % 700 / 20.0, 'row number ' || i, i % 31 / 10.0 FROM n;
		SELECT dx_universe('energy', 0, 3, 0.1, 'kWh'), budget_limit('*', 'kWh', 1000000)`)
	p.run("keygen", p.key)
	p.run("seal", plain, p.path, "--key", p.key+".pub", "--table", "reading", "--account", "meter", "--seal", "kwh:energy", "--public", "hour,degrees,name", "--yes")
	p.role("ann", "--columns", "reading.kwh", "--epsilon", "kWh=1000000", "--timeout", "60", "--epsilon-min", "kWh=1e-9")
	return p
}

// BenchmarkSum compares a sum of a million sealed values over the wire with the same in one process.
func BenchmarkSum(b *testing.B) {
	p := newMillion(b)
	session := p.serve().session("ann")
	for n := range b.N {
		begun := time.Now()
		p.run("--key", p.key, p.path, fmt.Sprintf(`SELECT dx_sum(kwh, 0.0%06d1) FROM reading`, 2*n+1))
		own := time.Since(begun)
		begun = time.Now()
		p.run("--key", p.key, p.path, `SELECT 1`)
		own -= time.Since(begun) // starting the program and opening the database
		begun = time.Now()
		if _, err := session.ask(fmt.Sprintf(`SELECT dx_sum(kwh, 0.0%06d1) FROM reading`, 2*n+2)); err != nil {
			b.Fatal(err)
		}
		served := time.Since(begun)
		b.ReportMetric(float64(own.Milliseconds()), "own-ms")
		b.ReportMetric(float64(served.Milliseconds()), "served-ms")
		b.ReportMetric(served.Seconds()/own.Seconds(), "ratio")
	}
}

// BenchmarkRows reports how long psql takes for a million rows from the server, and, if GEOSQL_POSTGRES is the connection
// string of a PostgreSQL in which it may make a table, from that.
func BenchmarkRows(b *testing.B) {
	psql := need.Program(b, "psql")
	p := newMillion(b)
	host, port, _ := net.SplitHostPort(p.serve().Address)
	served, other := fmt.Sprintf("host=%s port=%s user=ann password=ann dbname=energy", host, port), os.Getenv("GEOSQL_POSTGRES")
	run := func(dsn, query string, in io.Reader) []byte {
		cmd := exec.Command(psql, "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", query, dsn)
		cmd.Stdin, cmd.Stderr = in, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	if other != "" {
		rows := run(served, `COPY (SELECT hour, degrees, name FROM reading) TO STDOUT`, nil)
		run(other, `DROP TABLE IF EXISTS reading; CREATE TABLE reading(hour bigint, degrees double precision, name text)`, nil)
		run(other, `COPY reading FROM STDIN`, bytes.NewReader(rows))
	}
	seconds := func(dsn string) float64 {
		begun := time.Now()
		if lines := bytes.Count(run(dsn, `SELECT hour, degrees, name FROM reading`, nil), []byte("\n")); lines != 1_000_000 {
			b.Fatalf("%d lines", lines)
		}
		return time.Since(begun).Seconds()
	}
	for range b.N {
		own := seconds(served)
		b.ReportMetric(own, "s")
		if other != "" {
			b.ReportMetric(own/seconds(other), "ratio")
		}
	}
}

// BenchmarkPreflight compares statements of several questions about a million sealed values, whose cost the server asks for before they
// run, with the same without that.
func BenchmarkPreflight(b *testing.B) {
	p := newMillion(b)
	session := p.serve().session("ann")
	seconds := func(sql, preflight string, n int) float64 {
		if _, err := session.ask("SET geosql.preflight = " + preflight); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if _, err := session.ask(fmt.Sprintf(sql, n)); err != nil {
			b.Fatal(err)
		}
		return time.Since(begun).Seconds()
	}
	for name, sql := range map[string]string{
		"groups":      `SELECT hour %% 24, dx_sum(kwh, 0.0%06d1) FROM reading GROUP BY 1`,
		"aggregates":  `SELECT dx_sum(kwh, 0.0%06d1), dx_avg(kwh, 0.1) FROM reading`,
		"one":         `SELECT dx_sum(kwh, 0.1%06d1) FROM reading`,
		"few of many": `SELECT hour %% 24, dx_sum(kwh, 0.0%06d1) FROM reading WHERE hour < 240 GROUP BY 1`,
	} {
		b.Run(name, func(b *testing.B) {
			var on, ratios []float64
			for n := range b.N {
				off := seconds(sql, "off", 2*n+1)
				on = append(on, seconds(sql, "on", 2*n+2))
				ratios = append(ratios, on[n]/off)
			}
			slices.Sort(on)
			slices.Sort(ratios)
			b.ReportMetric(on[len(on)/2], "s")
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
		})
	}
}

// BenchmarkValues reports how many rows a second have an answer of their own, each charged, and the same when they are given again.
func BenchmarkValues(b *testing.B) {
	const rows = 200_000
	p := newMillion(b)
	p.role("eve", "--columns", "reading.kwh", "--epsilon", "kWh=1000000", "--timeout", "60", "--answers", "1000000000", "--answer-bytes", "1000000000000")
	session := p.serve().session("eve")
	for n := range b.N {
		for _, unit := range []string{"rows/s", "again/s"} {
			begun := time.Now()
			if _, err := session.ask(fmt.Sprintf(`SELECT hour, dx_value(kwh, 0.1%06d1) FROM reading LIMIT %d`, n, rows)); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(rows/time.Since(begun).Seconds(), unit)
		}
	}
}
