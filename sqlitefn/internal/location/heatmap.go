package location

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var argHeatCell = &frame.Arg{
	Name: "cell_m", Is: "side of a square cell, metres: at least 0.1, at most the box; at most 2^40 cells", Kind: frame.Positive, Setting: true,
}

var argSquares = &frame.Arg{
	Name: "squares", Is: "'adaptive': the squares of a quadtree, large where few locations are, of side cell_m at least; without it, cells",
	Kind: frame.Text, Optional: true, Setting: true,
}

// ridesExample is a table of 90 rides that begin at two places.
const ridesExample = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 90), ride AS (SELECT 'rider ' || i AS who, 39.98 AS lat, 116.31 + i % 2 * 0.02 AS lon FROM n)\n"

// adaptiveNote describes adaptive maps.
const adaptiveNote = "With 'adaptive' the map is a quadtree (PrivTree, Zhang, Xiao and Xie 2016, on integers): a square that covers the grid is split into four, and these again down to cells, where the number of locations, lowered at each level, is above geometric noise. " +
	"Half of epsilon pays for that, and the other half for noise of rate epsilon/4 on the count of each square that is not split. All these are listed, with the properties count, which may be negative, and cell_m, the side; parts outside the grid are cut off, and there is no threshold. "

var heatmapFunctions = []*frame.Function{
	{
		Name: "dx_heatmap", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:     []*frame.Arg{frame.ArgContributor, frame.ArgLat, frame.ArgLon, frame.ArgEpsRecord, frame.ArgDomainOrNull, argHeatCell, argSquares},
		Does:     "Counts locations in the cells of a grid, with geometric noise on each count, and answers the cells that reach a threshold as GeoJSON.",
		Accuracy: "dx_radius('count', p, epsilon/2, NULL) locations for the noise of a cell, with epsilon/4 for that of an adaptive square",
		Charges:  "epsilon in unit record to each account, for each of its locations",
		Notes: "The answer is a FeatureCollection with a Polygon for each cell that is listed, with the property count, from the south-west row by row. " +
			"The grid covers the box of the domain's frame from its south-west corner, also outside a region, and locations are first moved to it. " +
			"A location that is replaced by another changes two counts, so each has noise of rate epsilon/2. " +
			"The threshold depends on the number of cells and on epsilon only: the least one, from 1, that at most one empty cell is expected to reach. Empty cells that reach it are listed like others. " +
			"The members cell_m, epsilon and threshold say how the map was made. Longitudes of a cell across the antimeridian go beyond 180, and a cell that holds a pole has no ring around it. " +
			"Counts below the threshold are lost: of check-ins in Manhattan, cells of 100 m at epsilon 1 leave out 30 %. " + adaptiveNote +
			"epsilon, domain, cell_m and squares must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as location contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL.",
		Examples: []string{
			ridesExample + "SELECT value ->> '$.properties.count' AS count, value ->> '$.geometry.coordinates[0][0]' AS corner FROM json_each((SELECT dx_heatmap(who, lat, lon, 1, 'beijing', 1000) FROM ride), '$.features')",
			ridesExample + "SELECT value ->> '$.properties.count' AS count, value ->> '$.properties.cell_m' AS cell_m FROM json_each((SELECT dx_heatmap(who, lat, lon, 1, 'haidian', 500, 'adaptive') FROM ride), '$.features') ORDER BY count DESC LIMIT 3",
		},
		Aggregate: maps.plain,
	},
}

// heatmapKey identifies a heat map.
type heatmapKey struct {
	domain         *planar.Domain
	epsilon, cellM float64
	adaptive       bool
}

var heatmaps = frame.NewMemo[heatmapKey, *planar.Heatmap]()

var maps = &aggregate{domain: frame.ArgDomainOrNull, perRow: true, newSet: func() set { return new(heatmap) }}

// heatmap counts the locations of a group in cells.
type heatmap struct {
	*planar.Heatmap
	counts planar.CellCounts
}

func (s *heatmap) begin(c frame.Call, domain *planar.Domain) (price budget.Price, err error) {
	key := heatmapKey{domain, c.Number(frame.ArgEpsRecord), c.Number(argHeatCell), c.Given(argSquares)}
	if squares := c.Text(argSquares); key.adaptive && squares != "adaptive" {
		return price, c.Errorf(argSquares, "must be 'adaptive', not '%s'", squares)
	}
	s.Heatmap, err = heatmaps.Get(c.Session, key, func() (*planar.Heatmap, error) {
		if key.adaptive {
			return domain.AdaptiveHeatmap(c.Decimal(frame.ArgEpsRecord), key.cellM)
		}
		return domain.Heatmap(c.Decimal(frame.ArgEpsRecord), key.cellM)
	})
	if err != nil {
		return price, err
	}
	return s.Price(), nil
}

func (s *heatmap) add(lat, lon float64) { s.Add(&s.counts, lat, lon) }
func (s *heatmap) clear()               { s.counts = planar.CellCounts{} }
func (s *heatmap) bytes() int64         { return unseal.CellSize * int64(s.counts.Len()+1) }

// answer draws the map. A dry run lists nothing.
func (s *heatmap) answer(paid frame.Receipt) frame.Answer {
	listed := frame.Draw(paid, func(source *exact.Source) []planar.Square { return s.Draw(source, &s.counts) }, nil)
	return frame.TextAnswer(s.AppendGeoJSON(nil, listed))
}
