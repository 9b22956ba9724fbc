package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/version"
	"pgregory.net/rapid"
)

func metadataOf(t testing.TB, p Public) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := WriteMetadata(&text, p); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// keys returns the names of all fields of a JSON value, with the fields that they are in.
func keys(value any, prefix string) (all []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			all = append(all, append(keys(inner, prefix+name+"."), prefix+name)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, keys(inner, prefix)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The metadata have these fields and no other. A new field needs a reason why everybody may know it.
func TestMetadataFields(t *testing.T) {
	var m any
	if err := json.Unmarshal(metadataOf(t, released(t, 20).Public), &m); err != nil {
		t.Fatal(err)
	}
	const want = "accuracy accuracy.error_of_95_percent_m accuracy.expected_error_m " +
		"charge charge.all_to_one_account charge.epsilon_of_all_locations charge.epsilon_per_location " +
		"citation citation.authors citation.doi citation.in citation.title citation.year columns_copied " +
		"domain domain.coordinates domain.east domain.moved_into_a_region domain.north domain.south domain.step_m domain.west " +
		"file format formulas_escaped generator generator.name generator.version invalid_rows_may_be_left_out " +
		"locations locations.lat locations.lon locations.released locations.rows_without meaning " +
		"method method.epsilon method.epsilon_per method.level method.level_within_m method.mechanism method.name " +
		"not_promised released rows sha256"
	if got := strings.Join(keys(m, ""), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p := released(t, 20).Public
	p.Weight, p.About = "jobs", About{"Homes", "One row a home.", "CC BY 4.0", "maps@city.example"}
	var about map[string]any
	if err := json.Unmarshal(metadataOf(t, p), &about); err != nil || about["title"] != "Homes" || about["description"] != "One row a home." ||
		about["license"] != "CC BY 4.0" || about["contactPoint"] != "maps@city.example" || about["rows_repeated_by_column"] != "jobs" {
		t.Errorf("%v, %v", about, err)
	}
}

// The metadata have the facts of the page, with numbers that are not rounded where they are settings.
func TestMetadata(t *testing.T) {
	p := released(t, 20).Public
	p.Mechanism = "laplace"
	var m metadata
	if err := json.Unmarshal(metadataOf(t, p), &m); err != nil {
		t.Fatal(err)
	}
	if m.Generator != (generator{"geosql", version.Version}) || m.File != "commuters.csv.gz" || m.SHA256 != p.SHA256 || !m.Released.Equal(p.Time) {
		t.Errorf("%+v", m)
	}
	if m.Rows != 23 || !m.SetAside || strings.Join(m.Kept, " ") != "industry age" || len(m.Locations) != 2 {
		t.Errorf("%+v", m)
	}
	if want := (metadataColumns{"home_lat", "home_lon", 20, 3}); m.Locations[0] != want {
		t.Errorf("%+v", m.Locations[0])
	}
	if want := (metadataMethod{"laplace", "planar Laplace mechanism", washingtonEpsilon, "m", math.Log(4), 200}); m.Method != want {
		t.Errorf("%+v", m.Method)
	}
	if want := (metadataDomain{38.79, -77.12, 39, -76.91, 1, true, "degrees of WGS 84 (EPSG:4326)"}); m.Domain != want {
		t.Errorf("%+v", m.Domain)
	}
	if m.Accuracy.Mean != 288.5 || m.Charge.Each != washingtonEpsilon || m.Charge.Total != decimal.Round(40*washingtonEpsilon, 15) || m.Charge.OneAccount {
		t.Errorf("%+v, %+v", m.Accuracy, m.Charge)
	}
	if text := strings.Join(append(m.Meaning, m.NotPromised...), " "); !strings.Contains(text, "200 m apart that is at most 4.04 times") ||
		!strings.Contains(text, "more than 80.2 % likely") || !strings.Contains(text, "columns that were copied are not protected") {
		t.Error(text)
	}
}

// Whatever the data, the metadata are JSON in UTF-8, and the owner's data do not change them.
func TestAnyMetadata(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawData(t)
		var text bytes.Buffer
		if err := WriteMetadata(&text, data.Public); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text.Bytes()) || !utf8.Valid(text.Bytes()) || text.Len() > 10_000 {
			t.Fatalf("%d bytes: %s", text.Len(), text.Bytes())
		}
		for _, found := range []string{"NaN", "%!", "Inf"} {
			if strings.Contains(text.String(), found) {
				t.Fatalf("they have %q: %s", found, text.Bytes())
			}
		}
	})
}

func TestMetadataRefusals(t *testing.T) {
	p := released(t, 20).Public
	room := full(100)
	if err := WriteMetadata(&room, p); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	p.Epsilon = math.NaN()
	var text bytes.Buffer
	if err := WriteMetadata(&text, p); err == nil || err.Error() != "metadata: epsilon NaN is not between 1e-12 and 9000000" || text.Len() > 0 {
		t.Errorf("%v, %d bytes", err, text.Len())
	}
}
