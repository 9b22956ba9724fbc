package state

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
)

const ledgerID = "0123456789abcdef0123456789abcdef"

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func claimed(t testing.TB, folder string, generation int64) *Writer {
	t.Helper()
	w, err := Claim(folder, ledgerID, generation)
	check(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

func all(t testing.TB, folder string) []Seen {
	t.Helper()
	seen, err := All(folder, ledgerID)
	check(t, err)
	return seen
}

// hasModes says that files have modes, by which others can be kept from them.
const hasModes = runtime.GOOS != "windows"

// head is some entry with a number.
func head(id int64) ledger.Head { return ledger.Head{ID: id, Hash: sha256.Sum256(fmt.Append(nil, id))} }

func TestFolder(t *testing.T) {
	home, variable, state := t.TempDir(), "HOME", filepath.Join(".local", "state", "geosql")
	if runtime.GOOS == "windows" {
		variable, state = "LOCALAPPDATA", "geosql"
	}
	for _, v := range []struct{ own, xdg, home, want string }{
		{filepath.Join(home, "a"), filepath.Join(home, "b"), home, filepath.Join(home, "a")},
		{"", filepath.Join(home, "b"), home, filepath.Join(home, "b", "geosql")},
		{"", "relative", home, filepath.Join(home, state)},
		{"", "", home, filepath.Join(home, state)},
	} {
		t.Setenv(FolderVariable, v.own)
		t.Setenv("XDG_STATE_HOME", v.xdg)
		t.Setenv(variable, v.home)
		if got, err := Folder(); got != v.want || err != nil {
			t.Errorf("%+v: %s, %v", v, got, err)
		}
	}
	t.Setenv(variable, "")
	if _, err := Folder(); err == nil || !strings.Contains(err.Error(), FolderVariable) {
		t.Errorf("without a home: %v", err)
	}
	t.Setenv(FolderVariable, "here")
	if got, err := Folder(); !filepath.IsAbs(got) || err != nil {
		t.Errorf("a relative path: %s, %v", got, err)
	}
}

func TestWriter(t *testing.T) {
	folder := t.TempDir()
	if seen := all(t, filepath.Join(folder, "none")); len(seen) != 0 {
		t.Errorf("an empty folder has %v", seen)
	}
	w := claimed(t, folder, 1)
	id := w.ID()
	if len(id) != 32 || w.Last() != (ledger.Head{}) || w.Doubt() != nil {
		t.Errorf("a new writer: %s, %v, %v", id, w.Last(), w.Doubt())
	}
	for i := range int64(5) {
		check(t, w.Acknowledge(head(i+1)))
	}
	check(t, w.InDoubt(head(9)))
	other := claimed(t, folder, 1)
	if other.ID() == id {
		t.Fatal("a writer that is in use was claimed")
	}
	want := []Seen{{id, 1, head(5), new(head(9))}, {other.ID(), 1, ledger.Head{}, nil}}
	if id > other.ID() {
		want[0], want[1] = want[1], want[0]
	}
	if got := all(t, folder); show(got) != show(want) {
		t.Errorf("all are %s, want %s", show(got), show(want))
	}
	if info, err := os.Stat(filepath.Join(folder, ledgerID, prefix+id)); err != nil || hasModes && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(folder, ledgerID)); err != nil || hasModes && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	check(t, w.Close())
	again := claimed(t, folder, 1)
	if again.ID() != id || again.Last() != head(5) || again.Doubt() == nil || *again.Doubt() != head(9) {
		t.Errorf("claimed again: %s, %v, %v", again.ID(), again.Last(), again.Doubt())
	}
	check(t, again.Acknowledge(head(5)))
	if again.Doubt() != nil {
		t.Error("still in doubt")
	}
	if again.Acknowledge(head(4)) == nil {
		t.Error("an entry before the last was acknowledged")
	}
	check(t, again.Acknowledge(head(6)))
	check(t, again.Close())
	if again.Acknowledge(head(7)) == nil {
		t.Error("a closed writer acknowledged")
	}

	// Another ledger has files of its own.
	w, err := Claim(folder, "another", 1)
	check(t, err)
	defer w.Close()
	if w.ID() == id {
		t.Error("two ledgers have one writer")
	}
}

func show(seen []Seen) string {
	var b strings.Builder
	for _, s := range seen {
		fmt.Fprintln(&b, s.ID, s.Generation, s.Last)
		if s.Doubt != nil {
			fmt.Fprintln(&b, *s.Doubt)
		}
	}
	return b.String()
}

func TestGenerations(t *testing.T) {
	folder := t.TempDir()
	used, free := claimed(t, folder, 1), claimed(t, folder, 1)
	check(t, used.Acknowledge(head(3)))
	check(t, free.Acknowledge(head(4)))
	check(t, free.Close())
	w := claimed(t, folder, 2)
	if w.ID() == used.ID() || w.ID() == free.ID() || w.Last() != (ledger.Head{}) {
		t.Errorf("a writer of an older generation was claimed: %s", w.ID())
	}
	seen := all(t, folder)
	if len(seen) != 2 {
		t.Errorf("all are %s", show(seen))
	}
	for _, s := range seen {
		if s.ID == free.ID() {
			t.Error("a writer of an older generation is still there")
		}
	}
	check(t, w.Close())
	_, err := Claim(folder, ledgerID, 1)
	if err == nil || !strings.Contains(err.Error(), "generation") || strings.Contains(err.Error(), "\n") {
		t.Errorf("an older generation than seen: %v", err)
	}
}

// Many processes claim writers at a time: no two have the same.
func TestClaimRace(t *testing.T) {
	folder := t.TempDir()
	var mutex sync.Mutex
	held := map[string]bool{}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				w, err := Claim(folder, ledgerID, 1)
				if err != nil {
					t.Error(err)
					return
				}
				mutex.Lock()
				if held[w.ID()] {
					t.Errorf("%s is held twice", w.ID())
				}
				held[w.ID()] = true
				mutex.Unlock()
				last := w.Last().ID
				if err := w.Acknowledge(head(last + 1)); err != nil {
					t.Error(err)
				}
				mutex.Lock()
				delete(held, w.ID())
				mutex.Unlock()
				w.Close()
			}
		})
	}
	group.Wait()
	var sum int64
	for _, s := range all(t, folder) {
		sum += s.Last.ID
	}
	if sum != 8*50 {
		t.Errorf("%d entries were acknowledged, want %d", sum, 8*50)
	}
	if n := len(all(t, folder)); n > 8 {
		t.Errorf("8 processes have left %d files", n)
	}
}

// filled returns the path and the bytes of a file.
func filled(t testing.TB) (folder, path string, b []byte) {
	folder = t.TempDir()
	w := claimed(t, folder, 7)
	for i := range int64(4) {
		check(t, w.Acknowledge(head(i+1)))
	}
	path = filepath.Join(folder, ledgerID, prefix+w.ID())
	check(t, w.Close())
	b, err := os.ReadFile(path)
	check(t, err)
	return folder, path, b
}

// A write that is torn anywhere leaves the earlier content, unless the bytes that are missing are those that were there.
func TestTornWrite(t *testing.T) {
	_, path, b := filled(t)
	s, err := parse(b, ledgerID)
	check(t, err)
	w := &Writer{ledgerID: ledgerID, slot: s}
	w.slot.last = head(5)
	w.slot.count++
	written := w.slot.append(nil, ledgerID)
	at := int(w.slot.count%2) * slotDistance
	for n := range len(written) + 1 {
		torn := bytes.Clone(b)
		copy(torn[at:], written[:n])
		check(t, os.WriteFile(path, torn, 0o600))
		got, err := parse(torn, ledgerID)
		check(t, err)
		want := head(4)
		if bytes.HasPrefix(torn[at:], written) {
			want = head(5)
		}
		if got.last != want {
			t.Fatalf("after %d of %d bytes: %v, want %v", n, len(written), got.last, want)
		}
	}
}

// A file that is damaged is an error with the cure, and is never left aside.
func TestDamagedFile(t *testing.T) {
	_, _, valid := filled(t)
	s, err := parse(valid, ledgerID)
	check(t, err)
	other := s
	other.id[0] ^= 1
	twoIDs := bytes.Clone(valid)
	copy(twoIDs[slotDistance:], other.append(nil, ledgerID))
	both := bytes.Clone(valid)
	both[20] ^= 1
	both[slotDistance+20] ^= 1
	foreign := bytes.Clone(valid)
	copy(foreign, s.append(nil, "another"))
	copy(foreign[slotDistance:], s.append(nil, "another"))
	for name, b := range map[string][]byte{
		"empty":          {},
		"zeros":          make([]byte, fileSize),
		"short":          valid[:fileSize-1],
		"long":           append(bytes.Clone(valid), 0),
		"both":           both,
		"two writers'":   twoIDs,
		"another ledger": foreign,
		"a copy":         valid, // under the name of the writer below
	} {
		folder, path, _ := filled(t)
		check(t, os.WriteFile(path, b, 0o600))
		for _, err := range []error{
			func() error { _, err := Claim(folder, ledgerID, 7); return err }(),
			func() error { _, err := Claim(folder, ledgerID, 8); return err }(),
			func() error { _, err := All(folder, ledgerID); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete the file") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !exists(path) {
			t.Errorf("%s: the file was removed", name)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A change of any bit is noticed, or leaves one of the states that were written.
func TestChangedBits(t *testing.T) {
	_, _, valid := filled(t)
	for i := range valid {
		for bit := range 8 {
			b := bytes.Clone(valid)
			b[i] ^= 1 << bit
			s, err := parse(b, ledgerID)
			if err != nil || s.last != head(3) && s.last != head(4) {
				t.Fatalf("bit %d of byte %d: %v, %v", bit, i, s.last, err)
			}
		}
	}
}

// FuzzParse parses files with right checksums.
func FuzzParse(f *testing.F) {
	_, _, valid := filled(f)
	f.Add(valid)
	f.Add([]byte{})
	f.Add(append(make([]byte, slotDistance), valid[slotDistance:]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		for at := 0; at+slotSize <= len(b); at += slotDistance { // else nearly none passes
			sum := checksum(b[at:at+textSize], ledgerID)
			copy(b[at+textSize:], sum[:])
		}
		s, err := parse(b, ledgerID)
		if err != nil {
			return
		}
		again := s.append(nil, ledgerID)
		if !bytes.HasPrefix(b, again) && !bytes.HasPrefix(b[slotDistance:], again) {
			t.Errorf("%+v is not in the file", s)
		}
	})
}

// pathVariable makes the test binary acknowledge entries until it is killed.
const pathVariable = "GEOSQL_STATE_TEST_FOLDER"

// The acknowledgements to a process are still known after it is killed.
func TestKilledProcess(t *testing.T) {
	if folder := os.Getenv(pathVariable); folder != "" {
		w, err := Claim(folder, ledgerID, 1)
		check(t, err)
		for id := w.Last().ID + 1; ; id++ {
			fmt.Printf("begin %d %s\n", id, w.ID())
			check(t, w.Acknowledge(head(id)))
			fmt.Printf("done %d %s\n", id, w.ID())
		}
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	folder := t.TempDir()
	for range 30 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
		cmd.Env = append(os.Environ(), pathVariable+"="+folder)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		var begun, done int64
		var id string
		kill := 1 + rand.IntN(400)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var what string
			var n int64
			if _, err := fmt.Sscanf(lines.Text(), "%s %d %s", &what, &n, &id); err != nil {
				break // the last line is cut
			}
			if what == "begin" {
				begun = n
			} else {
				done = n
			}
			if kill--; kill == 0 {
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				check(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait() // killed
		seen := all(t, folder)
		if len(seen) != 1 || seen[0].ID != id {
			t.Fatalf("one process at a time has left %s", show(seen))
		}
		last, want := seen[0].Last, ledger.Head{}
		if last.ID > 0 { // nothing was acknowledged by the first process if it was killed at once
			want = head(last.ID)
		}
		if last.ID < done || last != want || begun == 0 { // the last lines may not have been read
			t.Fatalf("acknowledged %d, the file says %v", done, last)
		}
	}
}

func BenchmarkAcknowledge(b *testing.B) {
	w := claimed(b, b.TempDir(), 1)
	for i := int64(1); b.Loop(); i++ {
		check(b, w.Acknowledge(head(i)))
	}
}

// A link in the place of a writer's file is not the file: it could lead two processes to one.
func TestLinkedFile(t *testing.T) {
	folder := t.TempDir()
	w := claimed(t, folder, 1)
	id := w.ID()
	w.Close()
	path := filepath.Join(folder, ledgerID, prefix+id)
	moved := filepath.Join(t.TempDir(), prefix+id)
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, path); err != nil {
		t.Skip(err)
	}
	if w := claimed(t, folder, 1); w.ID() == id {
		t.Error("a writer is claimed through a link")
	}
}
