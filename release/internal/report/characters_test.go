package report

import (
	"strings"
	"testing"
)

// Every location shows in its place, whatever the shape of the box, and the map is small.
func TestCharacters(t *testing.T) {
	for name, box := range map[string]Box{
		"square": {South: 48, West: 2, North: 49, East: 3.5}, "wide": {South: 0, West: 0, North: 1, East: 9},
		"tall": {South: 0, West: 0, North: 9, East: 1}, "antimeridian": {South: -10, West: 170, North: 10, East: -170},
	} {
		g := NewGrid(box)
		lines, key := g.Characters()
		if strings.TrimSpace(strings.Join(lines, "")) != "" || key != ". 1 or more" {
			t.Errorf("%s: an empty map is %q, %q", name, lines, key)
		}
		if len(lines) > charactersWide/2 || len(lines) < 5 || len(lines[0]) > charactersWide || len(lines[0]) < 10 {
			t.Errorf("%s: %d lines of %d", name, len(lines), len(lines[0]))
		}
		g.Add(box.North, box.West)
		for range 40 {
			g.Add(box.South, box.East)
		}
		lines, key = g.Characters()
		last, wide := lines[len(lines)-1], len(lines[0])
		if lines[0] != "."+strings.Repeat(" ", wide-1) || !strings.HasSuffix(last, " *") || strings.TrimSpace(strings.Join(lines[1:], "")) != "*" {
			t.Errorf("%s: %q", name, lines)
		}
		if key != ". 1  : 3  + 9  * 27 or more" {
			t.Errorf("%s: key %q", name, key)
		}
	}
}
