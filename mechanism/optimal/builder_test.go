package optimal

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// spots returns lattice points in rows of three, 150 m apart.
func spots(n int) []planar.Cell {
	cells := make([]planar.Cell, n)
	for i := range cells {
		cells[i] = planar.Cell{I: 3 * int64(i%3), J: 3 * int64(i/3)}
	}
	return cells
}

// spot returns the location of the i-th of spots.
func spot(d *planar.Domain, i int) (lat, lon float64) { return d.Location(spots(i + 1)[i]) }

// lossesTo is JSON of losses of 0, 1, 2, .. of lattice points.
func lossesTo(d *planar.Domain, cells []planar.Cell) []byte {
	var triples []string
	for loss, cell := range cells {
		lat, lon := d.Location(cell)
		triples = append(triples, fmt.Sprintf("[%.7f, %.7f, %d]", lat, lon, loss))
	}
	return []byte("[" + strings.Join(triples, ",") + "]")
}

// filled is a Builder with n places of equal weight. Given distances are 500 m for each
// place between.
func filled(tb testing.TB, d *planar.Domain, m Metric, n int) *Builder {
	tb.Helper()
	b := NewBuilder(d, m, m.Quality())
	for i := range n {
		lat, lon := spot(d, i)
		if err := b.Add(lat, lon, 1); err != nil {
			tb.Fatal(err)
		}
		if err := errors.Join(b.AddOutput(lat, lon), b.AddDistances(lat, lon, along(d, i, n))); err != nil {
			tb.Fatal(err)
		}
	}
	return b
}

// along is JSON of the distances of the i-th of n places along a line.
func along(d *planar.Domain, i, n int) []byte {
	var triples []string
	for j := range n {
		lat, lon := spot(d, j)
		triples = append(triples, fmt.Sprintf("[%.7f, %.7f, %v]", lat, lon, 500*math.Abs(float64(i-j))))
	}
	return []byte("[" + strings.Join(triples, ",") + "]")
}

func built(tb testing.TB, b *Builder) *PlaceMechanism {
	tb.Helper()
	m, err := b.Build(tb.Context(), 0.001, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// The unit of a mechanism's charges and its loss follow from its metric.
func TestBuiltMetrics(t *testing.T) {
	d := smallDomain(t)
	for metric, unit := range map[Metric]string{Euclid: "m", Manhattan: "m:x", Given: "m:x"} {
		m := built(t, filled(t, d, metric, 4))
		if got := string(m.Unit("x")); got != unit {
			t.Errorf("%v is charged in %s, want %s", metric, got, unit)
		}
		if got := m.Cost().String(); got != "0.001" {
			t.Errorf("%v costs %s", metric, got)
		}
		info := m.Info()
		if info.Metric != metric || info.Places != 4 || info.Epsilon != 0.001 || info.CertifiedEpsilon > 0.001 || info.Domain != "small" {
			t.Errorf("%+v", info)
		}
		// Theorem 6.2 of the thesis, where losses are the distances of epsilon.
		if metric != Euclid && !(info.AdversaryError <= info.Loss*(1+1e-12) && info.AdversaryError >= info.Loss*(1-2e-4)) {
			t.Errorf("%v: adversary's error %v of a loss of %v", metric, info.AdversaryError, info.Loss)
		}
		if !m.SameRequest(built(t, filled(t, d, metric, 4))) || m.SameRequest(built(t, filled(t, d, metric, 5))) {
			t.Errorf("%v is taken for another request, or another for it", metric)
		}
		for place := range m.Len() {
			if got := m.Snap(m.Location(place)); got != place {
				t.Errorf("place %d snaps to %d", place, got)
			}
		}
	}
}

// Of two places with a heavy one beside them, much noise leaves the heavy one to be the
// best guess.
func TestRemapOfPlaces(t *testing.T) {
	d := smallDomain(t)
	b := NewBuilder(d, Euclid, QualityEuclid)
	for i, weight := range []float64{1, 1000, 1} {
		lat, lon := spot(d, i)
		if err := errors.Join(b.Add(lat, lon, weight), b.AddOutput(lat, lon)); err != nil {
			t.Fatal(err)
		}
	}
	m := built(t, b)
	for output := range m.Len() {
		if got := m.Remap(output); got != 1 {
			t.Errorf("output %d is taken for %d", output, got)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	wide, err := planar.NewDomain("wide", 40, 116, 41, 117, 50)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuilder(wide, Euclid, QualityEuclid)
	for i := range MaxPlaces {
		lat, lon := wide.Location(planar.Cell{I: int64(i%32 - 16), J: int64(i/32 - 16)})
		if err := b.Add(lat, lon, 1); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(lat, lon, 1); !errors.Is(err, ErrPlaceTwice) {
			t.Fatalf("place %d again: %v", i, err)
		}
	}
	if err := b.Add(40.01, 116.02, 1); !errors.Is(err, ErrManyPlaces) {
		t.Errorf("place 1025: %v", err)
	}
	d := smallDomain(t)
	heavy := NewBuilder(d, Euclid, QualityEuclid)
	if err := heavy.Add(40, 116, 1e308); err != nil {
		t.Fatal(err)
	}
	if err := heavy.Add(40.01, 116.02, 1e308); !errors.Is(err, ErrWeights) {
		t.Errorf("weights of 2e308: %v", err)
	}
	inside, err := d.WithRegion(t.Context(), "POLYGON((116 40, 116.01 40, 116.01 40.01, 116 40.01, 116 40))")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		builder *Builder
		epsilon float64
		want    string
	}{
		"one place":       {filled(t, d, Euclid, 1), 0.001, "1 places: want 2 to 1024"},
		"a great epsilon": {filled(t, d, Euclid, 2), 9_000_001, "epsilon must be at most"},
		"the region":      {filled(t, inside, Euclid, 3), 0.001, "lies outside the region of domain 'small'"},
	} {
		if _, err := c.builder.Build(t.Context(), c.epsilon, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Distances are refused as they come, or when those of all places are no metric.
func TestGivenDistancesRefused(t *testing.T) {
	d := smallDomain(t)
	lat0, lon0 := spot(d, 0)
	lat1, lon1 := spot(d, 1)
	here, there := wkt(d, d.Cell(lat0, lon0)), wkt(d, d.Cell(lat1, lon1))
	to := func(metres string) string { return fmt.Sprintf("[%.7f, %.7f, %s]", lat1, lon1, metres) }
	for text, want := range map[string]string{
		`[1]`:                                    "metric of place " + here + " must be a JSON array of [lat, lon, metres], three numbers each",
		`[[90.5, 116, 1]]`:                       "metric of place " + here + " has a lat beyond 90 or a lon beyond 180: 90.5, 116",
		`[` + to("0") + `]`:                      "metric from place " + here + " to " + there + " must be above 0 and at most 1000000000 metres, got 0",
		`[` + to("1") + `,` + to("1") + `]`:      "metric from place " + here + " to " + there + " is given twice",
		fmt.Sprintf("[[%v, %v, 1]]", lat0, lon0): "metric from place " + here + " to " + here + " itself must be 0, got 1",
	} {
		if err := NewBuilder(d, Given, QualityGiven).AddDistances(lat0, lon0, []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for name, c := range map[string]struct{ text, back, want string }{
		"nothing said": {`[]`, `[]`, "metric lacks the distance from place " + here + " to " + there},
		"another way back": {`[` + to("5") + `]`, fmt.Sprintf("[[%v, %v, 6]]", lat0, lon0),
			"metric is 5 m from place " + here + " to " + there + " and 6 m back; it must be the same both ways"},
		"no place": {`[[40.009, 116.019, 7]]`, `[]`, "which is none of the places"},
	} {
		b := NewBuilder(d, Given, QualityGiven)
		for i, text := range []string{c.text, c.back} {
			lat, lon := spot(d, i)
			if err := errors.Join(b.Add(lat, lon, 1), b.AddOutput(lat, lon), b.AddDistances(lat, lon, []byte(text))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Build(t.Context(), 0.001, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
