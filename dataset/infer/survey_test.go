package infer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/moment"
)

// surveyed returns the description of a CSV file, read in batches of max rows.
func surveyed(t datasettest.T, path string, max int, kinds map[int]dataset.Kind, options ...dataset.Option) (Description, error) {
	t.Helper()
	r, err := dataset.Open(context.Background(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := NewSurvey(r, kinds)
	if err := r.Start(datasettest.All(r)); err != nil {
		t.Fatal(err)
	}
	var rows dataset.Rows
	for {
		if err := r.Read(&rows, max); err == io.EOF {
			return s.Description(), nil
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range rows.Len() {
			if err := s.Add(&rows, i); err != nil {
				return Description{}, err
			}
		}
	}
}

// show returns a summary in short.
func show(s Summary) string {
	text := s.Name + " " + s.Kind.String()
	if s.DecimalComma {
		text += " comma"
	}
	if s.Dates != NoDates {
		text += [...]string{Times: " times", OtherDates: " dates"}[s.Dates]
	}
	if s.Nulls > 0 {
		text += fmt.Sprintf(" %d null", s.Nulls)
	}
	if m := s.Misfit; m != nil {
		text += fmt.Sprintf(" %s %s %q %d of %d", m.Where, m.Text, m.Why, m.Count, m.Count+m.Numbers)
		if m.Castable {
			text += " castable"
		}
	}
	return text
}

func TestSurvey(t *testing.T) {
	const digitsLost, zeros = `"a REAL would lose digits of it"`, `"a number would lose its leading zeros"`
	const comma = `"a decimal comma? it is read in files with semicolons or tabs"`
	for _, c := range []struct{ text, want string }{
		{"a,b,c\n1,0.5,x\n2,,y\n", "a integer|b real 1 null|c text"},
		{"a,b\n 1,\t\nx , \n", `a text line 3 x "" 1 of 2 castable|b text`},
		{"a,b\n1, \n2,3\n,4\n", "a integer 1 null|b integer 1 null"},
		{"a\n0.5\nn/a\n1\nn/a\n", `a text line 3 n/a "" 2 of 4 castable`},
		{"a\n0.5\nn/a\n1\n?\n", `a text line 3 n/a "" 2 of 4`},
		{"a,b\n0.5,1\nn/a,1\n ,1\n", `a text line 3 n/a "" 1 of 2|b integer`}, // CAST(' ' AS REAL) is 0
		{"a\nx\n1\n2\n", `a text line 2 x "" 1 of 3 castable`},
		{"a\nx\ny\n", "a text"},
		{"a\n7\n007\n", `a text line 3 007 ` + zeros + ` 1 of 2 castable`},
		{"a\n0.5\n9007199254740993\n", `a text line 3 9007199254740993 ` + digitsLost + ` 1 of 2`},
		{"a\n9007199254740993\n0.5\n", `a text line 2 9007199254740993 ` + digitsLost + ` 1 of 2`},
		{"a\n9007199254740993\n1\n", "a integer"},
		{"a\n1\n99999999999999999999\n", `a text line 3 99999999999999999999 "too large for an INTEGER" 1 of 2 castable`},
		{"a,b\n1,\"0,5\"\n2,1\n", `a integer|b text line 2 0,5 ` + comma + ` 1 of 2 castable`},

		// Decimal commas.
		{"a;b\n1;0,099\n2;-1,5\n", "a integer|b real comma"},
		{"a\tb\n1\t0,099\n2\t3\n", "a integer|b real comma"},
		{"a;b\n1;,5\n2;\n", "a integer|b real comma 1 null"},
		{"a;b\n0,5;1\n1.5;2\n", `a text line 3 1.5 "other cells have ',' as decimal mark" 1 of 2|b integer`},
		{"a;b\n1.5;1\n0,5;2\n", `a text line 3 0,5 "other cells have '.' as decimal mark" 1 of 2 castable|b integer`},
		{"a;b\n007,5;1\n2,5;2\n", `a text line 2 007,5 ` + zeros + ` 1 of 2|b integer`},
		{"a\n-00.5\n2.5\n", `a text line 2 -00.5 ` + zeros + ` 1 of 2 castable`},
		{"a;b\n1.234,5;1\n2,5;2\n", `a text line 2 1.234,5 "" 1 of 2|b integer`},
		{"a;b\n1,234,567;1\n2,5;2\n", `a text line 2 1,234,567 "" 1 of 2|b integer`},
		{"a;b\n0,5 kWh;1\n2,5;2\n", `a text line 2 0,5 kWh "" 1 of 2|b integer`},
		// A point or comma between thousands, if another column has the other mark for decimals.
		{"a;b\n0,5;1.234\n1,5;999\n", `a real comma|b text line 2 1.234 "another column has the other decimal mark, so that '.' may stand between thousands" 1 of 2`},
		{"a;b\n48.85;1,234\n48.9;12,345\n", `a real|b text line 2 1,234 "another column has the other decimal mark, so that ',' may stand between thousands" 1 of 2`},
		{"a;b\n48.85;1,234\n48.9;12,34\n", "a real|b real comma"},
		{"a;b\n48.85;0,234\n48.9;0,345\n", "a real|b real comma"},
		{"a;b\n1,234;2,345\n3,456;4\n", "a real comma|b real comma"},

		// Times.
		{"a\n2026-03-01\n2026-03-01 12:00\n2026-03-01T12:00:00Z\n2024-02-29\n", "a text times"},
		{"a,b\n2026-03-01,1\n,2\n", "a text times 1 null|b integer"},
		{"a\n2026-02-30\n2026-03-01\n", "a text dates"},
		{"a\n16/12/2006\n17/12/2006 10:00\n", "a text dates"},
		{"a\n16.12.06\n1.2.07\n", "a text dates"},
		{"a\n2026-03-01T12:00:00+02:00\n2026-03-01\n", "a text dates"},
		{"a\n2026-03-01\nsoon\n", "a text"},
		{"a\n2026-03-01\n2026\n", `a text line 2 2026-03-01 "" 1 of 2 castable`},
		{"a\n1.2.3\n10.0.0.1\n", "a text"},
		{"a\n12:30\n", "a text"},
	} {
		for _, max := range []int{1, 1000} {
			d, err := surveyed(t, datasettest.File(t, "data.csv", c.text), max, nil)
			var parts []string
			for _, s := range d.Columns {
				parts = append(parts, show(s))
			}
			if got := strings.Join(parts, "|"); err != nil || got != c.want {
				t.Errorf("%q: %v\n got %s\nwant %s", c.text, err, got, c.want)
			}
		}
	}
}

func TestSurveySamples(t *testing.T) {
	d, err := surveyed(t, datasettest.File(t, "data.csv", "a,b\n1,x\n1,\n2,x\n3,y\n4,z\n"), 2, nil)
	if got := fmt.Sprint(d.Rows, d.Columns[0].Samples, d.Columns[1].Samples); err != nil || got != "5 [1 2 3] [x y z]" {
		t.Errorf("%s, %v", got, err)
	}
	if d, err := surveyed(t, datasettest.File(t, "data.csv", "a,b\n"), 2, nil); err != nil || d.Rows != 0 || show(d.Columns[1]) != "b text" {
		t.Errorf("%v, %v", d, err)
	}
}

func TestGivenKinds(t *testing.T) {
	for _, c := range []struct {
		kind       dataset.Kind
		text, want string
	}{
		{dataset.Text, "a;b\n1;1\n;2\n", "a text 1 null"},
		{dataset.Text, "a;b\n2026-03-01;1\n", "a text times"},
		{dataset.Integer, "a;b\n007;1\n+5;1\n;2\n -0 ;3\n", "a integer 1 null"},
		{dataset.Integer, "a;b\n7;1\n 7.0;1\n", "column a: '7.0' is not a 64-bit integer"},
		{dataset.Integer, "a;b\n9223372036854775808;1\n", "column a: '9223372036854775808' is not a 64-bit integer (too large for an INTEGER)"},
		{dataset.Integer, "a;b\nn/a;1\n", "column a: 'n/a' is not a 64-bit integer"},
		{dataset.Real, "a;b\n007;1\n.5;1\n1e3;2\n;3\n", "a real 1 null"},
		{dataset.Real, "a;b\n0,5;1\n7;1\n", "a real comma"},
		{dataset.Real, "a;b\n1,234;48.85\n", "a real comma"},
		{dataset.Real, "a;b\n007,5;1\n+1,5;1\n", "a real comma"},
		{dataset.Real, "a;b\n007.5;1\n", "a real"},
		{dataset.Real, "a;b\n007.5;1\n7,5;1\n", "column a: '7,5' is not a number (other cells have '.' as decimal mark)"},
		{dataset.Real, "a;b\n1,5,5;1\n", "column a: '1,5,5' is not a number"},
		{dataset.Real, "a;b\n0,5;1\n0.5;1\n", "column a: '0.5' is not a number (other cells have ',' as decimal mark)"},
		{dataset.Real, "a,b\n0.5,1\n\"0,5\",1\n", "column a: '0,5' is not a number (other cells have '.' as decimal mark)"},
		{dataset.Real, "a,b\n\"0,5\",1\n", "column a: '0,5' is not a number (a decimal comma? it is read in files with semicolons or tabs)"},
		{dataset.Real, "a;b\nNaN;1\n", "column a: 'NaN' is not a number"},
		{dataset.Real, "a;b\n-Infinity;1\n", "column a: '-Infinity' is not a number"},
		{dataset.Real, "a;b\n1e400;1\n", "column a: '1e400' is not a number"},
		{dataset.Real, "a;b\n0x10;1\n", "column a: '0x10' is not a number"},
		{dataset.Real, "a;b\n" + strings.Repeat("x", 50) + ";1\n", "column a: '" + strings.Repeat("x", 40) + "..' is not a number"},
	} {
		d, err := surveyed(t, datasettest.File(t, "data.csv", c.text), 10, map[int]dataset.Kind{0: c.kind})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = show(d.Columns[0])
		}
		if got != c.want {
			t.Errorf("%v %q: %s, want %s", c.kind, c.text, got, c.want)
		}
	}
}

// Whatever the cells are, the survey infers the kind that Column infers, unless decimal commas
// make the difference, and the numbers of a column can be read.
func TestSurveyAgreesWithColumn(t *testing.T) {
	cell := rapid.SampledFrom([]string{"1", "-2", "0.5", "007", "x", "", " ", "0,5", "1.234", "1,234", "9007199254740993", "1e3", "-0", "2026-03-01", "1.5"})
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(cell, 0, 6).Draw(t, "cells")
		for _, separator := range []string{",", ";"} {
			var want Column
			text := "a" + separator + "b\n"
			for _, c := range cells {
				text += `"` + c + `"` + separator + "1\n"
				if c = strings.Trim(c, " "); c != "" {
					want.Add(c)
				}
			}
			path := filepath.Join(folder, "data.csv")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := surveyed(t, path, 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := d.Columns[0]
			if !s.DecimalComma && !(separator == ";" && s.Misfit != nil) && s.Kind != want.Kind() {
				t.Fatalf("%q: %v, want %v", text, s.Kind, want.Kind())
			}
			if s.Kind != dataset.Real {
				continue
			}
			var column dataset.Column
			for i, c := range cells {
				column.Append([]byte(c))
				v, null, ok := s.Real(&column, i)
				if !ok || null != (strings.Trim(c, " ") == "") || !null && strings.Contains(c, "5") && v != 0.5 && v != 1.5 {
					t.Fatalf("%q: cell %q is %v, %v, %v", text, c, v, null, ok)
				}
			}
		}
	})
}

// The shortcut for plain times accepts nothing that is none.
func TestIsTime(t *testing.T) {
	for _, cell := range []string{"2026-03-01", "2024-02-29", "2023-02-29", "2026-01-31", "2026-04-31", "2026-12-30 23:59", "2026-12-30 24:00",
		"2026-12-30T23:60", "2026-12-30T23:59:59", "2026-12-30T23:59:60", "2026-00-10", "2026-13-10", "2026-10-00", "2026-10-10x10:10", "2026-10-10T10:10Z"} {
		if _, err := moment.Parse(cell); isTime(cell) != (err == nil) {
			t.Errorf("%s: %v, moment says %v", cell, isTime(cell), err)
		}
	}
	part := func(low, high int) *rapid.Generator[string] {
		return rapid.Map(rapid.IntRange(low, high), func(n int) string { return fmt.Sprintf("%02d", n) })
	}
	rapid.Check(t, func(t *rapid.T) {
		cell := "20" + part(0, 99).Draw(t, "year") + "-" + part(0, 13).Draw(t, "month") + "-" + part(0, 32).Draw(t, "day")
		if rapid.Bool().Draw(t, "time") {
			cell += rapid.SampledFrom([]string{" ", "T", "t"}).Draw(t, "mark") + part(0, 25).Draw(t, "hour") + ":" + part(0, 61).Draw(t, "minute")
			if rapid.Bool().Draw(t, "seconds") {
				cell += ":" + part(0, 61).Draw(t, "second")
			}
		}
		if _, err := moment.Parse(cell); isTime(cell) != (err == nil) {
			t.Fatalf("%s: %v, moment says %v", cell, isTime(cell), err)
		}
	})
}

func TestValuesInHeader(t *testing.T) {
	for header, want := range map[string]string{
		"meter,t,kwh":                 "[] false",
		"1,2,3":                       "[1 2 3] true",
		"1001,2013-01-01 00:30,0.25":  "[1001 2013-01-01 00:30 0.25] true",
		"ana,48.85,2.33":              "[48.85 2.33] true",
		"ana;48,85;2,33":              "[85;2 33] true",
		"0,5;0,7":                     "[0 5;0 7] true",
		"ana,16/12/2006":              "[16/12/2006] true",
		"region,2010,2011":            "[2010 2011] false",
		"2010,2011":                   "[2010 2011] true",
		"007,x":                       "[] false",
		"n,1st,PM2.5,lat_1,kWh (0.5)": "[] false",
	} {
		r := datasettest.Open(t, datasettest.File(t, "data.csv", header+"\n"))
		names, row := ValuesInHeader(r.Fields())
		r.Close()
		if got := fmt.Sprint(names, row); got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
}
