package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// A charge that shares its transaction with the end of archiving leads to a window that the entry
// which carries the sums over must have too.
func TestArchiveSharesTransaction(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	path := filepath.Join(t.TempDir(), "archive")
	var last map[string]ledger.Head
	check(t, l.read(func(r *reader) (err error) {
		last, err = r.copyEntries(path, time.Now().Add(time.Hour).UnixMicro())
		return err
	}))
	check(t, l.store.update(func(tr *transaction) error {
		s, err := tr.Standing(engine.Key{Account: "eve", Unit: "m"})
		if err != nil {
			return err
		}
		c := engine.ChargeOf(ledger.Item{Account: "eve", Epsilon: 3, Evaluations: 1}, new(engine.Run).Origin(tr.now, "f", "m"))
		if err := engine.Post(tr, c, &s); err != nil {
			return err
		}
		_, err = tr.dropEntries(last)
		return err
	}))
	check(t, verify(l, "", nil))
	check(t, verify(l, path, nil))
}

// When the server's clock was set back, an entry may leave the ledger that is later than one which
// stays. The account's window is that of the later one.
func TestArchiveClockSetBack(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	one, two := fill(t, where)
	for i, l := range []*Ledger{one, two} {
		check(t, l.store.update(func(tr *transaction) error {
			s, err := tr.Standing(engine.Key{Account: "eve", Unit: "m"})
			if err != nil {
				return err
			}
			at := tr.now + int64(1-i)*time.Hour.Microseconds()
			c := engine.ChargeOf(ledger.Item{Account: "eve", Epsilon: 3, Evaluations: 1}, new(engine.Run).Origin(at, "f", "m"))
			return engine.Post(tr, c, &s)
		}))
	}
	path := filepath.Join(t.TempDir(), "archive")
	_, err := one.Archive(path, time.Now().Add(time.Minute))
	check(t, err)
	if kept := ask(t, where, "SELECT count(*) FROM geosql.entry WHERE function = 'f' AND account = 'eve'"); kept != 1 {
		t.Errorf("%d of its charges are kept", kept)
	}
	check(t, verify(two, "", nil))
	check(t, verify(two, path, nil))
}

// Entries leave the ledger while two processes charge, set limits and ask for heads: everything
// goes on to verify, and nothing is lost.
func TestArchiveUnderLoad(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	one, two := reopen(t, where, "one"), reopen(t, where, "two")
	archiver := reopen(t, where, "archiver")
	check(t, one.SetLimit("*", "m", 1_000_000, 0))
	check(t, one.SetLimit("eve", "m", 1_000_000, 3600))
	path := filepath.Join(t.TempDir(), "archive")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var group sync.WaitGroup
	var mutex sync.Mutex
	var charged int64
	var heads []ledger.Head
	for i, l := range []*Ledger{one, two} {
		for range 2 {
			group.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					err := l.Charge("f", "m", items(1, "ana", "eve", "o'neil"))
					if err == nil && n%10 == 9 {
						err = l.SetLimit("bob", "m", 5, int64(i)*60)
					}
					var h ledger.Head
					if err == nil {
						h, err = l.Head()
					}
					if err != nil {
						t.Error(err)
						return
					}
					mutex.Lock()
					charged++
					heads = append(heads, h)
					mutex.Unlock()
				}
			})
		}
	}
	var moved int64
	for began := time.Now(); moved < 100 || time.Since(began) < 2*time.Second; {
		n, err := archiver.Archive(path, time.Now())
		check(t, err)
		moved += n
		check(t, verify(archiver, path, nil))
		check(t, verify(archiver, "", nil))
	}
	stop()
	group.Wait()
	if spent := ask(t, where, "SELECT sum(spent)::bigint FROM geosql.balance"); spent != 3*charged {
		t.Errorf("%d are spent, %d were charged", spent, 3*charged)
	}
	for i := 0; i < len(heads); i += 1 + len(heads)/20 {
		check(t, verify(archiver, path, &heads[i]))
	}
	t.Logf("moved %d entries of %d charges", moved, charged)
}

// FuzzArchive reads files that are no archives, or damaged ones.
func FuzzArchive(f *testing.F) {
	const id = "0123456789abcdef0123456789abcdef"
	first := `{"archive":"geosql ledger on a server","version":1,"ledger":"` + id + `"}` + "\n"
	f.Add("")
	f.Add(first)
	f.Add(first + `{"writer":"00","seq":1,"hash":"00"}` + "\n")
	f.Add(first + "{}\n{")
	f.Add(strings.Repeat("\x00", 100))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(folder, "archive")
		check(t, os.WriteFile(path, []byte(text), 0o600))
		n := 0
		size, err := readArchive(path, id, func(*record) error { n++; return nil })
		if err == nil && (size > int64(len(text)) || size > 0 && strings.Count(text[:size], "\n") != n+1) {
			t.Errorf("%d of %d bytes, %d entries", size, len(text), n)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of several lines: %v", err)
		}
	})
}

// standings returns the stored standing of every account, whichever entry it comes from.
func standings(t testing.TB, where string) (all []string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, where)
	check(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT b::text FROM geosql.balance AS b ORDER BY account, unit")
	check(t, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	return all
}

func entryTime(t testing.TB, where string, nth int) time.Time {
	t.Helper()
	return time.UnixMicro(ask(t, where, fmt.Sprintf("SELECT time FROM geosql.entry ORDER BY id OFFSET %d LIMIT 1", nth)))
}

func sums(t testing.TB, l *Ledger) string {
	t.Helper()
	all := map[string]ledger.Charge{}
	for c, err := range l.Charges() {
		check(t, err)
		k := c.Account + " " + string(c.Unit)
		s := all[k]
		s.Epsilon += c.Epsilon
		s.Evaluations += c.Evaluations
		all[k] = s
	}
	return fmt.Sprint(all)
}

func TestArchive(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	early := headOfLedger(t, l)
	chargeSome(t, l)
	path := filepath.Join(t.TempDir(), "archive")
	first := headOfLedger(t, l)
	before, charged := standings(t, where), sums(t, l)
	cut := entryTime(t, where, 12)
	moved, err := l.Archive(path, cut)
	check(t, err)
	if moved < 5 || moved > 12 {
		t.Errorf("moved %d entries", moved)
	}
	same := func() {
		t.Helper()
		if now := standings(t, where); !slices.Equal(now, before) {
			t.Errorf("balances were %v, are %v", before, now)
		}
		if now := sums(t, l); now != charged {
			t.Errorf("charges were %v, are %v", charged, now)
		}
		check(t, verify(l, "", nil))
		check(t, verify(l, path, nil))
		check(t, verify(l, path, &early))
		check(t, verify(l, path, &first))
		// Another machine knows nothing, and this one nothing wrong.
		check(t, reopen(t, where, "three").Close())
	}
	same()
	check(t, verify(l, "", &first))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	moved, err = l.Archive(path, cut)
	check(t, err)
	if moved != 0 {
		t.Errorf("moved %d entries twice", moved)
	}
	_, err = l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	same()
	if err := verify(l, "", &early); err == nil || !strings.Contains(err.Error(), "archive") {
		t.Errorf("a head of the archive: %v", err)
	}
	_, err = l.Archive(path, time.Now().Add(time.Hour)) // also sums carried over
	check(t, err)
	same()
	noted := headOfLedger(t, l)
	check(t, l.Charge("f", "m", items(1, "ana")))
	check(t, verify(l, path, &noted))

	// The archive is evidence too.
	text, err := os.ReadFile(path)
	check(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		for name, line := range map[string]string{
			"removed": "",
			"changed": strings.Replace(lines[i], `"spent":`, `"spent":1`, 1),
			"swapped": lines[(i+1)%len(lines)],
		} {
			if i == 0 && name == "changed" {
				continue
			}
			changed := slices.Clone(lines)
			changed[i] = line
			if err := verify(l, writeFile(t, strings.Join(changed, "")), nil); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("line %d, %s: %v", i+1, name, err)
			}
		}
	}
	// So are the sums that stand for it.
	spoil(t, where, "UPDATE geosql.entry SET spent = spent - 1 WHERE function = 'ledger_archive' AND spent > 0; UPDATE geosql.balance SET spent = spent - 1 WHERE spent > 0")
	if verify(l, path, nil) == nil {
		t.Error("a changed sum was not noticed")
	}
}

func writeFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A call that ends anywhere before entries leave the ledger leaves an archive that the next call
// goes on with.
func TestArchiveInterrupted(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	path := filepath.Join(t.TempDir(), "archive")
	cut := entryTime(t, where, 12).UnixMicro()
	check(t, l.read(func(r *reader) error {
		_, err := r.copyEntries(path, cut)
		return err
	}))
	check(t, verify(l, path, nil))
	whole, err := os.ReadFile(path)
	check(t, err)
	for n := 0; n <= len(whole); n += 1 + len(whole)/60 {
		part := writeFile(t, string(whole[:n]))
		check(t, l.read(func(r *reader) error {
			_, err := r.copyEntries(part, cut)
			return err
		}))
		if got, err := os.ReadFile(part); err != nil || string(got) != string(whole) {
			t.Fatalf("after %d bytes the archive became another: %v", n, err)
		}
	}
	long := writeFile(t, string(whole)+strings.Repeat("x", 10_000))
	check(t, l.read(func(r *reader) error {
		_, err := r.copyEntries(long, cut)
		return err
	}))
	if got, err := os.ReadFile(long); err != nil || string(got) != string(whole) {
		t.Errorf("what a crash has left is still there: %v", err)
	}
	torn := writeFile(t, string(whole)+`{"writer":"`)
	moved, err := l.Archive(torn, time.Now().Add(time.Hour))
	check(t, err)
	if moved == 0 {
		t.Error("nothing was moved")
	}
	check(t, verify(l, torn, nil))
}

func TestArchiveErrors(t *testing.T) {
	otherMachine(t)
	server := pgtest.Start(t)
	dir := t.TempDir()
	other, _ := fill(t, server.Database(t))
	_, err := other.Archive(filepath.Join(dir, "other"), time.Now())
	check(t, err)
	where := server.Database(t)
	l, _ := fill(t, where)
	_, err = l.Archive(filepath.Join(dir, "archive"), entryTime(t, where, 9))
	check(t, err)
	old, err := os.ReadFile(filepath.Join(dir, "archive"))
	check(t, err)
	_, err = l.Archive(filepath.Join(dir, "archive"), time.Now())
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "behind"), old, 0o600))
	for path, want := range map[string]string{
		filepath.Join(dir, "other"):              "that of ledger",
		writeFile(t, "account,epsilon\nana,1\n"): "not an archive",
		writeFile(t, "no line"):                  "not an archive",
		filepath.Join(dir, "behind"):             "are in another",
		filepath.Join(dir, "new"):                "are in another",
		dir:                                      "is a directory",
		filepath.Join(dir, "none", "x"):          "no such file",
	} {
		before := headOfLedger(t, l)
		_, err := l.Archive(path, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if headOfLedger(t, l) != before {
			t.Errorf("%s: the ledger was changed", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was left: %v", err)
	}
	check(t, verify(l, filepath.Join(dir, "archive"), nil))
	for _, path := range []string{filepath.Join(dir, "missing"), filepath.Join(dir, "behind")} {
		if verify(l, path, nil) == nil {
			t.Errorf("verified with %s", path)
		}
	}
}
