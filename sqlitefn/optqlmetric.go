package sqlitefn

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
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// A placeMetric says which distances between places epsilon is per.
type placeMetric uint8

const (
	euclid    placeMetric = iota // optimal.Places.Privacy; what is lost is optimal.Places.Quality
	manhattan                    // optimal.Places.Manhattan, which is lost too
	given                        // what rows say, which is lost too
)

var placeMetrics = []string{euclid: "euclid", manhattan: "manhattan", given: "given"}

func (m placeMetric) String() string { return placeMetrics[m] }

// placeMetric decodes argument i: the name of a metric, or distances, whose text is
// returned as it is. It is valid during the call.
func (c call) placeMetric(i int) (m placeMetric, distances []byte, err error) {
	if !c.given(i) {
		return euclid, nil, nil
	}
	text, err := c.text(i)
	if err != nil {
		return 0, nil, err
	}
	switch {
	case string(text) == euclid.String():
		return euclid, nil, nil
	case string(text) == manhattan.String():
		return manhattan, nil, nil
	case bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")):
		return given, text, nil
	}
	return 0, nil, c.bad(i, "must be 'euclid', 'manhattan', or in each row a JSON array of [lat, lon, metres], got %s",
		quoted(text[:min(len(text), 40)]))
}

// maxDistance, in metres, is beyond all there are on the Earth, and far from where sums
// of distances overflow.
const maxDistance = 1e9

// A pair of places, from the one whose row it is.
type pair struct{ from, to planar.Cell }

// givenDistances are what rows say, in metres. All of it is public.
type givenDistances map[pair]float64

// add takes the distances from a place, [lat, lon, metres] of each. A location stands
// for its lattice point, as that of a place does.
func (g givenDistances) add(d *planar.Domain, from planar.Cell, text []byte) error {
	triples, err := parseTriples(text)
	if err != nil {
		return fmt.Errorf("of place %s %w", printed(d, from), err)
	}
	for _, t := range triples {
		lat, lon, metres := *t[0], *t[1], *t[2]
		if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) {
			return fmt.Errorf("of place %s has a lat beyond 90 or a lon beyond 180: %s, %s", printed(d, from), plain(lat), plain(lon))
		}
		to := d.Cell(lat, lon)
		if _, twice := g[pair{from, to}]; twice {
			return fmt.Errorf("from place %s to %s is given twice", printed(d, from), printed(d, to))
		}
		if g[pair{from, to}], err = distance(metres, from == to); err != nil {
			return fmt.Errorf("from place %s to %s %w", printed(d, from), printed(d, to), err)
		}
	}
	return nil
}

// distance is the decimal that was written, rounded down: a distance that is rounded up
// would weaken the promise.
func distance(metres float64, itself bool) (float64, error) {
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

// parseTriples reads a JSON array of arrays of three numbers.
func parseTriples(text []byte) (triples [][]*float64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, errTriples
	}
	for d.More() {
		if len(triples) == optimal.MaxPlaces {
			return nil, fmt.Errorf("has distances to more than %d places", optimal.MaxPlaces)
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

// matrix is of the distances between places, which have to be a metric on them. An
// error is the first one in the order of the places, whatever that of the rows was.
func (g givenDistances) matrix(p optimal.Places) (optimal.Matrix, error) {
	name := func(x int) string { return printed(p.Domain, p.Cells[x]) }
	m := optimal.NewMatrix(len(p.Cells))
	for _, between := range slices.SortedFunc(maps.Keys(g), comparePairs) {
		from, _ := slices.BinarySearchFunc(p.Cells, between.from, optimal.SouthWest)
		to, found := slices.BinarySearchFunc(p.Cells, between.to, optimal.SouthWest)
		if !found {
			return nil, fmt.Errorf("metric of place %s has a distance to %s, which is none of the places", name(from), printed(p.Domain, between.to))
		}
		m[from][to] = g[between]
	}
	for x, row := range m {
		for z, d := range row {
			switch {
			case x != z && d == 0:
				return nil, fmt.Errorf("metric lacks the distance from place %s to %s", name(x), name(z))
			case m[z][x] != 0 && m[z][x] != d:
				return nil, fmt.Errorf("metric is %s m from place %s to %s and %s m back; it must be the same both ways", plain(d), name(x), name(z), plain(m[z][x]))
			}
		}
	}
	if x, via, z, found := m.Detour(); found {
		return nil, fmt.Errorf("metric violates the triangle inequality: %s m from place %s to %s, %s m by way of %s",
			plain(m[x][z]), name(x), name(z), plain(m[x][via]+m[via][z]), name(via))
	}
	return m, nil
}

func comparePairs(a, b pair) int {
	return cmp.Or(optimal.SouthWest(a.from, b.from), optimal.SouthWest(a.to, b.to))
}
