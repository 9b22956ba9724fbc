package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

func TestRekey(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	old := p.key
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "c", "--verify", verify)
	p.append("ana,1,2,48,2\nbo,2,3,,\ncy,3,,,\ncy,4,5,,\n")
	p.append("dan,5,1,,\ndan,6,,,\n", "--sign", sign)
	clitest.Query(t, p.out, "CREATE INDEX rooms ON meter(room); DELETE FROM meter WHERE room = 2")
	p.append("ana,7,7,49,3\n")
	p.run("collector", p.out, "revoke", "c")
	next, nextPub := p.keygen(clitest.TempFile(t, "next"))
	in := clitest.WriteFile(t, "who,room,kwh,lat,lon\nana,8,8,,\n")
	p.run("append", p.out, "meter", in, "--key", nextPub, "--new-key")
	public := p.count("SELECT group_concat(rowid || ' ' || who || ' ' || room, ' ') FROM (SELECT rowid, who, room FROM meter WHERE room <> 5 ORDER BY rowid)")
	all := readAll(t, p.out)
	last, lastPub := p.keygen(clitest.TempFile(t, "last"))

	clitest.WantError(t, clitest.Run(t, "", "rekey", p.out, "--key", old, "--to", lastPub), 1, "1 session is sealed for another key, and their values would be lost")
	before := opened(t, p.out, old, next)
	said := p.run("rekey", p.out, "--key", next, "--key", old, "--to", lastPub)
	if want := "sealed 6 values of " + p.out + " anew: they open with the private key of " + lastPub + " only\n" +
		"dropped 1 value that did not open any more, and 1 row that had no others\n"; said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	before = slices.DeleteFunc(before, func(row string) bool { return row == "? 5 - NULL" })
	if after := opened(t, p.out, last); !slices.Equal(after, before) {
		t.Errorf("rows %q, want %q", after, before)
	}
	if after := p.count("SELECT group_concat(rowid || ' ' || who || ' ' || room, ' ') FROM (SELECT rowid, who, room FROM meter ORDER BY rowid)"); after != public {
		t.Errorf("public columns %s, want %s", after, public)
	}
	if n := p.count("SELECT (SELECT count(*) FROM geosql_sealed_session) || ' ' || (SELECT count(*) FROM geosql_sealed_key) || ' ' || (SELECT count(*) FROM sqlite_schema WHERE name = 'rooms')"); n != "1 1 1" {
		t.Errorf("sessions, keys and indexes: %s", n)
	}
	// Counters are in the order of the rows.
	if n := p.count("SELECT count(*) FROM (SELECT kwh, lag(kwh) OVER (ORDER BY rowid) AS earlier FROM meter WHERE kwh IS NOT NULL) WHERE substr(kwh, 9, 8) < substr(earlier, 9, 8)"); n != "0" {
		t.Errorf("%s counters are out of order", n)
	}
	for _, row := range opened(t, p.out, old, next) {
		if strings.HasPrefix(row, "ana") || strings.HasPrefix(row, "bo") {
			t.Errorf("%s opens with an old key", row)
		}
	}
	wantNothingOld(t, p.out, all)
	check(t, os.Rename(p.out+".key", p.out+".old"))
	p.key, p.pub = last, lastPub
	p.append("ana,9,9,,\n")
	p.run("erase", p.out, "--account", "cy", "--key", last)
}

// wantNothingOld demands that no 24 bytes of ciphertext are in both states of a file, not even of deleted
// rows. It looks at the bytes behind the header of a value in column 1 or 2.
func wantNothingOld(t *testing.T, out, before string) {
	t.Helper()
	now := readAll(t, out)
	found := 0
	for i := 0; i+sealed.ValueSize <= len(before); i++ {
		v := before[i : i+sealed.ValueSize]
		if v[:3] != "\x00\x00\x00" || v[3] != 1 && v[3] != 2 || v[8:14] != "\x00\x00\x00\x00\x00\x00" || strings.Count(v[16:], "\x00") > 8 {
			continue
		}
		found++
		if strings.Contains(now, v[16:40]) {
			t.Fatalf("an old value is still in the file: %x", v)
		}
	}
	if found == 0 {
		t.Error("no value was found in the old file")
	}
}

// Deleted values, in free pages and within pages, are gone too.
func TestRekeyLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"delete", "wal"} {
		p := newSealed(t)
		clitest.Query(t, p.out, "PRAGMA journal_mode = "+mode+"; SELECT 1")
		p.run("append", p.out, "meter", manyRows(t, 3000), "--key", p.pub)
		all := readAll(t, p.out)
		clitest.Query(t, p.out, "PRAGMA secure_delete = OFF; DELETE FROM meter WHERE rowid BETWEEN 1000 AND 2500 OR rowid % 3 = 0")
		_, nextPub := p.keygen(clitest.TempFile(t, "next"))
		p.run("rekey", p.out, "--key", p.key, "--to", nextPub)
		wantNothingOld(t, p.out, all)
		if ok := clitest.Query(t, "-csv", p.out, "PRAGMA integrity_check"); !strings.Contains(ok, "ok") {
			t.Error(ok)
		}
	}
}

func TestRekeyRefuses(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2,48,2\n")
	other, otherPub := p.keygen(clitest.TempFile(t, "other"))
	before := readAll(t, p.out)
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{p.out, "--key", p.key}, "--to NEW.pub"},
		{2, []string{p.out, "--to", otherPub}, "--key KEY"},
		{1, []string{p.out, "--key", p.key, "--to", other}, "give its public half"},
		{1, []string{p.out, "--key", other, "--to", otherPub}, "is not a key that"},
		{1, []string{administered(t), "--key", p.key, "--to", otherPub}, "is not sealed"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"rekey"}, c.args...)...), c.status, c.want)
	}
	if readAll(t, p.out) != before {
		t.Error("the database has changed")
	}
	clitest.Query(t, p.out, "CREATE TRIGGER tr AFTER INSERT ON meter BEGIN SELECT 1; END")
	clitest.WantError(t, clitest.Run(t, "", "rekey", p.out, "--key", p.key, "--to", otherPub), 1, "table meter has the trigger tr")
	clitest.Query(t, p.out, "DROP TRIGGER tr")

	away := copyFiles(t, p.out)
	in := clitest.WriteFile(t, "who,room,kwh,lat,lon\nana,1,2,,\n")
	p.run("append", away, "meter", in, "--key", p.pub, "--sign", other)
	check(t, os.Rename(away, p.out))
	clitest.WantError(t, clitest.Run(t, "", "rekey", p.out, "--key", p.key, "--to", otherPub), 1, "1 session was begun by collectors that are not enrolled")
}

// Ctrl-C and kill leave all as it was, or all sealed anew.
func TestRekeyEnds(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	const n = 30_000
	p.run("append", p.out, "meter", manyRows(t, n), "--key", p.pub)
	keys := []string{p.key}
	rekeyed, kept := 0, 0
	for i := range 8 {
		next, nextPub := p.keygen(clitest.TempFile(t, "next"))
		cmd := clitest.Command(t, "rekey", p.out, "--key", keys[0], "--to", nextPub)
		check(t, cmd.Start())
		time.Sleep(time.Duration(30+60*i) * time.Millisecond)
		if i%2 == 0 {
			check(t, cmd.Process.Kill())
		} else {
			check(t, clitest.Signal(cmd.Process, syscall.SIGINT))
		}
		_ = cmd.Wait()
		public, err := vault.ReadPublicKey(nextPub)
		check(t, err)
		if p.count(fmt.Sprintf("SELECT count(*) FROM geosql_sealed_key WHERE id = x'%x'", public.ID())) == "1" {
			keys[0] = next
			rekeyed++
		} else {
			kept++
		}
		rows := opened(t, p.out, keys...)
		if len(rows) != n || slices.ContainsFunc(rows, func(row string) bool { return row[0] != 'p' || strings.Contains(row, "X") }) {
			t.Fatalf("after run %d: %d rows, %q ..", i, len(rows), rows[0])
		}
	}
	t.Logf("%d kept, %d rekeyed", kept, rekeyed)
	if kept == 0 {
		t.Error("no run was ended early enough to see")
	}
}

// Another process that has the database open sees the new values, and its changes are kept.
func TestRekeyBesideOthers(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2,48,2\n")
	conn, err := store.Open(p.out, sqlite.ReadWrite)
	check(t, err)
	defer conn.Close()
	ledger, err := file.Open(p.out+"-ledger", false)
	check(t, err)
	defer ledger.Close()
	next, nextPub := p.keygen(clitest.TempFile(t, "next"))
	keys, err := vault.ReadPrivateKeys([]string{p.key, next}, "")
	check(t, err)
	k, err := catalog.Open(t.Context(), conn, ledger, sealed.NewKeyring(keys...))
	check(t, err)
	opens := func() {
		t.Helper()
		check(t, k.Refresh(t.Context()))
		check(t, store.Each(conn, func(v []sqlite.Value) {
			if row, present, err := k.Open(v[0].Bytes()); !present || err != nil || k.Name(row.Account) != "ana" {
				t.Errorf("%+v, %v, %v", row, present, err)
			}
		}, "SELECT kwh FROM meter"))
	}
	opens()
	p.run("rekey", p.out, "--key", p.key, "--to", nextPub)
	opens()
	check(t, conn.Exec("UPDATE meter SET room = 77"))
	if got := fmt.Sprint(opened(t, p.out, next)); got != "[ana 77 2 48,2]" {
		t.Errorf("rows %s", got)
	}
}
