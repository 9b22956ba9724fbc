package sqlitefn_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn"
	"pgregory.net/rapid"
)

// sealedPublic is common to all sealed databases of these tests: the account of each row.
var sealedPublic = []string{"ana", "bo", "ana", "cy", "ana", "di", "bo", "poor"}

// A sealedWorld is the part in which they differ: reading, flag and location of a row.
type sealedWorld struct {
	name string
	row  func(i int) (kwh, one int64, lat, lon float64)
}

// repeats takes the secrets of the rows from lists that start over at their ends.
func repeats(name string, kwhs, ones []int64, lats, lons []float64) sealedWorld {
	return sealedWorld{name, func(i int) (int64, int64, float64, float64) {
		return kwhs[i%len(kwhs)], ones[i%len(ones)], lats[i%len(lats)], lons[i%len(lons)]
	}}
}

var sealedWorlds = []sealedWorld{
	repeats("inside", []int64{3, 4, 5, 2, 9}, []int64{1, 0, 1}, []float64{39.9, 40.5, 40}, []float64{116.3, 117, 115.5}),
	repeats("border", []int64{0, 10}, []int64{0}, []float64{39.4, 41.1}, []float64{115.4, 117.6}),
	repeats("equal", []int64{7}, []int64{1}, []float64{40}, []float64{116}),
	// A collector may seal any value.
	repeats("outside", []int64{-1, 11, 1 << 40}, []int64{2, -7}, []float64{-89, 12, 90}, []float64{-179.9, 180, 0}),
	repeats("far", []int64{math.MaxInt64, math.MinInt64}, []int64{math.MaxInt64, math.MinInt64}, []float64{90, -90}, []float64{180, -180}),
}

// inhabitSealed opens a sealed database of a world in a file, with draws that come from a tape.
func inhabitSealed(tb testing.TB, w sealedWorld, number uint64) *sealedDatabase {
	tb.Helper()
	var rows []sealedRow
	for i, who := range sealedPublic {
		kwh, one, lat, lon := w.row(i)
		rows = append(rows, sealedRow{who, i % 3, kwh, one, lat, lon})
	}
	d := newSealed(tb, rows, sqlitefn.WithMaxRepeat(2))
	d.drawing(tape(number))
	d.run(`SELECT budget_limit('poor', 'kWh', 3), budget_limit('poor', 'record', 2)`, `CREATE TABLE out(g, y, z)`, `CREATE TABLE blobs(v)`,
		`UPDATE s SET kwh = NULL, one = NULL WHERE id = 3`)
	return d
}

// sealedStatements show the answers of the functions over sealed values. Counts are made REAL, as all
// released values are.
var sealedStatements = func() (list []string) {
	for _, metric := range []string{"", ", 'd1'", ", 'nd1'", ", 'dh'", ", 'dinf'"} {
		for _, f := range []string{"dx_sum(kwh", "dx_avg(kwh", "dx_variance(kwh", "dx_stddev(kwh", "dx_min(kwh", "dx_max(kwh", "dx_median(kwh", "dx_percentile(kwh, 90"} {
			list = append(list, `SELECT zone, `+f+`, 0.125`+metric+`) FROM s WHERE zone < 2 GROUP BY zone`)
		}
	}
	list = append(list,
		`SELECT typeof(dx_count(one, 0.5)), typeof(dx_accounts(one, 0.5)) FROM s WHERE id < 8 GROUP BY zone`,
		`SELECT dx_count(one, 0.5) + 0.0, dx_accounts(one, 0.5) + 0.0 FROM s WHERE id < 8`,
		`SELECT dx_curve(kwh, 0.125), dx_curve(kwh, 0.125, '[50]') FROM s WHERE id < 8`, `SELECT dx_curve_mean(dx_curve(kwh, 0.125, 2), 50, 100) FROM s WHERE id < 8`,
		`SELECT dx_percentiles(kwh, '[25, 50, 75]', 0.125, 'dh'), dx_percentiles(kwh, '[25, 75]', 0.125) FROM s WHERE id < 8`,
		`SELECT dx_histogram(kwh, 0.5, 3) FROM s WHERE id < 8`, `SELECT dx_centroid(place, 0.01) FROM s GROUP BY zone`,
		`SELECT id, dx_value(kwh, 1), typeof(dx_value(kwh, 1)) FROM s`, // in which somebody is refused
		`SELECT id, geoind_laplace(place, 0.01) FROM s`, `SELECT id, g.lat, g.lon FROM s, geoind_laplace(s.place, 0.01) g`,
		`SELECT dx_sum(dx_narrow(kwh, 2, 6), 0.5), dx_max(dx_narrow(kwh, 2, 6), 0.5) FROM s WHERE id < 8`,
		`SELECT dx_sum(dx_narrow(kwh, 2, 60), 0.5) FROM s`, `SELECT dx_sum(dx_narrow(kwh, 2.5, 6), 0.5) FROM s`,
		`SELECT zone, dx_sum(dx_person(kwh, 0, 12), 0.5), dx_avg(dx_person(kwh, -3, 3), 0.25, 'dh'), dx_median(dx_person(dx_narrow(kwh, 2, 6), 0, 12), 0.5) FROM s WHERE id < 8 GROUP BY zone`,
		`SELECT dx_histogram(dx_person(kwh, 0, 12), 0.5, 3), dx_variance(dx_person(one, 0, 2), 0.5) FROM s WHERE id < 8`, `SELECT dx_person(kwh, 0, 12) FROM s`,
		`SELECT dx_sum(dx_person(kwh, 0, 12), 0.25) FROM s WHERE id < 8 GROUP BY id % 2`, `SELECT dx_sum(dx_person(kwh, 0, 12), 100) FROM s`, // refused, at last
		`SELECT dx_sum(dx_person(kwh, 0, 12), 0.25) FROM s, (SELECT 1 UNION ALL SELECT 2) WHERE id < 8`, `SELECT dx_sum(dx_person(kwh, 0.5, 12), 1) FROM s`, `SELECT dx_value(dx_person(kwh, 0, 12), 1) FROM s`,
		`SELECT dx_within(dx_max(dx_person(kwh, 0, 12), 0.25)), dx_within(dx_sum(dx_person(kwh, 0, 12), 0.25)) FROM s WHERE id < 8`,
		`SELECT dx_sum(kwh, 0.25) FROM s, (SELECT 1 UNION ALL SELECT 2)`, `SELECT dx_sum(kwh, 0.25) FROM s, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)`,
		`SELECT dx_sum(kwh, 100) FROM s`, `SELECT dx_sum(kwh, 1) FROM s`, `SELECT dx_sum(kwh, 1) FROM s`, `SELECT dx_sum(kwh, 1) FROM s`, // refused, at last
		`SELECT dx_sum(kwh, 1, 'dh') FROM s`, `SELECT dx_sum(kwh, 1, 'dh') FROM s WHERE who = (SELECT who FROM s WHERE id = 8)`,
		`SELECT dx_sum(place, 1) FROM s`, `SELECT dx_count(kwh, 1) FROM s`, `SELECT dx_centroid(kwh, 1) FROM s`, `SELECT dx_sum(kwh + 1, 1) FROM s`,
		`SELECT dx_sum(v, 1) FROM (SELECT kwh AS v FROM s UNION ALL SELECT one FROM s)`, `SELECT dx_value(zeroblob(56), 1) FROM s`,
		`SELECT function, account, unit, evaluations, epsilon, at_most, remaining, rule FROM budget_cost('SELECT dx_sum(kwh, 1), dx_count(one, 1), dx_centroid(place, 1) FROM s GROUP BY zone')`,
		`SELECT count(kwh), count(*), sum(length(kwh)), typeof(max(place)) FROM s`, `SELECT kwh, one, place FROM s`,
		`INSERT INTO out SELECT zone, dx_avg(kwh, 0.25, 'dinf'), dx_sum(kwh, 0.25) FROM s WHERE id < 8 GROUP BY zone`, `SELECT * FROM out`,
		`INSERT INTO blobs SELECT dx_narrow(kwh, 2, 6) FROM s`, `SELECT v FROM blobs`,
		`WITH c AS MATERIALIZED (SELECT zone, kwh AS v FROM s WHERE id < 8) SELECT (SELECT dx_sum(v, 0.25) FROM c WHERE c.zone >= z.zone) FROM (SELECT DISTINCT zone FROM c) z`,
		`SELECT dx_within(dx_sum(kwh, 0.25), 0.5) FROM s WHERE id < 8`,
		`SELECT dx_heatmap(place, 0.5, 20000) FROM s WHERE id < 8`) // last: how many bits it reads depends on how many cells have a location
	return list
}()

// sealedShow hides released values, and sealed ones: their length is shown.
func sealedShow(cell any) string {
	if b, ok := cell.([]byte); ok {
		return fmt.Sprintf("BLOB %d", len(b))
	}
	return veiled(cell)
}

// watchSealed returns the answers of the statements, and then, with ana erased, the answers
// again. The last event is the length of the files.
func (d *sealedDatabase) watchSealed(show func(any) string) []event {
	d.Helper()
	events := d.watch(sealedStatements, show)
	d.record(catalog.Erased("ana"))
	events = append(events, d.watch(sealedStatements[:20], show)...)
	path := strings.TrimSuffix(d.path, "?_sync=OFF")
	d.close()
	for _, name := range []string{path, path + "-ledger"} {
		info, err := os.Stat(name)
		if err != nil {
			d.Fatal(err)
		}
		events = append(events, event{name[len(path):], "length", fmt.Sprint(info.Size())})
	}
	return events
}

// Sealed databases that differ in sealed values only show the same, but for values released under a
// charge.
func TestSealedNonInterference(t *testing.T) {
	t.Parallel()
	first := inhabitSealed(t, sealedWorlds[0], 1).watchSealed(sealedShow)
	for _, w := range sealedWorlds[1:] {
		if _, is := difference(first, inhabitSealed(t, w, 1).watchSealed(sealedShow)); is != "" {
			t.Errorf("%s and %s differ: %s", sealedWorlds[0].name, w.name, is)
		}
	}
	refused, answered := 0, 0
	for _, e := range first {
		switch {
		case e.kind == "error" && e.shows != "<nil>":
			refused++
		case e.kind == "rows" && strings.Contains(e.shows, "REAL"):
			answered++
		}
	}
	if refused < 12 || answered < 40 {
		t.Errorf("%d statements fail and %d release something: too few to be a test", refused, answered)
	}
}

// Any world behaves as the first.
func TestSealedNonInterferenceOfAnyWorld(t *testing.T) {
	t.Parallel()
	first := inhabitSealed(t, sealedWorlds[0], 1).watchSealed(sealedShow)
	checks := 0
	rapid.Check(t, func(r *rapid.T) {
		if checks++; checks > 20 { // each takes a while
			return
		}
		kwh := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-2, 12), rapid.Int64()), 8, 8).Draw(r, "kwh")
		one := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 1), rapid.Int64()), 8, 8).Draw(r, "one")
		lat := rapid.SliceOfN(rapid.Float64Range(-90, 90), 8, 8).Draw(r, "lat")
		lon := rapid.SliceOfN(rapid.Float64Range(-180, 180), 8, 8).Draw(r, "lon")
		d := inhabitSealed(t, repeats("any", kwh, one, lat, lon), 1)
		if _, is := difference(first, d.watchSealed(sealedShow)); is != "" {
			r.Fatalf("differs from %s: %s", sealedWorlds[0].name, is)
		}
	})
}

// Values that nothing tells apart give the same answers from the same tape: a reading beyond the
// end of the universe, and one at it. Other tapes and other secrets give others.
func TestSealedTwinsShowTheSame(t *testing.T) {
	t.Parallel()
	show := func(cell any) string {
		if b, ok := cell.([]byte); ok {
			return fmt.Sprintf("BLOB %d", len(b))
		}
		return plainly(cell)
	}
	one := repeats("one", []int64{10, 0, 5}, []int64{1, 0}, []float64{41.1, 39.4}, []float64{116, 117})
	other := repeats("other", []int64{11, -1 << 62, 5}, []int64{7, -1}, []float64{41.2, -90}, []float64{116, 117})
	shown := inhabitSealed(t, one, 2).watchSealed(show)
	if _, is := difference(shown, inhabitSealed(t, other, 2).watchSealed(show)); is != "" {
		t.Errorf("they differ: %s", is)
	}
	if kind, _ := difference(shown, inhabitSealed(t, one, 3).watchSealed(show)); kind != "rows" {
		t.Errorf("other draws differ in %q", kind)
	}
	if kind, _ := difference(shown, inhabitSealed(t, sealedWorlds[0], 2).watchSealed(show)); kind != "rows" {
		t.Errorf("other secrets differ in %q", kind)
	}
}
