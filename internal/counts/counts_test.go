package counts

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// filesIn makes a folder the one for temporary files, on any system.
func filesIn(t *testing.T, folder string) {
	t.Helper()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
}

// A table counts as a map does, whatever is in its file.
func TestTableIsAMap(t *testing.T) {
	filesIn(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		table := Table{most: rapid.IntRange(1, 4).Draw(t, "pages")}
		defer table.Close()
		want := map[[2]uint64]uint32{}
		counters := rapid.SampledFrom([]uint64{0, 1, perPage - 1, perPage, 5 * perPage, 1 << 40, 1<<64 - 1})
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			session, counter := rapid.Uint32Range(1, 3).Draw(t, "session"), counters.Draw(t, "counter")
			n, err := table.At(session, counter)
			if err != nil {
				t.Fatal(err)
			}
			key := [2]uint64{uint64(session), counter}
			if *n != want[key] {
				t.Fatalf("%v: %d, want %d", key, *n, want[key])
			}
			*n++
			want[key]++
		}
	})
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// However many values come, and in whatever order, no more pages than fit are in memory, and no
// count is lost.
func TestPagesInMemoryAreBounded(t *testing.T) {
	filesIn(t, t.TempDir())
	const most, values = 8, 40 * perPage
	for name, stride := range map[string]uint64{"in order": 1, "apart": 7919, "a page apart": perPage - 1} {
		table := Table{most: most}
		for round := uint32(1); round <= 2; round++ {
			for i := range uint64(values) {
				n, err := table.At(uint32(i%3), i*stride%values)
				if err != nil {
					t.Fatal(err)
				}
				if *n != round-1 {
					t.Fatalf("%s: value %d has the count %d in round %d", name, i, *n, round)
				}
				*n = round
				if len(table.pages) > most || len(table.ring) > most {
					t.Fatalf("%s: %d pages and a ring of %d after %d values, want %d at most", name, len(table.pages), len(table.ring), i+1, most)
				}
			}
		}
		if info, err := table.file.Stat(); err != nil || info.Size() > 3*int64(values)/perPage*pageSize {
			t.Errorf("%s: the file has %v, %v", name, info.Size(), err)
		}
		table.Close()
		if len(table.pages)+len(table.ring)+len(table.slots) > 0 || table.file != nil {
			t.Errorf("%s: a closed table is not empty", name)
		}
	}
}

// A page without room in the temporary folder is an error, and no count is lost.
func TestNoRoomForTheFile(t *testing.T) {
	filesIn(t, filepath.Join(t.TempDir(), "that is not there"))
	table := Table{most: 1}
	defer table.Close()
	n, err := table.At(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	*n = 7
	if _, err := table.At(1, perPage); err == nil {
		t.Error("a second page is counted in memory for one")
	}
	if n, err := table.At(1, 0); err != nil || *n != 7 {
		t.Errorf("the count became %v, %v", n, err)
	}
}

// A table as statements use it holds 64 MB.
func TestResidentPages(t *testing.T) {
	filesIn(t, t.TempDir())
	var table Table
	defer table.Close()
	for i := range uint64(resident + 100) {
		if _, err := table.At(1, i*perPage); err != nil {
			t.Fatal(err)
		}
	}
	if len(table.pages) != resident || len(table.ring) != resident || len(table.slots) != 100 {
		t.Errorf("%d pages, a ring of %d, %d in the file; want %d, %[4]d and 100", len(table.pages), len(table.ring), len(table.slots), resident)
	}
	if size := resident * pageSize; size != 64<<20 {
		t.Errorf("the pages take %d bytes", size)
	}
}

func TestErrorsOfTheFile(t *testing.T) {
	filesIn(t, t.TempDir()+"/none")
	table := Table{most: 1}
	if _, err := table.At(1, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := table.At(1, perPage); err == nil {
			t.Fatal("no error without a folder for the file")
		}
	}
	if n, err := table.At(1, 0); err != nil || *n != 0 {
		t.Error(n, err)
	}
}

func BenchmarkAt(b *testing.B) {
	for _, bench := range []struct {
		name   string
		stride uint64
	}{{"in order", 1}, {"apart", 7919}} {
		b.Run(bench.name, func(b *testing.B) {
			var table Table
			defer table.Close()
			for i := range uint64(b.N) {
				n, err := table.At(1, i*bench.stride%1_000_000)
				if err != nil {
					b.Fatal(err)
				}
				*n = 1
			}
		})
	}
}
