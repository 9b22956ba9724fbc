package predictive

import (
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/trace"
)

func TestFigure(t *testing.T) {
	settings := published()
	settings.Managers, settings.Jumps = []string{trace.FixedUtility}, []float64{0, 0.2, 1}
	figure, err := Figure(rowsOf(t, newStudy(t, settings), walks(3, 900))) // nothing left at 1
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 3, "fixed-utility, no skip", "fixed-utility, skip at 30 km/h")
	charttest.Hold(t, texts, 2, "error (km)", "share (%)", "spent per point (% of epsilon)", "predictive, average", "independent")
	charttest.Hold(t, texts, 6, "probability of jumping (%)", "quartiles of the traces")
}

// Rows without measurements, and a single one, make a figure too.
func TestFigureOfLittle(t *testing.T) {
	for _, nothing := range []float64{math.NaN(), 0} {
		s := Summary{
			PredictionRate: nothing, Skipped: nothing, TestShare: nothing, AverageError: nothing, P90Error: nothing,
			FilterError: nothing, SmoothError: nothing, Rate: nothing, MaxSpentShare: nothing,
		}
		figure, err := Figure([]Row{{"fixed-rate", 0, "parrot", 0.5, s, s}})
		if err != nil {
			t.Fatal(err)
		}
		charttest.Hold(t, charttest.Texts(t, figure), 3, "probability of jumping (%)")
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
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "to the east (km)", "to the north (km)", "original", "query point", "reported")
}

// Reports that happen to be the truth, of somebody who stays at home.
func TestMapOfOnePlace(t *testing.T) {
	fixes := []track.Fix{{T: 0, Lat: 40, Lon: 116}, {T: 1, Lat: 40, Lon: 116}}
	figure, err := Map(Example{&track.Track{Fixes: fixes}, fixes, fixes})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "to the east (km)")
}

func TestExampleOfTooLittle(t *testing.T) {
	if _, err := newStudy(t, published()).Example(walks(1, 20)); err == nil {
		t.Error("an example of too few query points")
	}
}
