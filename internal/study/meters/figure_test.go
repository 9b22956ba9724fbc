package meters

import (
	"errors"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/chart/charttest"
)

func TestExample(t *testing.T) {
	// (4,3) varies by 1, (1,2) by 1 and (4,0) by 4; the median is (1,2).
	meters := programmes()
	meters[1].Readings = append([]Reading{{-5 * second, 3}, {-4 * second, 4}}, meters[1].Readings...)
	e, err := newStudy(t, brief(t, 1000, 0.5)).Example(meters)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Signal) != 2 || e.Signal[0] != (Reading{0, 1}) || e.Reports[0] != 1 || e.Reports[1] != 2 {
		t.Errorf("%+v", e)
	}
	if len(e.Released) != 2 || e.Released[0][0] != 1 || e.Released[0][1] != 2 { // without noise
		t.Errorf("%+v", e)
	}
	figure, err := e.Figure(chart.Axis{Name: "reading", Unit: "watts"})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "Signature", "signal", "Released, epsilon 1e+03", "Released, epsilon 0.5")
	charttest.Hold(t, texts, 2, "released")
	charttest.Hold(t, texts, 3, "reading (watts)", "time (s)", "reported")
}

// The reading before the window is part of the signal: it is reported.
func TestExampleHolds(t *testing.T) {
	m := Meter{"a", []Reading{{-5 * second, 3}, {-4 * second, 4}, {5 * second, 0}, {19 * second, 1}, {20 * second, 2}}}
	e, err := newStudy(t, brief(t, 1)).Example([]Meter{m})
	if err != nil || len(e.Signal) != 3 || e.Signal[0].Value != 4 || e.signal()[0].X != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestExampleOfNothing(t *testing.T) {
	if _, err := newStudy(t, brief(t, 1)).Example(nil); !errors.Is(err, errNoSignatures) {
		t.Errorf("error %v", err)
	}
}

func TestRecognition(t *testing.T) {
	figure, err := Recognition(signaturesOf(t, newStudy(t, brief(t, 0.1, 0.5)), programmes()...))
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "Recognised", "true", "0.1", "0.5", "signature", "device", "100", "quartiles of the repetitions")
}

func TestRelativeErrors(t *testing.T) {
	figure, err := RelativeErrors(totalsOf(t, newStudy(t, brief(t, 0.1, 0.25)), programmes()...))
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	texts := charttest.Texts(t, figure)
	charttest.Hold(t, texts, 1, "Error of sums: meter, day", "Error of sums: district, month", "median", "95 % below", "quartiles of the releases")
	charttest.Hold(t, texts, 4, "0.25")
}

// Sums that are all 0 make a figure too.
func TestRelativeErrorsOfNothing(t *testing.T) {
	rows := totalsOf(t, newStudy(t, brief(t, 1)), meter("a", 0))
	if !math.IsInf(rows[0].Errors.Radius/rows[0].MeanSum, 1) {
		t.Errorf("%+v", rows[0])
	}
	figure, err := RelativeErrors(rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, figure), 1, "Error of sums: meter, day", "Error of sums: district, month")
}
