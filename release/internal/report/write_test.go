package report

import (
	"bytes"
	"errors"
	"github.com/geosql/geosql/mechanism/planar"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// notNumbers matches the formatted text of a number that is none, or with an exponent.
var notNumbers = regexp.MustCompile(`NaN|Inf|[0-9]e[+-][0-9]|%!|<no value>|ZgotmplZ|−0[ %<"]`)

// drawBox draws a box that planar.NewDomain may take.
func drawBox(t *rapid.T) Box {
	south := rapid.Float64Range(-90, 89).Draw(t, "south")
	west := rapid.Float64Range(-180, 180).Draw(t, "west")
	box := Box{South: south, West: west}
	box.North = min(90, south+math.Exp(rapid.Float64Range(-9, 4).Draw(t, "height")))
	box.East = west + math.Exp(rapid.Float64Range(-9, 4).Draw(t, "width"))
	if box.East > 180 {
		box.East -= 360
	}
	return box
}

// drawData draws valid data of any magnitude, with names that would like to be markup.
func drawData(t *rapid.T) Data {
	name := rapid.SampledFrom([]string{
		"lat", "", `<script>alert(1)</script>`, `"><svg onload="x">`, "]]>", "{{.}}", "a&amp;b", "</style>", "<!--",
		"\x00\x1b[1m", "\xff\xfe", "שלום", "javascript:x", "' onclick='x",
	})
	magnitude := func(low, high float64, name string) float64 {
		return math.Exp(rapid.Float64Range(math.Log(low), math.Log(high)).Draw(t, name))
	}
	box, sequence := drawBox(t), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "sequence"), 0))
	p := Public{
		Output: name.Draw(t, "output"), SHA256: name.Draw(t, "sha256"), Time: time.Unix(1e9, 0),
		Kept: rapid.SliceOfN(name, 0, 3).Draw(t, "kept"),
		Law:  rapid.SampledFrom([]*planar.Law{planar.LaplaceLaw, planar.GaussLaw}).Draw(t, "law"), Epsilon: magnitude(minEpsilon, maxEpsilon*0.99, "epsilon"), Box: box, Step: magnitude(0.001, 1e5, "step"),
		MeanError: magnitude(1e-6, 1e13, "mean"), Error95: magnitude(1e-6, 1e13, "error"),
		SetAside: rapid.Bool().Draw(t, "rejects"), OneAccount: rapid.Bool().Draw(t, "one"), Region: rapid.Bool().Draw(t, "region"),
	}
	p.Also = []Copy{{name.Draw(t, "also"), name.Draw(t, "hash")}}
	p.About = About{name.Draw(t, "title"), name.Draw(t, "description"), name.Draw(t, "license"), name.Draw(t, "contact")}
	if p.Law == planar.LaplaceLaw && rapid.Bool().Draw(t, "asked") {
		p.Level, p.Radius = magnitude(1e-6, 1e6, "level"), magnitude(1e-3, maxNumber, "radius")
	}
	o := &Owner{Input: name.Draw(t, "input"), ID: name.Draw(t, "id"), Account: name.Draw(t, "account"), Rejected: 1, Rejects: name.Draw(t, "file")}
	for range rapid.IntRange(1, 3).Draw(t, "pairs") {
		l := Location{Lat: name.Draw(t, "lat"), Lon: name.Draw(t, "lon"), Released: NewGrid(box)}
		c := OwnerLocation{Raw: NewGrid(box), Moved: NewMoves(p.noise())}
		for range rapid.SampledFrom([]int{0, 1, 5000}).Draw(t, "locations") {
			c.Raw.Add(sequence.Float64()*180-90, sequence.Float64()*360-180)
			l.Released.Add(box.South+sequence.Float64()*(box.North-box.South), box.West+sequence.Float64())
			c.Moved.Add(sequence.ExpFloat64() / p.Epsilon)
		}
		p.Locations, o.Locations = append(p.Locations, l), append(o.Locations, c)
		p.Rows = max(p.Rows, l.Released.Total())
	}
	return Data{Public: p, Owner: o}
}

// Whatever the data, a page is well formed, prints numbers, runs and loads nothing, and
// is small.
func TestAnyPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawData(t)
		var page bytes.Buffer
		if err := Write(&page, data); err != nil {
			t.Fatal(err)
		}
		if err := faults(page.String()); err != nil {
			t.Fatal(err)
		}
		if found := notNumbers.FindString(page.String()); found != "" {
			t.Fatalf("the page has %q", found)
		}
		if most := 30_000 + 250_000*len(data.Public.Locations); page.Len() > most {
			t.Fatalf("the page has %d bytes", page.Len())
		}
	})
}

// Names are read as they were written.
func TestNamesAreText(t *testing.T) {
	data := released(t, 10)
	const name = `<b>"it's" & {{.}}</b>`
	data.Public.Output, data.Public.Kept = name, []string{"control\x07", "broken\xff"}
	document, err := parse(written(t, data))
	if err != nil {
		t.Fatal(err)
	}
	if h1 := document.all("h1")[0].text; h1 != "Published locations: "+name {
		t.Errorf("the title is %q", h1)
	}
	if text := document.all("main")[0].text; !strings.Contains(text, `control\a`) || !strings.Contains(text, `broken\xff`) {
		t.Error("unprintable characters are not escaped")
	}
	data.Public.About = About{name, "who moved\x07", "CC BY 4.0", "maps@city.example"}
	if document, err = parse(written(t, data)); err != nil {
		t.Fatal(err)
	}
	text := document.all("main")[0].text
	for _, want := range []string{name + "\n", `who moved\a`, "License: CC BY 4.0\n", "Contact: maps@city.example\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// The largest map: every square has another colour than its neighbours.
func TestLargestPage(t *testing.T) {
	data := released(t, 1)
	g := NewGrid(Box{South: -0.5, West: 0, North: 0.5, East: 1})
	for i := range g.counts {
		g.counts[i] = 1
		if (i+i/g.columns)%2 == 0 {
			g.counts[i] = 2
		}
	}
	data.Owner, data.Public.Box, data.Public.Rows = nil, g.box, g.Total()
	data.Public.Locations = []Location{{Lat: "lat", Lon: "lon", Released: g}}
	if n := len(written(t, data)); n > 120_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

func TestAnEmptyReleaseHasAPage(t *testing.T) {
	data := released(t, 0)
	data.Public.Rows = 0
	if err := faults(written(t, data)); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for want, spoil := range map[string]func(*Data){
		"report: epsilon NaN is not between 1e-12 and 9000000":            func(d *Data) { d.Public.Epsilon = math.NaN() },
		"report: epsilon 0 is not between 1e-12 and 9000000":              func(d *Data) { d.Public.Epsilon = 0 },
		"report: step 0 is not between 0 and 1e+15":                       func(d *Data) { d.Public.Step = 0 },
		"report: mean error +Inf is not between 0 and 1e+15":              func(d *Data) { d.Public.MeanError = math.Inf(1) },
		"report: error of 95 % NaN is not between 0 and 1e+15":            func(d *Data) { d.Public.Error95 = math.NaN() },
		"report: level 0 and radius 200 are not both between 0 and 1e+15": func(d *Data) { d.Public.Level = 0 },
		"report: -1 rows":                 func(d *Data) { d.Public.Rows = -1 },
		"report: no location is released": func(d *Data) { d.Public.Locations = nil },
		"report: columns home_lat, home_lon: 20 locations in 19 rows":                                  func(d *Data) { d.Public.Rows = 19 },
		"report: columns work_lat, work_lon: the map is not of this box":                               func(d *Data) { d.Public.Locations[1].Released = nil },
		"report: columns home_lat, home_lon: the map is not of this box":                               func(d *Data) { d.Owner.Locations[0].Raw = NewGrid(Box{0, 0, 1, 1}) },
		"report: columns home_lat, home_lon: the distances are not counted for this epsilon":           func(d *Data) { d.Owner.Locations[0].Moved = NewMoves(planar.LaplaceLaw.Plane(1)) },
		"report: columns home_lat, home_lon: the distances sum to NaN":                                 func(d *Data) { d.Owner.Locations[0].Moved.sum = math.NaN() },
		"report: 1 of 2 locations are compared":                                                        func(d *Data) { d.Owner.Locations = d.Owner.Locations[:1] },
		"report: columns home_lat, home_lon: 20 locations released, of 21 raw ones, with 20 distances": func(d *Data) { d.Owner.Locations[0].Raw.Add(0, 0) },
	} {
		data := released(t, 20)
		spoil(&data)
		var page bytes.Buffer
		if err := Write(&page, data); err == nil || err.Error() != want {
			t.Errorf("%v, want %v", err, want)
		}
		if page.Len() > 0 {
			t.Errorf("%s: %d bytes were written", want, page.Len())
		}
	}
}

// full is a file on a disk that has room for so many bytes.
type full int

var errFull = errors.New("no space left")

func (f *full) Write(text []byte) (int, error) {
	if *f -= full(len(text)); *f < 0 {
		return 0, errFull
	}
	return len(text), nil
}

func TestAFullDiskIsSaid(t *testing.T) {
	data := released(t, 20)
	for _, room := range []full{0, 100, 10_000} {
		if err := Write(&room, data); !errors.Is(err, errFull) {
			t.Errorf("%v", err)
		}
	}
}
