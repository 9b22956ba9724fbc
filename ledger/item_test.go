package ledger

import (
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestMergeItems(t *testing.T) {
	got, err := MergeItems("m", []Item{{"ben", 1, 1}, {"ana", 2, 1}, {"ben", 3, 2}})
	if want := []Item{{"ben", 4, 3}, {"ana", 2, 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, items := range [][]Item{
		{{"ana", budget.Max, 1}, {"ana", 1, 1}},
		{{Everyone, 1, 1}},
		{{"ana", 0, 1}},
		{{"ana", budget.Max + 1, 1}},
	} {
		if _, err := MergeItems("m", items); err == nil {
			t.Errorf("%v can be charged", items)
		}
	}
}

func TestCheckOrdered(t *testing.T) {
	for _, c := range []struct {
		last  string
		items []Item
		ok    bool
	}{
		{"", []Item{{"", 1, 1}, {"a", 1, 1}, {"b", 1, 1}}, true},
		{"a", []Item{{"b", 1, 1}}, true},
		{"b", []Item{{"b", 1, 1}}, false},
		{"", []Item{{"b", 1, 1}, {"a", 1, 1}}, false},
		{"", []Item{{"a", 1, 1}, {"a", 1, 1}}, false},
		{"", []Item{{"a", 0, 1}}, false},
	} {
		if err := CheckOrdered(c.last, "m", c.items); (err == nil) != c.ok {
			t.Errorf("%v after %q: %v", c.items, c.last, err)
		}
	}
}

func TestCheckLimit(t *testing.T) {
	for _, c := range []struct {
		unit   budget.Unit
		eps    budget.Amount
		window int64
		ok     bool
	}{
		{"m", 0, 0, true}, {"m", budget.Max, MaxWindow, true},
		{"", 1, 0, false}, {"m", -1, 0, false}, {"m", budget.Max + 1, 0, false}, {"m", 1, -1, false}, {"m", 1, MaxWindow + 1, false},
	} {
		if err := CheckLimit(c.unit, c.eps, c.window); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
