package optimal

import (
	"encoding/json"
	"slices"
	"testing"
)

// Triples are accepted as JSON defines them, and nothing else is.
func FuzzTriples(f *testing.F) {
	for _, text := range []string{`[]`, `[[40, 116, 1]]`, "[[40,116,1],\n[41, 1.16e2, 0.5]] ", `[[40, 116, null]]`, `[[1, 2]]`, `[[1, 2, 3] [4, 5, 6]]`, `[,[1, 2, 3]]`, `[[1, 2, 3],]`, `[] []`, `[null]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		triples, err := parseTriples(text)
		var want [][]*float64
		fine := json.Unmarshal(text, &want) == nil && want != nil && len(want) <= MaxPlaces &&
			!slices.ContainsFunc(want, func(v []*float64) bool { return len(v) != 3 || slices.Contains(v, nil) })
		if (err == nil) != fine {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		for i, v := range want {
			for j := range v {
				if *triples[i][j] != *v[j] {
					t.Fatalf("%q: %v", text, *triples[i][j])
				}
			}
		}
	})
}
