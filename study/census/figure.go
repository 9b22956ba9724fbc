package census

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart"
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

// colours are those of the levels, in their order.
var colours = []color.Color{chart.Blue, chart.Red, chart.Green, chart.Sky, chart.Yellow, chart.Grey}

// panel draws the rows of one radius.
func panel(rows []Row) chart.Panel {
	levels := distinct(rows, func(r Row) float64 { return r.Level })
	series := len(levels) + 1
	p := chart.Panel{
		Title: fmt.Sprintf("r = %g miles", rows[0].Radius), X: "miles from home to work", Y: "% of jobs",
		Left: -0.5, Right: float64(len(Buckets)) - 0.5, Names: Buckets[:],
		Curves: []chart.Curve{{
			Name: "original", Colour: color.Black, Plain: true,
			Points: bars(shares(rows[:len(Buckets)], func(r Row) int64 { return r.Original }), 0, series),
		}},
	}
	for k, level := range levels {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Level == level })
		p.Curves = append(p.Curves, chart.Curve{
			Name: chart.LevelName(level), Colour: colours[k%len(colours)], Plain: true,
			Points: bars(shares(rows[at:at+len(Buckets)], func(r Row) int64 { return r.Released }), k+1, series),
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

// barShare is the share of the axis, between one bucket and the next, that bars cover.
const barShare = 0.8

// bars returns the outline of one bar in each bucket: the k-th of n bars side by side, with
// a little room between them.
func bars(heights []float64, k, n int) (outline plotter.XYs) {
	width := barShare / float64(n)
	for bucket, height := range heights {
		left := float64(bucket) - barShare/2 + width*(float64(k)+0.1)
		right := left + 0.8*width
		outline = append(outline,
			plotter.XY{X: left, Y: 0}, plotter.XY{X: left, Y: height},
			plotter.XY{X: right, Y: height}, plotter.XY{X: right, Y: 0})
	}
	return outline
}
