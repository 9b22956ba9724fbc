package sqlitefn_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// A lender lends memory up to a limit.
type lender struct {
	lent, most, limit int64
}

var errLent = errors.New("there is no more memory")

func (l *lender) lend(bytes int64) error {
	if bytes > 0 && l.lent+bytes > l.limit {
		return errLent
	}
	l.lent += bytes
	l.most = max(l.most, l.lent)
	return nil
}

// blob returns the bytes of a literal such as x'00'.
func blob(t testing.TB, literal string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Trim(literal, "xX'"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An evaluation takes the memory of its groups before it uses it, and gives it back when it ends.
func TestMemoryIsTakenBefore(t *testing.T) {
	const accounts, rows = 500, 60_000
	var owners []sealedRow
	for i := range accounts {
		owners = append(owners, sealedRow{who: fmt.Sprint("home ", i), zone: 1, lat: 39.9, lon: 116.3})
	}
	d := newDesk(t, owners)
	readings, places, persons := make([][]byte, rows), make([][]byte, rows), make([][]byte, rows)
	for i := range rows {
		who := owners[i%accounts].who
		readings[i] = blob(t, d.seal.Reading(columnKWh, who, int64(i%11)))
		persons[i] = append(append([]byte{}, readings[i]...), "p\x00\x00\x00\x00\x00\x00\x00\x00\x40\x59\x00\x00\x00\x00\x00\x00"...) // from 0 to 100
		places[i] = blob(t, d.seal.Location(columnPlace, who, 39.5+float64(i%300)/200, 115.5+float64(i/300)/200))
	}
	lent := &lender{limit: 1 << 40}
	d.analyst.Memory = lent.lend
	for _, c := range []struct {
		function string
		values   [][]byte
		args     []any
		groups   int // open at a time
		leaveOut bool
	}{
		{"dx_sum", readings, []any{0.001}, 1, false},
		{"dx_sum", readings, []any{0.001}, 8, false},
		{"dx_sum", readings, []any{0.001}, 1, true},
		{"dx_sum", readings, []any{0.001, "dh"}, 4, false},
		{"dx_median", readings, []any{0.001}, 2, false},
		{"dx_median", readings, []any{0.001, "dh"}, 2, true},
		{"dx_curve", readings, []any{0.001}, 2, false},
		{"dx_curve", readings, []any{0.001, 10_000}, 2, false},
		{"dx_variance", readings, []any{0.001}, 2, false},
		{"dx_histogram", readings, []any{0.001, 11}, 3, false},
		{"dx_percentiles", readings, []any{"[5, 25, 50]", 0.001, "dh"}, 2, false},
		{"dx_sum", persons, []any{0.001}, 8, false},
		{"dx_median", persons, []any{0.001}, 2, true},
		{"dx_heatmap", places, []any{0.5, 500.0}, 2, false},
		{"dx_centroid", places, []any{0.00001}, 2, true},
	} {
		name := fmt.Sprint(c.function, c.args, c.groups, c.leaveOut)
		d.analyst.LeaveOut = c.leaveOut
		e := d.evaluator.Begin(d.analyst, false)
		args := make([]sqlite.Value, 1+len(c.args))
		var texts [][]byte // which args do not keep alive
		for i, a := range c.args {
			switch a := a.(type) {
			case int:
				args[1+i].SetInt(int64(a))
			case float64:
				args[1+i].SetFloat(a)
			case string:
				texts = append(texts, []byte(a))
				args[1+i].SetText(texts[len(texts)-1])
			}
		}
		var groups []*sqlitefn.EvaluatedGroup
		before := heap()
		lent.most = 0
		for range c.groups {
			g, err := e.Group(c.function, len(args))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range c.values {
				args[0].SetBlob(v)
				if err := g.Step(args); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			groups = append(groups, g)
		}
		used := heap() - before
		if used > lent.lent {
			t.Errorf("%s: the rows use %d bytes, and %d are taken", name, used, lent.lent)
		}
		for _, g := range groups {
			if _, err := g.Final(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		kept := lent.lent
		e.End()
		if lent.lent != 0 {
			t.Errorf("%s: %d bytes are not given back", name, lent.lent)
		}
		t.Logf("%s: rows used %.1f MB of %.1f; answered groups keep %.1f MB", name, float64(used)/1e6, float64(lent.most)/1e6, float64(kept)/1e6)
		runtime.KeepAlive(groups)
		runtime.KeepAlive(texts)
	}
}

// A statement that may not take more memory fails, charges nobody for the answer, and gives back its memory.
func TestMemoryIsRefused(t *testing.T) {
	d := newDesk(t, sealedRows)
	for _, query := range []string{
		`SELECT dx_sum(kwh, 1) FROM s`,
		`SELECT dx_median(kwh, 1, 'dh'), dx_count(one, 1) FROM s GROUP BY zone`,
		`SELECT dx_histogram(kwh, 1, 3) FROM s`,
		`SELECT dx_curve(kwh, 1, 2) FROM s`,
		`SELECT dx_heatmap(place, 1, 50000) FROM s`,
		`SELECT dx_heatmap(place, 1, 50000, 'adaptive') FROM s`,
		`SELECT dx_avg(dx_person(kwh, 0, 20), 1) FROM s`,
	} {
		lent := &lender{limit: 10_000}
		d.analyst.Memory = lent.lend
		before := d.state()
		if _, err := d.ask(query); err == nil || !strings.Contains(err.Error(), errLent.Error()) || !errors.Is(d.evaluation.Err(), errLent) {
			t.Errorf("%s: %v", query, err)
		}
		if after := d.state(); after != before || lent.lent != 0 {
			t.Errorf("%s: %s became %s, %d bytes are not given back", query, before, after, lent.lent)
		}
		lent.limit = 1 << 30
		if _, err := d.ask(query); err != nil || lent.lent != 0 {
			t.Errorf("%s: %v, %d bytes are not given back", query, err, lent.lent)
		}
	}
}
