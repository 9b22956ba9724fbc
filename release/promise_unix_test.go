//go:build unix

package release

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// Batches show in some formats, as groups of rows or members of gzip. Where they end
// depends neither on how many digits a location has nor on columns that are dropped.
func TestBatchesHideText(t *testing.T) {
	const rows = 70
	long := strings.Repeat("x", 16<<20/32-20) // 32 of them and some 20 bytes more each are a batch
	var told [][]int64
	for _, cells := range []string{"48.85,2.35,", "48.8500000000000000001,2.35,", "48.85,2.35,dropped dropped"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), "text,lat,lon,x\n"+strings.Repeat(long+","+cells+"\n", rows))
		s := newSpec(dir)
		s.Account, s.Keep = "const:city", []string{"text"}
		var ends []int64
		s.Progress = func(p Progress) {
			if p.Stage == Releasing {
				ends = append(ends, p.Done)
			}
		}
		_, err := attempt(s, defaultSizes, openLedger(t, dir))
		check(t, err)
		told = append(told, ends)
	}
	if len(told[0]) < 2 {
		t.Errorf("batches end at %v only", told[0])
	}
	for _, ends := range told {
		if !slices.Equal(ends, told[0]) {
			t.Errorf("batches end at %v and at %v", told[0], ends)
		}
	}
}

// A longer number than any coordinate is invalid, for it would count.
func TestLongCoordinate(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "user,lat,lon\nana,48.85,2.3500000000000000000000000000000000000000000000000000000000000001\n")
	if _, err := attempt(newSpec(dir), defaultSizes, openLedger(t, dir)); err == nil || !strings.Contains(err.Error(), "line 2, column lon: the number has 66 bytes, which is more than 64") {
		t.Errorf("got %v", err)
	}
}

// A kept cell that the output cannot hold is found before anybody is charged, or set aside.
func TestKeptCellsFit(t *testing.T) {
	for _, ext := range []string{".parquet", ".geoparquet", ".geojson", ".gpkg"} {
		for name, want := range map[string]string{
			"in.csv":       `line 3, column x: "\xff" is not UTF-8 text`,
			"in.db#number": `row 2, column x: "many" is not a 64-bit integer`,
		} {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), "user,lat,lon,x\nana,48.85,2.35,a\nben,48.85,2.35,\xff\n")
			conn, err := sqlite.Open(filepath.Join(dir, "in.db"), sqlite.ReadWrite|sqlite.Create)
			check(t, err)
			check(t, conn.Exec(`CREATE TABLE number(user TEXT, lat REAL, lon REAL, x INTEGER);
				INSERT INTO number VALUES ('ana', 48.85, 2.35, 1), ('ben', 48.85, 2.35, 'many')`))
			check(t, conn.Close())
			l := openLedger(t, dir)
			s := newSpec(dir)
			s.In, s.Out, s.Keep = filepath.Join(dir, name), filepath.Join(dir, "out"+ext), []string{"x"}
			if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s to %s: got %v, want %s", name, ext, err, want)
			}
			if got := spent(t, l); len(got) > 0 {
				t.Errorf("%s to %s: charged %v", name, ext, got)
			}
			s.Rejects = filepath.Join(dir, "bad.csv")
			sum, err := attempt(s, defaultSizes, l)
			check(t, err)
			if got := spent(t, l); sum.Invalid != 1 || len(got) != 1 {
				t.Errorf("%s to %s: %d set aside, charged %v", name, ext, sum.Invalid, got)
			}
		}
	}
}

// A link in the place of the temporary file is not followed.
func TestTemporaryFileIsOurs(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), people(30, 3))
		other := filepath.Join(elsewhere, "other")
		if there {
			write(t, other, "somebody's")
		}
		l := openLedger(t, dir)
		s := newSpec(dir)
		check(t, os.Symlink(other, s.Out+unfinished))
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("got %v", err)
		}
		if text, err := os.ReadFile(other); there != (err == nil) || there && string(text) != "somebody's" {
			t.Errorf("a link was followed: %q, %v", text, err)
		}
		if got := spent(t, l); len(got) > 0 {
			t.Errorf("charged %v", got)
		}
	}
}

// A file that an earlier attempt left and somebody has linked would show two draws under that
// name.
func TestLinkedTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	write(t, s.Out+unfinished, "an earlier draw")
	check(t, os.Link(s.Out+unfinished, filepath.Join(dir, "linked")))
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "has a second name") {
		t.Errorf("got %v", err)
	}
	wantFolder(t, dir, "in.csv", "linked", "out.csv"+unfinished)
	if got := spent(t, l); len(got) > 0 {
		t.Errorf("charged %v", got)
	}
}

// A file that has taken the name of the temporary one is not published in its place.
func TestPublishesItsOwn(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	s := newSpec(dir)
	s.Progress = func(p Progress) {
		if p.Stage == Sealing {
			check(t, os.Remove(s.Out+unfinished))
			write(t, s.Out+unfinished, "another draw")
		}
	}
	if _, err := attempt(s, defaultSizes, openLedger(t, dir)); err == nil || !strings.Contains(err.Error(), "has been replaced by another file") {
		t.Errorf("got %v", err)
	}
	if exists(s.Out) {
		t.Error("another file was published")
	}
}

// A release replaces nothing, also no file that has appeared while it ran.
func TestReplacesNothing(t *testing.T) {
	for _, path := range []string{"out.csv", "out.csv.metadata.json", "out.csv.report.html", "bad.csv"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), people(30, 3))
		l := openLedger(t, dir)
		s := newSpec(dir)
		s.Rejects = filepath.Join(dir, "bad.csv")
		s.Progress = func(p Progress) {
			if p.Stage == Sealing {
				write(t, filepath.Join(dir, path), "new")
			}
		}
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), path+" has been created meanwhile") {
			t.Errorf("%s: got %v", path, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(text) != "new" {
			t.Errorf("%s was replaced by %.40q, %v", path, text, err)
		}
		check(t, os.Remove(filepath.Join(dir, path)))
		s.Progress = nil
		_, err := attempt(s, defaultSizes, l)
		check(t, err)
		wantFolder(t, dir, "bad.csv", "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
	}
}

// How many locations lay outside is told to the owner, with or without a section of the
// report.
func TestOutsideIsTold(t *testing.T) {
	for _, publishable := range []bool{false, true} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), "user,lat,lon\nana,48.85,2.35\nben,40,2.35\n")
		s := newSpec(dir)
		s.Publishable, s.Outside = publishable, 0.5
		sum, err := attempt(s, defaultSizes, openLedger(t, dir))
		check(t, err)
		if sum.Outside != 1 {
			t.Errorf("publishable %v: %d outside", publishable, sum.Outside)
		}
	}
}

// A release that was published leaves another one alone that is sealed for the same
// output and has no name yet.
func TestPublishedLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.ID = "first"
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	check(t, os.Rename(s.Out, filepath.Join(dir, "first.csv")))
	check(t, os.Remove(reportPath(s.Out)))
	check(t, os.Remove(metadataPath(s.Out)))
	second := s
	second.ID = "second"
	second.Progress = func(p Progress) {
		if p.Stage == Sealing {
			write(t, s.Out, "in the way")
		}
	}
	if _, err := attempt(second, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "complete and sealed") {
		t.Fatalf("got %v", err)
	}
	check(t, os.Remove(s.Out))
	if sum, err := attempt(s, defaultSizes, l); err != nil || !sum.Repeated || sum.Gone == nil {
		t.Errorf("got %+v, %v", sum, err)
	}
	second.Progress = nil
	sum, err := attempt(second, defaultSizes, l)
	check(t, err)
	if sum.Finished == nil {
		t.Error("the sealed release was lost")
	}
	if got := spent(t, l)["u0"]; got != 20*cost {
		t.Errorf("spent %v", got)
	}
}

// A process that has lost its temporary file leaves the one alone that has its name now.
func TestLeavesOthersFilesAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	s := newSpec(dir)
	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = func(p Progress) {
		if p.Stage == Releasing && ctx.Err() == nil {
			check(t, os.Remove(s.Out+unfinished))
			write(t, s.Out+unfinished, "another process's")
			cancel()
		}
	}
	if _, err := (&run{spec: &s, sizes: small, ledger: openLedger(t, dir)}).run(ctx); err != context.Canceled {
		t.Fatal(err)
	}
	wantFolder(t, dir, "in.csv", "out.csv"+unfinished)
}

// A report with a section for the owner does not become a publishable one because the
// command that gives it its name asks for that.
func TestSealedReportIsNotPublishable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Progress = func(p Progress) {
		if p.Stage == Sealing {
			write(t, s.Out, "in the way")
		}
	}
	if _, err := attempt(s, defaultSizes, l); err == nil {
		t.Fatal("there was something in the way")
	}
	check(t, os.Remove(s.Out))
	s.Progress, s.Publishable = nil, true
	refused := func() {
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "repeat the command without --publishable") {
			t.Errorf("got %v", err)
		}
	}
	refused()
	check(t, os.Rename(reportPath(s.Out)+unfinished, reportPath(s.Out))) // killed before the output was named
	refused()
	s.Publishable = false
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
}
