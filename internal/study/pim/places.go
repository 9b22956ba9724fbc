package pim

import (
	"cmp"
	"math"
	"slices"
)

// A Place is a point of interest, in degrees.
type Place struct{ Lat, Lon float64 }

// places is an index that finds the nearest points of interest, by their distances on a map with a scale that is right
// at the middle latitude of them all. Of equally near ones, the one given first counts as nearer.
type places struct {
	shrink float64 // ratio of a degree of longitude to one of latitude
	sorted []site  // from west to east
}

// A site is a place on the map, in degrees of latitude.
type site struct {
	x, y float64
	id   int32 // number among the places
}

func newPlaces(all []Place) *places {
	south, north := 90.0, -90.0
	for _, p := range all {
		south, north = min(south, p.Lat), max(north, p.Lat)
	}
	index := &places{shrink: math.Cos((south + north) / 2 * math.Pi / 180)}
	for k, p := range all {
		index.sorted = append(index.sorted, site{p.Lon * index.shrink, p.Lat, int32(k)})
	}
	slices.SortFunc(index.sorted, func(a, b site) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.id, b.id))
	})
	return index
}

// A neighbour is a place with its squared distance.
type neighbour struct {
	d2 float64
	id int32
}

func compareNeighbours(a, b neighbour) int {
	return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.id, b.id))
}

// nearest appends the k nearest places, or all if there are fewer, to ids, the nearest
// first. It walks to the east and to the west until the next place is farther away by its
// longitude alone than the worst of the k best.
func (p *places) nearest(lat, lon float64, k int, ids []int32) []int32 {
	x, y := lon*p.shrink, lat
	best := make([]neighbour, 0, k+1)
	worst := func() float64 {
		if len(best) < k {
			return math.Inf(1)
		}
		return best[k-1].d2
	}
	east, _ := slices.BinarySearchFunc(p.sorted, x, func(s site, x float64) int { return cmp.Compare(s.x, x) })
	west := east - 1
	for {
		toEast, toWest := math.Inf(1), math.Inf(1)
		if east < len(p.sorted) {
			toEast = p.sorted[east].x - x
		}
		if west >= 0 {
			toWest = x - p.sorted[west].x
		}
		gap := min(toEast, toWest)
		if math.IsInf(gap, 1) || gap*gap > worst() {
			break
		}
		next := west
		if toEast <= toWest {
			next = east
			east++
		} else {
			west--
		}
		s := p.sorted[next]
		dx, dy := s.x-x, s.y-y
		f := neighbour{dx*dx + dy*dy, s.id}
		at, _ := slices.BinarySearchFunc(best, f, compareNeighbours)
		best = slices.Insert(best, at, f)
		best = best[:min(k, len(best))]
	}
	for _, f := range best {
		ids = append(ids, f.id)
	}
	return ids
}

// shared returns how many places of a are in b.
func shared(a, b []int32) (n int) {
	for _, id := range a {
		if slices.Contains(b, id) {
			n++
		}
	}
	return n
}
