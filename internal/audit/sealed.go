package audit

import (
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// Sealed databases. Their functions take a sealed value in place of account, secret and universe. Rows are drawn from more
// slowly than those of plain tables, so losses are large enough to be seen in few draws.
var (
	sealedReadings = sealedFixture("sealed-readings", "x:u", `dx_universe('u', 0, 10, 1, 'kWh')`, "kWh", "record")
	sealedFlags    = sealedFixture("sealed-flags", "x:one", `dx_universe('one', 0, 1, 1, 'yes')`, "yes", "record")
	sealedPlaces   = sealedFixture("sealed-places", "lat,lon:city", `geo_domain('city', 39.95, 116.3, 40.05, 116.4, 1)`, "m", "record")
)

// sealedFixture returns a sealed database.
func sealedFixture(name, sealed, declaration string, units ...string) *fixture {
	f := &fixture{name: name, sealed: []string{sealed}, declare: []string{"SELECT " + declaration}}
	for _, unit := range units {
		f.declare = append(f.declare, fmt.Sprintf("SELECT budget_limit('*', '%s', 9000000)", unit))
	}
	return f
}

// twice is a join that has each row of a trial twice.
const twice = "FROM {rows} CROSS JOIN (SELECT 1 UNION ALL SELECT 2)"

// sealedAttack completes an attack on an aggregate of a sealed reading.
func sealedAttack(a attack) attack {
	a.pair = "sealed: " + a.pair
	if a.fixture == nil {
		a.fixture, a.columns = sealedReadings, "account TEXT, x REAL"
	}
	if a.from == "" {
		a.from = "FROM {rows}"
	}
	if a.group == "" {
		a.group = "GROUP BY trial"
	}
	a.claim.kind = bound.Pure
	return a
}

// ana returns the rows of a trial in which the account that the trial has for itself has some values, and ben another.
func ana(values ...string) (rows []string) {
	for _, v := range values {
		rows = append(rows, "{each}, "+v)
	}
	return append(rows, "{ben}, 3")
}

// asking sets an attack's answer to a form in which {e} stands for epsilon. The other form has a slightly larger epsilon: that
// is another question, which has an answer of its own.
func (a attack) asking(epsilon, form string) attack {
	a.answer = strings.ReplaceAll(form, "{e}", epsilon)
	if !strings.Contains(epsilon, ".") {
		epsilon += "."
	}
	a.alike = strings.ReplaceAll(form, "{e}", epsilon+"0000000001")
	return a
}

// moved returns an attack in which a reading moves from a to b, under a metric that pays by distance.
func moved(function, pair string, a, b, distance float64, epsilon, form string) attack {
	return sealedAttack(attack{
		function: function, pair: pair, inputs: [2][]string{ana(fmt.Sprint(a)), ana(fmt.Sprint(b))},
		unit: "kWh", claim: claim{distance: distance},
	}.asking(epsilon, form))
}

// replaced returns an attack in which a reading of 0 is replaced, under a metric that pays by records.
func replaced(function, pair string, by float64, epsilon, form string) attack {
	at := moved(function, pair, 0, by, 1, epsilon, form)
	at.unit = "record"
	return at
}

// inTwoAnswers returns an attack on two answers about the same values, which pay for both.
func inTwoAnswers() attack {
	a := moved("dx_sum", "a reading is in two answers", 0, 10, 10, "0.15", "dx_sum(x, {e})")
	a.answer += ", dx_sum(x, 0.15000000001)"
	a.alike += ", dx_sum(x, 0.15000000002)"
	return a
}

// repeated returns an attack in a form with rows that a join repeats.
func repeated(a attack) attack {
	a.pair += ", each row twice"
	a.from = twice
	return a
}

// person returns an attack in which all readings of an account change, where it has one number.
func person(function, pair string, a, b []string, epsilon, form string) attack {
	return sealedAttack(attack{
		function: function, pair: "one number a person: " + pair, inputs: [2][]string{ana(a...), ana(b...)}, unit: "record", claim: claim{distance: 1},
	}.asking(epsilon, form))
}

// underPseudonyms returns an attack on sums in which an account has readings under two pseudonyms.
func underPseudonyms() attack {
	a := person("dx_sum", "an account has two pseudonyms", []string{"0, 0", "0, 1"}, []string{"10, 0", "10, 1"}, "3", "dx_sum(dx_person(x, 0, 5), {e})")
	a.columns = "account TEXT, x REAL, later INTEGER"
	for i := range a.inputs {
		a.inputs[i][2] += ", 0" // ben's
	}
	return a
}

// attacksOnPersons are attacks on aggregates of one number of each account.
func attacksOnPersons() []attack {
	none, all := []string{"0", "0"}, []string{"10", "10"}
	const changes = "all readings of an account change"
	sums := person("dx_sum", changes, none, all, "3", "dx_sum(dx_person(x, 0, 5), {e})")
	sums.alike = "dx_sum(dx_person(x, 0, 4), 3)" // another range is another question
	same := person("dx_sum", "readings change that have the same sum", []string{"0", "10"}, []string{"6", "4"}, "3", "dx_sum(dx_person(x, 0, 20), {e})")
	same.claim.distance = 0
	return []attack{
		sums, same, underPseudonyms(),
		person("dx_avg", changes+", narrowed", none, all, "3", "dx_avg(dx_person(dx_narrow(x, 3, 6), 7, 11), {e})"),
		repeated(person("dx_avg", changes, none, all, "3", "dx_avg(dx_person(x, 0, 5), {e})")),
		person("dx_avg", changes, none, all, "3", "dx_avg(dx_person(x, 0, 5), {e})"),
		person("dx_variance", changes, none, all, "3", "dx_variance(dx_person(x, 0, 5), {e})"),
		person("dx_stddev", changes, none, all, "3", "dx_stddev(dx_person(x, 0, 5), {e})"),
		person("dx_min", changes, none, all, "3", "dx_min(dx_person(x, 0, 5), {e})"),
		person("dx_max", changes, none, all, "3", "dx_max(dx_person(x, 0, 5), {e})"),
		person("dx_median", changes, none, all, "3", "dx_median(dx_person(x, 0, 5), {e})"),
		person("dx_percentile", changes, none, all, "3", "dx_percentile(dx_person(x, 0, 5), 90, {e})"),
		person("dx_percentiles", changes, none, all, "3", "dx_percentiles(dx_person(x, 0, 5), '[25, 75]', {e})"),
		person("dx_histogram", changes, none, all, "3", "dx_histogram(dx_person(x, 0, 20), {e}, 7)"),
	}
}

func attacksOnSealed(register func(...attack)) {
	const corners = "a reading moves from corner to corner"
	register(
		moved("dx_sum", corners, 0, 10, 10, "0.3", "dx_sum(x, {e})"),
		repeated(moved("dx_sum", corners, 0, 10, 10, "0.15", "dx_sum(x, {e})")),
		inTwoAnswers(),
		moved("dx_sum", "a reading moves within a narrowed universe", 6, 10, 4, "0.75", "dx_sum(dx_narrow(x, 6, 10), {e})"),
		moved("dx_sum", "a reading moves below a narrowed universe", 0, 6, 0, "0.75", "dx_sum(dx_narrow(x, 6, 10), {e})"),
		moved("dx_sum", "a reading is moved into its universe", 10, 25, 0, "0.3", "dx_sum(x, {e})"),
		replaced("dx_sum", "a reading is replaced, nd1", 10, "3", "dx_sum(x, {e}, 'nd1')"),
		replaced("dx_sum", "a reading is replaced, dh", 10, "3", "dx_sum(x, {e}, 'dh')"),
		repeated(replaced("dx_sum", "a reading is replaced, dh", 10, "1.5", "dx_sum(x, {e}, 'dh')")),
		replaced("dx_sum", "a reading is replaced, dh, and narrowed", 10, "3", "dx_sum(dx_narrow(x, 4, 5), {e}, 'dh')"),

		moved("dx_avg", corners, 0, 10, 10, "0.3", "dx_avg(x, {e})"),
		moved("dx_avg", corners+", dinf", 0, 10, 10, "0.3", "dx_avg(x, {e}, 'dinf')"),
		repeated(moved("dx_avg", corners, 0, 10, 10, "0.15", "dx_avg(x, {e})")),
		replaced("dx_avg", "a reading is replaced, dh", 10, "3", "dx_avg(x, {e}, 'dh')"),
		moved("dx_variance", corners, 0, 10, 10, "0.3", "dx_variance(x, {e})"),
		replaced("dx_variance", "a reading is replaced, dh", 10, "3", "dx_variance(x, {e}, 'dh')"),
		moved("dx_stddev", corners, 0, 10, 10, "0.3", "dx_stddev(x, {e})"),
		repeated(moved("dx_stddev", corners, 0, 10, 10, "0.15", "dx_stddev(x, {e})")),

		moved("dx_curve", corners, 0, 10, 10, "0.3", "dx_curve(x, {e})"),
		moved("dx_curve", "a reading moves within a narrowed universe", 6, 10, 4, "0.75", "dx_curve(dx_narrow(x, 6, 10), {e}, 2)"),
		repeated(moved("dx_curve", corners, 0, 10, 10, "0.15", "dx_curve(x, {e}, '[50]')")),

		moved("dx_min", "the least reading moves", 0, 3, 3, "1.5", "dx_min(x, {e})"),
		repeated(moved("dx_min", "the least reading moves", 0, 3, 3, "0.75", "dx_min(x, {e})")),
		replaced("dx_min", "a reading is replaced, dh", 10, "3", "dx_min(x, {e}, 'dh')"),
		moved("dx_max", "the largest reading moves", 3, 10, 7, "0.3", "dx_max(x, {e})"),
		moved("dx_max", "the largest reading moves above a narrowed universe", 5, 10, 0, "0.75", "dx_max(dx_narrow(x, 1, 5), {e})"),
		moved("dx_median", "one of two readings moves", 0, 10, 10, "0.3", "dx_median(x, {e})"),
		replaced("dx_median", "a reading is replaced, nd1", 10, "3", "dx_median(x, {e}, 'nd1')"),
		moved("dx_percentile", "the largest reading moves", 3, 10, 7, "0.3", "dx_percentile(x, 90, {e})"),
		moved("dx_percentile", "all readings move, dinf", 3, 10, 7, "0.3", "dx_percentile(x, 100, {e}, 'dinf')"),
		moved("dx_percentiles", "the largest reading moves", 3, 10, 7, "0.3", "dx_percentiles(x, '[25, 75]', {e})"),
		replaced("dx_percentiles", "a reading is replaced, dh", 10, "3", "dx_percentiles(x, '[25, 50, 75]', {e}, 'dh')"),
		repeated(replaced("dx_percentiles", "a reading is replaced, dh", 10, "1.5", "dx_percentiles(x, '[25, 50, 75]', {e}, 'dh')")),
		replaced("dx_histogram", "a reading moves from the first bin to the last", 10, "3", "dx_histogram(x, {e}, 5)"),
		repeated(replaced("dx_histogram", "a reading moves from the first bin to the last", 10, "1.5", "dx_histogram(x, {e}, 5)")),
	)
	register(attacksOnPersons()...)
	register(sealedScalars()...)
	register(sealedCounts()...)
	register(sealedLocations()...)
}

// sealedScalars returns attacks on functions that answer each row by itself.
func sealedScalars() (list []attack) {
	for _, a := range []attack{
		moved("dx_value", "the lower corner of the universe and a value 4 steps away", 0, 4, 4, "0.75", "dx_value(x, {e})"),
		moved("dx_value", "two values below a narrowed universe", 0, 3, 0, "0.75", "dx_value(dx_narrow(x, 3, 6), {e})"),
		moved("dx_value", "the corners of a narrowed universe", 3, 6, 3, "0.75", "dx_value(dx_narrow(x, 3, 6), {e})"),
	} {
		a.inputs = [2][]string{a.inputs[0][:1], a.inputs[1][:1]} // without ben
		a.group = "ORDER BY trial"
		list = append(list, a)
	}
	return list
}

// sealedCounts returns attacks on counts of ones.
func sealedCounts() (list []attack) {
	const one, accounts = "a 0 becomes a 1", "an account's last 1 becomes a 0"
	for _, a := range []attack{
		replaced("dx_count", one, 1, "3", "dx_count(x, {e})"),
		repeated(replaced("dx_count", one, 1, "1.5", "dx_count(x, {e})")),
		replaced("dx_accounts", accounts, 1, "3", "dx_accounts(x, {e})"),
		repeated(replaced("dx_accounts", accounts, 1, "1.5", "dx_accounts(x, {e})")),
	} {
		a.fixture = sealedFlags
		for i := range a.inputs {
			a.inputs[i][1] = "{ben}, 1"
		}
		list = append(list, a)
	}
	return list
}

// sealedLocations returns attacks on sealed locations. Their promise includes a diagonal of the lattice of 1 m, and
// two for a centroid.
func sealedLocations() []attack {
	a, b := fine.centre(), fine.centre()
	b.lat += 0.001
	d := fine.distance(a, b)
	const diagonal = 1.4143
	location := func(function, pair string, b spot, epsilon, form string) attack {
		return sealedAttack(attack{
			function: function, pair: pair, fixture: sealedPlaces, columns: "account TEXT, lat REAL, lon REAL",
			inputs: [2][]string{{"{each}, " + a.String(), "{ben}, " + a.String()}, {"{each}, " + b.String(), "{ben}, " + a.String()}},
			unit:   "m",
		}.asking(epsilon, form))
	}
	laplace := location("geoind_laplace", "two places 111 m apart", b, "0.03", "geoind_laplace(location, {e})")
	laplace.group, laplace.claim.distance = "ORDER BY trial", d+diagonal
	for i := range laplace.inputs {
		laplace.inputs[i] = laplace.inputs[i][:1]
	}
	centroid := location("dx_centroid", "one of two places moves by 111 m", b, "0.03", "dx_centroid(location, {e})")
	centroid.claim.distance = d + 2*diagonal
	corner := spot{fine.south, fine.west}
	heat := location("dx_heatmap", "a place moves to another cell", corner, "3", "dx_heatmap(location, {e}, 4000)")
	heat.unit, heat.claim.distance = "record", 1
	heats := repeated(location("dx_heatmap", "a place moves to another cell", corner, "1.5", "dx_heatmap(location, {e}, 4000)"))
	heats.unit, heats.claim.distance = "record", 1
	adaptive := location("dx_heatmap", "a place moves to another square of an adaptive map", corner, "3", "dx_heatmap(location, {e}, 4000, 'adaptive')")
	adaptive.unit, adaptive.claim.distance = "record", 1
	return []attack{laplace, centroid, heat, heats, adaptive}
}
