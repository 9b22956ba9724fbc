package census

import (
	"fmt"
	"io"
	"slices"

	"github.com/geosql/geosql/internal/study/chart"
)

// Figure draws, as SVG, the shares of jobs in the buckets. Each radius has a panel, in which
// every bucket has a bar for the original and one for each level (figure 5.13 of the thesis).
// The rows are those of a Run.
func Figure(rows []Row) (io.WriterTo, error) {
	var panels []chart.Panel
	for _, radius := range distinct(rows, func(r Row) float64 { return r.Radius }) {
		of := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Radius != radius })
		panels = append(panels, panel(of))
	}
	return chart.Page([][]chart.Panel{panels})
}

// distinct returns the different values of rows, in the order of their first occurrence.
func distinct(rows []Row, value func(Row) float64) (values []float64) {
	for _, r := range rows {
		if x := value(r); !slices.Contains(values, x) {
			values = append(values, x)
		}
	}
	return values
}

// panel draws the rows of one radius.
func panel(rows []Row) chart.Panel {
	levels := distinct(rows, func(r Row) float64 { return r.Level })
	p := chart.Panel{
		Title: fmt.Sprintf("r = %g miles", rows[0].Radius),
		X:     chart.Axis{Name: "from home to work", Unit: "miles"}, Y: chart.Axis{Name: "jobs", Unit: chart.Percent},
		Names: Buckets[:], Whole: true,
		Bars: []chart.Bar{{
			Name: "original", Style: chart.Black,
			Heights: shares(rows[:len(Buckets)], func(r Row) int64 { return r.Original }),
		}},
	}
	for k, level := range levels {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Level == level })
		p.Bars = append(p.Bars, chart.Bar{
			Name: chart.LevelName(level), Style: chart.Numbered(k),
			Heights: shares(rows[at:at+len(Buckets)], func(r Row) int64 { return r.Released }),
		})
	}
	return p
}

// shares returns per cent of all jobs, by bucket.
func shares(rows []Row, jobs func(Row) int64) (percent []float64) {
	total := 0.0
	for _, r := range rows {
		total += float64(jobs(r))
	}
	for _, r := range rows {
		percent = append(percent, 100*float64(jobs(r))/total)
	}
	return percent
}
