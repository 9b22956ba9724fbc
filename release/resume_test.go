package release

import (
	"context"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
)

// A command that is repeated by mistake is found, wherever its output went or goes, and does
// nothing. Another file in the output's place is an error.
func TestRepeated(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	first, err := attempt(s, defaultSizes, l)
	check(t, err)
	repeat := func(gone bool) {
		t.Helper()
		sum, err := attempt(s, defaultSizes, l)
		if err != nil || !sum.Repeated || sum.Finished == nil || (sum.Gone != nil) != gone || sum.ID != first.ID || sum.Rows != first.Rows {
			t.Errorf("got %+v, %v", sum, err)
		}
	}
	repeat(false)
	other := s
	other.Epsilon = big.NewRat(1, 50)
	if _, err := attempt(other, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v", err)
	}
	check(t, os.Rename(s.Out, filepath.Join(dir, "moved.csv")))
	check(t, os.Remove(reportPath(s.Out)))
	check(t, os.Remove(metadataPath(s.Out)))
	repeat(true)
	write(t, s.Out, "something else")
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v", err)
	}
	check(t, os.Remove(s.Out))
	s.Out = filepath.Join(dir, "other.csv")
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "goes to "+filepath.Join(dir, "out.csv")) {
		t.Errorf("got %v", err)
	}
	wantFolder(t, dir, "in.csv", "moved.csv")
	if got := spent(t, l)["u0"]; got != 10*cost {
		t.Errorf("spent %v", got)
	}
}

// A release that is sealed but has no name yet is not lost to another with the same
// output.
func TestSealedIsKept(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.ID = "first"
	s.Progress = func(p Progress) {
		if p.Stage == Publishing {
			check(t, os.MkdirAll(filepath.Join(reportPath(s.Out), "in the way"), 0o700))
		}
	}
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "complete and sealed") {
		t.Fatalf("got %v", err)
	}
	check(t, os.RemoveAll(reportPath(s.Out)))
	s.Progress = nil
	sealed, err := os.ReadFile(s.Out + unfinished)
	check(t, err)

	other := s
	other.ID = "second"
	if _, err := attempt(other, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "is of the complete release first") {
		t.Errorf("got %v", err)
	}
	_, err = attempt(s, defaultSizes, l)
	check(t, err)
	published, err := os.ReadFile(s.Out)
	check(t, err)
	if string(published) != string(sealed) {
		t.Error("what was sealed is not what was published")
	}
	if got := spent(t, l)["u0"]; got != 10*cost {
		t.Errorf("spent %v", got)
	}
}

// The rows that a sealed release has set aside get the name that they were to have.
func TestSealedRejects(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), strings.Replace(people(30, 3), "48.85", "x", 1))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Rejects = filepath.Join(dir, "rejects.csv")
	s.Progress = func(p Progress) {
		if p.Stage == Publishing {
			check(t, os.MkdirAll(filepath.Join(s.Rejects, "in the way"), 0o700))
		}
	}
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "complete and sealed") {
		t.Fatalf("got %v", err)
	}
	check(t, os.RemoveAll(s.Rejects))
	s.Progress = nil
	other := s
	other.Rejects = filepath.Join(dir, "other.csv")
	if _, err := attempt(other, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "its earlier --rejects") {
		t.Errorf("got %v", err)
	}
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html", "rejects.csv")
}

// The meaning of an id does not change.
func TestAnotherPlan(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	l := openLedger(t, dir)
	ctx, cancel := context.WithCancel(context.Background())
	s := newSpec(dir)
	s.ID = "census"
	s.Progress = func(p Progress) {
		if p.Stage == Releasing {
			cancel()
		}
	}
	if _, err := (&run{spec: &s, sizes: small, ledger: l}).run(ctx); err != context.Canceled {
		t.Fatal(err)
	}
	s.Progress = nil
	before := spent(t, l)["u0"]
	for want, change := range map[string]func(*Spec){
		"has another input":     func(s *Spec) { write(t, s.In, people(3000, 39)) },
		"another input":         func(s *Spec) { write(t, s.In, strings.Replace(people(3000, 40), "lat,lon", "lon,lat", 1)) },
		"has other settings":    func(s *Spec) { s.Keep = []string{"id"} },
		"formulas=escaped":      func(s *Spec) { s.EscapeFormulas = true },
		"goes to ":              func(s *Spec) { s.Out = filepath.Join(dir, "other.csv") },
		"domain=48.8,2.22,48.9": func(s *Spec) { s.Step = 5 },
	} {
		write(t, s.In, people(3000, 40))
		changed := s
		change(&changed)
		if _, err := attempt(changed, small, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	wantFolder(t, dir, "in.csv")
	if after := spent(t, l)["u0"]; after != before {
		t.Errorf("spent %v, then %v", before, after)
	}
	write(t, s.In, people(3000, 40))
	_, err := attempt(s, small, l)
	check(t, err)
	if got := spent(t, l)["u0"]; got != 75*cost {
		t.Errorf("spent %v", got)
	}
}

// An input that changes between the passes is noticed before the changed rows are charged.
func TestInputChanges(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	l := openLedger(t, dir)
	for name, text := range map[string]string{
		"cells":              strings.Replace(people(3000, 40), "1500,u20,48.85", "1500,u20,48.86", 1),
		"less":               people(2990, 40),
		"whole batches less": people(2900, 40),
		"more":               people(3300, 40),
	} {
		s := newSpec(dir)
		s.ID = name
		write(t, s.In, people(3000, 40))
		s.Progress = func(p Progress) {
			if p.Stage == Charging {
				write(t, s.In, text)
			}
		}
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "has changed since it was checked") {
			t.Errorf("%s: got %v", name, err)
		}
		wantFolder(t, dir, "in.csv")
	}
}

// One process at a time works on an output.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3))
	l := openLedger(t, dir)
	s := newSpec(dir)
	tried := false
	s.Progress = func(p Progress) {
		if p.Stage == Releasing && !tried {
			tried = true
			if _, err := attempt(newSpec(dir), small, l); err == nil || !strings.Contains(err.Error(), "another process is writing it") {
				t.Errorf("got %v", err)
			}
		}
	}
	_, err := attempt(s, small, l)
	check(t, err)
	if got := spent(t, l)["u0"]; !tried || got != 100*cost {
		t.Errorf("tried: %v, spent %v", tried, got)
	}
}

// A process that goes on with a release which another has taken over (without the lock
// of the file, such as from another machine) is stopped at its next charge and at its
// seal.
func TestTakenOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the file of the accounts keeps its name while the first process is there, so that no other continues")
	}
	for _, stage := range []Stage{Charging, Releasing, Sealing} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
		l := openLedger(t, dir)
		s := newSpec(dir)
		taken := false
		s.Progress = func(p Progress) {
			if p.Stage != stage || taken {
				return
			}
			taken = true
			check(t, os.Remove(s.Out+unfinished)) // and with it the lock
			check(t, os.Remove(reportPath(s.Out)+unfinished))
			check(t, os.Remove(metadataPath(s.Out)+unfinished))
			_, err := attempt(newSpec(dir), small, l)
			check(t, err)
		}
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "was continued by another process") {
			t.Errorf("got %v", err)
		}
		wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
		if got := spent(t, l)["u0"]; got != 75*cost {
			t.Errorf("spent %v", got)
		}
	}
}

// A release that is sealed and could not get its name gets it from the next run, which
// draws nothing and charges nothing; whatever else fails meanwhile leaves it alone.
func TestSealedAndNotNamed(t *testing.T) {
	t.Run("no file", func(t *testing.T) { sealedAndNotNamed(t, false) })
	t.Run("the output", func(t *testing.T) { sealedAndNotNamed(t, true) })
}

// sealedAndNotNamed is about a release with no named file, or with names for all others.
func sealedAndNotNamed(t *testing.T, named bool) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3)+"300,u0,x,2.35\n")
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Rejects = filepath.Join(dir, "bad.csv")
	s.Progress = func(p Progress) {
		if p.Stage == Sealing {
			write(t, s.Out, "in the way")
		}
	}
	if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), "has been created meanwhile; repeat the command with --id ") {
		t.Fatalf("got %v", err)
	}
	sealed, err := os.ReadFile(s.Out + unfinished)
	check(t, err)
	check(t, os.Remove(s.Out))
	if named {
		for _, path := range []string{reportPath(s.Out), metadataPath(s.Out), s.Rejects} {
			check(t, os.Rename(path+unfinished, path))
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Progress = nil
	if _, err := (&run{spec: &s, sizes: small, ledger: l}).run(ctx); err != context.Canceled {
		t.Fatalf("got %v", err)
	}
	sum, err := attempt(s, small, l)
	check(t, err)
	published, err := os.ReadFile(s.Out)
	check(t, err)
	if string(published) != string(sealed) || sum.Finished == nil {
		t.Error("another draw was published")
	}
	wantFolder(t, dir, "bad.csv", "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
	if page, err := os.ReadFile(reportPath(s.Out)); err != nil || !strings.Contains(string(page), "</html>") {
		t.Errorf("the report is not whole: %v", err)
	}
	if rows := readCSV(t, s.Rejects); len(rows) != 2 {
		t.Errorf("rejected %v", rows)
	}
	if got := spent(t, l)["u0"]; got != 100*cost {
		t.Errorf("spent %v", got)
	}
}

// Files of an earlier attempt are never published, whatever they are.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(30, 3))
	s := newSpec(dir)
	write(t, s.Out+unfinished, strings.Repeat("left\n", 1000))
	check(t, os.Chmod(s.Out+unfinished, 0o644))
	l := openLedger(t, dir)
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	if text, err := os.ReadFile(s.Out); err != nil || strings.Contains(string(text), "left") {
		t.Errorf("published what was left: %v", err)
	}
	if info, err := os.Stat(s.Out); err != nil || !isPrivate(info) {
		t.Errorf("mode %v", info.Mode())
	}
	check(t, os.Mkdir(filepath.Join(dir, "b.csv"+unfinished), 0o700))
	s.Out = filepath.Join(dir, "b.csv")
	if _, err := attempt(s, defaultSizes, l); err == nil {
		t.Error("a folder is in the way")
	}
	if got := spent(t, l)["u0"]; got != 10*cost {
		t.Errorf("spent %v", budget.Amount(got))
	}
}
