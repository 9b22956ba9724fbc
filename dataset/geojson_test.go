package dataset_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"pgregory.net/rapid"
)

type featureCollection struct {
	Type, Name string
	Features   []struct {
		Type     string
		Geometry *struct {
			Type        string
			Coordinates []float64
		}
		Properties map[string]any
	}
}

func readGeoJSON(t datasettest.T, path string) (collection featureCollection) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&collection); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return collection
}

func TestGeoJSONRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		batches, cells := datasettest.NastyBatches(t)
		got := readGeoJSON(t, datasettest.Write(t, folder, dataset.GeoJSON, datasettest.Nasty, batches...))
		if got.Type != "FeatureCollection" || got.Name != datasettest.Nasty.Name || len(got.Features) != len(cells) {
			t.Fatalf("%s %q with %d features, want %d", got.Type, got.Name, len(got.Features), len(cells))
		}
		for i, f := range got.Features {
			lat, lon, isNull := datasettest.Location(t, cells[i])
			switch g := f.Geometry; {
			case f.Type != "Feature" || isNull != (g == nil):
				t.Fatalf("row %d: %v, want %q", i, f, cells[i])
			case g != nil && (g.Type != "Point" || len(g.Coordinates) != 2 || g.Coordinates[0] != lon || g.Coordinates[1] != lat):
				t.Fatalf("row %d: %v, want %v, %v", i, g, lat, lon)
			}
			checkProperties(t, f.Properties, cells[i])
		}
	})
}

func checkProperties(t datasettest.T, got map[string]any, row []string) {
	t.Helper()
	if len(got) != len(datasettest.Nasty.Fields)-2 {
		t.Fatalf("%d properties", len(got))
	}
	for i, f := range datasettest.Nasty.Fields {
		if i == datasettest.Nasty.Points[0].Lat || i == datasettest.Nasty.Points[0].Lon {
			continue
		}
		v, found := got[f.Name]
		text, isText := v.(string)
		number, isNumber := v.(json.Number)
		switch {
		case row[i] == datasettest.Null && found && v == nil:
		case f.Kind == dataset.Text && isText && text == row[i]:
		case f.Kind != dataset.Text && isNumber && number.String() == row[i]:
		default:
			t.Fatalf("property %s is %v, want %q", f.Name, v, row[i])
		}
	}
}

func TestGeoJSONBytes(t *testing.T) {
	s := dataset.Schema{Name: "x", Fields: []dataset.Field{{Name: "a", Kind: dataset.Text}, {Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "lat2", Kind: dataset.Real}}, Points: []dataset.Point{{Lat: 1, Lon: 2}}}
	got, err := os.ReadFile(datasettest.Write(t, t.TempDir(), dataset.GeoJSON, s, datasettest.Batch(0, []string{"\"", "1.50", "-2", " .5 "}), new(dataset.Rows), datasettest.Batch(1, []string{datasettest.Null, datasettest.Null, datasettest.Null, datasettest.Null})))
	const want = `{"type":"FeatureCollection","name":"x","features":[ 
{"type":"Feature","geometry":{"type":"Point","coordinates":[-2,1.5]},"properties":{"a":"\"","lat2":0.5}},
{"type":"Feature","geometry":null,"properties":{"a":null,"lat2":null}}
]}
`
	if err != nil || string(got) != want {
		t.Errorf("%v, %s", err, got)
	}
}
