package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/fuzz/fuzztest"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// FuzzDamage changes any bytes of a ledger, or of its archive. Opening or verifying it then fails with one line, or
// the ledger has the same contents as before, and grants no more than before.
func FuzzDamage(f *testing.F) {
	folder := f.TempDir()
	l := newFilled(f)
	archive := filepath.Join(folder, "archive")
	if _, err := l.Archive(archive, entryTime(f, l, 9)); err != nil {
		f.Fatal(err)
	}
	check(f, l.Close())
	l = open(f, l.Path()) // at the time that it really is
	var times [][]byte    // of entries, as the file has them: only hashes depend on these
	for id := int64(9); id < 15; id++ {
		times = append(times, binary.BigEndian.AppendUint64(nil, uint64(entryTime(f, l, id).UnixMicro())))
	}
	noted, want := head(f, l), contents(f, l)
	left := budget.Amount(1000) - balance(f, l, "ana").Spent
	check(f, l.Close())
	whole := map[bool][]byte{false: read(f, l.Path()), true: read(f, archive)}

	for _, inArchive := range []bool{false, true} {
		size := len(whole[inArchive])
		f.Add([]byte{}, uint32(0), inArchive)
		for _, cut := range []int{1, 99, 4096, size / 2, size} {
			f.Add([]byte{}, uint32(cut), inArchive)
		}
		for at := 0; at < size; at += 997 {
			f.Add(binary.BigEndian.AppendUint32(nil, uint32(at)<<8|0x15), uint32(0), inArchive)
		}
		for at := 16; at < 128; at += 4 {
			f.Add(binary.BigEndian.AppendUint32(nil, uint32(at)<<8|0xff), uint32(0), inArchive)
		}
	}
	for _, at := range times {
		i := bytes.Index(whole[false], at)
		if i < 0 {
			f.Fatal("the ledger's file has no time of an entry")
		}
		f.Add(binary.BigEndian.AppendUint32(nil, uint32(i+7)<<8|0x01), uint32(0), false)
	}
	// A change is 3 bytes that say where and one that is changed there. The file loses as many bytes as cut says.
	f.Fuzz(func(t *testing.T, changes []byte, cut uint32, inArchive bool) {
		fuzztest.Limit(t, 20*time.Second)
		ledgerFile, archiveFile := bytes.Clone(whole[false]), bytes.Clone(whole[true])
		damaged := &ledgerFile
		if inArchive {
			damaged = &archiveFile
		}
		for ; len(changes) >= 4; changes = changes[4:] {
			change := binary.BigEndian.Uint32(changes)
			(*damaged)[int(change>>8)%len(*damaged)] ^= byte(change)
		}
		*damaged = (*damaged)[:len(*damaged)-int(cut)%(len(*damaged)+1)]
		folder := t.TempDir()
		path, archive := filepath.Join(folder, "x-ledger"), filepath.Join(folder, "archive")
		check(t, os.WriteFile(path, ledgerFile, 0o600))
		check(t, os.WriteFile(archive, archiveFile, 0o600))

		refuse := func(err error) {
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%q", err)
			}
		}
		l, err := Open(path, false)
		if err != nil {
			refuse(err)
			return
		}
		defer l.Close()
		if _, err := l.Verify(archive, &noted, nil); err != nil {
			refuse(err)
			return
		}
		if got := contents(t, l); got != want {
			t.Errorf("verified, but it says\n%s\nnot\n%s", got, want)
			return
		}
		if err := charge(l, "ana", left+1); err == nil {
			t.Error("verified, and grants more than the limit")
		}
	})
}

// contents returns the charges, balances and limits of a ledger.
func contents(t failer, l *Ledger) string {
	balances := ledgertest.Balances(t, l)
	limits, err := l.LimitChanges()
	check(t, err)
	for i := range balances { // where no window has started it depends on the time
		balances[i].Reopens, balances[i].WindowSpent = time.Time{}, 0
	}
	return fmt.Sprint(charges(t, l), balances, limits)
}

func read(t failer, path string) []byte {
	content, err := os.ReadFile(path)
	check(t, err)
	return content
}
