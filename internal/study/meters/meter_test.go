package meters

import (
	"slices"
	"testing"
)

func TestCollector(t *testing.T) {
	var c Collector
	name := []byte("ab")
	c.Add(string(name[:1]), Reading{3, 1})
	c.Add("b", Reading{2, 2})
	c.Add("a", Reading{1, 3})
	c.Add("a", Reading{3, 4}) // of the same time, but later
	all := c.Meters()
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Fatalf("%v", all)
	}
	if want := []Reading{{1, 3}, {3, 1}, {3, 4}}; !slices.Equal(all[0].Readings, want) {
		t.Errorf("%v, not %v", all[0].Readings, want)
	}
}
