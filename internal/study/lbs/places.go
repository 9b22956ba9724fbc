package lbs

import (
	"cmp"
	"math"
	"slices"

	"github.com/geosql/geosql/mechanism/planar"
)

// places is an index that finds the points of interest around a point. They are stored in
// rows of equal height in degrees of latitude, and within a row from west to east.
type places struct {
	south, meridian float64 // degrees; longitudes are sorted as differences from the meridian
	rows            [][]site
}

type site struct {
	Place
	east float64 // longitude from the meridian, in [-180, 180]
}

const (
	rowHeight = 0.005 // degrees, some 550 m

	// On WGS 84 no degree of latitude is shorter than 110,574 m, and no degree of
	// longitude than 111,319 m times the cosine of the latitude. The smaller numbers here
	// leave a margin for the errors of planar.Distance.
	latitudeDegree  = 110_500.0
	longitudeDegree = 111_300.0

	radiansPerDegree = math.Pi / 180
)

// newPlaces returns an index of at least one place.
func newPlaces(all []Place, meridian float64) *places {
	south, north := 90.0, -90.0
	for _, p := range all {
		south, north = min(south, p.Lat), max(north, p.Lat)
	}
	index := &places{south: south, meridian: meridian}
	index.rows = make([][]site, index.row(north)+1)
	for _, p := range all {
		row := &index.rows[index.row(p.Lat)]
		*row = append(*row, site{p, index.east(p.Lon)})
	}
	for _, row := range index.rows {
		slices.SortFunc(row, func(a, b site) int { return cmp.Compare(a.east, b.east) })
	}
	return index
}

func (p *places) row(lat float64) int { return int(math.Floor((lat - p.south) / rowHeight)) }

func (p *places) east(lon float64) float64 { return math.Remainder(lon-p.meridian, 360) }

// each calls do with every place within some metres of a point, and its distance. The point
// and the places near it must not be on the far side of the Earth from the meridian.
//
// A path of length r that stays within latitudes up to a spans at most r/(D cos a) degrees
// of longitude, where D is the length of a degree of the equator.
func (p *places) each(at Place, metres float64, do func(q Place, distance float64)) {
	high := metres / latitudeDegree
	wide := metres / (longitudeDegree * math.Cos(min(90, math.Abs(at.Lat)+high)*radiansPerDegree))
	east := p.east(at.Lon)
	first, last := max(0, p.row(at.Lat-high)), min(len(p.rows)-1, p.row(at.Lat+high))
	for k := first; k <= last; k++ {
		row := p.rows[k]
		begin, _ := slices.BinarySearchFunc(row, east-wide, func(s site, x float64) int { return cmp.Compare(s.east, x) })
		for _, s := range row[begin:] {
			if s.east > east+wide {
				break
			}
			if d := planar.Distance(at.Lat, at.Lon, s.Lat, s.Lon); d <= metres {
				do(s.Place, d)
			}
		}
	}
}

// Sample returns n of the places, at even steps through all of them, or all places if there
// are no more than n.
func Sample(all []Place, n int) []Place {
	if n >= len(all) {
		return all
	}
	some := make([]Place, n)
	for k := range some {
		some[k] = all[k*len(all)/n]
	}
	return some
}

// Grid returns the places in the box of a domain of a grid of about n places, at even steps
// to the east and to the north.
func Grid(d *planar.Domain, n int) (grid []Place) {
	low, high := d.Extent()
	width, height := float64(high.I-low.I), float64(high.J-low.J)
	step := math.Sqrt(width * height / float64(n))
	columns, rows := max(1, math.Round(width/step)), max(1, math.Round(height/step))
	for j := 0.5; j < rows; j++ {
		for i := 0.5; i < columns; i++ {
			lat, lon := d.Location(planar.Cell{
				I: low.I + int64(i/columns*width),
				J: low.J + int64(j/rows*height),
			})
			if !d.Outside(lat, lon) {
				grid = append(grid, Place{lat, lon})
			}
		}
	}
	return grid
}
