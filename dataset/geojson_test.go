package dataset

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

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

func readGeoJSON(t tester, path string) (collection featureCollection) {
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
		batches, cells := nastyBatches(t)
		got := readGeoJSON(t, write(t, folder, GeoJSON, nasty, batches...))
		if got.Type != "FeatureCollection" || got.Name != nasty.Name || len(got.Features) != len(cells) {
			t.Fatalf("%s %q with %d features, want %d", got.Type, got.Name, len(got.Features), len(cells))
		}
		for i, f := range got.Features {
			lat, lon, isNull := location(t, cells[i])
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

func checkProperties(t tester, got map[string]any, row []string) {
	t.Helper()
	if len(got) != len(nasty.Fields)-2 {
		t.Fatalf("%d properties", len(got))
	}
	for i, f := range nasty.Fields {
		if i == nasty.Points[0].Lat || i == nasty.Points[0].Lon {
			continue
		}
		v, found := got[f.Name]
		text, isText := v.(string)
		number, isNumber := v.(json.Number)
		switch {
		case row[i] == null && found && v == nil:
		case f.Kind == Text && isText && text == row[i]:
		case f.Kind != Text && isNumber && number.String() == row[i]:
		default:
			t.Fatalf("property %s is %v, want %q", f.Name, v, row[i])
		}
	}
}

func TestGeoJSONBytes(t *testing.T) {
	s := Schema{Name: "x", Fields: []Field{{"a", Text}, {"lat", Real}, {"lon", Real}, {"lat2", Real}}, Points: []Point{{1, 2}}}
	got, err := os.ReadFile(write(t, t.TempDir(), GeoJSON, s, batch(0, []string{"\"", "1.50", "-2", " .5 "}), new(Rows), batch(1, []string{null, null, null, null})))
	const want = `{"type":"FeatureCollection","name":"x","features":[ 
{"type":"Feature","geometry":{"type":"Point","coordinates":[-2,1.5]},"properties":{"a":"\"","lat2":0.5}},
{"type":"Feature","geometry":null,"properties":{"a":null,"lat2":null}}
]}
`
	if err != nil || string(got) != want {
		t.Errorf("%v, %s", err, got)
	}
}
