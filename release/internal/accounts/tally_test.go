package accounts

import (
	"slices"
	"testing"
)

func TestTally(t *testing.T) {
	var x Tally
	for range 2 { // reset forgets
		x.Reset()
		for _, a := range []string{"b", "a", "b", "", "c"} {
			x.Add([]byte(a), 2)
		}
		var names []string
		var locations []int64
		for a, err := range x.all(x.order()) {
			check(t, err)
			names, locations = append(names, string(a.Name)), append(locations, a.Locations)
		}
		if !slices.Equal(names, []string{"", "a", "b", "c"}) || !slices.Equal(locations, []int64{2, 2, 4, 2}) || x.text != 3 {
			t.Errorf("%q have %v", names, locations)
		}
	}
}
