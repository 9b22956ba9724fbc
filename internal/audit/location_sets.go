package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// rowsAt returns a row of ana's for each of some locations.
func rowsAt(spots ...spot) (rows []string) {
	for _, s := range spots {
		rows = append(rows, "{ana}, "+s.String())
	}
	return rows
}

// centroid returns an attack on the centroid of an account's locations, each at most d metres from its
// counterpart. Other rows are those of both inputs. The loss is allowed for d and two diagonals: the
// locations and the centroid are rounded.
func centroid(pair string, t *town, loss, d float64, a, b []spot, others ...string) attack {
	distance := d + 2*t.diagonal()
	if d == 0 {
		distance = 0
	}
	call := fmt.Sprintf("dx_centroid(account, lat, lon, %s, '%s')", laplace.price(loss, d+2*t.diagonal()), t.name)
	return attack{
		function: "dx_centroid", pair: pair, fixture: locations, columns: "account, lat, lon",
		inputs: [2][]string{append(rowsAt(a...), others...), append(rowsAt(b...), others...)},
		answer: call, alike: strings.Replace(call, "account", "+account", 1), from: "FROM {rows}", group: "GROUP BY trial",
		unit: "m", claim: claim{kind: bound.Pure, distance: distance}, grid: onlyPoints(t.latticed),
		hints: []bound.Score{t.nearer(euclid, []spot{mean(a)}, []spot{mean(b)})},
	}
}

// mean returns the middle of some locations, which may be on both sides of the antimeridian.
func mean(spots []spot) spot {
	lat, lon := 0.0, 0.0
	for _, s := range spots {
		lat += s.lat / float64(len(spots))
		lon += math.Remainder(s.lon-spots[0].lon, 360) / float64(len(spots))
	}
	return spot{lat, math.Remainder(spots[0].lon+lon, 360)}
}

// all moves all locations.
func all(spots []spot, east, north float64) (moved []spot) {
	for _, s := range spots {
		moved = append(moved, s.move(east, north))
	}
	return moved
}

// furthest returns how far the location moves that moves most.
func furthest(a, b []spot) (d float64) {
	for i := range a {
		d = max(d, a[i].metres(b[i]))
	}
	return d
}

// side is the side of a heat map's cells in fine, for its four cells, and for many.
const (
	side     = 6000.0
	manySide = 500.0
)

// heatmap returns an attack on a heat map of fine. Its answer is a number, the longitude and the latitude for each cell
// that is listed, which is all that is not public in the GeoJSON.
func heatmap(pair string, epsilon, cell float64, a, b []string) attack {
	return attack{
		function: "dx_heatmap", pair: pair, fixture: locations, columns: "account, lat, lon", inputs: [2][]string{a, b},
		answer: "(SELECT ifnull(group_concat(value ->> '$.properties.count' || ' ' || (value ->> '$.geometry.coordinates[0][0][0]') || ' ' || " +
			"(value ->> '$.geometry.coordinates[0][0][1]'), '; '), '') FROM json_each(m, '$.features'))",
		from: fmt.Sprintf("FROM (SELECT dx_heatmap(account, lat, lon, %v, 'fine', %v) AS m FROM {rows} GROUP BY trial)", epsilon, cell),
		unit: "record", claim: claim{kind: bound.Pure, distance: 1},
	}
}

// counted adds the score that is the loss of an answer: the count of a cell tells whether all of some records are in it
// beside those of others, or none. A record that is added moves from nowhere.
func (a attack) counted(cell float64, others, records float64, from, to []spot) attack {
	a.hints = []bound.Score{{Name: "counts of the cells that differ", Of: func(o bound.Outcome) (score float64) {
		for _, s := range from {
			score += min(max(listed(o, cell, s), others), others+records)
		}
		for _, s := range to {
			score -= min(max(listed(o, cell, s), others), others+records)
		}
		return score
	}}}
	return a
}

// listed returns the count of the cell that a location lies in, or 0 if it is not listed.
func listed(o bound.Outcome, cell float64, s spot) float64 {
	at := fine.secret(s)
	for i := 0; i+2 < len(o.Values); i += 3 {
		corner := fine.plane(spot{lat: o.Values[i+2], lon: o.Values[i+1]})
		if x, y := at[0]-corner[0], at[1]-corner[1]; x >= 0 && x < cell && y >= 0 && y < cell {
			return o.Values[i]
		}
	}
	return 0
}

// adaptive attacks a quadtree, of which the first of two quarters of side has a record more, or the second one. Each has some
// records beside it, at the same place. Scores are about the squares around the record, and about the counts of these too.
func (a attack) adaptive(others float64, first, second spot) attack {
	a.from = strings.Replace(a.from, ") AS m", ", 'adaptive') AS m", 1)
	score := func(name string, ofLeaf, ofCount float64) {
		a.hints = append(a.hints, bound.Score{Name: name, Of: func(o bound.Outcome) (score float64) {
			for i, s := range []spot{first, second} {
				leaves, count := quarter(o, s)
				score += []float64{1, -1}[i] * (ofLeaf*float64(leaves) + ofCount*min(max(count, others), others+1))
			}
			return score
		}})
	}
	a.hints = nil
	score("squares around the records that differ", 1, 0)
	score("these and their counts", 0.1, 0.5)
	return a
}

// quarter returns how many squares a quarter of side has, and the sum of their counts.
func quarter(o bound.Outcome, s spot) (leaves int, count float64) {
	west := fine.secret(spot{fine.south, fine.west})
	of := func(at [2]float64) [2]float64 {
		const bow = 10 // of the box's south border, which the grid begins below
		return [2]float64{math.Floor((at[0] - west[0] + bow) / side), math.Floor((at[1] - west[1] + bow) / side)}
	}
	for i := 0; i+2 < len(o.Values); i += 3 {
		if of(fine.plane(spot{lat: o.Values[i+2], lon: o.Values[i+1]})) == of(fine.secret(s)) {
			leaves++
			count += o.Values[i]
		}
	}
	return leaves, count
}

// wholeMap attacks the GeoJSON itself. Its cells have to be in order from the south-west row by row, whatever
// their counts are, and each count has to reach the threshold that the map names.
func wholeMap(a attack) attack {
	a.answer, a.from = a.from[len("FROM (SELECT "):strings.Index(a.from, " AS m")], "FROM {rows}"
	a.group, a.alike, a.hints = "GROUP BY trial", strings.Replace(a.answer, "account", "+account", 1), nil
	a.grid = func(row []any) bool {
		text, _ := row[0].(string)
		return orderly([]byte(text))
	}
	return a
}

// orderly reports whether a heat map lists its cells as it should.
func orderly(text []byte) bool {
	var m struct {
		CellM     float64 `json:"cell_m"`
		Threshold int64
		Features  []struct {
			Geometry   struct{ Coordinates [][][2]float64 }
			Properties struct{ Count int64 }
		}
	}
	if json.Unmarshal(text, &m) != nil {
		return false
	}
	last := [2]int64{-1, -1}
	west := fine.secret(spot{fine.south, fine.west})
	for _, f := range m.Features {
		if f.Properties.Count < m.Threshold || len(f.Geometry.Coordinates) != 1 || len(f.Geometry.Coordinates[0]) < 4 {
			return false
		}
		corner := f.Geometry.Coordinates[0][0]
		at := fine.plane(spot{lat: corner[1], lon: corner[0]})
		column, row := int64(math.Round((at[0]-west[0])/m.CellM)), int64(math.Round((at[1]-west[1])/m.CellM))
		if row < last[0] || row == last[0] && column <= last[1] {
			return false
		}
		last = [2]int64{row, column}
	}
	return true
}

func attacksOnSets(register func(...attack)) {
	middle := fine.centre()
	three := []spot{middle, middle.move(900, -300), middle.move(-2000, 1200)}
	moved := all(three, 800, 600)
	one := append([]spot{three[0].move(800, 600)}, three[1:]...)
	apart := []spot{middle.move(-400, 0), middle.move(400, 0)}
	together := []spot{middle, middle}
	corners := []spot{{-80, 10}, {80, 60}}
	register(
		centroid("all locations move by a kilometre", fine, 3, furthest(three, moved), three, moved),
		centroid("a single location", fine, 3, 1000, []spot{middle}, []spot{middle.move(799, 599)}),
		centroid("one of three locations moves", fine, 6, furthest(three, one), three, one),
		centroid("the centroid stays where it is", fine, 3, furthest(apart, together), apart, together),
		centroid("one account among several, and locations that are NULL", fine, 8, furthest(three[:1], moved[:1]), three[:1], moved[:1],
			"{ben}, 40.01, 116.31", "{eve}, NULL, 116.3", "{ana}, NULL, NULL"),
		centroid("outside the box", coarse, 3, coarse.inside(corners[0]).metres(coarse.inside(corners[1])), corners[:1], corners[1:]),
		centroid("across the corner of four cells", coarse, 4, 3, []spot{corner.move(-1, -1)}, []spot{corner.move(1, 1)}),
		centroid("two locations in one cell", coarse, 6, 0, []spot{coarse.centre().move(-450, -450)}, []spot{coarse.centre().move(450, 450)}),
		centroid("across the antimeridian", dateline, 3, 700, []spot{{-16.95, 179.997}, {-16.94, 179.99}}, []spot{{-16.95, -179.997}, {-16.94, 179.995}}),
		centroid("into a hole of the region", holed, 3, spot{40, 116.305}.metres(spot{40, 116.331}), []spot{{40, 116.305}}, []spot{{40, 116.331}}),
	)
	// Each of the cells of west and east has one record of somebody else.
	west, east := spot{39.97, 116.32}, spot{40.03, 116.38}
	crowd := []string{"{ben}, 39.98, 116.31", "{ben}, 40.04, 116.39", "{eve}, 40.03, 116.31", "{eve}, NULL, NULL"}
	with := func(rows ...string) []string { return append(rows, crowd...) }
	alone := func(rows ...string) []string { return append(rows, "{ben}, 39.951, 116.399") }
	at := func(s spot) string { return "{ana}, " + s.String() }
	south, north := spot{39.955, 116.395}, spot{40.045, 116.395}
	same := heatmap("a record is replaced by one in the same cell", 4, side, with(at(spot{39.96, 116.31})), with(at(spot{39.99, 116.36})))
	same.claim.distance = 0
	// A record that is added changes one count of two that a replaced one may change: it loses half of the charge.
	added := heatmap("a record is added", 3, side, crowd, with(at(west))).counted(side, 1, 1, nil, []spot{west})
	added.uneven = true
	addedAlone := heatmap("a record is added in an empty cell of many", 3, manySide, alone(), alone(at(west))).counted(manySide, 0, 1, nil, []spot{west})
	addedAlone.uneven = true
	// In each of west and east five records of somebody else, or in east only.
	ofBen := func(s spot) []string { return slices.Repeat([]string{"{ben}, " + s.String()}, 5) }
	both := func(rows ...string) []string { return append(rows, append(ofBen(west), ofBen(east)...)...) }
	eastern := func(rows ...string) []string { return append(rows, ofBen(east)...) }
	grown := heatmap("an adaptive map, a record is added", 2, side/2, both(), both(at(west))).adaptive(5, west, east)
	grown.uneven = true
	list := func(s ...spot) []spot { return s }
	register(
		heatmap("a record is replaced by one in another cell", 2, side, with(at(west)), with(at(east))).counted(side, 1, 1, list(west), list(east)),
		// A cell that is not listed may have few records or none, so that half of the loss is hidden by the threshold.
		heatmap("the only records of their cells, of many", 6, manySide, alone(at(west)), alone(at(east))).counted(manySide, 0, 1, list(west), list(east)),
		heatmap("both records of an account are replaced", 1, side, with(at(west), at(west)), with(at(east), at(east))).counted(side, 1, 2, list(west), list(east)),
		heatmap("records outside the box", 2, side, with("{ana}, -90, -60"), with("{ana}, 90, 120")).counted(side, 0, 2, list(south), list(north)),
		heatmap("the only record of a cell moves to an empty one", 1, side, []string{at(west), "{ben}, 39.96, 116.39"}, []string{at(east), "{ben}, 39.96, 116.39"}).
			counted(side, 0, 1, list(west), list(east)),
		same, added, addedAlone, grown,
		heatmap("an adaptive map, a record is replaced by one in another square", 2, side/2, both(at(west)), both(at(east))).adaptive(5, west, east),
		heatmap("an adaptive map of squares with few records", 2, side/2, eastern(at(west)), eastern(at(east))).adaptive(0, west, east),
		wholeMap(heatmap("the whole GeoJSON, sorted and thresholded", 1, side, with(at(west), at(west), at(west)), with(at(east), at(east), at(east)))),
	)
}
