package sqlitefn_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// town is declared with the public table place: a grid of 3 x 3 places some 5 km
// apart, with as many people as their number.
func town(t *testing.T) *database {
	t.Helper()
	d := declared(t)
	d.run(`CREATE TABLE place(lat, lon, people)`,
		`INSERT INTO place `+numbered("9")+`SELECT 40 + 0.05 * ((i - 1) / 3), 116 + 0.06 * ((i - 1) % 3), i FROM s`)
	return d
}

const build = `optql_build(lat, lon, people, 0.0003, 1, 'beijing')`

// settled returns town with the mechanism town.
func settled(t *testing.T) *database {
	t.Helper()
	d := town(t)
	d.run(`SELECT optql_store('town', ` + build + `) FROM place`)
	return d
}

// reported holds the answer of optql_report.
type reported struct {
	Name, Domain, Metric, Unit      string
	Quality                         string
	Places, Outputs, Constraints    int
	Epsilon, Dilation, Gap, Seconds float64
	CertifiedEpsilon                float64 `json:"certified_epsilon"`
	TrueDilation                    float64 `json:"true_dilation"`
	QualityLoss                     float64 `json:"quality_loss"`
	AdvError                        float64 `json:"adv_error"`
	LargestSnap                     float64 `json:"largest_snap"`
}

func (d *database) report(name string) (r reported) {
	d.Helper()
	decoder := json.NewDecoder(strings.NewReader(d.value(`SELECT optql_report(?)`, name).(string)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		d.Fatal(err)
	}
	return r
}

// mechanism is the certified part of a stored mechanism, which ends its form.
func (d *database) mechanism(name string, places int) *optimal.Mechanism {
	d.Helper()
	m, err := optimal.Parse(tail(d.stored(name), places))
	if err != nil {
		d.Fatal(err)
	}
	return m
}

func (d *database) stored(name string) []byte {
	d.Helper()
	return d.value(`SELECT mechanism FROM geosql_optimal WHERE name = ?`, name).([]byte)
}

// tail is the mechanism's own form, of so many places: see optimal.AppendBinary.
func tail(data []byte, n int) []byte { return data[len(data)-(13+8*(n*(n-1)/2)+8*n*n):] }

func TestOptimalFlow(t *testing.T) {
	d := town(t)
	line := d.value(`SELECT optql_store('town', ` + build + `) FROM place`).(string)
	for _, part := range []string{"mechanism 'town': 9 places in domain 'beijing', 0.0003/m a release, ", " m lost on average; its places, weights and matrix are public"} {
		if !strings.Contains(line, part) {
			t.Errorf("optql_store answers %q, want %q", line, part)
		}
	}
	r := d.report("town")
	if r.Name != "town" || r.Domain != "beijing" || r.Metric != "euclid" || r.Unit != "m" || r.Places != 9 || r.Epsilon != 0.0003 || r.Dilation != 1 || math.Abs(r.TrueDilation-1) > 1e-9 {
		t.Errorf("%+v", r)
	}
	if r.CertifiedEpsilon > 0.0003 || r.CertifiedEpsilon < 0.000299999999999 || !(r.Gap <= 1e-4) || r.Constraints < 9*2*8 ||
		r.Seconds < 0 || r.Seconds == 0 && runtime.GOOS != "windows" { // its clock stands still for milliseconds
		t.Errorf("%+v", r)
	}
	// The error of somebody who knows the weights is the loss: theorem 6.2 of the
	// thesis, up to the gap.
	if !(r.AdvError <= r.QualityLoss && r.AdvError >= r.QualityLoss*(1-2e-4)) || !(r.QualityLoss > 100) {
		t.Errorf("loss %v, adversary's error %v", r.QualityLoss, r.AdvError)
	}
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`) // so far nothing is released

	d.run(`CREATE TABLE printed AS SELECT printf('POINT(%.7f %.7f)', h.lon, h.lat) AS wkt FROM place p, geoind_laplace('other', p.lat, p.lon, 1000) h`)
	d.answers(`SELECT geoind_optimal('ana', 40.01, 116.01, 'town') IN (SELECT wkt FROM printed)`, `[[1]]`)
	d.answers(`SELECT g.wkt IN (SELECT wkt FROM printed), g.wkt = printf('POINT(%.7f %.7f)', g.lon, g.lat) FROM geoind_optimal('ana', 40.01, 116.01, 'town') g`, `[[1 1]]`)
	d.answers(`SELECT count(*) FROM printed WHERE geoind_remap(wkt, 'town') IN (SELECT wkt FROM printed)`, `[[9]]`)
	d.spends("ana", "m", 0.0006)

	d.answers(`SELECT geoind_optimal('ana', NULL, 116, 'town'), geoind_optimal('ana', 40, NULL, 'town'), geoind_remap(NULL, 'town')`, `[[<nil> <nil> <nil>]]`)
	d.answers(`SELECT * FROM geoind_optimal('ana', NULL, NULL, 'town')`, `[[<nil> <nil> <nil>]]`)
	d.spends("ana", "m", 0.0006)
	d.run(`CREATE VIEW shown AS SELECT geoind_optimal('ana', lat, lon, 'town') AS z FROM place`, `SELECT z FROM shown`)
	d.spends("ana", "m", 0.0033)
}

// The order of rows, and the way a domain is named, make no difference.
func TestOptqlBuildIsOfASet(t *testing.T) {
	d := settled(t)
	for _, from := range []string{`place`, `(SELECT * FROM place ORDER BY random())`, `(SELECT * FROM place ORDER BY people DESC)`} {
		for _, call := range []string{build, `optql_build(lat, lon, people, 0.0003, 1)`, `optql_build(lat, lon, people, 0.0003, 1.0, NULL)`} {
			d.run(`SELECT optql_store('town', ` + call + `) FROM ` + from)
		}
	}
	d.answers(`SELECT typeof(`+build+`) FROM place WHERE false`, `[[null]]`)
	d.answers(`SELECT * FROM budget_cost('SELECT optql_build(lat, lon, people, 0.0003, 1) FROM place')`, `[]`)
}

func TestOptqlBuildRefuses(t *testing.T) {
	d := town(t)
	for call, want := range map[string]string{
		`optql_build(lat, lon, people, 0.0003, 1, 'mars')`:                           "domain 'mars' is not declared (there are: beijing)",
		`optql_build(lat, 116, people, 0.0003, 1)`:                                   "lat and lon of two rows are one place of domain 'beijing', POINT(",
		`optql_build(lat, lon, people - 4, 0.0003, 1)`:                               "weight must not be below 0, got -3",
		`optql_build(lat, lon, 0, 0.0003, 1)`:                                        "prior weights are all 0",
		`optql_build(lat, lon, 1e308, 0.0003, 1)`:                                    "weight adds up",
		`optql_build(lat, lon, iif(people = 5, NULL, 1), 0.0003, 1)`:                 "weight must be a number, got NULL",
		`optql_build(nullif(lat, 40), lon, people, 0.0003, 1)`:                       "lat must be a number, got NULL",
		`optql_build(lat, nullif(lon, 116), people, 0.0003, 1)`:                      "lon must be a number, got NULL",
		`optql_build(lat + 60, lon, people, 0.0003, 1)`:                              "lat must lie between -90 and 90",
		`optql_build(lat, lon, people, 0, 1)`:                                        "epsilon must be above 0, got 0",
		`optql_build(lat, lon, people, 9000001, 1)`:                                  "epsilon must be at most",
		`optql_build(lat, lon, people, 1e-14, 1)`:                                    "places 0 and 1 are too close for epsilon",
		`optql_build(lat, lon, people, 0.0003, 0.99)`:                                "dilation must be at least 1 and at most 1000, got 0.99",
		`optql_build(lat, lon, people, 0.0003, 1001)`:                                "dilation must be at least 1",
		`optql_build(lat, lon, people, iif(people = 5, 1, 0.0003), 1)`:               "epsilon changes within a group",
		`optql_build(lat, lon, people, 0.0003, iif(people = 5, 2, 1))`:               "dilation changes within a group",
		`optql_build(lat, lon, people, 0.0003, 1, iif(people = 5, 'beijing', NULL))`: "domain changes within a group",
		`optql_build(lat, lon, people, 0.0003, 1) FILTER (WHERE people = 3)`:         "lat and lon make 1 place, but a mechanism has 2 to 1024",
		`optql_build(40 + lat / 1e9, 116 + lon / 1e9, people, 0.0003, 1, 'beijing')`: "lat and lon of two rows are one place",
	} {
		d.fails(`SELECT `+call+` FROM place`, "optql_build: "+want)
	}
	d.fails(`SELECT optql_build(39.9 + i * 0.0005, 116, 1, 0.01, 1) FROM (`+numbered("1025")+`SELECT i FROM s)`, "optql_build: lat and lon make more than 1024 places")
	d.run(`CREATE VIEW sneaky AS SELECT ` + build + ` AS m FROM place`)
	d.fails(`SELECT m FROM sneaky`, "unsafe use of")
}

func TestOptqlStore(t *testing.T) {
	d := town(t)
	d.fails(`SELECT geoind_optimal('ana', 40, 116, 'town')`, "geoind_optimal: mechanism 'town' is not declared (there are: homes)")
	d.fails(`SELECT optql_report('town')`, "optql_report: name 'town' is not declared")
	d.fails(`SELECT geoind_remap('POINT(116 40)', 'town')`, "geoind_remap: name 'town' is not declared")
	first := d.value(`SELECT optql_store('town', ` + build + `) FROM place`)
	kept := string(d.stored("town"))
	if again := d.value(`SELECT optql_store('town', ` + build + `) FROM place`); again != first || string(d.stored("town")) != kept {
		t.Errorf("stored again: %v, first %v", again, first)
	}
	for _, other := range []string{
		`optql_build(lat, lon, people + 1, 0.0003, 1) FROM place`, `optql_build(lat + 0.001, lon, people, 0.0003, 1) FROM place`,
		`optql_build(lat, lon, people, 0.0004, 1) FROM place`, `optql_build(lat, lon, people, 0.0003, 1.1) FROM place`,
		`optql_build(lat, lon, people, 0.0003, 1) FROM place WHERE people > 1`,
	} {
		d.fails(`SELECT optql_store('town', `+strings.Replace(other, ") FROM", ")) FROM", 1), "optql_store: mechanism 'town' is stored already and cannot change")
	}
	d.fails(`SELECT optql_store('empty', `+build+`) FROM place WHERE false`, "optql_store: mechanism is NULL: there were no places")
	d.fails(`SELECT optql_store('', `+build+`) FROM place`, "optql_store: name ")
	d.fails(`SELECT * FROM budget_cost('SELECT optql_store(''other'', NULL)')`, "optql_store: cannot be dry-run")
	for _, blob := range []string{`1`, `'mechanism'`, `x''`, `x'00'`, `x'01'`, `randomblob(1000)`, `zeroblob(1000)`, `markov_train('tram', 0, 40, 116, 'beijing', 20000, 60)`} {
		d.fails(`SELECT optql_store('other', `+blob+`)`, "optql_store: mechanism ")
	}
	d.run(`BEGIN`, `SELECT optql_store('other', optql_build(lat, lon, people, 0.0004, 1)) FROM place`, `ROLLBACK`)
	d.fails(`SELECT geoind_optimal('ana', 40, 116, 'other')`, "is not declared")
	d.run(`CREATE TEMP TABLE geosql_optimal(name, mechanism)`, `INSERT INTO temp.geosql_optimal SELECT 'fake', mechanism FROM main.geosql_optimal`)
	d.fails(`SELECT geoind_optimal('ana', 40, 116, 'fake')`, "is not declared")
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`)
}

// A mechanism belongs to the domain that it was built in.
func TestOptimalOfAnotherDomain(t *testing.T) {
	d := settled(t)
	for name, c := range map[string]struct{ domain, want string }{
		"none":            {``, "domain 'beijing' is not declared"},
		"another step":    {`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 2)`, "its distances are not those of places in this domain 'beijing'"},
		"another box":     {`SELECT geo_domain('beijing', 39.4, 115.4, 41.2, 117.6, 1)`, "its distances are not those"},
		"the same, moved": {`SELECT geo_domain('beijing', 39.4, 15.4, 41.1, 17.6, 1)`, "its distances are not those"},
		"the same":        {`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			other := newDatabase(t)
			if c.domain != "" {
				other.run(c.domain)
			}
			_, err := other.try(`SELECT optql_store('town', ?)`, d.stored("town"))
			if (err == nil) != (c.want == "") {
				t.Fatal(err)
			}
			if err != nil {
				other.mentions(err, "optql_store: mechanism cannot be used: "+c.want)
			}
		})
	}
	// Releases lie in the region, if there is one.
	d.run(`SELECT geo_region('beijing', 'POLYGON((115.9 39.9, 116.2 39.9, 116.2 40.06, 115.9 40.06, 115.9 39.9))')`)
	d.fails(`SELECT geoind_optimal('ana', 40, 116, 'town')`, "geoind_optimal: mechanism 'town': place POINT(116.", "lies outside the region of domain 'beijing'")
	d.fails(`SELECT `+build+` FROM place`, "optql_build: place POINT(", "lies outside the region")
	d.run(`SELECT optql_store('south', ` + build + `) FROM place WHERE lat < 40.06`)
	d.spends("ana", "m", 0)
}

// No byte of a stored mechanism can be changed such that it releases more than it is
// charged for: a mechanism that is not refused is as private, over the same distances, at the
// same cost.
func TestTamperedMechanisms(t *testing.T) {
	t.Parallel()
	d := settled(t)
	good := d.stored("town")
	whole := d.mechanism("town", 9)
	refused := 0
	for i := range good {
		for _, bit := range []byte{0x01, 0x80} {
			bad := []byte(string(good))
			bad[i] ^= bit
			if _, err := d.try(`SELECT optql_store('tampered', ?)`, bad); err != nil {
				d.mentions(err, "optql_store: mechanism ")
				refused++
				continue
			}
			m := d.mechanism("tampered", 9)
			if m.Epsilon() != whole.Epsilon() || fmt.Sprint(m.Matrix()) != fmt.Sprint(whole.Matrix()) {
				t.Fatalf("byte %d can be changed", i)
			}
			for x, row := range m.Privacy() {
				for z, v := range row {
					if was := whole.Privacy()[x][z]; math.Abs(v-was) > 1e-11*was {
						t.Fatalf("byte %d changes a distance from %v to %v", i, was, v)
					}
				}
			}
			if r := d.report("tampered"); r.Epsilon != 0.0003 {
				t.Fatalf("byte %d changes epsilon to %v", i, r.Epsilon)
			}
			d.run(`DELETE FROM geosql_optimal WHERE name = 'tampered'`)
		}
	}
	if refused < len(good) {
		t.Errorf("%d of %d changes are refused", refused, 2*len(good))
	}
	for _, n := range []int{1, len(good) / 2, len(good) - 1} {
		_, err := d.try(`SELECT optql_store('tampered', ?)`, good[:n])
		if err == nil {
			t.Errorf("the first %d bytes are a mechanism", n)
		}
	}
	if _, err := d.try(`SELECT optql_store('tampered', ?)`, append(good, 0)); err == nil {
		t.Error("a byte more is a mechanism")
	}
	// Not even the owner's own hand: the mechanism in the table is certified again.
	d.run(`UPDATE geosql_optimal SET mechanism = x'0102' WHERE name = 'town'`)
	d.fails(`SELECT geoind_optimal('ana', 40, 116, 'town')`, "geoind_optimal: mechanism 'town': not a result of optql_build")
	d.spends("ana", "m", 0)
}

// A certified mechanism over distances that are longer than those of its places is
// refused: nobody is charged in metres for it.
func TestMechanismOfOtherDistances(t *testing.T) {
	d := settled(t)
	good := d.stored("town")
	m := d.mechanism("town", 9)
	for name, c := range map[string]struct {
		factor float64
		fine   bool
	}{"a little longer": {1 + 1e-11, false}, "twice": {2, false}, "shorter": {0.9, false}, "the same": {1, true}} {
		t.Run(name, func(t *testing.T) {
			longer := m.Privacy()
			for _, row := range longer {
				for z := range row {
					row[z] *= c.factor
				}
			}
			k := m.Matrix()
			if c.factor < 1 {
				for _, row := range k { // for this row every distance is enough
					for z := range row {
						row[z] = 1.0 / 9
					}
				}
			}
			other, err := optimal.New(m.Epsilon(), longer, k)
			if err != nil {
				t.Fatal(err)
			}
			blob, err := other.AppendBinary(good[: len(good)-len(tail(good, 9)) : len(good)-len(tail(good, 9))])
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.try(`SELECT optql_store('longer', ?)`, blob)
			if (err == nil) != c.fine {
				t.Fatal(err)
			}
			if err != nil {
				d.mentions(err, "optql_store: mechanism cannot be used: its distances are not those of places in this domain 'beijing'")
			}
		})
	}
}

// Distances of epsilon never exceed geodesics by more than the roundings to lattice
// points do. The golden file has geodesics of Karney's GeodSolve.
func TestOptimalDistancesAreBelowGeodesics(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../testdata/geodesics.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.TrimLeadingSpace = '#', true
	if _, err := r.Read(); err != nil { // names of the columns
		t.Fatal(err)
	}
	n := 0
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var v [9]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(record[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		n++
		func() {
			const step = 0.01
			d := open(t, ":memory:")
			defer d.close()
			if _, err := d.try(`SELECT geo_domain('box', ?, ?, ?, ?, ?)`, v[0], v[1], v[2], v[3], step); err != nil {
				t.Fatal(err)
			}
			geodesic := v[8]
			if _, err := d.try(`SELECT optql_store('two', optql_build(column1, column2, 1, ?, 1)) FROM (VALUES (?, ?), (?, ?))`,
				math.Max(1e-9, 1/geodesic), v[4], v[5], v[6], v[7]); err != nil {
				t.Fatalf("%v: %v", record, err)
			}
			charged := d.mechanism("two", 2).Privacy()[0][1]
			if charged > geodesic+step*math.Sqrt2 {
				t.Errorf("%v: %v m is charged for %v m", record, charged, geodesic)
			}
			if charged < 0.8*geodesic-step*math.Sqrt2 {
				t.Errorf("%v: %v m is hardly what %v m deserve", record, charged, geodesic)
			}
		}()
	}
	if n < 50 {
		t.Errorf("%d geodesics", n)
	}
}

// chargesFour demands of a query that it charges ana and bo four releases of 0.0003 each,
// and that this is foretold exactly.
func (d *database) chargesFour(query, unit string) {
	d.Helper()
	foretold, real := d.cost(query), d.really(query)
	if !foretold.proved() {
		d.Errorf("%s\nis not foretold exactly", query)
	}
	if err := foretold.contradicts(real); err != nil {
		d.Errorf("%s\n%v", query, err)
	}
	for _, account := range []string{"ana", "bo"} {
		if got := real[who{"geoind_optimal", account, unit}]; got != (charged{4, 0.0012}) {
			d.Errorf("%s\n%s is charged %v", query, account, got)
		}
	}
}

func TestOptimalCharges(t *testing.T) {
	d := settled(t)
	d.run(`CREATE TABLE fix(account, lat, lon)`, `INSERT INTO fix `+numbered("10")+`SELECT iif(i % 2, 'ana', 'bo'), 40.03, iif(i > 8, NULL, 116.05) FROM s`)
	for _, query := range []string{`SELECT geoind_optimal(account, lat, lon, 'town') FROM fix`,
		`SELECT g.* FROM fix f, geoind_optimal(f.account, f.lat, f.lon, 'town') g`} {
		d.chargesFour(query, "m")
	}
	if d.cost(`SELECT 1 FROM fix WHERE geoind_optimal(account, lat, lon, 'town') LIKE '%116%' AND geoind_optimal(account, lat, lon, 'town') LIKE '%'`).proved() {
		t.Error("a condition on a release is said to be foretold exactly")
	}
	d.run(`SELECT budget_limit('poor', 'm', 0.0008)`)
	rows := d.fails(`SELECT geoind_optimal('poor', lat, lon, 'town') FROM fix`, "geoind_optimal: account 'poor' has 0.0002/m left of 0.0008/m, 0.0003/m asked")
	if len(rows) != 2 {
		t.Errorf("%d rows before the refusal", len(rows))
	}
	d.spends("poor", "m", 0.0006)
}

// The constant of a dry run is the place nearest to the domain's centre, and a refused call
// draws nothing either.
func TestOptimalDrawsNothingUncharged(t *testing.T) {
	made := settled(t)
	made.run(`SELECT budget_limit('poor', 'm', 0.0002)`)
	made.close()
	d := open(t, made.path).drawing(iotest.ErrReader(errors.New("nothing may be drawn")))
	d.fails(`SELECT geoind_optimal('poor', 40, 116, 'town')`, "account 'poor' has 0.0002/m left")
	d.fails(`SELECT * FROM geoind_optimal('poor', 40, 116, 'town')`, "account 'poor' has 0.0002/m left")
	const query = `SELECT iif(geoind_optimal('ana', 40, 116, 'town') = '%s', 1, dx_value('ana', 1, 1, 'u'))`
	for place, asked := range map[[2]float64]int{{40.1, 116.12}: 1, {40, 116}: 2} {
		if got := len(d.cost(fmt.Sprintf(query, placed(t, place[0], place[1]))).charges); got != asked {
			t.Errorf("%d functions are asked with the condition that a dry run answers %v, want %d", got, place, asked)
		}
	}
}

// placed is the place of a location in the domain beijing, as it is released.
func placed(t *testing.T, lat, lon float64) string {
	lat, lon = beijing(t).Location(beijing(t).Cell(lat, lon))
	return fmt.Sprintf("POINT(%.7f %.7f)", lon, lat)
}

// Locations stand for the nearest place; of equally near ones for the first from the
// south-west. At this epsilon a release is its secret's place, see database.
func TestOptimalSnaps(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE corner AS SELECT column1 AS lat, column2 AS lon FROM (VALUES (40.0, 116.0), (40.0, 116.1), (40.1, 116.0), (40.1, 116.1))`,
		`SELECT optql_store('corners', optql_build(lat, lon, 1, 100, 1)) FROM corner`)
	for _, c := range []struct{ lat, lon, atLat, atLon float64 }{
		{40, 116, 40, 116}, {40.04, 116.04, 40, 116}, {40.06, 116.04, 40.1, 116}, {40.04, 116.06, 40, 116.1},
		{90, 180, 40.1, 116.1}, {-90, -180, 40, 116.1}, {39.4, 115.4, 40, 116},
	} {
		row := d.rows(`SELECT lat, lon FROM geoind_optimal('ana', ?, ?, 'corners')`, c.lat, c.lon)[0]
		if math.Abs(row[0].(float64)-c.atLat) > 1e-4 || math.Abs(row[1].(float64)-c.atLon) > 1e-4 {
			t.Errorf("%v %v is released as %v", c.lat, c.lon, row)
		}
		if got := d.rows(`SELECT geoind_remap(wkt, 'corners') = wkt FROM geoind_optimal('ana', ?, ?, 'corners')`, c.lat, c.lon); fmt.Sprint(got) != `[[1]]` {
			t.Errorf("%v %v is remapped elsewhere", c.lat, c.lon)
		}
	}
	// To the box's north-eastern corner: a degree of latitude, 1.5 of longitude.
	if snap := d.report("corners").LargestSnap; snap < 168_000 || snap > 171_000 {
		t.Errorf("largest snap %v m", snap)
	}
	for _, wkt := range []string{"", "POINT", "POINT EMPTY", "POINT(116)", "POINT(116 91)", "POINT(181 40)", "POINT(nan nan)", "POINT(inf 0)", "LINESTRING(116 40, 116 41)", "POINT(116 40) x"} {
		d.fails(`SELECT geoind_remap('`+wkt+`', 'corners')`, "geoind_remap: wkt must be a POINT(lon lat) in degrees")
	}
}

// With heavy weights on one place and much noise, the best guess for everybody is that
// place.
func TestRemapKnowsTheWeights(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE home AS SELECT column1 AS lat, column2 AS lon, column3 AS people FROM (VALUES (40.0, 116.0, 1), (40.0, 116.1, 1), (40.1, 116.0, 1000))`,
		`SELECT optql_store('skewed', optql_build(lat, lon, people, 0.00001, 1)) FROM home`)
	for _, at := range []string{placed(t, 40, 116), placed(t, 40, 116.1), placed(t, 40.1, 116)} {
		d.answers(`SELECT geoind_remap('`+at+`', 'skewed')`, `[[`+placed(t, 40.1, 116)+`]]`)
	}
	d.fails(`SELECT geoind_remap('POINT(116 40.05)', 'skewed')`, "geoind_remap: wkt is not a place of mechanism 'skewed', so it has not released it")
}

// Draws have the certified probabilities: 20,000 draws of each of two places, and an
// alarm if some output's share has a divergence from its probability which it exceeds
// with probability 1e-11 at the most, by Chernoff. Draws of another place have one 150
// standard deviations beyond that.
func TestOptimalDrawsAsCertified(t *testing.T) {
	d := settled(t)
	m := d.mechanism("town", 9)
	alarm := math.Log(2 * 9 / 1e-11)
	for _, place := range []int{0, 4} {
		if x := d.divergence(m, place, place); x > alarm {
			t.Errorf("draws of place %d have a divergence of %v, above %v", place, x, alarm)
		}
	}
	if x := d.divergence(m, 0, 1); x <= alarm {
		t.Errorf("draws of another place have a divergence of %v and pass", x)
	}
}

// divergence compares the draws of the place drawn with the probabilities of expected: it
// is the number of draws times the largest relative entropy of an output's share.
func (d *database) divergence(m *optimal.Mechanism, drawn, expected int) (most float64) {
	d.Helper()
	const draws = 20_000
	counts := map[[2]int64]float64{}
	for _, row := range d.rows(numbered(strconv.Itoa(draws))+`SELECT round((g.lat - 40) / 0.05), round((g.lon - 116) / 0.06)
		FROM s CROSS JOIN geoind_optimal('ana', ?, ? + 0 * s.i, 'town') g`, 40+0.05*float64(drawn/3), 116+0.06*float64(drawn%3)) {
		counts[[2]int64{int64(row[0].(float64)), int64(row[1].(float64))}]++
	}
	order := inOrder(d)
	term := func(share, p float64) float64 {
		if share == 0 {
			return 0
		}
		return share * math.Log(share/p)
	}
	for z := range 9 {
		share := counts[[2]int64{int64(z / 3), int64(z % 3)}] / draws
		p := float64(m.Weight(order[expected], order[z])) / float64(m.Total())
		most = max(most, draws*(term(share, p)+term(1-share, 1-p)))
	}
	return most
}

// inOrder are the numbers of the places of town in their mechanism, in the order of
// the table.
func inOrder(tb testing.TB) (numbers [9]int) {
	domain := beijing(tb)
	var cells [9]planar.Cell
	for i := range cells {
		cells[i] = domain.Cell(40+0.05*float64(i/3), 116+0.06*float64(i%3))
	}
	for i, c := range cells {
		for _, other := range cells {
			if other.J < c.J || other.J == c.J && other.I < c.I {
				numbers[i]++
			}
		}
	}
	return numbers
}
