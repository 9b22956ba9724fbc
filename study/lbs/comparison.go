package lbs

import (
	"context"
	"math"

	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
	optimalstudy "github.com/geosql/geosql/study/optimal"
)

// What section 5.5 of the thesis makes equal for both mechanisms.
const (
	EqualLoss     = "equal-loss"
	EqualAccuracy = "equal-accuracy"
)

// Names of the mechanisms.
const (
	Cloaking      = "cloaking"
	PlanarLaplace = optimalstudy.PlanarLaplace
)

// A ComparisonRow holds the results of section 5.5 of the thesis for a mechanism.
type ComparisonRow struct {
	Equal          string  // EqualLoss or EqualAccuracy
	Mechanism      string  // Cloaking or PlanarLaplace
	Printed        bool    // whether epsilon is the one printed in the thesis
	Epsilon        float64 // per metre; NaN if there is none
	Loss           float64 // mean distance of report and truth, metres
	AdversaryError float64 // of an adversary who knows the prior, metres

	// Confidence is the probability that the area of interest around any place of the map,
	// not only the middle of a region, lies in an area of retrieval whose radius is
	// greater by half the diagonal of a zone.
	Confidence float64
}

// The map of section 5.5 has 9 x 9 regions of 100 m. Cloaking reports the region in
// the middle of a zone of 3 x 3.
const (
	mapWidth  = 9
	zoneWidth = 3
	region    = 100.0 // metres
)

// halfDiagonal is the greatest distance between a place and the middle of its zone.
const halfDiagonal = zoneWidth * region / math.Sqrt2

// confidence is the one that the thesis requires at equal accuracy.
const confidence = 0.99

// Comparison repeats section 5.5 of the thesis for the uniform prior. It compares cloaking
// with the planar Laplace mechanism, whose report moves to the nearest region, at equal loss
// and at equal accuracy. At equal loss the thesis prints 107.03 m for 107.30 and epsilon
// 0.0162; at equal accuracy it prints epsilon 0.016 for 0.0313. It ends early with the cause
// of ctx.
func Comparison(ctx context.Context) ([]ComparisonRow, error) {
	m := newCityMap()
	k, err := m.cloaking()
	if err != nil {
		return nil, err
	}
	cloaked := m.row(k)
	cloaked.Mechanism, cloaked.Epsilon, cloaked.Confidence = Cloaking, math.NaN(), 1

	sameLoss, err := m.epsilonOf(ctx, cloaked.Loss)
	if err != nil {
		return nil, err
	}
	perMetre, err := planar.LaplaceLaw.Plane(1).Radius(confidence)
	if err != nil {
		return nil, err
	}
	var rows []ComparisonRow
	for _, x := range []struct {
		equal          string
		epsilon, print float64
	}{
		{EqualLoss, sameLoss, 0.0162},
		{EqualAccuracy, perMetre / halfDiagonal, 0.016},
	} {
		cloaked.Equal = x.equal
		rows = append(rows, cloaked)
		for _, epsilon := range []float64{x.epsilon, x.print} {
			r, err := m.laplaceRow(ctx, epsilon)
			if err != nil {
				return nil, err
			}
			r.Equal, r.Printed = x.equal, epsilon == x.print
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// A cityMap holds the middles of the regions, from west to east and then from south to
// north, their distances and the uniform prior.
type cityMap struct {
	places []optimalstudy.Place
	prior  []float64
	d      optimal.Matrix
}

func newCityMap() *cityMap {
	m := &cityMap{d: optimal.NewMatrix(mapWidth*mapWidth, mapWidth*mapWidth)}
	for k := range m.d {
		m.places = append(m.places, optimalstudy.Place{X: region * float64(k%mapWidth), Y: region * float64(k/mapWidth), Weight: 1})
		m.prior = append(m.prior, 1)
	}
	for x, p := range m.places {
		for z, q := range m.places {
			m.d[x][z] = math.Hypot(p.X-q.X, p.Y-q.Y)
		}
	}
	return m
}

// cloaking returns the mechanism that reports the middle of the zone.
func (m *cityMap) cloaking() (optimal.Matrix, error) {
	middle := func(k int) int { return k/zoneWidth*zoneWidth + zoneWidth/2 }
	var centres []int
	for x := range m.places {
		centres = append(centres, middle(x/mapWidth)*mapWidth+middle(x%mapWidth))
	}
	return optimal.Cloak(centres)
}

// row measures a mechanism.
func (m *cityMap) row(k optimal.Matrix) ComparisonRow {
	return ComparisonRow{
		Loss:           optimal.Loss(m.prior, k, m.d),
		AdversaryError: optimal.AdversaryError(m.prior, k, m.d),
	}
}

// laplaceRow measures the planar Laplace mechanism.
func (m *cityMap) laplaceRow(ctx context.Context, epsilon float64) (ComparisonRow, error) {
	k, err := optimalstudy.PlanarLaplaceMatrix(ctx, epsilon, m.places)
	if err != nil {
		return ComparisonRow{}, err
	}
	r := m.row(k)
	r.Mechanism, r.Epsilon, r.Confidence = PlanarLaplace, epsilon, planar.LaplaceLaw.Plane(epsilon).Confidence(halfDiagonal)
	return r, nil
}

// epsilonOf returns the epsilon at which the planar Laplace mechanism has a loss: 2/loss, up
// to the effects of the map's edges and the regions.
func (m *cityMap) epsilonOf(ctx context.Context, loss float64) (float64, error) {
	study, err := optimalstudy.New(optimalstudy.Settings{Epsilon: 2 / loss, Dilations: []float64{1}, Gap: 1e-4}, m.places)
	if err != nil {
		return 0, err
	}
	epsilon, _, err := study.LaplaceOfLoss(ctx, loss)
	return epsilon, err
}
