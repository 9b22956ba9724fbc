package location

import (
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var sealedFunctions = []*frame.Function{
	{
		Name: "geoind_laplace", Section: frame.OverSealed, Returns: "TEXT", Columns: frame.LocationColumns,
		Args:    []*frame.Arg{unseal.ArgSealed, frame.ArgEpsMetre},
		Does:    "Releases a sealed location with planar Laplace noise on its domain's lattice.",
		Charges: "epsilon in unit m to the value's account, for each evaluation",
		Notes:   "NULL, and an erased or revoked value, gives NULL and charges nobody.",
		Answer:  releaseSealed,
	},
	{
		Name: "dx_centroid", Section: frame.OverSealed, Returns: "TEXT",
		Args:      []*frame.Arg{unseal.ArgSealed, frame.ArgEpsMetre},
		Does:      "Releases the centroid of a set of sealed locations as WKT, with planar Laplace noise on their domain's lattice.",
		Charges:   "epsilon in unit m to each account with a location in the group, once per group",
		Notes:     unseal.RowNote + "epsilon must be constant within a group. A group charges all its accounts or none.",
		Aggregate: func(*frame.Session) frame.Group { return unseal.NewGroup(new(sealedCentroidForm)) },
	},
	{
		Name: "dx_heatmap", Section: frame.OverSealed, Returns: "TEXT",
		Args:      []*frame.Arg{unseal.ArgSealed, frame.ArgEpsRecord, argHeatCell},
		Does:      "Counts sealed locations in the cells of a grid over their domain, with geometric noise on each count, and answers the cells that reach a threshold as GeoJSON.",
		Charges:   "epsilon in unit record to each account, for each of its locations",
		Notes:     unseal.RowNote + "epsilon and cell_m must be constant within a group. A group charges all its accounts or none.",
		Aggregate: func(*frame.Session) frame.Group { return unseal.NewGroup(new(sealedHeatmapForm)) },
	},
}

// releaseSealed pays for a sealed location and draws.
func releaseSealed(c frame.Call) (frame.Answer, error) {
	o, present, err := unseal.Open(c, unseal.ArgSealed)
	if err != nil || !present {
		return frame.Answer{}, err
	}
	domain, err := unseal.DomainOf(c.Session, o.Of)
	if err != nil {
		return frame.Answer{}, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	m, err := laplaceOn(c, domain)
	if err != nil {
		return frame.Answer{}, err
	}
	return unseal.PayOne(c, o, m.Price(), func(paid frame.Receipt) frame.Answer {
		lat, lon := unseal.Degrees(o.Data)
		return frame.LocationAnswer(paid.Location(m, lat, lon))
	})
}

// laplaceOn returns planar Laplace on a domain with the epsilon of the call.
func laplaceOn(c frame.Call, domain *planar.Domain) (planar.Mechanism, error) {
	return latticeMechanismOn(c, "laplace", domain, frame.ArgEpsMetre)
}

// sealedCentroidForm is the centroid of sealed locations. Repeating a location gives it more weight,
// and the centroid moves at most as far as the locations all the same.
type sealedCentroidForm struct {
	laplace *planar.Laplace
	points  planar.Centroid
}

func (f *sealedCentroidForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	domain, err := unseal.DomainOf(c.Session, of)
	if err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	m, err := laplaceOn(c, domain)
	if err != nil {
		return price, err
	}
	f.laplace = m.(*planar.Laplace)
	return unseal.Terms{Price: m.Price(), Per: unseal.PerAccount}, nil
}

func (f *sealedCentroidForm) Add(_ int, d sealed.Data) {
	lat, lon := unseal.Degrees(d)
	f.points.Add(f.laplace.Domain(), lat, lon)
}

func (f *sealedCentroidForm) Bytes(int64) int64 { return 0 }

func (f *sealedCentroidForm) Clear() { f.points = planar.Centroid{} }

func (f *sealedCentroidForm) Draw(_ frame.Call, paid frame.Receipt) frame.Answer {
	return centroidAnswer(paid, f.laplace, &f.points)
}

// sealedHeatmapForm is a heat map of sealed locations.
type sealedHeatmapForm struct {
	heatmap *planar.Heatmap
	counts  planar.CellCounts
}

func (f *sealedHeatmapForm) Start(c frame.Call, of unseal.Range) (price unseal.Terms, err error) {
	domain, err := unseal.DomainOf(c.Session, of)
	if err != nil {
		return price, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.heatmap, err = heatmap(c, domain); err != nil {
		return price, err
	}
	return unseal.Terms{Price: f.heatmap.Price(), Per: unseal.PerRow}, nil
}

func (f *sealedHeatmapForm) Add(_ int, d sealed.Data) {
	lat, lon := unseal.Degrees(d)
	f.heatmap.Add(&f.counts, lat, lon)
}

func (f *sealedHeatmapForm) Bytes(int64) int64 { return unseal.CellSize * int64(f.counts.Len()+1) }

func (f *sealedHeatmapForm) Clear() { f.counts = planar.CellCounts{} }

func (f *sealedHeatmapForm) Draw(_ frame.Call, paid frame.Receipt) frame.Answer {
	return heatmapAnswer(paid, f.heatmap, &f.counts)
}
