package meters

import (
	"cmp"
	"slices"
	"strings"
)

// A Reading is the value of a meter at a time, in microseconds.
type Reading struct {
	T     int64
	Value float64
}

// A Meter holds the readings of one meter, in the order of time.
type Meter struct {
	Name     string
	Readings []Reading
}

// A Collector collects readings by meter. The zero value is empty.
type Collector struct {
	meters []Meter
	index  map[string]int // of meters, by name
}

// Add adds a reading to the meter of a name. Readings may come in any order.
func (c *Collector) Add(name string, r Reading) {
	k, ok := c.index[name]
	if !ok {
		if c.index == nil {
			c.index = map[string]int{}
		}
		name = strings.Clone(name) // may be part of a long line
		k = len(c.meters)
		c.index[name] = k
		c.meters = append(c.meters, Meter{Name: name})
	}
	c.meters[k].Readings = append(c.meters[k].Readings, r)
}

// Meters returns the meters in the order of their first readings. The Collector must not be
// used afterwards.
func (c *Collector) Meters() []Meter {
	for _, m := range c.meters {
		sortByTime(m.Readings)
	}
	return c.meters
}

// sortByTime sorts readings by time, and keeps the order of readings of the same time.
func sortByTime(readings []Reading) {
	slices.SortStableFunc(readings, func(a, b Reading) int { return cmp.Compare(a.T, b.T) })
}
