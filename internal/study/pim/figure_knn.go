package pim

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/study/chart"
)

// Nearest draws, as SVG, figure 10 of the paper at the first epsilon and delta: first
// precision, which equals recall, for queries that return as many places as are wanted; then
// both against the number returned, for the number wanted that most queries have.
func Nearest(queries []KNN, rows []Row) (io.WriterTo, error) {
	k := mostWanted(queries)
	precision := func(s Summary) []float64 { return s.Precision }
	recall := func(s Summary) []float64 { return s.Recall }
	same := knnPanel(queries, rows, func(q KNN) bool { return q.K == q.Returned }, precision)
	same.Title, same.X, same.Y.Name = "Precision and recall", chart.Axis{Name: "wanted and returned", Unit: "places"}, "precision and recall"
	var line []chart.Panel
	if same.Names != nil {
		line = append(line, same)
	}
	for _, c := range []struct {
		title string
		of    func(Summary) []float64 // by query
	}{{"Precision", precision}, {"Recall", recall}} {
		p := knnPanel(queries, rows, func(q KNN) bool { return q.K == k }, c.of)
		p.Title, p.X, p.Y.Name = fmt.Sprintf("%s, %d wanted", c.title, k), chart.Axis{Name: "returned", Unit: "places"}, strings.ToLower(c.title)
		line = append(line, p)
	}
	chart.SameScale(line)
	return chart.Page([][]chart.Panel{line})
}

// mostWanted returns the most frequent K of the queries, the first of several.
func mostWanted(queries []KNN) (k int) {
	times := map[int]int{}
	for _, q := range queries {
		times[q.K]++
	}
	for _, q := range queries {
		if times[q.K] > times[k] {
			k = q.K
		}
	}
	return k
}

// knnPanel returns a panel of the selected queries, in the order of the number
// returned.
func knnPanel(queries []KNN, rows []Row, selected func(KNN) bool, of func(Summary) []float64) chart.Panel {
	var order []int
	p := chart.Panel{Y: chart.Axis{Unit: chart.Percent}, Spread: spread}
	for n, q := range queries {
		if selected(q) {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return queries[a].Returned - queries[b].Returned })
	for _, n := range order {
		p.Names = append(p.Names, strconv.Itoa(queries[n].Returned))
	}
	for _, r := range rows[:len(mechanisms)] {
		c := newCurve(r.Mechanism)
		for x, n := range order {
			share, around := quantity{scale: 100, of: func(s Summary) float64 { return of(s)[n] }}.at(r.Summary)
			c.Add(float64(x), share, around)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
