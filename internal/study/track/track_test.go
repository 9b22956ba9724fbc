package track

import (
	"reflect"
	"testing"
)

func TestCollector(t *testing.T) {
	var c Collector
	c.Add("b", "1", Fix{30, 1, 1})
	c.Add("a", "1", Fix{5, 2, 2})
	c.Add("b", "1", Fix{10, 3, 3})
	c.Add("b", "2", Fix{10, 4, 4})
	c.Add("b", "1", Fix{30, 5, 5})
	c.Add("b", "1", Fix{-20, 6, 6})
	tracks, repeated := c.Tracks()
	want := []Track{
		{"b", "1", []Fix{{-20, 6, 6}, {10, 3, 3}, {30, 1, 1}}},
		{"a", "1", []Fix{{5, 2, 2}}},
		{"b", "2", []Fix{{10, 4, 4}}},
	}
	if repeated != 1 || !reflect.DeepEqual(tracks, want) {
		t.Errorf("%d repeated, %v", repeated, tracks)
	}
}

func TestCollectorOfNothing(t *testing.T) {
	if tracks, repeated := new(Collector).Tracks(); tracks != nil || repeated != 0 {
		t.Errorf("%v, %d", tracks, repeated)
	}
}
