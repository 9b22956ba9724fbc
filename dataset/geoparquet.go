package dataset

import (
	"encoding/binary"
	"encoding/json"
	"os"

	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go"
)

// createGeoParquet begins a GeoParquet 1.1 file: a Parquet file that holds in its last column
// the locations as well-known binary, which the metadata describe.
func createGeoParquet(file *os.File, s Schema) (Writer, error) {
	w, err := newParquetWriter(file, s, s.Attributes())
	w.geometry = true
	w.columns = append(w.columns, parquetLeaf{name: s.geometryName(), node: parquet.Leaf(parquet.ByteArrayType)})
	return w, err
}

// geometryName returns the name of the column of geometries.
func (s *Schema) geometryName() string { return s.FreeName("geometry") }

// encodeGeometries encodes the locations of a batch.
func (g *parquetGroup) encodeGeometries(s *Schema, rows *Rows) error {
	g.beginColumn((4 + geom.WKBSize) * g.rows)
	for i := range g.rows {
		lat, lon, null, err := s.Location(rows, i)
		if err != nil {
			return err
		}
		if null {
			g.nulls++
			continue
		}
		g.setPresent(i)
		g.bounds.Add(lat, lon)
		g.values = binary.LittleEndian.AppendUint32(g.values, geom.WKBSize)
		g.values = geom.AppendWKB(g.values, lat, lon)
	}
	return nil
}

// geoMetadata returns the value of the key "geo" of a GeoParquet file. The coordinates
// are longitude and latitude in WGS 84, which is the default.
func geoMetadata(column string, b geom.Bounds) string {
	type geometry struct {
		Encoding string    `json:"encoding"`
		Types    []string  `json:"geometry_types"`
		BBox     []float64 `json:"bbox,omitempty"`
	}
	g := geometry{Encoding: "WKB", Types: []string{"Point"}}
	if b.Some {
		g.BBox = []float64{b.West, b.South, b.East, b.North}
	}
	text, _ := json.Marshal(map[string]any{ // finite numbers and text have no error
		"version":        "1.1.0",
		"primary_column": column,
		"columns":        map[string]geometry{column: g},
	})
	return string(text)
}
