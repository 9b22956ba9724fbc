package accounts

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// The order is that of the bytes, however names begin and end.
func TestTallyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.StringN(0, 20, 20).Draw(t, "alike")
		names := rapid.SliceOfDistinct(rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 'a'}), 0, 12, -1),
			rapid.String(),
		), rapid.ID).Draw(t, "names")
		var x Tally
		for i, name := range names {
			names[i] = alike + name
			x.Add([]byte(names[i]), 1)
		}
		slices.Sort(names)
		i := 0
		for a := range x.all(x.order()) {
			if !bytes.Equal(a.Name, []byte(names[i])) {
				t.Fatalf("account %d is %q, want %q", i, a.Name, names[i])
			}
			i++
		}
		if i != len(names) {
			t.Fatalf("%d accounts of %d", i, len(names))
		}
	})
}
