package lbs

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
)

// The setting of figure 5.6 of the thesis, which does not say the unit of the grid.
const (
	precisionRange = 100_000.0 // metres within which epsilon is promised
	gridUnit       = 1.0       // metres
)

// precisions are the decimal digits of directions in figure 5.6.
var precisions = []int{16, 9, 7}

// A PrecisionRow holds the requirements of theorem 5.3 of the thesis on a mechanism that draws noise
// in polar coordinates and moves it to a grid. Such noise already lies on the grid of the
// numbers that represent the coordinates, which is uneven.
//
// The theorem counts the precision of directions and not that of lengths, so that its promise is not kept beyond a
// distance of about 35/epsilon. The mechanisms of geosql draw on the lattice itself and need no such theorem.
type PrecisionRow struct {
	Level, Epsilon float64 // epsilon is per metre, as promised
	Digits         int     // of a direction
	NoiseEpsilon   float64 // with which noise has to be drawn; NaN if there is none
	LeastEpsilon   float64 // above which there is
}

// Precision returns figure 5.6 of the thesis: for each level and precision, the greatest
// epsilon' of the noise with
//
//	epsilon' + ln((q + 2x)/(q - 2x))/u <= epsilon,  x = e^(epsilon' u),  q = u/(range*10^-Digits)
//
// for a grid of unit u. Errors are about the settings.
func Precision(s Settings) (rows []PrecisionRow, err error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	for _, level := range s.Levels {
		for _, digits := range precisions {
			rows = append(rows, precisionRow(level, s.Epsilon(level), digits))
		}
	}
	return rows, nil
}

// precisionRow solves the inequality of [Precision]. With b = q/e^(epsilon u), equality is the
// quadratic equation b x^2 + q (b+2) x/2 = q^2/2, which has one positive root. Noise has a
// positive epsilon, so x must exceed 1.
func precisionRow(level, epsilon float64, digits int) PrecisionRow {
	q := gridUnit / (precisionRange * math.Pow10(-digits))
	b := q * math.Exp(-epsilon*gridUnit)
	x := 2 * q / (b + 2 + math.Sqrt((b+2)*(b+2)+8*b))
	r := PrecisionRow{
		Level: level, Epsilon: epsilon, Digits: digits,
		NoiseEpsilon: math.Log(x) / gridUnit, LeastEpsilon: 2 * math.Atanh(2/q) / gridUnit,
	}
	if !(epsilon > r.LeastEpsilon) {
		r.NoiseEpsilon = math.NaN()
	}
	return r
}

// PrecisionFigure draws, as SVG, figure 5.6 of the thesis: the epsilon of the noise against
// the one promised, with a line for each precision at which there is such noise.
func PrecisionFigure(rows []PrecisionRow) (io.WriterTo, error) {
	p := chart.Panel{
		Title: "Noise in polar coordinates",
		X:     chart.Axis{Name: "epsilon", Unit: "1/km"}, Y: chart.Axis{Name: "epsilon of the noise", Unit: "1/km"},
	}
	for k, digits := range precisions {
		c := chart.Curve{Name: fmt.Sprintf("%d digits", digits), Style: chart.Numbered(k)}
		for _, r := range rows {
			if r.Digits == digits && !math.IsNaN(r.NoiseEpsilon) {
				c.Points = append(c.Points, plotter.XY{X: 1000 * r.Epsilon, Y: 1000 * r.NoiseEpsilon})
			}
		}
		p.Curves = append(p.Curves, c)
	}
	return chart.Page([][]chart.Panel{{p}})
}
