package sqlitefn

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sealed"
)

var sealedLocationFunctions = []*function{
	&function{
		name: "geoind_laplace", section: overSealed, columns: locationColumns,
		args:    []*argument{argSealed, argEpsMetre},
		does:    "Releases a sealed location with planar Laplace noise on its domain's lattice.",
		charges: "epsilon in unit m to the value's account, for each evaluation",
		notes:   "NULL, and what is erased or revoked, gives NULL and charges nobody.",
		answer:  sealedLocation,
		table:   locationDraw(drawSealedLocation).table,
	},
	&function{
		name: "dx_centroid", section: overSealed,
		args:      []*argument{argSealed, argEpsMetre},
		does:      "Releases the centroid of a set of sealed locations as WKT, with planar Laplace noise on their domain's lattice.",
		charges:   "epsilon in unit m to each account with a location in the group, once per group",
		notes:     sealedRow + "epsilon must be constant within a group. A group charges all its accounts or none.",
		aggregate: func(*session) group { return newSealedGroup(new(sealedCentroidForm)) },
	},
	&function{
		name: "dx_heatmap", section: overSealed,
		args:      []*argument{argSealed, argEpsRecord, argHeatCell},
		does:      "Counts sealed locations in the cells of a grid over their domain, with geometric noise on each count, and answers those that reach a threshold as GeoJSON.",
		charges:   "epsilon in unit record to each account, for each of its locations",
		notes:     sealedRow + "epsilon and cell_m must be constant within a group. A group charges all its accounts or none.",
		aggregate: func(*session) group { return newSealedGroup(new(sealedHeatmapForm)) },
	},
}

// drawSealedLocation pays for a sealed location and draws, as [locationRelease.draw] does for a
// plain one.
func drawSealedLocation(c call) (lat, lon float64, released bool, err error) {
	a, err := sealedLocation(c)
	return a.place[0], a.place[1], a.kind == ofLocation, err
}

// sealedLocation pays for a sealed location and draws.
func sealedLocation(c call) (answer, error) {
	o, present, err := c.open(argSealed)
	if err != nil || !present {
		return answer{}, err
	}
	domain, err := c.session.sealedDomain(o.of)
	if err != nil {
		return answer{}, c.argErrorf(argSealed, "%w", err)
	}
	m, err := c.laplaceOn(domain)
	if err != nil {
		return answer{}, err
	}
	return c.payOne(o, m.Price(), func(paid receipt) answer {
		lat, lon := degreesOf(o.Data)
		lat, lon = paid.drawLocation(m, lat, lon)
		return answer{kind: ofLocation, place: [2]float64{lat, lon}}
	})
}

// laplaceOn returns planar Laplace on a domain with the epsilon of the call.
func (c call) laplaceOn(domain *planar.Domain) (planar.Mechanism, error) {
	return c.latticeMechanismOn("laplace", domain, argEpsMetre)
}

// sealedCentroidForm is the centroid of sealed locations. Repeating a location gives it more weight,
// and the centroid moves at most as far as the locations all the same.
type sealedCentroidForm struct {
	laplace *planar.Laplace
	points  planar.Centroid
}

func (f *sealedCentroidForm) start(c call, of sealedRange) (price sealedPrice, err error) {
	domain, err := c.session.sealedDomain(of)
	if err != nil {
		return price, c.argErrorf(argSealed, "%w", err)
	}
	m, err := c.laplaceOn(domain)
	if err != nil {
		return price, err
	}
	f.laplace = m.(*planar.Laplace)
	return sealedPrice{m.Price(), perAccount}, nil
}

func (f *sealedCentroidForm) add(_ int, d sealed.Data) {
	lat, lon := degreesOf(d)
	f.points.Add(f.laplace.Domain(), lat, lon)
}

func (f *sealedCentroidForm) bytes(int64) int64 { return 0 }

func (f *sealedCentroidForm) clear() { f.points = planar.Centroid{} }

func (f *sealedCentroidForm) draw(_ call, paid receipt) answer {
	return centroidAnswer(paid, f.laplace, &f.points)
}

// sealedHeatmapForm is a heat map of sealed locations.
type sealedHeatmapForm struct {
	heatmap *planar.Heatmap
	counts  planar.CellCounts
}

func (f *sealedHeatmapForm) start(c call, of sealedRange) (price sealedPrice, err error) {
	domain, err := c.session.sealedDomain(of)
	if err != nil {
		return price, c.argErrorf(argSealed, "%w", err)
	}
	if f.heatmap, err = c.heatmap(domain); err != nil {
		return price, err
	}
	return sealedPrice{f.heatmap.Price(), perRow}, nil
}

func (f *sealedHeatmapForm) add(_ int, d sealed.Data) {
	lat, lon := degreesOf(d)
	f.heatmap.Add(&f.counts, lat, lon)
}

func (f *sealedHeatmapForm) bytes(int64) int64 { return cellSize * int64(f.counts.Len()+1) }

func (f *sealedHeatmapForm) clear() { f.counts = planar.CellCounts{} }

func (f *sealedHeatmapForm) draw(_ call, paid receipt) answer {
	return heatmapAnswer(paid, f.heatmap, &f.counts)
}
