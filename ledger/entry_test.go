package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestParseHead(t *testing.T) {
	h := Head{ID: 17, Hash: [32]byte{1, 2, 31: 255}}
	parsed, err := ParseHead(h.String())
	if err != nil || parsed != h {
		t.Errorf("%v reads back as %v, %v", h, parsed, err)
	}
	zeros := strings.Repeat("0", 64)
	for _, s := range []string{"", "1", "1:", ":" + zeros, "x:" + zeros, "1:00", "-1:" + zeros, "1:" + zeros + "00", "1:" + zeros + " "} {
		if _, err := ParseHead(s); err == nil {
			t.Errorf("%q is no head", s)
		}
	}
}

// The hashes of an existing ledger must not change.
func TestNextIsStable(t *testing.T) {
	var scratch []byte
	h := Genesis("0123456789abcdef0123456789abcdef")
	for _, e := range []Entry{
		{Statement: 1, Time: 1767225600000000, Function: "budget_limit", Account: Everyone, Unit: "m", Limit: 5 * budget.One, LimitWindow: 3600},
		{Statement: 2, Time: 1767225601000000, Function: "dx_sum", Account: "ana", Unit: "kWh", Spent: 3, Reserved: -2,
			Evaluations: 4, Window: WindowUse{Start: 1767225601000000, Spent: 1}, Limit: NoLimit},
	} {
		h = h.Next(&e, &scratch)
		if e.ID != h.ID {
			t.Errorf("entry %d leads to head %d", e.ID, h.ID)
		}
	}
	const want = "2:fca983cfe37b1d8abe53d6d87020e346e4a8db6b23f55d55b839522736eb36a3"
	if got := h.String(); got != want {
		t.Errorf("the head is %s, was %s", got, want)
	}
}

// Entries that differ in one field only have different hashes.
func TestNextHashesEveryField(t *testing.T) {
	entries := []Entry{
		{}, {Statement: 1}, {Time: 1}, {Spent: 1}, {Reserved: 1}, {Evaluations: 1}, {Window: WindowUse{Start: 1}},
		{Window: WindowUse{Spent: 1}}, {Limit: 1}, {LimitWindow: 1}, {Function: "a"}, {Account: "a"}, {Unit: "a"},
		{Function: "ab"}, {Function: "a", Account: "b"}, {Function: "a", Unit: "b"}, {Account: "ab"}, {Account: "a", Unit: "b"},
	}
	var scratch []byte
	var heads []Head
	for _, e := range entries {
		h := Genesis("x").Next(&e, &scratch)
		if i := slices.Index(heads, h); i >= 0 {
			t.Errorf("%+v and %+v have the same hash", entries[i], e)
		}
		heads = append(heads, h)
	}
	if Genesis("x") == Genesis("y") {
		t.Error("two ledgers begin with the same head")
	}
}
