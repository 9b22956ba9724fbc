package release

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
)

// severalOutputs is a release of in.csv to every format, in a folder.
func severalOutputs(t *testing.T, dir string) Spec {
	s := newSpec(dir)
	write(t, s.In, people(250, 7))
	s.Keep = []string{"id"}
	for _, ext := range []string{".csv.gz", ".parquet", ".geoparquet", ".geojson", ".gpkg"} {
		s.Also = append(s.Also, filepath.Join(dir, "out"+ext))
	}
	return s
}

// Several outputs have the rows of one draw, which is charged once. The page and the metadata have the hash of each.
func TestSeveralOutputs(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	s := severalOutputs(t, dir)
	sum, err := attempt(s, small, l)
	check(t, err)
	if got := spent(t, l)["u0"]; got != 36*cost || !slices.Equal(sum.Also, s.Also) {
		t.Errorf("spent %v, %+v", got, sum)
	}
	want := readCSV(t, s.Out)
	for _, path := range s.Also {
		if ext := filepath.Ext(path); ext == ".geoparquet" || ext == ".gpkg" || ext == ".geojson" {
			continue // they are not read again; see TestKilledAtEveryProgress for GeoJSON
		}
		r, err := dataset.Open(t.Context(), path)
		check(t, err)
		check(t, r.Start([]int{0, 1, 2}))
		var rows dataset.Rows
		check(t, r.Read(&rows, 1000))
		for i := range want[1:] {
			for c := range 3 {
				cell, _ := rows.Columns[c].At(i)
				if float(t, string(cell)) != float(t, want[1+i][c]) {
					t.Fatalf("%s, row %d: %s, not %s", path, i, cell, want[1+i][c])
				}
			}
		}
		check(t, r.Close())
	}
	page, err := os.ReadFile(sum.Report)
	check(t, err)
	text, err := os.ReadFile(sum.Metadata)
	check(t, err)
	var m struct {
		File, SHA256 string
		Also         []struct{ File, SHA256 string }
	}
	check(t, json.Unmarshal(text, &m))
	if len(m.Also) != len(s.Also) {
		t.Fatalf("%+v", m)
	}
	for i, path := range s.Also {
		hash, err := hashFile(path)
		check(t, err)
		if m.Also[i].File != filepath.Base(path) || m.Also[i].SHA256 != hash || !strings.Contains(string(page), hash) {
			t.Errorf("%s: %+v", path, m.Also[i])
		}
	}

	again, err := attempt(s, small, l)
	if err != nil || !again.Repeated || again.Gone != nil {
		t.Errorf("%+v, %v", again, err)
	}
	check(t, os.Remove(s.Also[1]))
	if again, err = attempt(s, small, l); err != nil || !again.Repeated || !slices.Equal(again.Gone, s.Also[1:2]) {
		t.Errorf("%+v, %v", again, err)
	}
	fewer := s
	fewer.Also = s.Also[1:]
	if _, err := attempt(fewer, small, l); err == nil || !strings.Contains(err.Error(), "goes to "+s.Out+", "+s.Also[0]) {
		t.Errorf("got %v", err)
	}
}

// An output that is sealed and lacks its name is not lost to another release with that output, and a draft of
// another release in its place is not published.
func TestSeveralSealed(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	s := severalOutputs(t, dir)
	s.ID, s.Also = "first", s.Also[3:4]
	s.Progress = func(p Progress) {
		if p.Stage == Publishing {
			check(t, os.MkdirAll(filepath.Join(reportPath(s.Out), "in the way"), 0o700))
		}
	}
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "complete and sealed") {
		t.Fatalf("got %v", err)
	}
	check(t, os.RemoveAll(reportPath(s.Out)))
	s.Progress = nil
	wantFolder(t, dir, "in.csv", "out.csv.metadata.json", "out.csv.report.html.unfinished", "out.csv.unfinished", "out.geojson.unfinished")
	other := s
	other.ID, other.Out, other.Also = "second", s.Also[0], nil
	if _, err := attempt(other, small, l); err == nil || !strings.Contains(err.Error(), "is of the complete release first") {
		t.Errorf("got %v", err)
	}
	sealed, err := os.ReadFile(s.Also[0] + unfinished)
	check(t, err)
	write(t, s.Also[0]+unfinished, "another draw")
	sum, err := attempt(s, small, l)
	check(t, err)
	if sum.Repeated || sum.Finished == nil || !slices.Equal(sum.Gone, s.Also) {
		t.Errorf("%+v", sum)
	}
	wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html", "out.geojson.unfinished")
	check(t, os.WriteFile(s.Also[0]+unfinished, sealed, 0o600))
	if sum, err = attempt(s, small, l); err != nil || sum.Repeated || sum.Gone != nil {
		t.Errorf("%+v, %v", sum, err)
	}
	wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html", "out.geojson")
}

func TestSeveralRefused(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	for want, change := range map[string]func(*Spec){
		"cannot be both the output and the output 2":   func(s *Spec) { s.Also = []string{s.Out} },
		"cannot be both the output 2 and the output 3": func(s *Spec) { s.Also[1] = s.Also[0] },
		"formulas can be escaped in CSV only":          func(s *Spec) { s.EscapeFormulas = true },
		"out.csv.gz already exists":                    func(s *Spec) { write(t, s.Also[0], "") },
		"must be a line of text":                       func(s *Spec) { s.Also[0] = filepath.Join(dir, "a\nb.csv") },
	} {
		s := severalOutputs(t, dir)
		change(&s)
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		os.Remove(filepath.Join(dir, "out.csv.gz"))
		if len(spent(t, l)) > 0 {
			t.Fatal(fmt.Sprint(want, ": somebody was charged"))
		}
	}
}
