// Package track holds recorded traces for the studies: it collects fixes into the tracks
// of their users.
package track

import (
	"cmp"
	"slices"
	"strings"
)

// A Fix is a recorded location, in degrees, and its time in microseconds.
type Fix struct {
	T        int64
	Lat, Lon float64
}

// A Track is one recording of a user: fixes at strictly increasing times.
type Track struct {
	User, Name string
	Fixes      []Fix
}

// A Collector collects fixes into tracks. The zero value is empty.
type Collector struct {
	tracks []Track
	index  map[[2]string]int // of tracks, by user and name
}

// Add adds a fix to the track of a user and name. Fixes may come in any order.
func (c *Collector) Add(user, name string, f Fix) {
	key := [2]string{user, name}
	k, ok := c.index[key]
	if !ok {
		if c.index == nil {
			c.index = map[[2]string]int{}
		}
		key = [2]string{strings.Clone(user), strings.Clone(name)} // may be parts of a long line
		k = len(c.tracks)
		c.index[key] = k
		c.tracks = append(c.tracks, Track{User: key[0], Name: key[1]})
	}
	c.tracks[k].Fixes = append(c.tracks[k].Fixes, f)
}

// Tracks returns the tracks in the order of their first fixes, and the number of fixes that
// repeated the time of another fix of their track: of these only the first one added is
// kept. The Collector must not be used afterwards.
func (c *Collector) Tracks() (tracks []Track, repeated int) {
	for k := range c.tracks {
		t := &c.tracks[k]
		slices.SortStableFunc(t.Fixes, func(a, b Fix) int { return cmp.Compare(a.T, b.T) })
		before := len(t.Fixes)
		t.Fixes = slices.CompactFunc(t.Fixes, func(a, b Fix) bool { return a.T == b.T })
		repeated += before - len(t.Fixes)
	}
	return c.tracks, repeated
}
