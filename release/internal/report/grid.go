package report

import (
	"math"
	"slices"
)

const (
	// longSide is the number of squares on the longer side of a map. A map of 72 x 72
	// takes 40 kB in memory and at most 60 kB in a page.
	longSide = 72
	// maxAspect bounds the ratio of the sides of a drawn map.
	maxAspect = 3
	// degree is the length in metres of a degree of a great circle of the sphere of
	// the Earth's mean radius.
	degree = math.Pi / 180 * 6371008.8
)

// A Grid counts locations in the squares of a map. The squares depend only on the box.
// Locations outside the box count at the nearest border. A Grid must not be used
// concurrently.
type Grid struct {
	box           Box
	width, height float64 // degrees
	columns, rows int
	counts        []int64 // row by row from the south-western corner
}

// NewGrid returns the empty map of a box, which must be valid for planar.NewDomain.
func NewGrid(box Box) *Grid {
	g := &Grid{box: box, width: box.East - box.West, height: box.North - box.South}
	if box.West > box.East {
		g.width += 360
	}
	g.columns, g.rows = longSide, longSide
	if aspect := g.aspect(); aspect > 1 {
		g.rows = int(math.Round(longSide / aspect))
	} else {
		g.columns = int(math.Round(longSide * aspect))
	}
	g.counts = make([]int64, g.columns*g.rows)
	return g
}

// metres returns the lengths of the sides of the box. The width is that through its
// centre.
func (g *Grid) metres() (width, height float64) {
	middle := (g.box.South + g.box.North) / 2
	return g.width * degree * math.Cos(middle*math.Pi/180), g.height * degree
}

// aspect returns the width of the drawn map over its height.
func (g *Grid) aspect() float64 {
	width, height := g.metres()
	return min(max(width/height, 1./maxAspect), maxAspect)
}

// Add counts a location in degrees. It does not allocate.
func (g *Grid) Add(lat, lon float64) { g.counts[g.square(lat, lon)]++ }

// square returns the index of the square of a location in degrees.
func (g *Grid) square(lat, lon float64) int {
	// The longitude is taken within 180 degrees of the middle of the box, so that a
	// location outside counts at the nearer side.
	east := lon - g.box.West - g.width/2
	if east > 180 {
		east -= 360
	} else if east < -180 {
		east += 360
	}
	column := index(east/g.width+0.5, g.columns)
	row := index((lat-g.box.South)/g.height, g.rows)
	return row*g.columns + column
}

// Spread sets the counts to those of squares of an estimate, rounded. It asks for parts that are smaller than the squares of the map.
func (g *Grid) Spread(each func(metres float64, visit func(lat, lon, n float64))) {
	width, height := g.metres()
	sums := make([]float64, len(g.counts))
	each(min(width/float64(g.columns), height/float64(g.rows))/3, func(lat, lon, n float64) { sums[g.square(lat, lon)] += n })
	for i, n := range sums {
		g.counts[i] = int64(math.Round(n))
	}
}

// index returns the index of the part in which a share lies, of n equal parts of [0, 1]. A
// share outside lies in the first or the last part.
func index(share float64, n int) int {
	switch {
	case !(share > 0):
		return 0
	case share >= 1:
		return n - 1
	}
	return min(int(share*float64(n)), n-1)
}

// Merge adds the counts of another map of the same box.
func (g *Grid) Merge(other *Grid) {
	for i, n := range other.counts {
		g.counts[i] += n
	}
}

// Total returns the number of locations.
func (g *Grid) Total() (n int64) {
	for _, count := range g.counts {
		n += count
	}
	return n
}

// highest returns the largest count of a square.
func (g *Grid) highest() int64 { return slices.Max(g.counts) }

// occupied returns the number of squares that have a location.
func (g *Grid) occupied() (n int64) {
	for _, count := range g.counts {
		if count > 0 {
			n++
		}
	}
	return n
}

// difference returns the share of locations that would have to change squares to turn one
// map into the other: half the sum of the differences of their shares (the total variation
// distance). It is 0 if one of the maps is empty.
func (g *Grid) difference(other *Grid) (share float64) {
	n, m := float64(g.Total()), float64(other.Total())
	if n == 0 || m == 0 {
		return 0
	}
	for i := range g.counts {
		share += math.Abs(float64(g.counts[i])/n-float64(other.counts[i])/m) / 2
	}
	return share
}
