package lbs

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// A City has a density of points of interest per square kilometre.
type City struct {
	Name    string
	Density float64
}

// Cities are the cities of table 5.1 of the thesis, with the density of their restaurants.
var Cities = []City{{"Paris", 137}, {"Buenos Aires", 22}}

// A TableRow holds the cost of a service where the POIs are spread evenly.
type TableRow struct {
	City
	Level, Confidence float64
	Metres            float64 // radius of retrieval
	AreaRatio         float64 // of the areas of retrieval and interest
	Interest          float64 // POIs of interest
	ExtraKB           float64 // the bandwidth overhead
	PrintedKB         float64 // ExtraKB as printed in the thesis; NaN if it is not printed
}

// Table returns table 5.1 of the thesis for any settings and cities,
//
//	overhead = density * pi * interest^2 * (AreaRatio - 1) * RowKB,
//
// without its slips: of the 18 numbers printed there, some rounded and some truncated,
// 54 KB for Buenos Aires at the level ln 6 and the confidence 0.99 should be 57. (The
// text around it says 557 KB where the table has 539.) Errors are about the settings.
func Table(s Settings, cities []City) (rows []TableRow, err error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	const squareKilometre = 1e6 // square metres
	for _, city := range cities {
		interest := city.Density * math.Pi * s.InterestRadius * s.InterestRadius / squareKilometre
		for _, level := range s.Levels {
			for _, c := range s.Confidences {
				metres, err := planar.LaplaceLaw.Plane(s.Epsilon(level)).RetrievalRadius(c, s.InterestRadius)
				if err != nil {
					return nil, err
				}
				ratio := s.areaRatio(metres)
				rows = append(rows, TableRow{
					City: city, Level: level, Confidence: c, Metres: metres, AreaRatio: ratio, Interest: interest,
					ExtraKB: interest * (ratio - 1) * s.RowKB, PrintedKB: s.printedKB(city, level, c),
				})
			}
		}
	}
	return rows, nil
}

// levelTolerance is how much a level may differ from one of table 5.1 and still count as
// that: ln 6 is not a decimal. It changes no number of the table by a millionth.
const levelTolerance = 1e-9

// printedKB returns a number of table 5.1 in kB, or NaN if the table has none.
func (s *Settings) printedKB(city City, level, confidence float64) float64 {
	factor := math.Round(math.Exp(level)) // the levels are ln 2, ln 4 and ln 6
	if math.Abs(level-math.Log(factor)) > levelTolerance {
		return math.NaN()
	}
	type cell struct{ density, factor, confidence float64 }
	kB, ok := map[cell]float64{
		{137, 6, 0.9}: 162, {137, 6, 0.95}: 216, {137, 6, 0.99}: 359,
		{137, 4, 0.9}: 235, {137, 4, 0.95}: 318, {137, 4, 0.99}: 539,
		{137, 2, 0.9}: 698, {137, 2, 0.95}: 974, {137, 2, 0.99}: 1700, // 1.7 MB
		{22, 6, 0.9}: 26, {22, 6, 0.95}: 34, {22, 6, 0.99}: 54,
		{22, 4, 0.9}: 38, {22, 4, 0.95}: 51, {22, 4, 0.99}: 86,
		{22, 2, 0.9}: 112, {22, 2, 0.95}: 156, {22, 2, 0.99}: 279,
	}[cell{city.Density, factor, confidence}]
	if !ok || s.PrivacyRadius != 200 || s.InterestRadius != 300 || s.RowKB != 0.84 {
		return math.NaN()
	}
	return kB
}
