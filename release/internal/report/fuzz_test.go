package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCounts reads any bytes as the counts of a map, or of a histogram: they are refused, or are counts that are read
// again as the same.
func FuzzCounts(f *testing.F) {
	box := Box{South: 48.8, West: 2.2, North: 48.9, East: 2.4}
	grid := NewGrid(box)
	empty, _ := grid.MarshalBinary()
	grid.counts[3], grid.counts[900] = 7, math.MaxInt64
	some, _ := grid.MarshalBinary()
	moves, _ := (&Moves{width: 5}).MarshalBinary()
	for _, text := range [][]byte{{}, {0}, {0, 0}, empty, some, some[:5], append(empty[:len(empty):len(empty)], 0), moves, moves[:8], bytes.Repeat([]byte{255}, 20)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g := NewGrid(box)
		if g.UnmarshalBinary(text) == nil {
			again := NewGrid(box)
			written, err := g.MarshalBinary()
			if err != nil || again.UnmarshalBinary(written) != nil || !slices.Equal(again.counts, g.counts) || slices.Min(g.counts) < 0 {
				t.Errorf("%x becomes %x: %v", text, written, err)
			}
		}
		m := &Moves{width: 5}
		if m.UnmarshalBinary(text) == nil {
			again := &Moves{width: 5}
			written, err := m.MarshalBinary()
			if err != nil || again.UnmarshalBinary(written) != nil || again.counts != m.counts || math.Float64bits(again.sum) != math.Float64bits(m.sum) {
				t.Errorf("%x becomes %x: %v", text, written, err)
			}
		}
	})
}

// FuzzNames writes the manifest and the page of a release with any names of columns and files. The manifest is JSON with
// these names, and no name ends the page's own text.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"lat", "", "</script><script>alert(1)</script>", "a\"b\\c\n", "<!--", "\u2028\u202e", "\xff\xfe", "]]>", "{{.}}", "&lt;"} {
		f.Add(name)
	}
	data := released(f, 20)
	want := strings.ToLower(written(f, data))
	f.Fuzz(func(t *testing.T, name string) {
		d := data
		d.Public.Kept = []string{name}
		d.Public.Output = name
		d.Public.Locations = slices.Clone(d.Public.Locations)
		d.Public.Locations[0].Lat = name
		var text bytes.Buffer
		if err := WriteManifest(&text, d.Public, Manifest{Ledger: "l", Files: []File{{Name: name, Rows: 1, SHA256: "00"}}}); err != nil {
			t.Fatal(err)
		}
		var m struct{ Files []File }
		if err := json.Unmarshal(text.Bytes(), &m); err != nil || !utf8.Valid(text.Bytes()) || m.Files[0].Name != strings.ToValidUTF8(name, "\uFFFD") && utf8.ValidString(name) {
			t.Errorf("%q: %q, %v", name, text.Bytes(), err)
		}
		page := written(t, d)
		for _, tag := range []string{"<script", "</script", "<!--", "<img", "<iframe", "<svg", "<a "} {
			if got := strings.Count(strings.ToLower(page), tag); got != strings.Count(want, tag) {
				t.Errorf("%q: the page has %d %s", name, got, tag)
			}
		}
		if !utf8.ValidString(page) {
			t.Errorf("%q: the page is not UTF-8", name)
		}
	})
}
