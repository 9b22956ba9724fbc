package predictive

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/trace"
)

// textsOf reads a figure as XML and returns what its text elements say.
func textsOf(t *testing.T, figure io.WriterTo) (texts []string) {
	t.Helper()
	var svg bytes.Buffer
	if _, err := figure.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
		t.Error("the figure holds a coordinate that is no number")
	}
	d := xml.NewDecoder(&svg)
	inText := false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		}
	}
}

// mustHold demands that each of some texts is in a figure so many times.
func mustHold(t *testing.T, texts []string, times int, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		n := 0
		for _, text := range texts {
			if text == want {
				n++
			}
		}
		if n != times {
			t.Errorf("%q is there %d times, not %d, in %q", want, n, times, texts)
		}
	}
}

func TestFigure(t *testing.T) {
	settings := published()
	settings.Managers, settings.Jumps = []string{trace.FixedUtility}, []float64{0, 0.2, 1}
	figure, err := Figure(rowsOf(t, newStudy(t, settings), walks(3, 900))) // nothing left at 1
	if err != nil {
		t.Fatal(err)
	}
	texts := textsOf(t, figure)
	mustHold(t, texts, 1, "Statistics: fixed-utility, no skip", "Error: fixed-utility, skip at 30 km/h")
	mustHold(t, texts, 2, "metres", "per cent", "per cent of epsilon per point", "predictive, average", "independent")
	mustHold(t, texts, 6, "probability of jumping", "0.8")
}

// Rows without measurements, and a single one, make a figure too.
func TestFigureOfLittle(t *testing.T) {
	for _, nothing := range []float64{math.NaN(), 0} {
		s := Summary{0, 0, nothing, nothing, nothing, nothing, nothing, nothing, nothing}
		figure, err := Figure([]Row{{"fixed-rate", 0, "parrot", 0.5, s, s}})
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, textsOf(t, figure), 3, "probability of jumping")
	}
}

func TestMap(t *testing.T) {
	tracks := walks(5, 3000)
	study := newStudy(t, published())
	example, err := study.Example(tracks)
	if err != nil {
		t.Fatal(err)
	}
	if len(example.Queries) == 0 || len(example.Queries) != len(example.Reports) {
		t.Fatalf("%d query points, %d reports", len(example.Queries), len(example.Reports))
	}
	for _, x := range example.Queries {
		if !slices.Contains(example.Track.Fixes, x) {
			t.Fatalf("%v is not of the track", x)
		}
	}
	figure, err := Map(example)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, textsOf(t, figure), 1, "km to the east", "km to the north", "original", "query point", "reported")
}

// Reports that happen to be the truth, of somebody who stays at home.
func TestMapOfOnePlace(t *testing.T) {
	fixes := []Fix{{0, 40, 116}, {1, 40, 116}}
	figure, err := Map(Example{&Track{Fixes: fixes}, fixes, fixes})
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, textsOf(t, figure), 1, "km to the east")
}

func TestExampleOfTooLittle(t *testing.T) {
	if _, err := newStudy(t, published()).Example(walks(1, 20)); err == nil {
		t.Error("an example of too few query points")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 4800, "0 500 1000 1500 2000 2500 3000 3500 4000 4500"},
		{-7.2, 8.1, "-6 -4 -2 0 2 4 6 8"},
		{0, 0.05, "0 0.01 0.02 0.03 0.04 0.05"},
	} {
		var labels []string
		for _, tick := range ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s", c.lo, c.hi, got)
		}
	}
}
