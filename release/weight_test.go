package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	ledgerfile "github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

func inMemory(t *testing.T) ledger.Ledger {
	t.Helper()
	l, err := ledgerfile.OpenMemory("")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// drawnFrom returns the output of a release with a known sequence for its randomness.
func drawnFrom(t *testing.T, s Spec) string {
	t.Helper()
	r := &run{spec: &s, sizes: small, ledger: inMemory(t)}
	defer r.close()
	check(t, r.prepare(t.Context()))
	check(t, r.check(t.Context()))
	out, err := r.create()
	check(t, err)
	d := r.newDrawer(out, nil)
	d.source = exact.NewSource(rand.NewChaCha8([32]byte{7}))
	check(t, r.newPipeline().run(t.Context(), []func(*batch) error{d.draw}, func(b *batch) error { return out.Append(b.block) }))
	check(t, out.Close())
	text, err := os.ReadFile(r.outs[0].Name())
	check(t, err)
	return string(text)
}

// A row with a weight is so many rows, for all weights up to 2 of three rows: the same accounts pay the same, and the same randomness
// draws the same file, so that its law is the same.
func TestWeightIsRows(t *testing.T) {
	rows := []string{"a,ana,48.85,2.35,48.86,2.36", "b,ana,48.84,2.34,,", "c,ben,48.86,2.33,48.85,2.31"}
	const header = "id,user,lat,lon,to_lat,to_lon"
	for code := range 27 {
		weighted, literal := header+",jobs\n", header+"\n"
		for i, row := range rows {
			weight := []int{code, code / 3, code / 9}[i] % 3
			weighted += fmt.Sprintf("%s,%d\n", row, weight)
			literal += strings.Repeat(row+"\n", weight)
		}
		prepared := func(name, text string) Spec {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), text)
			s := newSpec(dir)
			s.Lat, s.Lon, s.Keep = []string{"lat", "to_lat"}, []string{"lon", "to_lon"}, []string{"id"}
			s.Weight = name
			return s
		}
		w := prepared("jobs", weighted)
		s := prepared("", literal)
		if got, want := drawnFrom(t, w), drawnFrom(t, s); got != want {
			t.Fatalf("weights %d: drawn\n%s\nwant\n%s", code, got, want)
		}
		wl, sl := inMemory(t), inMemory(t)
		got, err := attempt(w, small, wl)
		check(t, err)
		want, err := attempt(s, small, sl)
		check(t, err)
		if paid := spent(t, wl); !maps.Equal(paid, spent(t, sl)) {
			t.Fatalf("weights %d: charged %v, want %v", code, paid, spent(t, sl))
		}
		if !slices.Equal(ids(t, w.Out), ids(t, s.Out)) || got.Rows != want.Rows || got.Locations != want.Locations || got.Accounts != want.Accounts {
			t.Fatalf("weights %d: %+v, want %+v", code, got, want)
		}
	}
}

// So it is in shards.
func TestWeightInShards(t *testing.T) {
	dir := t.TempDir()
	text, want, charged := "id,user,lat,lon,jobs\n", []string(nil), map[string]budget.Amount{}
	for i := range 500 {
		weight, user := i%7, fmt.Sprint("u", i%10)
		text += fmt.Sprintf("%d,%s,48.85,2.35,%d\n", i, user, weight)
		want = append(want, slices.Repeat([]string{fmt.Sprint(i)}, weight)...)
		charged[user] += budget.Amount(weight) * cost
	}
	write(t, filepath.Join(dir, "in.csv"), text)
	l, s := newShared(t), newSpec(dir)
	s.Weight, s.Keep = "jobs", []string{"id"}
	sum, err := inShards(s, l, 3, -1)
	check(t, err)
	wantWhole(t, s, 3, l, want, charged)
	if !sum.Complete || sum.Rows != int64(len(want)) {
		t.Errorf("%+v", sum)
	}
}

// Each of the rows that a row stands for has a draw of its own, as in TestReleasedPlaces.
func TestWeightDrawsAnew(t *testing.T) {
	dir := t.TempDir()
	const n = 20000
	write(t, filepath.Join(dir, "in.csv"), fmt.Sprintf("lat,lon,jobs\n48.85,2.35,%d\n", n))
	s := newSpec(dir)
	s.Account, s.Weight = "const:city", "jobs"
	*s.Limit = n * cost
	l := openLedger(t, dir)
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	total, repeated := 0.0, 0
	rows := readCSV(t, s.Out)[1:]
	for i, row := range rows {
		total += planar.Distance(48.85, 2.35, float(t, row[0]), float(t, row[1]))
		if i > 0 && slices.Equal(row, rows[i-1]) {
			repeated++
		}
	}
	if mean := total / n; mean < 192 || mean > 208 || repeated > 100 || len(rows) != n || spent(t, l)["city"] != n*cost {
		t.Errorf("%d rows, mean distance %v m, %d draws repeat the one before, spent %v", len(rows), mean, repeated, spent(t, l))
	}
}

// A row without a valid weight is an error that names its line, or is set aside once; mended, it has all of its rows.
func TestWeightRefused(t *testing.T) {
	for _, cell := range []string{"-1", "1.5", "x", "1000001", "", "1e3"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), "user,lat,lon,jobs\nana,48.85,2.35,3\nben,48.85,2.35,"+cell+"\ncarl,99,2.35,2\n")
		s, l := newSpec(dir), openLedger(t, dir)
		s.Weight = "jobs"
		_, err := attempt(s, small, l)
		if want := fmt.Sprintf("line 3, column jobs: the weight %q is not a whole number from 0 to 1000000 (3 rows are invalid", cell); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", cell, err)
		}
		s.Rejects = filepath.Join(dir, "bad.csv")
		sum, err := attempt(s, small, l)
		check(t, err)
		if sum.Rows != 3 || sum.Invalid != 3 || len(spent(t, l)) != 1 {
			t.Errorf("%q: %+v, spent %v", cell, sum, spent(t, l))
		}
		bad := readCSV(t, s.Rejects)[1:]
		if len(bad) != 3 || bad[0][0] != "line 3" || bad[0][5] != cell || bad[1][0] != "line 4" || bad[2][0] != "line 4" || bad[1][5]+bad[2][5] != "11" {
			t.Errorf("%q: set aside %q", cell, bad)
		}
	}
}

// The weight is no other column, is one of the settings of a release, and is named in the metadata and on the page.
func TestWeightColumn(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "user,lat,lon,jobs\nana,48.85,2.35,3\n")
	l := openLedger(t, dir)
	for _, name := range []string{"lat", "user", "kept", "none"} {
		s := newSpec(dir)
		s.Weight = name
		if name == "kept" {
			s.Weight, s.Keep = "jobs", []string{"jobs"}
		}
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "column ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newSpec(dir)
	s.Weight, s.ID = "jobs", "r"
	_, err := attempt(s, small, l)
	check(t, err)
	var m map[string]any
	text, err := os.ReadFile(s.Out + ".metadata.json")
	check(t, err)
	check(t, json.Unmarshal(text, &m))
	page, err := os.ReadFile(s.Out + ".report.html")
	check(t, err)
	if m["rows_repeated_by_column"] != "jobs" || m["rows"] != 3. || !strings.Contains(string(page), "as often as its column <bdi><code>jobs</code></bdi> says") {
		t.Errorf("%v, page of %d bytes", m, len(page))
	}
	again, err := attempt(s, small, l)
	if err != nil || !again.Repeated {
		t.Errorf("%+v, %v", again, err)
	}
	s.Weight, s.Out = "", filepath.Join(dir, "other.csv")
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("got %v", err)
	}
}
