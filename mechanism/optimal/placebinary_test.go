package optimal

import (
	"errors"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// Whatever is taken for a mechanism can be written and read again, is charged in metres
// only where none of its distances is longer than a certified lower bound, and has
// finite losses.
func FuzzParsePlaceMechanism(f *testing.F) {
	domain := smallDomain(f)
	for metric := range metricNames {
		data, err := built(f, filled(f, domain, Metric(metric), 4)).AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	other := filled(f, domain, Euclid, 4)
	other.quality = QualityGiven
	if err := other.AddOutput(domain.Location(planar.Cell{I: 7})); err != nil {
		f.Fatal(err)
	}
	for i := range 4 {
		lat, lon := spot(domain, i)
		if err := other.AddLosses(lat, lon, lossesTo(domain, append(spots(4), planar.Cell{I: 7}))); err != nil {
			f.Fatal(err)
		}
	}
	data, err := built(f, other).AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	named := func(name string) (*planar.Domain, error) {
		if name != domain.Name() {
			return nil, errors.New("is not declared")
		}
		return domain, nil
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParsePlaceMechanism(data, named)
		if err != nil {
			return
		}
		d := m.certified.Privacy()
		if in := m.Unit("x"); (in == "m") != m.belowGeodesics(d) || in != "m" && in != "m:x" {
			t.Errorf("charged in %s for %v", in, d)
		}
		if loss := m.Loss(); !(loss >= 0 && loss <= maxLoss) {
			t.Errorf("a loss of %v", loss)
		}
		again, err := m.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := ParsePlaceMechanism(again, named); err != nil || !p.SameRequest(m) || !p.certified.Privacy().equal(d) {
			t.Errorf("written and read again: %v", err)
		}
	})
}

// The domain of the form and its report of the solver are
// checked before anything is charged by it.
func TestParsePlaceMechanismRefuses(t *testing.T) {
	domain := smallDomain(t)
	good, err := built(t, filled(t, domain, Euclid, 4)).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	here := func(string) (*planar.Domain, error) { return domain, nil }
	for name, at := range map[string]int{"version": 0, "metric": 1, "number of places": 4} {
		bad := append([]byte{}, good...)
		bad[at] ^= 0x80
		if _, err := ParsePlaceMechanism(bad, here); !errors.Is(err, ErrPlaceForm) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for _, n := range []int{0, 1, 90, 120} {
		if _, err := ParsePlaceMechanism(good[:n], here); !errors.Is(err, ErrPlaceForm) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	other, err := planar.NewDomain("small", 40, 116, 40.01, 116.02, 25)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ParsePlaceMechanism(good, func(string) (*planar.Domain, error) { return other, nil })
	if want := "its distances are not those of places in this domain 'small'"; err == nil || err.Error() != want {
		t.Errorf("in another domain: %v, want %s", err, want)
	}
	undeclared := errors.New("is not declared")
	if _, err = ParsePlaceMechanism(good, func(string) (*planar.Domain, error) { return nil, undeclared }); err != undeclared {
		t.Errorf("in none: %v", err)
	}
}
