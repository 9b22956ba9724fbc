package collect

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/sealed"
)

// FuzzBatches reads signed batches only, whatever the text is: each line before an end is one that the collector has written. The
// batches of one row, two and none are files, since each process of the fuzzer would seal others.
func FuzzBatches(f *testing.F) {
	d := &sealed.Declaration{
		Salt:    make([]byte, sealed.SaltSize),
		Columns: []sealed.Column{{Number: 1, Table: "t", Name: "x", Account: "who", Universe: &sealed.Universe{Name: "u", Hi: 10, Step: 1, Unit: "kWh"}}},
		Tables:  []sealed.Table{{Name: "t", Columns: []sealed.TableColumn{{Name: "who"}, {Name: "x"}, {Name: "y"}}}},
	}
	read := func(name string) string {
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		return string(text)
	}
	one, two, none := read("one"), read("two"), read("none")
	lines := strings.SplitAfter(two, "\n")
	for _, text := range []string{
		one, two, none, one + two, one + one, "", "\n", strings.Join(lines[:4], ""), strings.Join(lines[1:], ""), strings.ReplaceAll(two, "\n", "\r\n"),
		lines[0] + lines[1] + lines[3] + lines[2] + lines[4], lines[0] + lines[1] + lines[2] + lines[2] + lines[4], lines[0] + strings.Join(strings.SplitAfter(one, "\n")[1:], ""),
		strings.Replace(two, "1.5", "1e999", 1), strings.Replace(two, "1.5", "[]", 1), strings.Replace(two, `"row":[`, `"row":[null,`, 1), strings.Replace(two, `"end":2`, `"end":3`, 1),
		`{"session":1}`, `{"row":[]}`, `{"end":0}`, strings.Replace(one, `"enc":"`, `"enc":"AAAA`, 1),
	} {
		f.Add([]byte(text))
	}
	table, columns, account, _ := d.Table("t")
	reader := batchReader{database: d.ID(), table: table, columns: columns, account: account}
	fresh := reader
	if all, err := fresh.read([]byte(one + two + none)); err != nil || len(all) != 3 {
		f.Fatalf("the batches of the files are read as %d: %v", len(all), err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := reader
		all, err := r.read(text)
		if err != nil {
			return
		}
		rest := text
		for _, b := range all {
			known := false
			for _, good := range []string{one, two, none} {
				signed := good[:strings.LastIndex(good, `{"end"`)]
				if after, ok := bytes.CutPrefix(rest, []byte(signed)); ok {
					end, behind, _ := bytes.Cut(after, []byte("\n")) // its signature is right, in whatever form
					rest, known = behind, bytes.Contains(end, []byte(`"signature"`)) && len(b.rows) == strings.Count(good, `{"row"`)
					break
				}
			}
			if !known {
				t.Fatalf("%q is read as a batch", text)
			}
		}
	})
}
