package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// FuzzRestore restores a backup after a change anywhere in its ledger or database. That fails with a line, or the
// restored ledger knows its charges and limits.
func FuzzRestore(f *testing.F) {
	f.Chdir(f.TempDir())
	run := func(tb testing.TB, args ...string) string {
		tb.Helper()
		status, out, errOut := mainOn(tb, args, "")
		if status != 0 {
			tb.Fatalf("%q: status %d, %s", args, status, errOut)
		}
		return out
	}
	const spent = "SELECT account, spent, epsilon_limit, remaining FROM ledger_balance ORDER BY account"
	run(f, "x.db", "SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.48, 1), budget_limit('*', 'm', 5), budget_limit('bo', 'm', 0.5)")
	run(f, "x.db", "SELECT geoind_laplace('ana', 48.85, 2.35, 0.25), geoind_laplace('bo', 48.85, 2.35, 0.25)")
	run(f, "backup", "x.db", "copy.db")
	want := run(f, "-csv", "x.db", spent)
	for _, lost := range []string{"x.db", "x.db-ledger"} {
		if err := os.Remove(lost); err != nil {
			f.Fatal(err)
		}
	}
	whole := map[bool][]byte{}
	for inLedger, name := range map[bool]string{false: "copy.db", true: "copy.db-ledger"} {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		whole[inLedger] = content
		f.Add([]byte{}, uint32(0), inLedger)
		f.Add([]byte{}, uint32(1), inLedger)
		f.Add([]byte{}, uint32(len(content)), inLedger)
		for at := 0; at < len(content); at += 1999 {
			f.Add(binary.BigEndian.AppendUint32(nil, uint32(at)<<8|0x15), uint32(0), inLedger)
		}
	}
	// A change is 3 bytes that say where and one that is changed there. The file loses as many bytes as cut says.
	f.Fuzz(func(t *testing.T, changes []byte, cut uint32, inLedger bool) {
		fuzztest.Limit(t, 30*time.Second)
		t.Chdir(t.TempDir())
		for isLedger, name := range map[bool]string{false: "copy.db", true: "copy.db-ledger"} {
			content := bytes.Clone(whole[isLedger])
			if isLedger == inLedger {
				for rest := changes; len(rest) >= 4; rest = rest[4:] {
					change := binary.BigEndian.Uint32(rest)
					content[int(change>>8)%len(content)] ^= byte(change)
				}
				content = content[:len(content)-int(cut)%(len(content)+1)]
			}
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		status, _, errOut := mainOn(t, []string{"restore", "copy.db", "new.db", "--yes"}, "")
		if status == 0 {
			status, out, errOut := mainOn(t, []string{"-csv", "new.db", spent}, "")
			if status == 0 && out != want || status > 1 || inLedger && status != 0 {
				t.Errorf("restored: status %d, %s, it says\n%s\nnot\n%s", status, errOut, out, want)
			}
			return
		}
		if status != 1 || !strings.HasPrefix(errOut, "geosql: ") || strings.Count(errOut, "\n") != 1 || strings.Contains(errOut, "runtime error") {
			t.Errorf("status %d, %q", status, errOut)
		}
		if _, err := os.Stat("new.db"); err == nil {
			t.Errorf("%q, and there is a database", errOut)
		}
	})
}
