package lbs

import (
	"context"
	"slices"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A counter serves users and counts, for one worker.
type counter struct {
	study   *Study
	m       noise.Drawer
	src     *exact.Source
	radii   []float64 // of retrieval
	largest float64
	wanted  []Place // POIs of interest to the user

	reports, interest         int64
	contained, found, fetched []int64 // by radius

	overheads [][]float64 // by radius, of each user that has POIs of interest
}

func newCounter(s *Study, m noise.Drawer, src *exact.Source, rows []Row) *counter {
	c := &counter{study: s, m: m, src: src}
	for _, r := range rows {
		c.radii = append(c.radii, r.Metres)
	}
	c.largest = slices.Max(c.radii)
	c.contained, c.found, c.fetched = make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
	c.overheads = make([][]float64, len(rows))
	return c
}

// serve draws the reports of a user and counts the places they retrieve. It ends early with ctx.
func (c *counter) serve(ctx context.Context, user Place) {
	interest := c.study.settings.InterestRadius
	c.wanted = c.wanted[:0]
	c.study.pois.each(user, interest, func(q Place, _ float64) { c.wanted = append(c.wanted, q) })
	fetch := func(_ Place, distance float64) { c.count(c.fetched, distance) }
	before, interestBefore := slices.Clone(c.fetched), c.interest
	defer func() {
		if wanted := c.interest - interestBefore; wanted > 0 {
			for k, n := range c.fetched {
				c.overheads[k] = append(c.overheads[k], float64(n-before[k])/float64(wanted))
			}
		}
	}()
	for range c.study.settings.Reports {
		if ctx.Err() != nil {
			return
		}
		var z Place
		z.Lat, z.Lon = c.m.Draw(c.src, user.Lat, user.Lon)
		c.reports++
		c.interest += int64(len(c.wanted))
		// A disc contains another one if its radius exceeds the other's by at least the
		// distance of their centres.
		c.count(c.contained, planar.Distance(user.Lat, user.Lon, z.Lat, z.Lon)+interest)
		for _, q := range c.wanted {
			c.count(c.found, planar.Distance(z.Lat, z.Lon, q.Lat, q.Lon))
		}
		c.study.pois.each(z, c.largest, fetch)
	}
}

// count adds 1 for each radius that is at least a distance.
func (c *counter) count(of []int64, distance float64) {
	for k, r := range c.radii {
		if distance <= r {
			of[k]++
		}
	}
}

// merge adds the counts of o.
func (c *counter) merge(o *counter) {
	c.reports += o.reports
	c.interest += o.interest
	for k := range c.radii {
		c.contained[k] += o.contained[k]
		c.found[k] += o.found[k]
		c.fetched[k] += o.fetched[k]
		c.overheads[k] = append(c.overheads[k], o.overheads[k]...)
	}
}

// summarise completes the rows of the radii.
func (c *counter) summarise(rows []Row, rowKB float64) {
	n := float64(c.reports)
	for k := range rows {
		r := &rows[k]
		r.Reports = c.reports
		r.Contained = newProportion(c.contained[k], c.reports)
		r.Found = float64(c.found[k]) / float64(c.interest)
		r.Interest, r.Fetched = float64(c.interest)/n, float64(c.fetched[k])/n
		r.Overhead = float64(c.fetched[k]) / float64(c.interest)
		r.UserOverheads = stats.NewQuartiles(c.overheads[k])
		r.ExtraKB = (r.Fetched - r.Interest) * rowKB
	}
}
