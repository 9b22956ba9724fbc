package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// The domains differ in their likely faults. All distances that claims count are along the ellipsoid.
var (
	// fine has a lattice with cells far smaller than the distances of most pairs, so that rounding, which a claim
	// has to count at its worst, hides little.
	fine = newTown("fine", 39.95, 116.3, 40.05, 116.4, 1, "")
	// coarse has about a hundred lattice points, which its region is limited to: all answers are seen often.
	coarse = newTown("coarse", 39.95, 116.3, 40.05, 116.4, 1000,
		"POLYGON((116.3 39.95, 116.4 39.95, 116.4 40.05, 116.3 40.05, 116.3 39.95))")
	// holed has a hole in the middle, and a thin part, in which few lattice points lie.
	holed = newTown("holed", 39.95, 116.3, 40.05, 116.4, 500,
		"POLYGON((116.3 39.95, 116.36 39.95, 116.36 39.998, 116.4 39.998, 116.4 40.002, 116.36 40.002, 116.36 40.05, 116.3 40.05, 116.3 39.95), (116.315 39.97, 116.315 40.03, 116.345 40.03, 116.345 39.97, 116.315 39.97))")
	// dateline lies across the antimeridian.
	dateline = newTown("dateline", -17, 179.9, -16.9, -179.9, 10, "")
	// polar touches the pole, where all longitudes meet.
	polar = newTown("polar", 85, -60, 90, 60, 100, "")
	// wide is so large that its frame stretches distances by 7 %, most of all at its corners.
	wide = newTown("wide", 0, -30, 60, 30, 200, "")
	// bounded has a region that is its box, on a lattice fine enough for redrawing to show in its corners.
	bounded = newTown("bounded", 39.95, 116.3, 40.05, 116.4, 10,
		"POLYGON((116.3 39.95, 116.4 39.95, 116.4 40.05, 116.3 40.05, 116.3 39.95))")
)

// locations has all of them, and mechanisms on places in fine.
var locations = &fixture{
	name: "locations",
	declare: []string{
		fine.declare(), coarse.declare(), bounded.declare(), holed.declare(), dateline.declare(), polar.declare(), wide.declare(),
		`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'm2', 9000000), budget_limit('*', 'record', 9000000)`,
		`SELECT budget_limit('blocked', 'm', 0), budget_limit('blocked', 'm2', 0), budget_limit('blocked', 'record', 0)`,
		homes.store("homes", "", 0.0007), homes.store("blocks", ", 'manhattan'", 0.0005), homes.store("roads", ", roads", 0.0003),
		`SELECT budget_limit('*', 'm:blocks', 9000000), budget_limit('*', 'm:roads', 9000000)`,
		`SELECT budget_limit('blocked', 'm:blocks', 0), budget_limit('blocked', 'm:roads', 0)`,
	},
	release: `geoind_laplace('dry run', 40, 116.35, 0.001, 'fine')`,
}

// A metric says how a function that releases locations charges, and which loss it claims.
type metric struct {
	function string
	kind     bound.Kind
	unit     string
	n        norm
}

var (
	laplace   = metric{"geoind_laplace", bound.Pure, "m", euclid}
	laplaceL1 = metric{"geoind_laplace_l1", bound.Pure, "m", manhattan}
	gauss     = metric{"geoind_gauss", bound.Renyi, "m2", square}
)

// claim returns the claim for a distance.
func (m metric) claim(distance float64) claim {
	if m.kind == bound.Renyi {
		distance *= distance
	}
	return claim{kind: m.kind, distance: distance}
}

// price returns the epsilon, or rho, with which a claim allows a loss, to four digits.
func (m metric) price(loss, distance float64) string {
	return fmt.Sprintf("%.4g", loss/m.claim(distance).distance)
}

// attack returns an attack on a single location, which is a where the input is 0 and b otherwise. The loss is the
// is allowed for it. No distance may be claimed for two locations of one cell; the price is given then.
func (m metric) attack(pair string, t *town, loss float64, a, b spot) attack {
	d := t.distance(t.inside(a), t.inside(b))
	return m.priced(pair, t, m.price(loss, d), d, a, b)
}

// alike returns an attack on a location that has the same lattice point with both inputs: nothing may tell them apart.
func (m metric) alike(pair string, t *town, loss float64, a, b spot) attack {
	return m.priced(pair, t, m.price(loss, t.diagonal()), 0, a, b)
}

func (m metric) priced(pair string, t *town, price string, distance float64, a, b spot) attack {
	at := located(m.function, pair, fmt.Sprintf("%s, '%s'", price, t.name), a, b)
	at.unit, at.claim, at.grid = m.unit, m.claim(distance), onlyPoints(t.latticed)
	at.hints = []bound.Score{t.nearer(m.n, []spot{a}, []spot{b})}
	return at
}

// located returns an attack with a scalar function on the location of an account. The settings are its arguments after that.
func located(function, pair, settings string, a, b spot) attack {
	answer := fmt.Sprintf("%s(account, lat, lon, %s)", function, settings)
	return attack{
		function: function, pair: pair, fixture: locations, columns: "account, lat, lon",
		inputs: [2][]string{rowsAt(a), rowsAt(b)}, answer: answer, alike: answer, from: "FROM {rows}",
	}
}

// inTable turns an attack on the scalar form into one on the table-valued form.
func (a attack) inTable(column string) attack {
	call := strings.NewReplacer("(account, lat, lon", "(r.account, r.lat, r.lon").Replace(a.answer)
	a.from, a.answer, a.alike = "FROM {rows} r, "+call+" g", column, ""
	if column != "g.wkt" {
		a.grid, a.hints = nil, nil
	}
	return a
}

// inGroup turns an attack on a location into one on all that the rows of a trial release, one after the other.
func (a attack) inGroup(more ...string) attack {
	for i := range a.inputs {
		a.inputs[i] = append(a.inputs[i][:1:1], more...)
	}
	call := a.answer
	a.answer = "group_concat(ifnull(" + call + ", '-'), ' ')"
	a.alike = strings.Replace(a.answer, "account", "+account", 1)
	a.group = "GROUP BY trial"
	return a
}

// inside returns the location of the box that a location is moved to. None of the attacks is on a location outside of
// a box across the antimeridian.
func (t *town) inside(s spot) spot {
	if t.east < t.west {
		return s
	}
	return spot{min(max(s.lat, t.south), t.north), min(max(s.lon, t.west), t.east)}
}

// onlyPoints returns whether all points in an answer are such that may be given.
func onlyPoints(given func(spot) bool) func(row []any) bool {
	return func(row []any) bool {
		return !slices.ContainsFunc(points(outcome(row)), func(z spot) bool { return !given(z) })
	}
}

// corner is where four cells of coarse meet.
var corner = spot{40.004503, 116.3558556}

func attacksOnLocations(register func(...attack)) {
	middle, origin := fine.centre(), coarse.centre()
	kilometre := middle.move(1000, 0) // where degrees are shorter than those of latitude
	northWest, southEast := spot{coarse.north, coarse.west}, spot{coarse.south, coarse.east}
	for _, m := range []metric{laplace, laplaceL1, gauss} {
		sharp := 3.0
		if m.kind == bound.Renyi {
			sharp = 2
		}
		aside := kilometre
		if m.function == laplaceL1.function {
			aside = middle.move(707, 707) // along the diagonal of a cell, where the norms agree
		}
		register(
			m.attack("a kilometre on a fine lattice", fine, sharp, middle, aside),
			m.attack("opposite corners of the box, in a region", coarse, 4, northWest, southEast),
			// Drawing again in place of moving makes answers near corners likelier, and so shows between a corner and the inside,
			// most of all where noise is as wide as the region.
			m.attack("a corner of the region and its middle", coarse, 0.7, northWest, origin),
			m.attack("a corner of the region and inside of it", bounded, 2, northWest, northWest.move(1200, -900)),
			m.attack("a corner of the box and a kilometre inside", fine, 0.7, spot{fine.south, fine.west}, spot{fine.south, fine.west}.move(800, 600)),
			m.attack("across the corner of four cells", coarse, sharp, corner.move(-1, -1), corner.move(1, 1)),
			m.alike("two locations in one cell", coarse, sharp, origin.move(-450, -450), origin.move(450, 450)),
			m.attack("outside the box on different sides", coarse, sharp, spot{-80, 116.35}, spot{70, 116.35}),
			m.attack("at the worst corner of a frame that stretches distances", wide, sharp, spot{0, -30}, spot{1.7, -30}),
			m.attack("a location inside the region, and one in its hole", holed, sharp, spot{40, 116.305}, spot{40, 116.331}),
			m.attack("a kilometre on a fine lattice, table-valued", fine, sharp, middle, aside).inTable("g.wkt"),
			m.attack("one account among several, and locations that are NULL", fine, sharp, middle, aside).
				inGroup("{ana}, NULL, NULL", "{ben}, 40.01, 116.31", "{ben}, NULL, 116.3", "{eve}, 39.96, 116.39"),
		)
	}
	register(
		laplace.attack("far apart: half of all answers exclude one input", fine, 9, middle, middle.move(3000, 0)),
		laplace.attack("noise as wide as a continent", wide, 2, spot{2, -28}, spot{58, 28}),
		laplace.attack("noise of a few steps", fine, sharpSteps*0.9, middle, middle.move(sharpSteps, 0)),
		laplace.attack("neighbours on the lattice", coarse, 4, origin, origin.move(1000, 0)),
		laplace.alike("two locations in one cell, with noise far smaller than the cell", coarse, 40, origin.move(498, 498), origin.move(-498, -498)),
		laplace.alike("outside the box, beyond the same corner", coarse, 3, spot{85, 60}, spot{60, 10}),
		laplace.attack("across the antimeridian", dateline, 3, spot{-16.95, 179.997}, spot{-16.95, -179.997}),
		laplace.attack("at the pole, on opposite longitudes", polar, 3, spot{89.9, -60}, spot{89.9, 60}),
		laplace.attack("the tip of the region's thin part", holed, 3, spot{40, 116.398}, spot{40.012, 116.398}),
		laplace.attack("a kilometre on a fine lattice, latitude of the table", fine, 3, middle, middle.move(0, 1000)).inTable("g.lat"),
		laplace.attack("a kilometre on a fine lattice, longitude of the table", fine, 3, middle, kilometre).inTable("g.lon"),
		staleEpsilon(middle, kilometre),
		gauss.attack("far apart", fine, 18, middle, middle.move(3000, 0)),
	)
}

// sharpSteps is a distance of so few steps that noise has few values.
const sharpSteps = 4

// staleEpsilon releases two locations with different epsilons, so that a plan made for the first one would be wrong for
// the other. Both move by the same distance: the losses add up to the sum of both charges times that distance.
func staleEpsilon(a, b spot) attack {
	d := fine.distance(a, b)
	row := func(s spot) []string {
		return []string{
			fmt.Sprintf("{ana}, %v, %s", s, laplace.price(2.5, d)), fmt.Sprintf("{ana}, %v, %s", s, laplace.price(0.3, d)),
			fmt.Sprintf("{ana}, %v, %s", s, laplace.price(0.1, d)),
		}
	}
	const answer = "group_concat(geoind_laplace(account, lat, lon, epsilon, 'fine'), ' ')"
	prices := []float64{2.5, 0.3, 0.1}
	return attack{
		function: "geoind_laplace", pair: "another epsilon in each row", fixture: locations, columns: "account, lat, lon, epsilon",
		inputs: [2][]string{row(a), row(b)}, answer: answer, from: "FROM {rows}", group: "GROUP BY trial",
		unit: "m", claim: claim{kind: bound.Pure, distance: d}, grid: onlyPoints(fine.latticed),
		hints: []bound.Score{{Name: "nearer to the locations of input 0, by epsilon", Of: func(o bound.Outcome) float64 {
			score := 0.0
			for i, z := range points(o) {
				if i < len(prices) {
					p := fine.plane(z)
					score += prices[i] * (euclid(p, fine.secret(b)) - euclid(p, fine.secret(a)))
				}
			}
			return score
		}}, fine.nearer(euclid, []spot{a, a, a}, []spot{b, b, b})},
	}
}
