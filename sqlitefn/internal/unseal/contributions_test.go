package unseal

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/sealed"
)

// A list of contributions returns them as they were added, and takes the memory that it says.
func TestContributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := contributions{keepsData: rapid.Bool().Draw(t, "data")}
		numbers := rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Uint64Range(math.MaxUint64-5, math.MaxUint64), rapid.Uint64())
		var want []contribution
		for range rapid.IntRange(0, 300).Draw(t, "rows") {
			c := contribution{counter: numbers.Draw(t, "counter"), session: uint32(numbers.Draw(t, "session")), member: uint32(numbers.Draw(t, "member"))}
			if list.keepsData {
				c.data = sealed.Data(numbers.Draw(t, "data"))
			}
			before := list.taken + list.nextPiece()
			list.add(c)
			if list.taken != before {
				t.Fatalf("%d bytes are taken, not the %d that were foreseen", list.taken, before)
			}
			want = append(want, c)
		}
		if got := slices.Collect(list.all); !slices.Equal(got, want) {
			t.Fatalf("%v became %v", want, got)
		}
		room := int64(0)
		for _, p := range list.pieces {
			room += int64(cap(p))
		}
		if room != list.taken {
			t.Fatalf("%d bytes are taken, and %d used", list.taken, room)
		}
	})
}
