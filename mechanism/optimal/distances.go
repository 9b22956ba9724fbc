package optimal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A pair of places has a given distance from the one to the other.
type pair struct{ from, to planar.Cell }

func comparePairs(a, b pair) int {
	return cmp.Or(compareCells(a.from, b.from), compareCells(a.to, b.to))
}

// givenDistances holds the distances of the metric Given, in metres.
type givenDistances map[pair]float64

// add adds the distances from a place: a JSON array with [lat, lon, metres] of each. A
// location is rounded to its lattice point, as that of a place is.
func (g givenDistances) add(d *planar.Domain, from planar.Cell, text []byte) error {
	triples, err := parseTriples(text)
	if err != nil {
		return fmt.Errorf("metric of place %s %w", wkt(d, from), err)
	}
	for _, t := range triples {
		lat, lon, metres := *t[0], *t[1], *t[2]
		if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) {
			return fmt.Errorf("metric of place %s has a lat beyond 90 or a lon beyond 180: %s, %s", wkt(d, from), plain(lat), plain(lon))
		}
		to := d.Cell(lat, lon)
		if _, twice := g[pair{from, to}]; twice {
			return fmt.Errorf("metric from place %s to %s is given twice", wkt(d, from), wkt(d, to))
		}
		if g[pair{from, to}], err = givenDistance(metres, from == to); err != nil {
			return fmt.Errorf("metric from place %s to %s %w", wkt(d, from), wkt(d, to), err)
		}
	}
	return nil
}

// givenDistance returns a distance as the decimal that was written, rounded down: rounded
// up, it would weaken the promise.
func givenDistance(metres float64, itself bool) (float64, error) {
	switch {
	case itself && metres != 0:
		return 0, fmt.Errorf("itself must be 0, got %s", plain(metres))
	case itself:
		return 0, nil
	case !(metres > 0 && metres <= maxDistance):
		return 0, fmt.Errorf("must be above 0 and at most %s metres, got %s", plain(maxDistance), plain(metres))
	}
	return exact.RateFloor(budget.Decimal(metres))
}

var errTriples = errors.New("must be a JSON array of [lat, lon, metres], three numbers each")

// parseTriples parses a JSON array of at most MaxPlaces arrays of three numbers.
func parseTriples(text []byte) (triples [][]*float64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, errTriples
	}
	for d.More() {
		if len(triples) == MaxPlaces {
			return nil, fmt.Errorf("has distances to more than %d places", MaxPlaces)
		}
		var t []*float64
		if err := d.Decode(&t); err != nil || len(t) != 3 || slices.Contains(t, nil) {
			return nil, errTriples
		}
		triples = append(triples, t)
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, errTriples
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errTriples
	}
	return triples, nil
}

// matrix returns the distances between places, which must be a metric on them. The error
// is the first in the order of the places, in whatever order the distances were given.
func (g givenDistances) matrix(p places) (Matrix, error) {
	m, err := g.fill(p)
	if err != nil {
		return nil, err
	}
	for x, row := range m {
		for z, d := range row {
			switch {
			case x != z && d == 0:
				return nil, fmt.Errorf("metric lacks the distance from place %s to %s", p.wkt(x), p.wkt(z))
			case m[z][x] != 0 && m[z][x] != d:
				return nil, fmt.Errorf("metric is %s m from place %s to %s and %s m back; it must be the same both ways", plain(d), p.wkt(x), p.wkt(z), plain(m[z][x]))
			}
		}
	}
	if x, via, z, found := m.detour(); found {
		return nil, fmt.Errorf("metric violates the triangle inequality: %s m from place %s to %s, %s m by way of %s",
			plain(m[x][z]), p.wkt(x), p.wkt(z), plain(m[x][via]+m[via][z]), p.wkt(via))
	}
	return m, nil
}

// fill returns the matrix of the given distances, with zeros for the others.
func (g givenDistances) fill(p places) (Matrix, error) {
	m := NewMatrix(len(p.cells))
	for _, between := range slices.SortedFunc(maps.Keys(g), comparePairs) {
		from, _ := slices.BinarySearchFunc(p.cells, between.from, compareCells)
		to, found := slices.BinarySearchFunc(p.cells, between.to, compareCells)
		if !found {
			return nil, fmt.Errorf("metric of place %s has a distance to %s, which is none of the places", p.wkt(from), wkt(p.domain, between.to))
		}
		m[from][to] = g[between]
	}
	return m, nil
}

// plain formats a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
