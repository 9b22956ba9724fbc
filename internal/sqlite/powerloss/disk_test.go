//go:build unix && !geosql_loadable

package powerloss

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
)

// seeds is how many times chance decides: enough for each of a few fates if the
// rarest has a probability of about 1/50 (missed in 1 of 10^8 runs with other seeds).
const seeds = 1000

// outcomes are the possible images after a power cut behind all operations, and how
// often chance makes each.
func outcomes(t *testing.T, done ...operation) (nothing, everything Image, some []Image) {
	t.Helper()
	trace := &Trace{done}
	for n, d := range trace.Points() {
		if n < trace.Len() {
			continue
		}
		for seed := range uint64(seeds) {
			some = append(some, d.WithSome(rand.New(rand.NewPCG(0, seed))))
		}
		return d.WithNothing(), d.WithEverything(), some
	}
	t.Fatal("no last point")
	return nil, nil, nil
}

// filled is n bytes.
func filled(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n) }

// same demands an image.
func same(t *testing.T, what string, got, want Image) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

var old = operation{kind: existed, file: 1, name: "a", data: filled('o', 3*sector)}

func TestWritesThatWereNotSynced(t *testing.T) {
	nothing, everything, some := outcomes(t, old,
		operation{kind: written, file: 1, at: sector / 2, data: filled('n', 3*sector)})
	same(t, "nothing", nothing, Image{"a": old.data})
	whole := append(filled('o', sector/2), filled('n', 3*sector)...)
	same(t, "everything", everything, Image{"a": whole})

	// Each of the pieces, which end with a sector, has its own fate.
	pieces := [][2]int{{0, sector / 2}, {sector / 2, sector}, {sector, 2 * sector}, {2 * sector, 3 * sector}, {3 * sector, 3*sector + sector/2}}
	seen := make([]map[byte]bool, len(pieces))
	torn := false
	for _, image := range some {
		content, fates := image["a"], map[byte]bool{}
		for i, p := range pieces {
			if seen[i] == nil {
				seen[i] = map[byte]bool{}
			}
			if p[0] >= len(content) {
				seen[i]['-'] = true
				continue
			}
			b := content[p[0]]
			if !bytes.Equal(content[p[0]:p[1]], filled(b, p[1]-p[0])) {
				t.Fatalf("a part of a sector was written: %q", content[p[0]:p[1]])
			}
			seen[i][b] = true
			fates[b] = true
		}
		torn = torn || fates['n'] && (fates[0] || len(content) == 3*sector)
	}
	for i, want := range []map[byte]bool{
		{'o': true}, {'o': true, 'n': true, 0: true}, {'o': true, 'n': true, 0: true}, {'o': true, 'n': true, 0: true}, {'-': true, 'n': true, 0: true},
	} {
		if !reflect.DeepEqual(seen[i], want) {
			t.Errorf("piece %d was seen as %v, want %v", i, seen[i], want)
		}
	}
	if !torn {
		t.Error("no write was torn")
	}
}

func TestWhatIsCertain(t *testing.T) {
	for name, test := range map[string]struct {
		done []operation
		want Image
	}{
		"synced": {[]operation{old,
			{kind: written, file: 1, at: sector, data: filled('n', sector)},
			{kind: truncated, file: 1, at: 2 * sector},
			{kind: synced, file: 1},
		}, Image{"a": append(filled('o', sector), filled('n', sector)...)}},
		"a synced file in a synced folder": {[]operation{
			{kind: created, file: 1, name: "a"},
			{kind: written, file: 1, data: filled('n', 5)},
			{kind: synced, file: 1},
			{kind: folderSynced},
		}, Image{"a": filled('n', 5)}},
		"removed from a synced folder": {[]operation{old,
			{kind: deleted, file: 1, name: "a"},
			{kind: folderSynced},
		}, Image{}},
		"written again after a sync that failed": {[]operation{old,
			{kind: written, file: 1, data: filled('n', sector)},
			{kind: written, file: 1, at: sector, data: filled('n', sector)},
			{kind: notSynced, file: 1},
			{kind: written, file: 1, at: sector, data: filled('m', sector)},
			{kind: synced, file: 1},
		}, Image{"a": append(append(filled('o', sector), filled('m', sector)...), filled('o', sector)...)}},
	} {
		nothing, everything, some := outcomes(t, test.done...)
		for _, image := range append(some, nothing, everything) {
			same(t, name, image, test.want)
		}
	}
}

func TestWhatMayBe(t *testing.T) {
	file := filled('n', 5)
	for name, test := range map[string]struct {
		done                []operation
		nothing, everything Image
	}{
		"a new file in a folder that is not synced": {[]operation{
			{kind: created, file: 1, name: "a"},
			{kind: written, file: 1, data: file},
			{kind: synced, file: 1},
		}, Image{}, Image{"a": file}},
		"a removed one": {[]operation{old, {kind: deleted, file: 1, name: "a"}}, Image{"a": old.data}, Image{}},
		"a cut one": {[]operation{old, {kind: truncated, file: 1, at: 7}},
			Image{"a": old.data}, Image{"a": old.data[:7]}},
		"one in the place of another": {[]operation{old,
			{kind: deleted, file: 1, name: "a"},
			{kind: created, file: 2, name: "a"},
			{kind: written, file: 2, data: file},
			{kind: synced, file: 2},
		}, Image{"a": old.data}, Image{"a": file}},
	} {
		nothing, everything, some := outcomes(t, test.done...)
		same(t, name, nothing, test.nothing)
		same(t, name, everything, test.everything)
		seen := map[string]bool{}
		for _, image := range some {
			seen[string(image["a"])] = true
		}
		if !seen[string(nothing["a"])] || !seen[string(everything["a"])] {
			t.Errorf("%s: chance has made only %d things of it", name, len(seen))
		}
	}
}
