package release

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/internal/files/filestest"
)

// A disk that is full stops a release in shards in each of its phases with nothing published by
// halves. Once there is room the same call goes on.
func TestShardsDiskIsFull(t *testing.T) {
	const n, rows, most = 4, 4000, 300
	disk, dir := filestest.SmallDisk(t, 1), t.TempDir()
	text, kept, charged := crowded(rows, most)
	s := newSpec(dir)
	s.In, s.Out = filepath.Join(disk, "in.csv"), filepath.Join(disk, "out.csv")
	s.ID, s.Keep, s.MaxRows = "census", []string{"id"}, most
	write(t, s.In, text)
	l := newShared(t)
	filler := filepath.Join(disk, "filler")
	failed, done := 0, false
	for room := int64(0); !done; room += 12 << 10 {
		var disks unix.Statfs_t
		check(t, unix.Statfs(disk, &disks))
		fill := int64(disks.Bavail)*disks.Bsize - room
		if fill > 0 {
			write(t, filler, string(make([]byte, fill)))
		}
		_, err := inShards(s, l, n, -1)
		if done = err == nil; !done {
			if failed++; !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			drafts, _ := filepath.Glob(filepath.Join(disk, "*"+draftEnding))
			if len(drafts) > 0 {
				t.Errorf("%v are left", drafts)
			}
		}
		if fill > 0 {
			check(t, os.Remove(filler))
		}
	}
	if failed < 3 {
		t.Errorf("%d attempts failed", failed)
	}
	if err := judgeWhole(t, s, n, l.Ledger, kept, charged); err != nil {
		t.Error(err)
	}
}
