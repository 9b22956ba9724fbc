package boxes

import (
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// Every box is one, on tenths of a degree, and has its place.
func TestBoxes(t *testing.T) {
	names := map[string]bool{}
	for _, b := range All() {
		if names[b.Name] && b.City {
			t.Errorf("%s is there twice", b.Name)
		}
		names[b.Name] = true
		for _, v := range []float64{b.South, b.West, b.North, b.East} {
			if math.Abs(v*10-math.Round(v*10)) > 1e-9 {
				t.Errorf("%s: %v is no tenth of a degree", b.Name, v)
			}
		}
		if !(b.South < b.North && b.South >= -90 && b.North <= 90 && b.West >= -180 && b.East <= 180 && b.West != b.East) {
			t.Errorf("%+v is no box", b)
		}
		if d, err := planar.NewDomain("box", b.South, b.West, b.North, b.East, 10); b.City && (err != nil || d.Kappa() > 0.001) {
			t.Errorf("%s is no box for a domain: %v", b.Name, err)
		}
	}
	for name, at := range map[string][2]float64{
		"Paris": {48.8584, 2.2945}, "Beijing": {39.9163, 116.3972}, "france": {45.76, 4.84}, "Fiji": {-17.8, 179.9}, "Portugal": {38.7, -9.14},
		"United States of America": {39.1, -94.6}, "Japan": {35.7, 139.7}, "Sydney": {-33.857, 151.215}, "New York": {40.69, -74.04}, "São Paulo": {-23.55, -46.63},
	} {
		b, ok := Find(name)
		if !ok || !strings.EqualFold(b.Name, name) || !b.Holds(at[0], at[1]) || b.Holds(-at[0], at[1]) {
			t.Errorf("%s: %+v, %v", name, b, ok)
		}
	}
	if _, ok := Find("Atlantis"); ok {
		t.Error("Atlantis is found")
	}
	if fiji, _ := Find("Fiji"); !fiji.Holds(-17, -179) || fiji.Holds(-17, 0) {
		t.Errorf("%+v", fiji)
	}
}

// The first box that holds a place is a city's where there is one.
func TestSmallestFirst(t *testing.T) {
	for _, b := range All() {
		if b.Holds(48.8584, 2.2945) {
			if b.Name != "Paris" {
				t.Errorf("%s", b.Name)
			}
			return
		}
	}
}

// Holds reports whether a location lies in the box.
func (b Box) Holds(lat, lon float64) bool {
	within := lon >= b.West && lon <= b.East
	if b.West > b.East {
		within = lon >= b.West || lon <= b.East
	}
	return within && lat >= b.South && lat <= b.North
}
