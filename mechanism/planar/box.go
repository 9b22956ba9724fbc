package planar

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/nearest"
)

// newBox returns the box of a domain.
func newBox(south, west, north, east float64) (nearest.Box, error) {
	for _, v := range []struct {
		name         string
		value, limit float64
	}{{"south", south, 90}, {"west", west, 180}, {"north", north, 90}, {"east", east, 180}} {
		if !(math.Abs(v.value) <= v.limit) {
			return nearest.Box{}, fmt.Errorf("%s must be within %v degrees of 0, not %v", v.name, v.limit, v.value)
		}
	}
	b := nearest.NewBox(south, west, north, east)
	switch {
	case south >= north:
		return b, fmt.Errorf("south %v must be less than north %v", south, north)
	case b.Half == 0:
		return b, fmt.Errorf("west %v and east %v are the same meridian", west, east)
	case b.Half > 90:
		return b, fmt.Errorf("the box from west %v to east %v is more than 180 degrees wide", west, east)
	}
	return b, nil
}
