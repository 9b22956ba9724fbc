package sqlitefn_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// judged is optql_build on the places of town, with a quality and a role.
func judged(metric, quality, role string) string {
	return `optql_build(p.lat, p.lon, p.people, 0.0003, 1, 'beijing', ` + metric + `, ` + quality + `, ` + role + `)`
}

// toll are losses of reporting any place for place p of town, an expression of o and p.
func toll(expression string) string {
	return `(SELECT json_group_array(json_array(o.lat, o.lon, ` + expression + `)) FROM place o)`
}

// The loss is the one that was asked for, and neither the distances nor the unit depend on it.
func TestQualitiesOfMechanisms(t *testing.T) {
	order, domain := inOrder(t), beijing(t)
	east := func(x, z int) float64 {
		a, b := domain.Cell(40+0.05*float64(x/3), 116+0.06*float64(x%3)), domain.Cell(40+0.05*float64(z/3), 116+0.06*float64(z%3))
		return a.Distance(b)
	}
	wrong := func(x, z int) float64 { return min(1, math.Abs(float64(x-z))) }
	for quality, c := range map[string]struct {
		name, unit string
		loss       func(x, z int) float64
	}{
		`'euclid'`:                 {"euclid", " m lost on average", east},
		`NULL`:                     {"euclid", " m lost on average", east},
		`'squared'`:                {"squared", " m2 lost on average", func(x, z int) float64 { return math.Pow(east(x, z), 2) }},
		`'binary'`:                 {"binary", " lost on average", wrong},
		toll(`o.people<>p.people`): {"given", " lost on average", wrong},
		toll(`iif(o.people > p.people, 7, 0)`): {"given", " lost on average", func(x, z int) float64 {
			if z > x {
				return 7
			}
			return 0
		}},
	} {
		t.Run(quality, func(t *testing.T) {
			d := town(t)
			line := d.value(`SELECT optql_store('x', ` + judged(`'euclid'`, quality, `NULL`) + `) FROM place p`).(string)
			if !strings.Contains(line, c.unit) || !strings.Contains(line, "0.0003/m a release") {
				t.Error(line)
			}
			matrix, loss := d.mechanism("x", 9).Matrix(), 0.0
			for x := range 9 {
				for z := range 9 {
					loss += float64(x+1) / 45 * matrix[order[x]][order[z]] * c.loss(x, z)
				}
			}
			r := d.report("x")
			if r.Metric != "euclid" || r.Unit != "m" || r.Quality != c.name || r.Places != 9 || r.Outputs != 9 || math.Abs(r.QualityLoss-loss) > 1e-9*loss {
				t.Errorf("%+v, want a loss of %v", r, loss)
			}
			if !(r.AdvError <= r.QualityLoss*(1+1e-12) && r.AdvError >= r.QualityLoss*(1-2e-4)-1e-9) {
				t.Errorf("%v of a loss of %v is left", r.AdvError, r.QualityLoss)
			}
		})
	}
}

// Losses are in metres of the frame, as TestQualitiesOfMechanisms computes them, and the reference says so.
func TestLossesAreSaidToBeTheFrames(t *testing.T) {
	help := strings.Join(strings.Fields(town(t).value(`SELECT geosql_help('optql_report')`).(string)), " ")
	if want := "quality_loss (average loss of a release: metres of the domain's frame, which may be longer than metres along the Earth by the kappa"; !strings.Contains(help, want) {
		t.Error(help)
	}
}

// Places can be secrets that are never released, and other points can be released.
func TestRolesOfMechanisms(t *testing.T) {
	d := town(t)
	d.run(`CREATE VIEW spot AS SELECT lat, lon, people, iif(people = 9, 'both', 'secret') AS role FROM place
		UNION ALL SELECT 40.02, 116.03, 0, 'output' UNION ALL SELECT 40, 116.12, 0, 'output'`)
	d.run(`SELECT optql_store('x', optql_build(lat, lon, people, 0.0003, 1, 'beijing', 'euclid', 'squared', role)) FROM spot`)
	if r := d.report("x"); r.Places != 9 || r.Outputs != 3 || r.Constraints != 3*2*int(math.Round(float64(r.Constraints)/6)) {
		t.Errorf("%+v", r)
	}
	d.run(`CREATE TABLE printed AS SELECT printf('POINT(%.7f %.7f)', h.lon, h.lat) AS wkt FROM spot p, geoind_laplace('other', p.lat, p.lon, 1000) h WHERE role <> 'secret'`)
	d.answers(`SELECT count(*) FROM place p WHERE geoind_optimal('ana', p.lat, p.lon, 'x') IN (SELECT wkt FROM printed)`, `[[9]]`)
	d.answers(`SELECT count(*) FROM printed WHERE geoind_remap(wkt, 'x') IN (SELECT wkt FROM printed)`, `[[3]]`)
	d.fails(`SELECT geoind_remap((SELECT printf('POINT(%.7f %.7f)', h.lon, h.lat) FROM geoind_laplace('other', 40, 116, 1000) h), 'x')`, "is not a place of mechanism 'x'")
	d.spends("ana", "m", 9*0.0003)
	// The same in another order is the same mechanism; another output or role is not.
	d.run(`SELECT optql_store('x', optql_build(lat, lon, people, 0.0003, 1, 'beijing', NULL, 'squared', role)) FROM (SELECT * FROM spot ORDER BY random())`)
	for _, other := range []string{
		`'euclid', role)) FROM spot`, `'squared', 'both')) FROM place`, `'squared', role)) FROM spot WHERE lon < 116.119 OR role <> 'output'`,
	} {
		d.fails(`SELECT optql_store('x', optql_build(lat, lon, people, 0.0003, 1, 'beijing', 'euclid', `+other, "mechanism 'x' is stored already and cannot change")
	}
}

// A place of weight 0 is a secret like others: the certificate includes it.
func TestPlacesOfNoWeight(t *testing.T) {
	d := town(t)
	d.run(`SELECT optql_store('x', optql_build(lat, lon, iif(people = 5, 1, 0), 0.0003, 1)) FROM place`)
	if r := d.report("x"); r.Places != 9 || r.Outputs != 9 || r.QualityLoss > 1e-3 || r.Unit != "m" {
		t.Errorf("%+v", r)
	}
	if m := d.mechanism("x", 9); m.Len() != 9 {
		t.Errorf("%d places", m.Len())
	}
	middle := placed(t, 40.05, 116.06) // nobody is elsewhere, so that it is always released
	d.answers(fmt.Sprintf(`SELECT count(*) FROM place WHERE geoind_optimal('ana', lat, lon, 'x') = '%s'`, middle), `[[9]]`)
}

func TestQualityRefuses(t *testing.T) {
	d := town(t)
	good := toll(`1`)
	but := func(of int, other string) string { return fmt.Sprintf(`iif(p.people = %d, %s, %s)`, of, other, good) }
	one := placed(t, 40, 116)
	for quality, want := range map[string]string{
		`'taxicab'`:                         "quality must be 'euclid', 'manhattan', 'squared', 'binary', or in each row a JSON array of [lat, lon, loss], got 'taxicab'",
		`'given'`:                           "quality must be 'euclid'",
		`''`:                                "quality must be 'euclid'",
		`1`:                                 "quality must be TEXT, got INTEGER",
		but(5, `'euclid'`):                  "quality changes within a group",
		but(5, `NULL`):                      "quality changes within a group",
		but(1, `'['`):                       "quality of place " + one + " must be a JSON array of [lat, lon, loss], three numbers each",
		but(1, `'[[40, 116, -1]]'`):         "quality from place " + one + " to " + one + " must be a loss of 0 to 1000000000000000000, got -1",
		but(1, `'[[40, 116, 1e19]]'`):       "quality from place " + one + " to " + one + " must be a loss of 0 to",
		but(1, `'[[40, 116]]'`):             "quality of place " + one + " must be a JSON array of [lat, lon, loss]",
		but(1, `'[[40, 116, 0]]'`):          "quality lacks the loss from place " + one + " to " + placed(t, 40, 116.12),
		but(1, `'[[40.001, 116, 0]]'`):      "quality of place " + one + " has a loss to " + placed(t, 40.001, 116) + ", which is none of the outputs",
		but(1, `'[[40,116,0],[40,116,0]]'`): "quality from place " + one + " to " + one + " is given twice",
	} {
		d.fails(`SELECT `+judged(`'euclid'`, quality, `NULL`)+` FROM place p`, "optql_build: "+want)
	}
	for role, want := range map[string]string{
		`'place'`:                           "role must be 'both', 'secret' or 'output', got 'place'",
		`0`:                                 "role must be TEXT",
		`'secret'`:                          "role is 'secret' in every row, so that nothing can be released",
		`iif(p.people = 3, 'output', NULL)`: "weight must be 0 where role is 'output', got 3",
	} {
		d.fails(`SELECT `+judged(`'euclid'`, `NULL`, role)+` FROM place p`, "optql_build: "+want)
	}
	mixed := func(metric, quality, role string) string {
		return `optql_build(p.lat, p.lon, iif(p.people = 3, 0, p.people), 0.0003, 1, 'beijing', ` + metric + `, ` + quality + `, ` + role + `)`
	}
	output := `iif(p.people = 3, 'output', 'both')`
	for call, want := range map[string]string{
		mixed(roads(along(2000)), `NULL`, output): "metric must be '[]' where role is 'output'",
		mixed(`NULL`, good, output):               "quality must be '[]' where role is 'output'",
		mixed(`NULL`, `NULL`, `'output'`):         "weight must be 0 where role is 'output'",
	} {
		d.fails(`SELECT `+call+` FROM place p`, "optql_build: "+want)
	}
	d.fails(`SELECT optql_build(lat, lon, 0, 0.0003, 1, 'beijing', NULL, NULL, 'output') FROM place`, "optql_build: lat and lon make 0 places, but a mechanism has 2 to 1024")
	d.fails(`SELECT optql_build(lat, lon, 0, 0.0003, 1, 'beijing', NULL, NULL, 'output') FROM place, (VALUES (1), (2))`,
		"optql_build: lat and lon of two rows with role 'output' or 'both' are one point of domain 'beijing', POINT(116.")
	d.fails(`SELECT optql_build(40 + i * 0.0005, 116, 0, 0.0003, 1, 'beijing', NULL, NULL, 'output') FROM (`+numbered("1025")+`SELECT i FROM s)`, "optql_build: role makes more than 1024 outputs")
	// Losses by roads serve distances by roads only among the places themselves.
	d.fails(`SELECT optql_build(p.lat, p.lon, p.people, 0.0003, 1, 'beijing', `+roads(along(2000))+`, NULL, iif(p.people = 3, 'secret', 'both')) FROM place p`,
		"optql_build: quality must be given, since the metric's distances lead to places and not to all outputs")
}
