package sqlitefn_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
	sqlite3 "github.com/mattn/go-sqlite3"
	"pgregory.net/rapid"
)

// Two databases that differ only in the values of valid secrets must behave the
// same, but for the values that are released under a charge: the same rows,
// columns, types and NULLs, the same errors and refusals in the same rows, the same
// charges and balances. How long that takes is not promised.

// publicRows is common to all databases: the account of each row of t, and
// which of its secrets are NULL.
var publicRows = []struct {
	account        any
	place, reading bool
}{
	{"ana", true, true}, {"bo", true, true}, {"ana", true, false}, {int64(42), false, true},
	{"cy", true, true}, {"ana", true, true}, {"di", false, false}, {"bo", true, true},
}

// secrets are those of one row, each an int64 or a float64.
type secrets struct{ lat, lon, x any }

// A world is the part in which databases may differ.
type world struct {
	name string
	row  func(i int) secrets // from 0
}

// cycle takes the values of the rows from lists that start over at their ends.
func cycle(name string, lats, lons, xs []any) world {
	return world{name, func(i int) secrets {
		return secrets{lats[i%len(lats)], lons[i%len(lons)], xs[i%len(xs)]}
	}}
}

// worlds are about the domain beijing and the universe u; the first lies well
// within both.
var worlds = []world{
	{"inside", func(i int) secrets {
		return secrets{39.5 + 0.2*float64(i), 115.5 + 0.25*float64(i), float64(i + 1)}
	}},
	cycle("border", []any{39.4, 41.1, 41.1, 39.4}, []any{115.4, 115.4, 117.6, 117.6}, []any{0.0, 10.0}),
	cycle("outside", []any{39.3, 45.0, -12.5}, []any{115.3, 2.35, -74.0}, []any{-1.0, 11.0, -0.001, 10.001}),
	cycle("far", []any{90.0, -90.0}, []any{180.0, -180.0, 0.0},
		[]any{1e308, -1e308, int64(math.MaxInt64), int64(math.MinInt64), math.MaxFloat64, 1e15}),
	cycle("equal", []any{40.0}, []any{116.0}, []any{5.0}),
	cycle("integers", []any{int64(40), int64(-90), int64(41)}, []any{int64(116), int64(-180)}, []any{int64(0), int64(5), int64(10), int64(11)}),
	cycle("tiny", []any{5e-324, math.Copysign(0, -1), -5e-324}, []any{math.Copysign(0, -1), 5e-324}, []any{5e-324, math.Copysign(0, -1), -5e-324}),
	cycle("off the grid", []any{39.40000001, 40.123456789}, []any{117.59999999, 116.3}, []any{0.5, 4.4999999, 9.5, 2.0 / 3}),
}

// tape is endless entropy, the same again for the same number.
func tape(number uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], number)
	return rand.NewChaCha8(key)
}

// inhabit opens a database with the table t of a world. Its draws come from the
// tape.
func inhabit(tb testing.TB, w world, number uint64, declarations ...string) *database {
	tb.Helper()
	d := open(tb, ":memory:").drawing(tape(number))
	d.run(`CREATE TABLE t(a INTEGER, account, lat, lon, x)`, `CREATE TABLE n(i INTEGER)`,
		`INSERT INTO n VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)`)
	for i, p := range publicRows {
		s := w.row(i)
		if !p.place { // half a place is none
			s.lon = nil
		}
		if !p.reading {
			s.x = nil
		}
		if _, err := d.try(`INSERT INTO t VALUES (?, ?, ?, ?, ?)`, i+1, p.account, s.lat, s.lon, s.x); err != nil {
			tb.Fatal(err)
		}
	}
	d.function("tick", func(account any) any { return account })
	d.run(declarations...)
	return d
}

// function registers an SQL function of the test's own.
func (d *database) function(name string, f any) {
	d.Helper()
	err := d.conn.Raw(func(c any) error { return c.(*sqlitefn.Conn).RegisterFunc(name, f, false) })
	if err != nil {
		d.Fatal(err)
	}
}

// An event is one thing that a statement shows.
type event struct{ statement, kind, shows string }

// watch runs statements, whether they fail or not, and returns all that they show,
// the values of cells by way of show.
func (d *database) watch(statements []string, show func(any) string) (events []event) {
	d.Helper()
	for _, s := range statements {
		columns, rows, err := d.tryNamed(s)
		events = append(events,
			event{s, "columns", strings.Join(columns, "|")},
			event{s, "rows", table(rows, show)},
			event{s, "error", coded(err)},
			event{s, "refusal", table(d.rows(`SELECT geosql_last_refusal()`), plainly)},
			event{s, "balances", table(d.rows(`SELECT account, unit, spent, reserved, remaining FROM ledger_balance`), plainly)})
	}
	for _, last := range []struct{ kind, query string }{
		{"charges", `SELECT id, function, account, unit, epsilon, evaluations FROM ledger_charges`},
		{"limits", `SELECT account, unit, epsilon_limit, budget_spent(account, unit), budget_remaining(account, unit) FROM ledger_balance`},
		{"changes", `SELECT total_changes(), last_insert_rowid()`},
	} {
		events = append(events, event{last.query, last.kind, table(d.rows(last.query), plainly)})
	}
	return events
}

// table prints rows.
func table(rows [][]any, show func(any) string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, cell := range row {
			b.WriteString(show(cell))
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func plainly(cell any) string { return fmt.Sprintf("%T %[1]v", cell) }

// coordinate is one in a released trace.
var coordinate = regexp.MustCompile(`"(lat|lon)":-?[0-9]+\.[0-9]{7}\b`)

// binCount is the count of a bin, blockSums are those of a curve, released is a percentile among several, cells are the cells that a heat map lists, and belief is the
// estimate from released reports.
var (
	blockSums = regexp.MustCompile(`"sums":\[[-0-9,]*\]`)
	binCount  = regexp.MustCompile(`"count":-?[0-9]+(\.[0-9]+)?\b`)
	released  = regexp.MustCompile(`"value":-?[0-9.]+\b`)
	cells     = regexp.MustCompile(`"features":\[.*\]`)
	belief    = regexp.MustCompile(`("lat":[^"]*,"lon":[^"]*,"cell":|"type":"MultiPolygon",).*`)
)

// veiled hides released values: every REAL, points and their cells, the coordinates of traces, the counts of
// histograms, the sums of curves, several percentiles, the cells of heat maps and estimates from reports. Whole numbers are shown: counts are of rows, which are
// public, and databases on one tape draw alike.
func veiled(cell any) string {
	switch v := cell.(type) {
	case float64:
		return "REAL"
	case string:
		if point.MatchString(v) {
			return "POINT"
		}
		if strings.HasPrefix(v, "POLYGON((") { // the cell of a released point
			return "POLYGON"
		}
		v = cells.ReplaceAllString(v, `"features":CELLS`)
		v = blockSums.ReplaceAllString(v, `"sums":SUMS`)
		v = binCount.ReplaceAllString(v, `"count":COUNT`)
		v = released.ReplaceAllString(v, `"value":REAL`)
		v = belief.ReplaceAllString(v, `BELIEF`)
		return plainly(coordinate.ReplaceAllString(v, `"$1":REAL`))
	}
	return plainly(cell)
}

// coded is an error with SQLite's codes.
func coded(err error) string {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%d %d %v", e.Code, e.ExtendedCode, e)
	}
	return fmt.Sprint(err)
}

// difference is the kind of the first difference of two databases, and a description
// of it; both empty if there is none.
func difference(a, b []event) (kind, is string) {
	if len(a) != len(b) {
		return "events", fmt.Sprintf("%d and %d events", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return a[i].kind, fmt.Sprintf("%s\n%s\n%s\nand\n%s", a[i].statement, a[i].kind, a[i].shows, b[i].shows)
		}
	}
	return "", ""
}

func TestNonInterference(t *testing.T) {
	t.Parallel()
	for _, c := range append(corpora(t), corpus{"nothing is declared", nil, uses}) {
		t.Run(c.name, func(t *testing.T) {
			list := statements(c.steps)
			first := inhabit(t, worlds[0], 1, c.declarations...).watch(list, veiled)
			for _, w := range worlds[1:] {
				other := inhabit(t, w, 1, c.declarations...).watch(list, veiled)
				if _, is := difference(first, other); is != "" {
					t.Errorf("%s and %s differ: %s", worlds[0].name, w.name, is)
				}
			}
		})
	}
}

// anyWorld draws a world: numbers of every size, half of them near the domain
// beijing and the universe u.
func anyWorld(t *rapid.T) world {
	row := rapid.Custom(func(t *rapid.T) secrets {
		return secrets{
			anyNumber(90, 39, 41.5).Draw(t, "lat"),
			anyNumber(180, 115, 118).Draw(t, "lon"),
			anyNumber(math.MaxFloat64, -1, 11).Draw(t, "x"),
		}
	})
	rows := rapid.SliceOfN(row, len(publicRows), len(publicRows)).Draw(t, "rows")
	return world{"any", func(i int) secrets { return rows[i] }}
}

// anyNumber generates an int64 or a float64 from -limit to limit, or from low to
// high.
func anyNumber(limit, low, high float64) *rapid.Generator[any] {
	whole := int64(min(limit, math.MaxInt64/2))
	return rapid.OneOf(
		rapid.Float64Range(low, high).AsAny(),
		rapid.Int64Range(int64(low), int64(high)).AsAny(),
		rapid.Float64Range(-limit, limit).AsAny(),
		rapid.Int64Range(-whole, whole).AsAny(),
		rapid.SampledFrom([]any{-limit, limit, low, high, 0.0, math.Copysign(0, -1), 5e-324, math.Nextafter(limit, 0)}))
}

// Any database behaves as the first, hence any two alike.
func TestNonInterferenceOfAnyWorld(t *testing.T) {
	t.Parallel()
	list := statements(uses)
	first := inhabit(t, worlds[0], 1, usesDeclarations...).watch(list, veiled)
	rapid.Check(t, func(r *rapid.T) {
		d := inhabit(t, anyWorld(r), 1, usesDeclarations...)
		defer d.close()
		if _, is := difference(first, d.watch(list, veiled)); is != "" {
			r.Fatalf("differs from %s: %s", worlds[0].name, is)
		}
	})
}

// Secrets that no release tells apart, those of one cell of the lattice, of one
// step of the universe, or beyond its same end, leave nothing to tell: with the
// same draws even the released values are the same, and all that they steer.
func TestTwinsShowTheSame(t *testing.T) {
	t.Parallel()
	const within = 2e-6 // degrees, a quarter of a step from a lattice point
	// Two points of the border and two that are moved there, as all are in the other
	// domains; and the lattice points of some locations, which a release tells that
	// has no noise: see database.
	lats, lons := []any{41.1, 41.1}, []any{116.0, 117.6}
	otherLats, otherLons := []any{41.2, 60.0}, []any{116.0, 150.0}
	d := inhabit(t, worlds[0], 1, usesDeclarations...)
	for _, row := range d.rows(`SELECT g.lat, g.lon FROM t, geoind_laplace('ana', t.lat, t.lon, 100) g WHERE t.a < 4`) {
		lats, otherLats = append(lats, row[0]), append(otherLats, row[0].(float64)+within)
		lons, otherLons = append(lons, row[1]), append(otherLons, row[1].(float64)-within)
	}
	one := cycle("one", lats, lons, []any{3.0, 10.0, 0.0, 4.5, 0.0})
	other := cycle("other", otherLats, otherLons, []any{int64(3), 1e308, -17.25, 4.6, 5e-324})
	list := slices.Concat(sqlitefn.Releases(t), statements(shapeSteps(false)), statements(shapeSteps(true)), statements(uses))
	// A location of cip_trace is rounded to the lattice only after its noise is added, so
	// that two locations of a cell may show different points, as its bound allows.
	list = slices.DeleteFunc(list, func(sql string) bool { return strings.Contains(sql, "cip_trace(") })
	shown := inhabit(t, one, 2, usesDeclarations...).watch(list, plainly)
	if _, is := difference(shown, inhabit(t, other, 2, usesDeclarations...).watch(list, plainly)); is != "" {
		t.Errorf("they differ: %s", is)
	}
	// That is not so for lack of draws, nor for others.
	if kind, _ := difference(shown, inhabit(t, one, 3, usesDeclarations...).watch(list, plainly)); kind == "" {
		t.Error("other draws show the same")
	}
	if kind, _ := difference(shown, inhabit(t, worlds[0], 2, usesDeclarations...).watch(list, plainly)); kind == "" {
		t.Error("other secrets show the same")
	}
}

// planted are statements in which a secret interferes, each in one way only, and
// the kind of event that gives it away. They do in SQL, where a condition on a
// secret is outside the promise, the things that no function may do.
var planted = map[string]struct{ statement, kind string }{
	"error beyond a threshold": {`SELECT a, strict(x) FROM t`, "rows"},
	"error in the first row":   {`SELECT strict(x) FROM t WHERE a = 2`, "rows"},
	"text of an error":         {`SELECT telling(x) FROM t WHERE a = 2`, "error"},
	"error of a constraint":    {`INSERT INTO one SELECT x > 5 FROM t WHERE a = 2`, "error"},
	"row less":                 {`SELECT dx_value(account, x, 1, 'u') FROM t WHERE x <= 5`, "rows"},
	"NULL":                     {`SELECT dx_value(account, x, 1, 'u') + CASE WHEN x <= 5 THEN 0 END FROM t`, "rows"},
	"type":                     {`SELECT iif(x > 5, CAST(z AS INTEGER), z) FROM (SELECT x, dx_value(account, x, 1, 'u') AS z FROM t LIMIT -1 OFFSET 0)`, "rows"},
	"charged twice":            {`SELECT dx_value(account, x, 1, 'u') + iif(x > 5, dx_value(account, x, 1, 'u'), 0) FROM t`, "balances"},
	"charged more":             {`SELECT dx_value(account, x, iif(x > 5, 2, 1), 'u') FROM t`, "balances"},
	"group charged otherwise":  {`SELECT dx_sum(account, min(x, 5), iif(x > 5, 2, 1), 'u') FROM t GROUP BY a`, "balances"},
	"charged in another order": {`SELECT dx_value(account, x, 1, 'u') FROM (SELECT * FROM t ORDER BY x LIMIT -1)`, "charges"},
	"another account":          {`SELECT dx_value(iif(x > 5, 'ana', 'bo'), x, 1, 'u') FROM t`, "balances"},
	"counted":                  {`SELECT dx_count(iif(x > 5, account, NULL), 100) FROM t`, "rows"},
	"refused earlier":          {`SELECT dx_value('poor', x, iif(x > 5, 1.5, 1), 'u') FROM t`, "rows"},
	"refused with other text":  {`SELECT dx_value('poor', x, iif(x > 5, 9, 10), 'u') FROM t WHERE a = 2`, "error"},
	"row written":              {`INSERT INTO one SELECT 10 + a FROM t WHERE x > 5 RETURNING i`, "rows"},
}

// The comparison catches each of them.
func TestNonInterferenceIsNotBlind(t *testing.T) {
	low := cycle("low", []any{40.0}, []any{116.0}, []any{3.0, 4.0, 2.0, 1.0})
	high := cycle("high", []any{40.0}, []any{116.0}, []any{3.0, 7.0, 9.0, 8.0})
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			show := func(w world) []event {
				d := inhabit(t, w, 1, declarations...)
				d.function("strict", func(x any) (any, error) {
					if v, ok := x.(float64); ok && v > 5 {
						return nil, errors.New("too large")
					}
					return x, nil
				})
				d.function("telling", func(x any) (any, error) { return nil, fmt.Errorf("cannot release %v", x) })
				d.run(`SELECT budget_limit('poor', 'kWh', 3.5)`, `CREATE TABLE one(i CHECK (i <> 1))`)
				return d.watch([]string{p.statement}, veiled)
			}
			lowShows := show(low)
			if _, is := difference(lowShows, show(low)); is != "" {
				t.Errorf("the same database differs from itself: %s", is)
			}
			if kind, is := difference(lowShows, show(high)); kind != p.kind {
				t.Errorf("caught by %q, want %q: %s", kind, p.kind, is)
			}
		})
	}
}
