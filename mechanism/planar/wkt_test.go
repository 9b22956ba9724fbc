package planar

import (
	"reflect"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"
)

func TestParseWKT(t *testing.T) {
	square := orb.Polygon{{{0, 0}, {1, 0}, {1, 1e-1}, {0, 0}}}
	holey := append(square[:1:1], orb.Ring{{.5, .25}, {.75, .25}, {.5, -.5}})
	for text, want := range map[string]orb.MultiPolygon{
		"POLYGON((0 0,1 0,1 0.1,0 0))":                                                     {square},
		" polygon\t( ( 0  0 ,\r\n1 0,1 1e-1,+0 -0 ) ) ":                                    {square},
		"Polygon((0 0,1 0,1 0.1,0 0),(0.5 0.25,0.75 0.25,.5 -.5))":                         {holey},
		"MULTIPOLYGON(((0 0,1 0,1 0.1,0 0)),((0 0,1 0,1 .1,0 0),(.5 .25,.75 .25,.5 -.5)))": {square, holey},
		"POLYGON EMPTY":         {nil},
		"POLYGON(EMPTY)":        {{nil}},
		"MULTIPOLYGON EMPTY":    nil,
		"MULTIPOLYGON(empty)":   {nil},
		"MULTIPOLYGON((EMPTY))": {{nil}},
	} {
		if got, err := parseWKT(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseWKTRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "(", "POLYGON", "POLYGON(", "POLYGON()", "POLYGON(())", "POLYGON((0 0)", "POLYGON((0 0)))", "POLYGON((0 0),)", "POLYGON((0 0,))",
		"POLYGON((0))", "POLYGON((0 0 0))", "POLYGON((0,0))", "POLYGON(0 0)", "POLYGON((0 0)(0 0))", "POLYGON((0 0))x", "POLYGON EMPTY()",
		"POLYGON((1e999 0))", "POLYGON((a 0))", "POLYGON Z((0 0 0))", "POLYGONEMPTY", "MULTIPOLYGON((0 0))", "MULTIPOLYGON(((0 0))", "POLYGON((0 0))POLYGON((0 0))",
		"POINT(1 2)", "SRID=4326;POLYGON((0 0))", "POLYGON|((0 0))",
	} {
		if got, err := parseWKT(text); err == nil || !strings.HasPrefix(err.Error(), "wkt ") {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// FuzzParseWKT writes the polygons that it reads, and reads them again as they were, as package wkt of orb does.
func FuzzParseWKT(f *testing.F) {
	for _, text := range []string{"POLYGON((0 0,1 0,1 1,0 0),(1 2,3 4))", "multipolygon ( ((0 0, 1e-3 -0)) , ((.5 1e10)) )", "MULTIPOLYGON(EMPTY, ((1 1)))", "POLYGON((NaN 0x1p-2))"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		polygons, err := parseWKT(text)
		if err != nil {
			return
		}
		written := wkt.MarshalString(polygons)
		if len(polygons) == 0 || strings.Contains(written, "()") { // orb does not read what it writes for nothing
			return
		}
		again, err := parseWKT(written)
		if err != nil || wkt.MarshalString(again) != written {
			t.Errorf("%q is %q, and then %v, %v", text, written, again, err)
		}
		if theirs, err := wkt.UnmarshalMultiPolygon(written); err != nil || wkt.MarshalString(theirs) != written {
			t.Errorf("%q is %q, and to orb %v, %v", text, written, theirs, err)
		}
	})
}
