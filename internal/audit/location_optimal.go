package audit

import (
	"fmt"
	"slices"
	"strings"
)

// places are the places of the mechanisms for geoind_optimal.
type places []spot

// homes are places in fine; the first two are the nearest, so that a location between them is as near to both.
var homes = places{{40, 116.33}, {40, 116.35}, {40.02, 116.37}, {39.98, 116.38}}

// road returns the length of a road between two places, which is three times as long as the way east and north.
func (p places) road(i, j int) float64 {
	return 3 * manhattan(fine.secret(p[i]), fine.secret(p[j]))
}

// store returns a statement that stores a mechanism for the places. The metric is the text after the domain.
func (p places) store(name, metric string, epsilon float64) string {
	var rows []string
	for i, s := range p {
		var roads []string
		for j, o := range p {
			if i != j {
				roads = append(roads, fmt.Sprintf("[%v,%v,%.3f]", o.lat, o.lon, p.road(i, j)))
			}
		}
		rows = append(rows, fmt.Sprintf("(%v, %d, '[%s]')", s, i+1, strings.Join(roads, ",")))
	}
	return fmt.Sprintf("WITH home(lat, lon, people, roads) AS (VALUES %s) SELECT optql_store('%s', optql_build(lat, lon, people, %v, 1, 'fine'%s)) FROM home",
		strings.Join(rows, ", "), name, epsilon, metric)
}

// optimal returns an attack on the mechanism of a name. The distance is that of the locations' places.
func optimal(pair, name, unit string, distance float64, a, b spot) attack {
	at := located("geoind_optimal", pair, "'"+name+"'", a, b)
	at.unit, at.claim, at.grid = unit, pure(distance), onlyPoints(homes.has)
	return at
}

// has reports whether a released point is one of the places.
func (p places) has(z spot) bool {
	return slices.ContainsFunc(p, func(s spot) bool { return fine.plane(z) == fine.secret(s) })
}

func attacksOnPlaces(register func(...attack)) {
	// The border between the first two places is the meridian in the middle. A metre tells them apart.
	west, east := spot{40, 116.339985}, spot{40, 116.340015}
	step := func(i, j int) float64 { return manhattan(fine.secret(homes[i]), fine.secret(homes[j])) }
	register(
		optimal("two metres across the border between two places", "homes", "m", fine.distance(homes[0], homes[1]), west, east),
		optimal("the places that are farthest apart", "homes", "m", fine.distance(homes[0], homes[3]), homes[0], homes[3]),
		optimal("two locations of one place", "homes", "m", 0, west, spot{39.95, 116.3}),
		optimal("table-valued", "homes", "m", fine.distance(homes[0], homes[1]), homes[0], homes[1]).inTable("g.wkt"),
		optimal("distances east and north", "blocks", "m:blocks", step(1, 2), homes[1], homes[2]),
		optimal("distances along roads, across a border", "roads", "m:roads", homes.road(0, 1), west, east),
		optimal("distances along roads, one account among several", "roads", "m:roads", homes.road(2, 3), homes[2], homes[3]).
			inGroup("{ana}, NULL, NULL", "{ben}, 40.01, 116.31"),
	)
}
