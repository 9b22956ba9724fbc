package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestColumnNames(t *testing.T) {
	for _, c := range []struct {
		text string
		want []ColumnName
	}{
		{"reading.kwh", []ColumnName{{"reading", "kwh"}}},
		{"reading.kwh,trip.location", []ColumnName{{"reading", "kwh"}, {"trip", "location"}}},
		{`"a.b".c,a."b.c"`, []ColumnName{{"a.b", "c"}, {"a", "b.c"}}},
		{`"say ""a""".b c`, []ColumnName{{`say "a"`, "b c"}}},
	} {
		got, err := ParseColumnNames(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s is read as %q, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"", "a", "a.", ".a", "a.b.c", "a.b,", ",a.b", `"a.b`, `"a"b.c`, `a."b"c`, `a"b.c`, `"".a`, "a.b c.d"} {
		if got, err := ParseColumnNames(text); err == nil {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

// No two columns have the same text, whether it is shown or stored, and both are read back.
func TestColumnNamesDiffer(t *testing.T) {
	name := rapid.StringMatching(`[ab.,"]{1,4}`)
	column := rapid.Custom(func(t *rapid.T) ColumnName { return ColumnName{name.Draw(t, "table"), name.Draw(t, "column")} })
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(column, 1, 3).Draw(t, "columns")
		var shown []string
		for _, n := range all {
			shown = append(shown, n.String())
		}
		if got, err := ParseColumnNames(strings.Join(shown, ",")); err != nil || !slices.Equal(got, all) {
			t.Fatalf("%q is read as %q, %v", shown, got, err)
		}
		stored, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		var got []ColumnName
		if err := json.Unmarshal(stored, &got); err != nil || !slices.Equal(got, all) {
			t.Fatalf("%s is read as %q, %v", stored, got, err)
		}
	})
}

// Names stored by earlier programs are read, unless they may mean several columns.
func TestStoredColumnNames(t *testing.T) {
	for text, want := range map[string]ColumnName{
		`"reading.kwh"`: {"reading", "kwh"}, `"a.b.c"`: {"", "a.b.c"}, `"a"`: {"", "a"}, `["a.b","c"]`: {"a.b", "c"}, `"\"x\".y"`: {`"x"`, "y"},
	} {
		var got ColumnName
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"1", "{}", `["a"]`, `["a","b","c"]`, `["a",1]`} {
		if got := new(ColumnName); json.Unmarshal([]byte(text), got) == nil {
			t.Errorf("%s is read as %q", text, *got)
		}
	}
}
