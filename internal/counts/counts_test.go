package counts

import (
	"os"
	"testing"

	"pgregory.net/rapid"
)

// A table counts as a map does, whatever is in its file.
func TestTableIsAMap(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
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
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

func TestErrorsOfTheFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
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
