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

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A pair of lattice points has a given number from the one to the other.
type pair struct{ from, to planar.Cell }

func comparePairs(a, b pair) int {
	return cmp.Or(compareCells(a.from, b.from), compareCells(a.to, b.to))
}

// A given holds the numbers that were given for pairs of lattice points, and their names
// in errors.
type given struct {
	name    string // of the argument
	number  string // the name of one
	unit    string
	ends    string // the places that they lead to
	check   func(number float64, itself bool) (float64, error)
	numbers map[pair]float64
}

// newGivenDistances returns the distances of the metric Given.
func newGivenDistances() given {
	return given{name: "metric", number: "distance", unit: "metres", ends: "places", check: givenDistance, numbers: make(map[pair]float64)}
}

// newGivenLosses returns the losses of QualityGiven.
func newGivenLosses() given {
	return given{name: "quality", number: "loss", unit: "loss", ends: "outputs", check: givenLoss, numbers: make(map[pair]float64)}
}

// add adds the numbers from a place: a JSON array with [lat, lon, number] of each. A
// location is rounded to its lattice point, as that of a place is.
func (g given) add(d *planar.Domain, from planar.Cell, text []byte) error {
	triples, err := parseTriples(text)
	if errors.Is(err, errTriples) {
		err = fmt.Errorf("must be a JSON array of [lat, lon, %s], three numbers each", g.unit)
	}
	if err != nil {
		return fmt.Errorf("%s of place %s %w", g.name, wkt(d, from), err)
	}
	for _, t := range triples {
		lat, lon, number := *t[0], *t[1], *t[2]
		if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) {
			return fmt.Errorf("%s of place %s has a lat beyond 90 or a lon beyond 180: %s, %s", g.name, wkt(d, from), decimal.Format(lat), decimal.Format(lon))
		}
		to := d.Cell(lat, lon)
		if _, twice := g.numbers[pair{from, to}]; twice {
			return fmt.Errorf("%s from place %s to %s is given twice", g.name, wkt(d, from), wkt(d, to))
		}
		if g.numbers[pair{from, to}], err = g.check(number, from == to); err != nil {
			return fmt.Errorf("%s from place %s to %s %w", g.name, wkt(d, from), wkt(d, to), err)
		}
	}
	return nil
}

// givenDistance returns a distance as the decimal that was written, rounded down: rounded
// up, it would weaken the promise.
func givenDistance(metres float64, itself bool) (float64, error) {
	switch {
	case itself && metres != 0:
		return 0, fmt.Errorf("itself must be 0, got %s", decimal.Format(metres))
	case itself:
		return 0, nil
	case !(metres > 0 && metres <= maxDistance):
		return 0, fmt.Errorf("must be above 0 and at most %s metres, got %s", decimal.Format(maxDistance), decimal.Format(metres))
	}
	return exact.RateFloor(budget.Decimal(metres))
}

// givenLoss returns a loss, on which no promise rests.
func givenLoss(loss float64, _ bool) (float64, error) {
	if !(loss >= 0 && loss <= maxLoss) {
		return 0, fmt.Errorf("must be a loss of 0 to %s, got %s", decimal.Format(maxLoss), decimal.Format(loss))
	}
	return loss, nil
}

// errTriples is the error for JSON that is no array of three numbers each.
var errTriples = errors.New("is not an array of three numbers each")

// parseTriples parses a JSON array of at most MaxPlaces arrays of three numbers.
func parseTriples(text []byte) (triples [][]*float64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, errTriples
	}
	for d.More() {
		if len(triples) == MaxPlaces {
			return nil, fmt.Errorf("has more than %d entries", MaxPlaces)
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

// metric returns the distances between places, which must be a metric on them. The error
// is the first in the order of the places, in whatever order the distances were given.
func (g given) metric(p places) (Matrix, error) {
	for _, cell := range p.cells {
		g.numbers[pair{cell, cell}] = 0
	}
	m, err := g.matrix(p, p)
	if err != nil {
		return nil, err
	}
	for x, row := range m {
		for z, d := range row {
			if back := m[z][x]; back != d {
				return nil, fmt.Errorf("metric is %s m from place %s to %s and %s m back; it must be the same both ways", decimal.Format(d), p.wkt(x), p.wkt(z), decimal.Format(back))
			}
		}
	}
	if x, via, z, found := m.detour(); found {
		return nil, fmt.Errorf("metric violates the triangle inequality: %s m from place %s to %s, %s m by way of %s",
			decimal.Format(m[x][z]), p.wkt(x), p.wkt(z), decimal.Format(m[x][via]+m[via][z]), p.wkt(via))
	}
	return m, nil
}

// matrix returns the numbers from places to others. All of them must be given and no more.
func (g given) matrix(from, to places) (Matrix, error) {
	for _, p := range slices.SortedFunc(maps.Keys(g.numbers), comparePairs) {
		if !to.has(p.to) {
			return nil, fmt.Errorf("%s of place %s has a %s to %s, which is none of the %s", g.name, wkt(from.domain, p.from), g.number, wkt(to.domain, p.to), g.ends)
		}
	}
	m := NewMatrix(len(from.cells), len(to.cells))
	for x, a := range from.cells {
		for z, b := range to.cells {
			number, ok := g.numbers[pair{a, b}]
			if !ok {
				return nil, fmt.Errorf("%s lacks the %s from place %s to %s", g.name, g.number, from.wkt(x), to.wkt(z))
			}
			m[x][z] = number
		}
	}
	return m, nil
}
