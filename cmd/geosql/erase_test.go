package main

import (
	"os"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/sealed"
)

func TestErase(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "c", "--verify", verify)
	p.append("ana,1,2,48,2\nbo,2,3,,\nana,3,4,,\n")
	p.append("ana,4,5,,\n", "--sign", sign) // under another pseudonym
	before := copyFiles(t, p.out)
	gone := p.count("SELECT group_concat(hex(kwh), ' ') FROM meter WHERE room IN (1, 3, 4)")

	said := p.run("erase", p.out, "--account", "ana", "--key", p.key)
	if want := "erased 'ana': none of its values opens any more; deleted 3 rows of meter\n"; said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	p.wantOpened("bo 2 3 NULL")
	for value := range strings.SplitSeq(gone, " ") {
		if strings.Contains(readAll(t, p.out), unhex(t, value)) {
			t.Error("a deleted value is still in the file")
		}
	}
	said = p.run("erase", p.out, "--account", "ana", "--key", p.key)
	if want := "had erased 'ana': none of its values opens any more; deleted 0 rows of meter\n"; said != want {
		t.Errorf("again it says %q, want %q", said, want)
	}
	// In a copy that has the rows, nothing of the account opens with this ledger.
	check(t, os.Rename(before, p.out))
	p.wantOpened("? 1 - -", "bo 2 3 NULL", "? 3 - NULL", "? 4 - NULL")
	// Later values do not open either, and the owner adds nothing.
	p.append("ana,5,6,,\n", "--sign", sign)
	if said := p.append("ana,6,7,,\nbo,7,8,,\n"); !strings.Contains(said, "added 1 row of 1 account to") || !strings.Contains(said, "left out 1 row of erased accounts") {
		t.Errorf("append says %q", said)
	}
	p.wantOpened("? 1 - -", "bo 2 3 NULL", "? 3 - NULL", "? 4 - NULL", "? 5 - NULL", "bo 7 8 NULL")
	names := clitest.WriteFile(t, "ana\nbo\n")
	if r := clitest.Run(t, "", "collector", p.out, "accounts", "--key", p.key, "--names", names); r.Err != "'ana' is erased and left out\n" || !strings.Contains(r.Out, "\nbo,") || strings.Contains(r.Out, "ana") {
		t.Errorf("%+v", r)
	}
}

// unhex returns the bytes of a blob as SQL's hex() writes it.
func unhex(t *testing.T, text string) string {
	t.Helper()
	if len(text) != 2*sealed.ValueSize {
		t.Fatalf("value %q", text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i += 2 {
		b.WriteByte(byte(strings.IndexByte("0123456789ABCDEF", text[i])<<4 | strings.IndexByte("0123456789ABCDEF", text[i+1])))
	}
	return b.String()
}

func TestEraseRefuses(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2,48,2\n")
	other, _ := p.keygen(clitest.TempFile(t, "other"))
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{p.out}, "--account A"},
		{1, []string{p.out, "--account", "", "--key", p.key}, "knows no account '', and nothing was recorded"},
		{2, []string{p.out, "--account", "ana"}, "give the private key with --key KEY"},
		{1, []string{p.out, "--account", "ana", "--key", p.pub}, "is the public half of a key"},
		{1, []string{p.out, "--account", "ana", "--key", other}, other + " is not a key that " + p.out + " is sealed for"},
		{1, []string{p.out, "--account", "Ana", "--key", p.key}, "knows no account 'Ana', and nothing was recorded"},
		{1, []string{"none.db", "--account", "ana", "--key", p.key}, "no such database"},
		{1, []string{p.out, "--account", "ana", "--key", p.key, "--ledger", administered(t) + "-ledger"}, "was charged to ledger"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"erase"}, c.args...)...), c.status, c.want)
	}
	p.wantOpened("ana 1 2 48,2")
	check(t, os.Rename(p.out+"-ledger", p.out+"-away"))
	clitest.WantError(t, clitest.Run(t, "", "erase", p.out, "--account", "ana", "--key", p.key), 1, "-ledger is missing")
}

// A key with a passphrase, and rows of a revoked collector.
func TestEraseRevoked(t *testing.T) {
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "c", "--verify", verify)
	p.append("ana,1,2,,\nbo,2,2,,\n", "--sign", sign)
	p.run("collector", p.out, "revoke", "c")
	if said := p.run("erase", p.out, "--account", "ana", "--key", p.key); !strings.Contains(said, "deleted 1 row of meter") {
		t.Errorf("it says %q", said)
	}
	if n := p.count("SELECT count(*) FROM meter"); n != "1" {
		t.Errorf("%s rows", n)
	}
}
