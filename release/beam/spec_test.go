package beam

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/release"
)

// A specText is the text of a spec file with settings that tests change.
type specText map[string]string

// newSpecText returns the settings of a release of trips.
func newSpecText() specText {
	return specText{
		"in": `"/data/trips.csv"`, "out": `"/public/trips.csv"`, "ledger": `"postgres://clerk@db.example/budgets"`, "shards": "3",
		"account": `"person"`, "lat": `"lat"`, "lon": `"lon"`, "epsilon": "0.005", "domain": "[48.80, 2.22, 48.91, 2.48, 1]",
	}
}

// with returns a copy in which settings have other values. Without a value a setting is left out.
func (s specText) with(settings ...string) specText {
	other := specText{}
	for name, value := range s {
		other[name] = value
	}
	for i := 0; i < len(settings); i += 2 {
		if settings[i+1] == "" {
			delete(other, settings[i])
		} else {
			other[settings[i]] = settings[i+1]
		}
	}
	return other
}

func (s specText) String() string {
	var lines []string
	for name, value := range s {
		lines = append(lines, `  "`+name+`": `+value)
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}

// write writes a spec file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadSpec(t *testing.T) {
	text := newSpecText().with("lat", `["lat", "to_lat"]`, "lon", `["lon", "to_lon"]`, "keep", `["purpose", "a,b"]`, "epsilon", "",
		"level", `"ln4"`, "radius", "200", "limit", `"0.02"`, "outside", "0.1", "publishable", "true", "id", `"trips 2026"`,
		"workers", "2", "max-rows-per-account", "7", "in", `"gs://office/trips.parquet"`, "mechanism", `"laplace"`, "weight", `"jobs"`, "region", `"/data/city.geojson"`)
	s, err := ReadSpec(t.Context(), write(t, text.String()))
	if err != nil {
		t.Fatal(err)
	}
	r := s.Release
	if r.In != "gs://office/trips.parquet" || r.Out != "/public/trips.csv" || s.Ledger != "postgres://clerk@db.example/budgets" || s.Shards != 3 ||
		r.Account != "person" || strings.Join(r.Lat, "|") != "lat|to_lat" || strings.Join(r.Lon, "|") != "lon|to_lon" ||
		strings.Join(r.Keep, "|") != "purpose|a,b" || r.Radius != 200 || r.Limit.String() != "0.02" || r.Outside != 0.1 || !r.Publishable ||
		r.ID != "trips 2026" || r.Workers != 2 || r.MaxRows != 7 || r.Weight != "jobs" || r.Mechanism != "laplace" || s.Region != "/data/city.geojson" ||
		r.Box != (release.Box{South: 48.80, West: 2.22, North: 48.91, East: 2.48}) || r.Step != 1 {
		t.Errorf("read %+v", s)
	}
	if got := r.Epsilon.FloatString(6); got != "0.006931" {
		t.Errorf("epsilon is %s, want ln(4)/200", got)
	}
}

// An epsilon that was written with decimals is that decimal, not the nearest binary fraction.
func TestReadSpecIsExact(t *testing.T) {
	for _, value := range []string{"0.005", `"0.005"`, "5e-3"} {
		s, err := ReadSpec(t.Context(), write(t, newSpecText().with("epsilon", value).String()))
		if err != nil || s.Release.Epsilon.RatString() != "1/200" {
			t.Errorf("epsilon %s: %v, %v", value, s, err)
		}
	}
}

func TestReadSpecRefuses(t *testing.T) {
	good := newSpecText()
	for _, c := range []struct{ text, want string }{
		{"", "line 1 is not JSON"},
		{"[]", "a spec file is a JSON object"},
		{"{", "the text ends too early"},
		{"{\n\"in\": \"/a\"\n\"out\": 1}", "line 3 is not JSON"},
		{good.String() + "{}", "something follows"},
		{`{"in": "/a.csv", "in": "/b.csv"}`, `"in" is given twice`},
		{good.with("epsilom", "1").String(), `there is no setting "epsilom" (did you mean "epsilon"?)`},
		{good.with("Epsilon", "1").String(), `there is no setting "Epsilon"`},
		{good.with("in", "null").String(), `"in" has no value`},
		{good.with("in", "").String(), `add "in"`},
		{good.with("in", `"trips.csv"`).String(), "trips.csv is relative"},
		{good.with("out", `"hdfs://name/trips.csv"`).String(), "there is no filesystem hdfs://"},
		{good.with("out", `"gs://office"`).String(), "names no file"},
		{good.with("out", `"s3://office/trips*.csv"`).String(), "must not have *"},
		{good.with("region", `"city.geojson"`).String(), "city.geojson is relative"},
		{good.with("ledger", `"/data/ledger"`).String(), "a ledger that machines share"},
		{good.with("ledger", `"postgres://clerk:hunter2@db.example/budgets"`).String(), "PGPASSFILE"},
		{good.with("ledger", `"postgres://db.example/budgets?password=hunter2"`).String(), "PGPASSFILE"},
		{good.with("shards", "0").String(), "from 1 to 100000"},
		{good.with("shards", "1.5").String(), "from 1 to 100000"},
		{good.with("shards", "").String(), `add "shards"`},
		{good.with("account", `""`).String(), "not empty"},
		{good.with("lat", `["a", null]`).String(), "a list of names"},
		{good.with("lat", `["a", "b"]`).String(), "equally many columns"},
		{good.with("epsilon", "-1").String(), "is not above 0"},
		{good.with("epsilon", `"much"`).String(), "is not a number"},
		{good.with("epsilon", "true").String(), "is not a number"},
		{good.with("epsilon", "").String(), `add "epsilon"`},
		{good.with("level", "1").String(), `either "epsilon"`},
		{good.with("domain", "[1, 2, 3, 4]").String(), "five numbers"},
		{good.with("domain", "[1, 2, 3, 4, null]").String(), "five numbers"},
		{good.with("domain", "").String(), `add "domain"`},
		{good.with("mechanism", `"gauss2"`).String(), "must be one of"},
		{good.with("outside", "2").String(), "from 0 to 1"},
		{good.with("id", `"a\u0007"`).String(), "a line of text"},
		{good.with("publishable", `"yes"`).String(), "true or false"},
		{good.with("workers", "0").String(), "at least 1"},
		{good.with("max-rows-per-account", "2.5").String(), "at least 1"},
		{good.with("rejects", `"/r.csv"`).String(), `there is no setting "rejects"`},
	} {
		path := write(t, c.text)
		_, err := ReadSpec(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := ReadSpec(t.Context(), "/no/such/spec.json"); err == nil {
		t.Error("a spec file that is missing was read")
	}
}

func FuzzReadSpec(f *testing.F) {
	f.Add(newSpecText().String())
	f.Add(`{"domain": [1,2,3,4,5], "lat": ["a"], "epsilon": "ln4"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := &Spec{}
		if s.parse([]byte(text)) == nil && s.check() == nil && (s.Release.Epsilon.Sign() <= 0 || s.Shards < 1) {
			t.Errorf("accepted %s", text)
		}
	})
}
