package boxes

import "math"

// A Tally counts locations by tenths of a degree. The edges of the boxes of All lie there, so
// that the counts say how many of the locations a box holds. The zero value has none.
type Tally struct {
	cells map[cell]int64
	total int64
	list  []counted // the cells, nil after a change: a list is much faster to go through
}

// A counted is a cell with its number of locations.
type counted struct {
	cell
	count int64
}

// A cell is a square of a tenth of a degree, by its south-west corner.
type cell struct{ lat, lon int16 }

// A Held is a box with the share of the locations that it holds.
type Held struct {
	Box
	Share float64
}

// Add adds a location, which need not be a possible one.
func (t *Tally) Add(lat, lon float64) {
	if t.cells == nil {
		t.cells = make(map[cell]int64)
	}
	t.cells[cell{tenths(lat), tenths(lon)}]++
	t.total++
	t.list = nil
}

// tenths returns how many whole tenths x has, and -32768 for numbers far from every degree.
func tenths(x float64) int16 {
	v := math.Floor(x * 10)
	if !(math.Abs(v) <= 3600) {
		return math.MinInt16
	}
	return int16(v)
}

// Total returns the number of locations.
func (t *Tally) Total() int64 { return t.total }

// Possible returns the share of the locations that have a latitude from -90 to 90 and a
// longitude from -180 to 180.
func (t *Tally) Possible() float64 {
	return t.share(func(c cell) bool { return c.lat >= -900 && c.lat <= 900 && c.lon >= -1800 && c.lon <= 1800 })
}

// Share returns the share of the locations that a box of All holds. One that lies exactly on its
// northern or eastern edge does not count.
func (t *Tally) Share(b Box) float64 {
	south, west, north, east := edge(b.South), edge(b.West), edge(b.North), edge(b.East)
	return t.share(func(c cell) bool {
		if c.lat < south || c.lat >= north {
			return false
		}
		if west > east {
			return c.lon >= west && c.lon <= 1800 || c.lon >= -1800 && c.lon < east
		}
		return c.lon >= west && c.lon < east
	})
}

func edge(degrees float64) int16 { return int16(math.Round(degrees * 10)) }

func (t *Tally) share(in func(cell) bool) float64 {
	if t.total == 0 {
		return 0
	}
	if t.list == nil {
		for c, count := range t.cells {
			t.list = append(t.list, counted{c, count})
		}
	}
	var n int64
	for _, c := range t.list {
		if in(c.cell) {
			n += c.count
		}
	}
	return float64(n) / float64(t.total)
}

// Swapped returns the tally of the locations with latitude and longitude swapped.
func (t *Tally) Swapped() *Tally {
	s := &Tally{cells: make(map[cell]int64, len(t.cells)), total: t.total}
	for c, count := range t.cells {
		s.cells[cell{c.lon, c.lat}] += count
	}
	return s
}

// Holding returns the boxes of All that hold at least a share of the locations, the smallest
// first.
func (t *Tally) Holding(share float64) (held []Held) {
	for _, b := range All() {
		if s := t.Share(b); s >= share && s > 0 {
			held = append(held, Held{b, s})
		}
	}
	return held
}
