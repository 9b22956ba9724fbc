package lbs

import (
	"context"
	"math"

	optimalstudy "github.com/geosql/geosql/internal/study/optimal"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// The quantities that section 5.5 of the thesis makes equal for the mechanisms.
const (
	EqualLoss     = "equal-loss"
	EqualAccuracy = "equal-accuracy"
)

// Names of the mechanisms.
const (
	Cloaking           = "cloaking"
	PlanarLaplace      = optimalstudy.PlanarLaplace
	MostPrivate        = optimalstudy.MostPrivate // made for the prior: OptPriv of the thesis
	MostPrivateUniform = "most-private-uniform"   // the same, made for the uniform prior
)

// A ComparisonRow holds the results of section 5.5 of the thesis for a prior and a mechanism.
type ComparisonRow struct {
	Prior          string
	Equal          string  // EqualLoss or EqualAccuracy
	Mechanism      string  // Cloaking, PlanarLaplace, MostPrivate or MostPrivateUniform
	Printed        bool    // whether epsilon is the one printed in the thesis
	Epsilon        float64 // per metre; NaN if there is none
	Loss           float64 // mean distance of report and truth under the prior, metres
	AdversaryError float64 // of an adversary who knows the prior, metres

	// Confidence is the probability that the area of interest around any place of the map,
	// not only the middle of a region, lies in an area of retrieval with a radius greater by half the diagonal of a zone.
	// It is NaN for the most private mechanisms, which know the middles only.
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

// priors hold the regions in which the secret is, each equally likely: column x and row y,
// from 0. Those of the thesis, beside the uniform one, are printed as pictures only.
var priors = []struct {
	name string
	has  func(x, y int) bool
}{
	{"uniform", func(_, _ int) bool { return true }},
	{"disc", func(x, y int) bool { return (x-4)*(x-4)+(y-4)*(y-4) < 8 }}, // 21 regions
	{"cross", func(x, y int) bool { return x == 4 || y == 4 }},
	{"zones", func(x, y int) bool { return max(x, y) < zoneWidth || min(x, y) >= mapWidth-zoneWidth }},
}

// Comparison repeats section 5.5 of the thesis. It compares the planar Laplace mechanism, with reports moved to the
// nearest region, with cloaking at equal loss and at equal accuracy, and at equal loss with the most private mechanisms
// too. Losses are equal under the uniform prior, and for MostPrivate under its own. At equal loss the thesis prints
// 107.03 m for 107.30 and epsilon 0.0162; at equal accuracy it prints epsilon 0.016 for 0.0313.
//
// Rows are ordered by prior, the uniform one first, and then by the equal quantity. Comparison ends
// early with the cause of ctx, or with the error of a solver.
func Comparison(ctx context.Context) (rows []ComparisonRow, err error) {
	m := newCityMap()
	shared, loss, err := m.contenders(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range priors {
		prior := m.prior(p.has)
		own, err := m.mostPrivate(ctx, prior, loss)
		if err != nil {
			return nil, err
		}
		own.Mechanism = MostPrivate
		for _, c := range append([]contender{own}, shared...) {
			r := c.ComparisonRow
			r.Prior = p.name
			r.Loss, r.AdversaryError = optimal.Loss(prior, c.k, m.d), optimal.AdversaryError(prior, c.k, m.d)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// A contender is a mechanism, with the values common to its rows.
type contender struct {
	ComparisonRow
	k optimal.Matrix
}

// A cityMap holds the middles of the regions, from west to east and then from south to
// north, and their distances.
type cityMap struct {
	places []optimalstudy.Place
	d      optimal.Matrix
}

func newCityMap() *cityMap {
	m := &cityMap{d: optimal.NewMatrix(mapWidth*mapWidth, mapWidth*mapWidth)}
	for k := range m.d {
		m.places = append(m.places, optimalstudy.Place{X: region * float64(k%mapWidth), Y: region * float64(k/mapWidth), Weight: 1})
	}
	for x, p := range m.places {
		for z, q := range m.places {
			m.d[x][z] = math.Hypot(p.X-q.X, p.Y-q.Y)
		}
	}
	return m
}

// prior returns the weights of a prior: 1 in its regions.
func (m *cityMap) prior(has func(x, y int) bool) []float64 {
	weights := make([]float64, len(m.places))
	for k := range weights {
		if has(k%mapWidth, k/mapWidth) {
			weights[k] = 1
		}
	}
	return weights
}

// contenders returns the mechanisms that are the same for every prior, ordered by the equal quantity, and the loss of
// all at equal loss, under the uniform prior.
func (m *cityMap) contenders(ctx context.Context) (all []contender, loss float64, err error) {
	uniform := m.prior(priors[0].has)
	cloaking, err := m.cloaking()
	if err != nil {
		return nil, 0, err
	}
	loss = optimal.Loss(uniform, cloaking.k, m.d)
	sameLoss, err := m.epsilonOf(ctx, loss)
	if err != nil {
		return nil, 0, err
	}
	perMetre, err := planar.LaplaceLaw.Plane(1).Radius(confidence)
	if err != nil {
		return nil, 0, err
	}
	blanket, err := m.mostPrivate(ctx, uniform, loss)
	if err != nil {
		return nil, 0, err
	}
	blanket.Mechanism = MostPrivateUniform
	all = append(all, blanket)
	for _, x := range []struct {
		equal          string
		epsilon, print float64
	}{
		{EqualLoss, sameLoss, 0.0162},
		{EqualAccuracy, perMetre / halfDiagonal, 0.016},
	} {
		cloaking.Equal = x.equal
		all = append(all, cloaking)
		for _, epsilon := range []float64{x.epsilon, x.print} {
			c, err := m.planarLaplace(ctx, epsilon)
			if err != nil {
				return nil, 0, err
			}
			c.Equal, c.Printed = x.equal, epsilon == x.print
			all = append(all, c)
		}
	}
	return all, loss, nil
}

// cloaking returns the mechanism that reports the middle of the zone.
func (m *cityMap) cloaking() (contender, error) {
	middle := func(k int) int { return k/zoneWidth*zoneWidth + zoneWidth/2 }
	var centres []int
	for x := range m.places {
		centres = append(centres, middle(x/mapWidth)*mapWidth+middle(x%mapWidth))
	}
	k, err := optimal.Cloak(centres)
	return contender{ComparisonRow{Mechanism: Cloaking, Epsilon: math.NaN(), Confidence: 1}, k}, err
}

// planarLaplace returns the planar Laplace mechanism.
func (m *cityMap) planarLaplace(ctx context.Context, epsilon float64) (contender, error) {
	k, err := optimalstudy.PlanarLaplaceMatrix(ctx, epsilon, m.places)
	return contender{ComparisonRow{
		Mechanism: PlanarLaplace, Epsilon: epsilon, Confidence: planar.LaplaceLaw.Plane(epsilon).Confidence(halfDiagonal),
	}, k}, err
}

// privacyGap is the gap between the adversary's error and its upper bound at which the
// search for the most private mechanism stops.
const privacyGap = 1e-6

// mostPrivate returns the mechanism, without a name, that leaves an adversary who knows the
// prior with the greatest error, among those with no greater loss under the prior than the given one.
func (m *cityMap) mostPrivate(ctx context.Context, prior []float64, loss float64) (contender, error) {
	found, err := optimal.MostPrivate(ctx,
		optimal.PrivacyProblem{Prior: prior, Quality: m.d, Adversary: m.d, Loss: loss}, privacyGap)
	switch {
	case ctx.Err() != nil:
		return contender{}, context.Cause(ctx)
	case err != nil:
		return contender{}, err
	}
	return contender{ComparisonRow{Equal: EqualLoss, Epsilon: math.NaN(), Confidence: math.NaN()}, found.Matrix}, nil
}

// epsilonOf returns the epsilon at which the planar Laplace mechanism has a loss under the
// uniform prior: 2/loss, up to the effects of the map's edges and the regions.
func (m *cityMap) epsilonOf(ctx context.Context, loss float64) (float64, error) {
	study, err := optimalstudy.New(optimalstudy.Settings{Epsilon: 2 / loss, Dilations: []float64{1}, Gap: 1e-4}, m.places)
	if err != nil {
		return 0, err
	}
	epsilon, _, err := study.LaplaceOfLoss(ctx, loss)
	return epsilon, err
}
