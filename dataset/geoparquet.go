package dataset

import (
	"encoding/json"
	"os"

	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/parquet-go/parquet-go"
)

// createGeoParquet begins a GeoParquet 1.1 file: a Parquet file whose last column holds
// the locations as well-known binary, which the metadata describe.
func createGeoParquet(file *os.File, s Schema) (Writer, error) {
	geometry := parquetField{parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), &parquet.Plain)), s.geometryName()}
	return newParquetWriter(file, s, s.Attributes(), []parquet.Field{geometry}), nil
}

// geometryName returns the name of the column of geometries.
func (s *Schema) geometryName() string { return s.FreeName("geometry") }

// encodeGeometry writes the locations of the batch into the last column.
func (w *parquetWriter) encodeGeometry(g *parquetGroup, rows *Rows) error {
	n := len(w.columns)
	for i := 0; i < rows.Len(); {
		values, wkb := g.values[:min(len(g.values), rows.Len()-i)], g.wkb[:0]
		for k := range values {
			lat, lon, null, err := w.schema.Location(rows, i)
			if err != nil {
				return err
			}
			v := parquet.NullValue()
			if !null {
				g.bounds.Add(lat, lon)
				start := len(wkb)
				wkb = geom.AppendWKB(wkb, lat, lon)
				v = parquet.ByteArrayValue(wkb[start:])
			}
			values[k] = v.Level(0, definition(v), n)
			i++
		}
		if _, err := g.ColumnWriters()[n].WriteRowValues(values); err != nil {
			return err
		}
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
