package sqlitefn

import "github.com/geosql/geosql/mechanism/planar"

func init() {
	register(
		&function{
			name: "geoind_laplace", section: overSealed, columns: locationColumns,
			args:    []*argument{argSealed, argEpsMetre},
			does:    "Releases a sealed location with planar Laplace noise on its domain's lattice.",
			charges: "epsilon in unit m to the value's account, for each evaluation",
			notes:   "NULL, and what is erased or revoked, gives NULL and charges nobody.",
			scalar:  locationDraw(drawSealedLocation).scalar,
			table:   locationDraw(drawSealedLocation).table,
		},
		&function{
			name: "dx_centroid", section: overSealed,
			args:      []*argument{argSealed, argEpsMetre},
			does:      "Releases the centroid of a set of sealed locations as WKT, with planar Laplace noise on their domain's lattice.",
			charges:   "epsilon in unit m to each account with a location in the group, once per group",
			notes:     sealedRow + "epsilon must be constant within a group. A group charges all its accounts or none.",
			aggregate: func(*session) group { return new(sealedCentroidGroup) },
		},
		&function{
			name: "dx_heatmap", section: overSealed,
			args:      []*argument{argSealed, argEpsRecord, argHeatCell},
			does:      "Counts sealed locations in the cells of a grid over their domain, with geometric noise on each count, and answers those that reach a threshold as GeoJSON.",
			charges:   "epsilon in unit record to each account, for each of its locations",
			notes:     sealedRow + "epsilon and cell_m must be constant within a group. A group charges all its accounts or none.",
			aggregate: func(*session) group { return new(sealedHeatmapGroup) },
		},
	)
}

// drawSealedLocation pays for a sealed location and draws, as [locationRelease.draw] does for a
// plain one.
func drawSealedLocation(t *statement, c call) (lat, lon float64, released bool, err error) {
	o, present, err := t.open(c, argSealed)
	if err != nil || !present {
		return 0, 0, false, err
	}
	domain, err := c.session.sealedDomain(o.of)
	if err != nil {
		return 0, 0, false, c.argErrorf(argSealed, "%w", err)
	}
	m, err := c.laplaceOn(domain)
	if err != nil {
		return 0, 0, false, err
	}
	paid, err := t.session.payer.pay(t, c.function, []byte(o.name()), m.Price())
	if err != nil {
		return 0, 0, false, err
	}
	lat, lon = degreesOf(o.Data)
	lat, lon = paid.drawLocation(m, lat, lon)
	return lat, lon, true, nil
}

// laplaceOn returns planar Laplace on a domain with the epsilon of the call.
func (c call) laplaceOn(domain *planar.Domain) (planar.Mechanism, error) {
	return c.latticeMechanismOn("laplace", domain, argEpsMetre)
}

// sealedCentroidGroup is a group of dx_centroid over sealed locations. Repeating a location gives
// it more weight, and the centroid moves at most as far as the locations all the same.
type sealedCentroidGroup struct {
	laplace *planar.Laplace // nil before the first location
	points  planar.Centroid
	rows    sealedRows
}

func (*sealedCentroidGroup) begin(call) error { return nil }

func (g *sealedCentroidGroup) row(c call) error {
	m, o, err := g.rows.open(c, argSealed)
	if m == nil || err != nil {
		return err
	}
	if g.laplace == nil {
		domain, err := c.session.sealedDomain(o.of)
		if err != nil {
			return c.argErrorf(argSealed, "%w", err)
		}
		laplace, err := c.laplaceOn(domain)
		if err != nil {
			return err
		}
		g.laplace = laplace.(*planar.Laplace)
	}
	lat, lon := degreesOf(o.Data)
	g.points.Add(g.laplace.Domain(), lat, lon)
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *sealedCentroidGroup) final(c call) error {
	if g.laplace == nil {
		return nil
	}
	paid, err := g.rows.pay(c, g.laplace.Price(), false)
	if err == nil {
		c.resultCentroid(paid, g.laplace, &g.points)
	}
	return err
}

// sealedHeatmapGroup is a group of dx_heatmap over sealed locations.
type sealedHeatmapGroup struct {
	heatmap *planar.Heatmap // nil before the first location
	counts  planar.CellCounts
	rows    sealedRows
}

func (*sealedHeatmapGroup) begin(call) error { return nil }

func (g *sealedHeatmapGroup) row(c call) error {
	m, o, err := g.rows.open(c, argSealed)
	if m == nil || err != nil {
		return err
	}
	if g.heatmap == nil {
		domain, err := c.session.sealedDomain(o.of)
		if err != nil {
			return c.argErrorf(argSealed, "%w", err)
		}
		if g.heatmap, err = c.heatmap(domain); err != nil {
			return err
		}
	}
	lat, lon := degreesOf(o.Data)
	g.heatmap.Add(&g.counts, lat, lon)
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *sealedHeatmapGroup) final(c call) error {
	if g.heatmap == nil {
		return nil
	}
	paid, err := g.rows.pay(c, g.heatmap.Price(), true)
	if err == nil {
		c.resultHeatmap(paid, g.heatmap, &g.counts)
	}
	return err
}
