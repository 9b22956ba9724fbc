package lbs

import (
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// published are the settings of the thesis, with little to do.
func published() Settings {
	return Settings{
		Levels: []float64{math.Ln2, math.Log(4), math.Log(6)}, PrivacyRadius: 200, InterestRadius: 300,
		Confidences: []float64{0.9, 0.95, 0.99}, RowKB: 0.84, Reports: 1,
	}
}

// TestTable compares with R7, table 5.1 recomputed from its formula by another program.
func TestTable(t *testing.T) {
	rows, err := Table(published(), Cities)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{
		698.9, 974.3, 1741.9, 235.6, 317.8, 539.4, 162.3, 216.2, 359.2, // Paris: ln 2, ln 4, ln 6
		112.2, 156.5, 279.7, 37.8, 51.0, 86.6, 26.1, 34.7, 57.7, // Buenos Aires
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	slips := 0
	for k, r := range rows {
		if math.Abs(r.ExtraKB-want[k]) > 0.05+1e-9 {
			t.Errorf("%+v, not %v kB", r, want[k])
		}
		unit := 1.0
		if r.PrintedKB == 1700 { // 1.7 MB
			unit = 100
		}
		if !(math.Abs(r.ExtraKB-r.PrintedKB) < unit) {
			slips++
			if r.Name != "Buenos Aires" || r.Level != math.Log(6) || r.Confidence != 0.99 || r.PrintedKB != 54 {
				t.Errorf("%+v is printed as %v", r, r.PrintedKB)
			}
		}
		if interest := map[string]float64{"Paris": 38.74, "Buenos Aires": 6.22}[r.Name]; math.Abs(r.Interest-interest) > 0.005 {
			t.Errorf("%+v, not %v of interest", r, interest)
		}
	}
	if slips != 1 {
		t.Errorf("%d numbers are printed otherwise", slips)
	}
}

// TestTableAreas compares the radius and the ratios of the areas with R6 and R8.
func TestTableAreas(t *testing.T) {
	rows, err := Table(published(), Cities[:1])
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[4]; math.Abs(r.Metres-984.395) > 0.001 || math.Abs(r.AreaRatio-10.767) > 0.0005 {
		t.Errorf("R6: %+v", r)
	}
	if r := rows[2]; math.Abs(r.AreaRatio-54.53) > 0.005 {
		t.Errorf("R8: %+v", r)
	}
}

// The printed figures of the thesis are for its own settings only.
func TestTablePrinted(t *testing.T) {
	for name, change := range map[string]func(*Settings, *City){
		"radius":     func(s *Settings, _ *City) { s.PrivacyRadius = 201 },
		"interest":   func(s *Settings, _ *City) { s.InterestRadius = 301 },
		"size":       func(s *Settings, _ *City) { s.RowKB = 1 },
		"level":      func(s *Settings, _ *City) { s.Levels = []float64{math.Log(3)} },
		"confidence": func(s *Settings, _ *City) { s.Confidences = []float64{0.5} },
		"density":    func(_ *Settings, c *City) { c.Density = 136 },
	} {
		s, city := published(), Cities[0]
		change(&s, &city)
		rows, err := Table(s, []City{city})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !math.IsNaN(r.PrintedKB) {
				t.Errorf("another %s: %+v", name, r)
			}
		}
	}
}

// Levels that were written as decimals find the thesis's figures, others do not.
func TestTablePrintedLevels(t *testing.T) {
	s := published()
	for level, want := range map[float64]float64{
		math.Log(6): 359, 1.791759469: 359, 1.791759: 0, 6: 0, // ln 6
		math.Nextafter(math.Log(4), 0): 539, 1.386294361: 539, 1.3863: 0, 4: 0,
		math.Nextafter(math.Ln2, 1): 1700, 0.693147181: 1700, 0.6931: 0, 2: 0,
		1e-300: 0, 1e-9: 0, 709: 0, 1e300: 0,
	} {
		if got := s.printedKB(Cities[0], level, 0.99); got != want && !(math.IsNaN(got) && want == 0) {
			t.Errorf("level %v: %v, not %v", level, got, want)
		}
	}
}

func TestTableErrors(t *testing.T) {
	s := published()
	s.Levels = []float64{0}
	if _, err := Table(s, Cities); err == nil {
		t.Error("a level of 0")
	}
}

// The radius is that of proposition 5.1.
func TestTableConfidence(t *testing.T) {
	s := published()
	s.Confidences = []float64{0, 0.5, 0.999999}
	rows, err := Table(s, Cities)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if c := planar.LaplaceLaw.Plane(s.Epsilon(r.Level)).Confidence(r.Metres - s.InterestRadius); math.Abs(c-r.Confidence) > 1e-12 {
			t.Errorf("%+v: %v", r, c)
		}
	}
}
