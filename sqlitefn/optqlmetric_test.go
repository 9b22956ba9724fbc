package sqlitefn_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// roads are the distances from place p of town to all others o, each an expression.
func roads(expression string) string {
	return `(SELECT json_group_array(json_array(o.lat, o.lon, ` + expression + `)) FROM place o WHERE o.people <> p.people)`
}

// along is the expression of distances along a line, so many metres a place.
func along(metres float64) string { return fmt.Sprintf(`%v * abs(o.people - p.people)`, metres) }

func built(metric string) string {
	return `optql_build(p.lat, p.lon, p.people, 0.0003, 1, 'beijing', ` + metric + `)`
}

// stores stores a mechanism on the places of town.
func (d *database) stores(name, metric string) string {
	d.Helper()
	return d.value(`SELECT optql_store(?, `+built(metric)+`) FROM place p`, name).(string)
}

func TestMetricRefuses(t *testing.T) {
	d := town(t)
	good := roads(along(2000))
	but := func(of int, other string) string { return fmt.Sprintf(`iif(p.people = %d, %s, %s)`, of, other, good) }
	// In the order of places those on one parallel come from the middle of the box.
	one, two, three := placed(t, 40, 116), placed(t, 40, 116.06), placed(t, 40, 116.12)
	of1, from1 := "metric of place "+one, "metric from place "+one+" to "+two
	for metric, want := range map[string]string{
		`'taxicab'`:                  "metric must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got 'taxicab'",
		`'Euclid'`:                   "metric must be 'euclid'",
		`''`:                         "metric must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got ''",
		`'{"lat": 40}'`:              "metric must be 'euclid'",
		`hex(zeroblob(9999))`:        "metric must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got '" + strings.Repeat("0", 40) + "'",
		`1`:                          "metric must be TEXT, got INTEGER",
		`CAST(` + good + ` AS BLOB)`: "metric must be TEXT, got BLOB",

		but(5, `'euclid'`):                         "metric changes within a group",
		but(5, `'manhattan'`):                      "metric changes within a group",
		but(5, `NULL`):                             "metric changes within a group",
		`iif(p.people = 5, 'manhattan', 'euclid')`: "metric changes within a group",

		but(1, `'['`):                         of1 + " must be a JSON array of [lat, lon, metres], three numbers each",
		but(1, `'[1]'`):                       of1 + " must be a JSON array",
		but(1, `'[[40, 116]]'`):               of1 + " must be a JSON array",
		but(1, `'[[40, 116, 1, 1]]'`):         of1 + " must be a JSON array",
		but(1, `'[[40, 116, null]]'`):         of1 + " must be a JSON array",
		but(1, `'[[40, 116, "5"]]'`):          of1 + " must be a JSON array",
		but(1, `'[[40, 116, NaN]]'`):          of1 + " must be a JSON array",
		but(1, `'[[40, 116, 1e999]]'`):        of1 + " must be a JSON array",
		but(1, `'[[40, 116, 1] [40, 1, 1]]'`): of1 + " must be a JSON array",
		but(1, `'[] []'`):                     of1 + " must be a JSON array",
		but(1, good+` || ' x'`):               of1 + " must be a JSON array",
		but(1, `'[null]'`):                    of1 + " must be a JSON array",
		but(1, `(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1025) SELECT json_group_array(json_array(40, 116 + i / 1000.0, 1)) FROM s)`): of1 + " has more than 1024 entries",

		but(1, `'[[90.5, 116, 1]]'`):                               of1 + " has a lat beyond 90 or a lon beyond 180: 90.5, 116",
		but(1, `'[[40, -181, 1]]'`):                                of1 + " has a lat beyond 90 or a lon beyond 180: 40, -181",
		but(1, `'[[40, 116.06, 0]]'`):                              from1 + " must be above 0 and at most 1000000000 metres, got 0",
		but(1, `'[[40, 116.06, -0.0]]'`):                           from1 + " must be above 0",
		but(1, `'[[40, 116.06, -5]]'`):                             from1 + " must be above 0 and at most 1000000000 metres, got -5",
		but(1, `'[[40, 116.06, 1e-999]]'`):                         from1 + " must be above 0",
		but(1, `'[[40, 116.06, 2e9]]'`):                            from1 + " must be above 0 and at most 1000000000 metres, got 2000000000",
		but(1, `'[[40, 116, 1]]'`):                                 "metric from place " + one + " to " + one + " itself must be 0, got 1",
		but(1, `'[[40, 116.06, 2000], [40, 116.06000001, 2000]]'`): from1 + " is given twice",
		but(1, `'[[40, 116, 0], [40, 116, 0]]'`):                   "metric from place " + one + " to " + one + " is given twice",

		but(1, `'[]'`):                                            "metric lacks the distance from place " + one + " to " + three,
		but(1, `'[[40, 116, 0]]'`):                                "metric lacks the distance from place " + one + " to " + three,
		but(2, `'[[40, 116, 2000]]'`):                             "metric lacks the distance from place " + two + " to " + three,
		but(1, `'[[40.001, 116, 500]]'`):                          of1 + " has a distance to " + placed(t, 40.001, 116) + ", which is none of the places",
		roads(along(2000) + ` + (p.people = 1 AND o.people = 2)`): "metric is 2000 m from place " + two + " to " + one + " and 2001 m back; it must be the same both ways",
		roads(along(2000) + ` + (min(p.people, o.people) = 1 AND max(p.people, o.people) = 3)`): "metric violates the triangle inequality: 4001 m from place " +
			three + " to " + one + ", 4000 m by way of " + two,
	} {
		d.fails(`SELECT `+built(metric)+` FROM place p`, "optql_build: "+want)
	}
	d.fails(`SELECT `+built(good)+` FROM place p WHERE people <= 8`, "optql_build: metric of place "+three+" has a distance to "+placed(t, 40.1, 116.12)+", which is none of the places")
}

// Whatever the order of rows and of their lists, and whether a place says 0 of
// itself, the mechanism is of the same distances.
func TestMetricIsOfASet(t *testing.T) {
	d := town(t)
	d.stores("line", roads(along(2000)))
	for _, metric := range []string{
		roads(along(2000)), strings.Replace(roads(along(2000)), `WHERE o.people <> p.people`, ``, 1),
		`(SELECT json_group_array(json_array(o.lat, o.lon, 2e3 * abs(o.people - p.people)) ORDER BY random()) FROM place o)`,
		`' ' || char(10) || ` + roads(along(2000)),
	} {
		for _, from := range []string{`place p`, `(SELECT * FROM place ORDER BY random()) p`} {
			d.run(`SELECT optql_store('line', ` + built(metric) + `) FROM ` + from)
		}
	}
	for _, metric := range []string{`'euclid'`, `'manhattan'`, `NULL`, roads(along(2001))} {
		d.fails(`SELECT optql_store('line', `+built(metric)+`) FROM place p`, "optql_store: mechanism 'line' is stored already and cannot change")
	}
	d.run(`SELECT optql_store('town', ` + build + `) FROM place`)
	for _, metric := range []string{`'euclid'`, `NULL`} {
		d.stores("town", metric)
	}
}

// The certified distances are the ones that were asked for, and the loss is
// measured in them.
func TestMetricsOfMechanisms(t *testing.T) {
	d := town(t)
	order := inOrder(t)
	domain := beijing(t)
	for name, c := range map[string]struct {
		metric   string
		distance func(x, z int) float64
	}{
		"manhattan": {`'manhattan'`, func(x, z int) float64 {
			a, b := domain.Cell(40+0.05*float64(x/3), 116+0.06*float64(x%3)), domain.Cell(40+0.05*float64(z/3), 116+0.06*float64(z%3))
			return math.Abs(float64(a.I-b.I)) + math.Abs(float64(a.J-b.J)) // of a step of 1 m
		}},
		"given": {roads(along(2000.1)), func(x, z int) float64 { return 2000.1 * math.Abs(float64(x-z)) }},
	} {
		t.Run(name, func(t *testing.T) {
			d := d.with(t)
			d.stores(name, c.metric)
			m := d.mechanism(name, 9)
			privacy, matrix, loss := m.Privacy(), m.Matrix(), 0.0
			for x := range 9 {
				for z := range 9 {
					want := c.distance(x, z)
					got := privacy[order[x]][order[z]]
					if got > want || got < want*(1-0x1p-47) {
						t.Errorf("%v from %d to %d, want %v", got, x, z, want)
					}
					loss += float64(x+1) / 45 * matrix[order[x]][order[z]] * want
				}
			}
			r := d.report(name)
			if r.Metric != name || r.Unit != "m:"+name || math.Abs(r.QualityLoss-loss) > 1e-9*loss || r.Places != 9 {
				t.Errorf("%+v, want a loss of %v", r, loss)
			}
			if !(r.AdvError <= r.QualityLoss*(1+1e-12) && r.AdvError >= r.QualityLoss*(1-2e-4)) {
				t.Errorf("adversary's error %v of a loss of %v: theorem 6.2 of the thesis", r.AdvError, r.QualityLoss)
			}
		})
	}
	// The farthest location is as far in the frame, whatever the metric.
	if a, b := d.report("manhattan").LargestSnap, d.report("given").LargestSnap; a != b || a < 50_000 {
		t.Errorf("largest snaps %v and %v", a, b)
	}
}

// The unit of a mechanism's charges follows from its distances: metres only if none of
// them is longer than the geodesic.
func TestUnitOfMechanism(t *testing.T) {
	d := town(t)
	// The shortest geodesic between places is some 5.1 km, from 1 to 4 some 5.5 km.
	for name, c := range map[string]struct{ metric, unit string }{
		"straight": {`'euclid'`, "m"},
		"blocks":   {`'manhattan'`, "m:blocks"},
		"short":    {roads(along(500)), "m"},
		"long":     {roads(along(2000)), "m:long"},
		"tunnel":   {roads(`5000`), "m"},
		"bridge":   {roads(`5000 + 200 * (min(p.people, o.people) = 1 AND max(p.people, o.people) = 2)`), "m:bridge"},
		"m":        {`'manhattan'`, "m:m"},
		"o'hare*":  {`'manhattan'`, "m:o'hare*"},
		"Straße 1": {`'manhattan'`, "m:Straße 1"},
	} {
		if line := d.stores(name, c.metric); !strings.Contains(line, "0.0003/"+c.unit+" a release") {
			t.Errorf("%s: %s", name, line)
		}
		if got := d.report(name).Unit; got != c.unit {
			t.Errorf("%s is charged in %s, want %s", name, got, c.unit)
		}
		if c.unit != "m" {
			_, err := d.try(`SELECT geoind_optimal('ana', 40, 116, ?)`, name)
			if err == nil {
				t.Fatalf("%s: charged without a budget", name)
			}
			sql := strings.ReplaceAll(c.unit, "'", "''")
			d.mentions(err, "geoind_optimal: account 'ana' has no budget in unit '"+sql+"' (limits exist for ",
				"; set one: SELECT budget_limit('ana', '"+sql+"', EPSILON)")
			_, cure, _ := strings.Cut(err.Error(), "set one: ")
			cure, _, _ = strings.Cut(cure, " or ")
			d.run(strings.Replace(cure, "EPSILON", "0.0004", 1))
		}
		before := d.spent("ana", c.unit)
		if _, err := d.try(`SELECT geoind_optimal('ana', 40, 116, ?)`, name); err != nil {
			t.Fatal(err)
		}
		if got := d.spent("ana", c.unit); math.Abs(got-before-0.0003) > 1e-15 {
			t.Errorf("%s costs %v/%s", name, got-before, c.unit)
		}
		if _, err := d.try(`DELETE FROM geosql_optimal WHERE name = ?`, name); err != nil { // one blob may have two names
			t.Fatal(err)
		}
		if c.unit != "m" {
			d.run(`SELECT budget_limit('ana', '` + strings.ReplaceAll(c.unit, "'", "''") + `', 0)`)
		}
	}
	d.spends("ana", "m", 0.0009)
	for _, name := range []string{"", "two\nlines", "nul\x00", "\xff"} {
		_, err := d.try(`SELECT optql_store(CAST(? AS TEXT), `+built(`'manhattan'`)+`) FROM place p`, []byte(name))
		if err == nil {
			t.Errorf("a mechanism is called %q", name)
			continue
		}
		d.mentions(err, "optql_store: name must be printable text")
	}
}

// One mechanism under two names has two units.
func TestUnitsOfTwoNames(t *testing.T) {
	d := town(t)
	d.stores("one", `'manhattan'`)
	d.run(`SELECT optql_store('two', mechanism) FROM geosql_optimal WHERE name = 'one'`,
		`SELECT budget_limit('*', 'm:one', 1), budget_limit('*', 'm:two', 1)`,
		`SELECT geoind_optimal('ana', lat, lon, iif(people < 4, 'one', 'two')) FROM place`)
	d.spends("ana", "m:one", 0.0009)
	d.spends("ana", "m:two", 0.0018)
	d.spends("ana", "m", 0)
}

func TestChargesOfOwnUnit(t *testing.T) {
	d := town(t)
	d.stores("line", roads(along(2000)))
	d.run(`SELECT budget_limit('*', 'm:line', 1)`, `CREATE TABLE fix(account, lat, lon)`,
		`INSERT INTO fix `+numbered("10")+`SELECT iif(i % 2, 'ana', 'bo'), 40.03, iif(i > 8, NULL, 116.05) FROM s`)
	for _, query := range []string{`SELECT geoind_optimal(account, lat, lon, 'line') FROM fix`,
		`SELECT g.* FROM fix f, geoind_optimal(f.account, f.lat, f.lon, 'line') g`} {
		d.chargesFour(query, "m:line")
	}
	d.spends("ana", "m", 0)
	d.run(`SELECT budget_limit('poor', 'm:line', 0.0008)`)
	rows := d.fails(`SELECT geoind_optimal('poor', lat, lon, 'line') FROM fix`, "geoind_optimal: account 'poor' has 0.0002/m:line left of 0.0008/m:line, 0.0003/m:line asked, 0.0001/m:line short")
	if len(rows) != 2 {
		t.Errorf("%d rows before the refusal", len(rows))
	}
	d.answers(`SELECT account, unit, epsilon_limit, spent, remaining FROM ledger_balance WHERE account = 'poor'`, `[[poor m:line 0.0008 0.0006 0.0002]]`)
	d.answers(`SELECT budget_reserve('eve', 'm:line', 0.25), budget_spent('eve', 'm:line'), budget_remaining('eve', 'm:line')`, `[[1 0.25 0.75]]`)

	// A release in a transaction stays charged.
	d.run(`BEGIN`, `CREATE TABLE kept AS SELECT geoind_optimal('di', 40, 116, 'line')`, `ROLLBACK`)
	d.spends("di", "m:line", 0.0003)
	// Whatever is remapped costs no more.
	d.answers(`SELECT count(geoind_remap(geoind_optimal('cy', lat, lon, 'line'), 'line')) FROM fix`, `[[8]]`)
	d.spends("cy", "m:line", 0.0024)
	d.answers(`SELECT geoind_optimal('di', NULL, 116, 'line'), geoind_remap(NULL, 'line')`, `[[<nil> <nil>]]`)
	d.spends("di", "m:line", 0.0003)

	// Nothing is drawn uncharged.
	d.close()
	d = open(t, d.path).drawing(iotest.ErrReader(errors.New("nothing may be drawn")))
	d.fails(`SELECT geoind_optimal('poor', 40, 116, 'line')`, "account 'poor' has 0.0002/m:line left")
}

// A guess goes by the mechanism's own distances: of three places in a row, the one in
// the middle is the far one by road.
func TestRemapGoesByTheMetric(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE stop AS SELECT column1 AS lat, column2 AS lon, column3 AS roads FROM (VALUES
		(40.0, 116.0, '[[40.1, 116, 90000], [40.2, 116, 30000]]'), (40.1, 116.0, '[[40, 116, 90000], [40.2, 116, 90000]]'), (40.2, 116.0, '[[40, 116, 30000], [40.1, 116, 90000]]'))`,
		`SELECT optql_store('frame', optql_build(lat, lon, 1, 0.0000001, 1)), optql_store('road', optql_build(lat, lon, 1, 0.0000001, 1, NULL, roads)) FROM stop`)
	middle := placed(t, 40.1, 116)
	for _, at := range []string{placed(t, 40, 116), middle, placed(t, 40.2, 116)} {
		d.answers(`SELECT geoind_remap('`+at+`', 'frame')`, `[[`+middle+`]]`)
		if guess := d.value(`SELECT geoind_remap(?, 'road')`, at); guess == middle {
			t.Errorf("%s is taken for the far place", at)
		}
	}
}

// Locations snap to the nearest place in the frame, however far it is by road.
func TestSnapIsOfTheFrame(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE bank AS SELECT column1 AS lat, column2 AS lon, column3 AS roads FROM (VALUES
		(40.0, 116.00, '[[40, 116.01, 50000], [40, 116.2, 20000]]'), (40.0, 116.01, '[[40, 116, 50000], [40, 116.2, 40000]]'), (40.0, 116.2, '[[40, 116, 20000], [40, 116.01, 40000]]'))`,
		`SELECT budget_limit('*', 'm:banks', 9000000)`,
		`SELECT optql_store('banks', optql_build(lat, lon, 1, 100, 1, NULL, roads)) FROM bank`)
	d.answers(`SELECT geoind_optimal('ana', 40, 116.004, 'banks'), geoind_optimal('ana', 40, 116.006, 'banks')`,
		`[[`+placed(t, 40, 116)+` `+placed(t, 40, 116.01)+`]]`)
}

// The unit is that of the distances in the file, whatever the file calls its metric:
// a mechanism certified over longer distances is never charged in metres.
func TestUnitIsNotTrusted(t *testing.T) {
	d := settled(t)
	good := d.stored("town")
	m := d.mechanism("town", 9)
	const metricAt = 1 // after the version
	for _, c := range []struct {
		factor float64
		unit   string
	}{{1, "m"}, {1 + 0x1p-45, "m"}, {1 + 1e-11, "m:forged"}, {3, "m:forged"}} {
		longer := m.Privacy()
		for _, row := range longer {
			for z := range row {
				row[z] *= c.factor
			}
		}
		other, err := optimal.New(m.Epsilon(), longer, m.Matrix())
		if err != nil {
			t.Fatal(err)
		}
		blob, err := other.AppendBinary(append([]byte{}, good[:len(good)-len(tail(good, 9))]...))
		if err != nil {
			t.Fatal(err)
		}
		for metric, fine := range []bool{c.unit == "m", false, true} {
			blob[metricAt] = byte(metric)
			_, err := d.try(`SELECT optql_store('forged', ?)`, blob)
			if (err == nil) != fine {
				t.Fatalf("metric %d of distances times %v: %v", metric, c.factor, err)
			}
			if err != nil {
				d.mentions(err, "optql_store: mechanism cannot be used: its distances are not those of places in this domain 'beijing'")
				continue
			}
			if got := d.report("forged").Unit; got != c.unit {
				t.Errorf("metric %d of distances times %v is charged in %s, want %s", metric, c.factor, got, c.unit)
			}
			d.run(`DELETE FROM geosql_optimal WHERE name = 'forged'`)
		}
		blob[metricAt] = 3
		if _, err := d.try(`SELECT optql_store('forged', ?)`, blob); err == nil {
			t.Error("there is a fourth metric")
		}
	}
}

// No byte of a mechanism of another metric can be changed such that it is charged in
// metres, or is less private over its distances.
func TestTamperedMetrics(t *testing.T) {
	t.Parallel()
	for name, metric := range map[string]string{"blocks": `'manhattan'`, "line": roads(along(3000))} {
		t.Run(name, func(t *testing.T) {
			d := town(t)
			d.stores(name, metric)
			good := d.stored(name)
			whole := d.mechanism(name, 9)
			for i := range good {
				for _, bit := range trials.Some(t, 1, []byte{0x01, 0x02, 0x80}...) {
					bad := append([]byte{}, good...)
					bad[i] ^= bit
					if _, err := d.try(`SELECT optql_store('tampered', ?)`, bad); err != nil {
						d.mentions(err, "optql_store: mechanism ")
						continue
					}
					m, r := d.mechanism("tampered", 9), d.report("tampered")
					if r.Unit != "m:tampered" || r.Epsilon != 0.0003 || m.Epsilon() != whole.Epsilon() {
						t.Fatalf("byte %d makes %+v", i, r)
					}
					if fmt.Sprint(m.Matrix()) != fmt.Sprint(whole.Matrix()) {
						t.Fatalf("byte %d changes the matrix", i)
					}
					d.run(`DELETE FROM geosql_optimal WHERE name = 'tampered'`)
				}
			}
		})
	}
}

// Given distances are of places, and these of a lattice.
func TestGivenDistancesOfAnotherDomain(t *testing.T) {
	d := town(t)
	d.stores("line", roads(along(2000)))
	d.stores("blocks", `'manhattan'`)
	for domain, fine := range map[string]bool{
		`39.4, 115.4, 41.1, 117.6, 1`: true,
		`39.4, 115.4, 41.1, 117.6, 2`: false,
		`39.4, 115.4, 41.2, 117.6, 1`: false,
		`39.4, 15.4, 41.1, 17.6, 1`:   false,
		`40.2, 116.4, 40.3, 116.6, 1`: false, // of the same centre
	} {
		other := newDatabase(t)
		other.run(`SELECT geo_domain('beijing', ` + domain + `)`)
		for _, name := range []string{"line", "blocks"} {
			_, err := other.try(`SELECT optql_store('it', ?)`, d.stored(name))
			if (err == nil) != fine {
				t.Errorf("%s in %s: %v", name, domain, err)
			}
			if err != nil {
				other.mentions(err, "its distances are not those of places in this domain 'beijing'")
			}
			other.run(`DELETE FROM geosql_optimal`)
		}
	}
}

// The shortest ways of any network of roads are distances that a mechanism can have,
// and it is private over them: as the certificate says, for all pairs.
func TestAnyRoads(t *testing.T) {
	d := declared(t)
	domain := beijing(t)
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(r, "places")
		weight := rapid.Float64Range(0.5, 3)
		at := make([][2]float64, n)
		cells := make([]planar.Cell, n)
		for x := range at {
			at[x] = [2]float64{39.5 + 0.2*float64(x) + rapid.Float64Range(0, 0.1).Draw(r, "lat"), rapid.Float64Range(115.5, 117.5).Draw(r, "lon")}
			cells[x] = domain.Cell(at[x][0], at[x][1])
		}
		ways := optimal.NewMatrix(n, n)
		for x := range ways {
			for z := range x {
				ways[x][z] = math.Round(20_000 * weight.Draw(r, "way"))
				ways[z][x] = ways[x][z]
			}
		}
		for via := range ways {
			for x := range ways {
				for z := range ways {
					ways[x][z] = min(ways[x][z], ways[x][via]+ways[via][z])
				}
			}
		}
		var rows [][3]any
		for x, row := range ways {
			var triples [][3]float64
			for z, metres := range row {
				triples = append(triples, [3]float64{at[z][0], at[z][1], metres})
			}
			text, err := json.Marshal(triples)
			if err != nil {
				r.Fatal(err)
			}
			rows = append(rows, [3]any{at[x][0], at[x][1], string(text)})
		}
		table, err := json.Marshal(rows)
		if err != nil {
			r.Fatal(err)
		}
		got, err := d.try(`SELECT optql_store('any', optql_build(value ->> 0, value ->> 1, 1, 0.00005, 1, 'beijing', value ->> 2)) FROM json_each(?)`, string(table))
		if err != nil {
			r.Fatal(err)
		}
		defer d.run(`DELETE FROM geosql_optimal WHERE name = 'any'`)
		m := d.mechanism("any", n)
		order := make([]int, n)
		for x, c := range cells {
			for _, other := range cells {
				if cmp.Or(cmp.Compare(other.J, c.J), cmp.Compare(other.I, c.I)) < 0 {
					order[x]++
				}
			}
		}
		for x := range ways {
			for z := range ways {
				if m.Privacy()[order[x]][order[z]] != ways[x][z] {
					r.Fatalf("%v: %v of %v", got, m.Privacy(), ways)
				}
			}
		}
	})
}
