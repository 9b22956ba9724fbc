package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/trials"
)

// charging is a statement that is charged 0.25 of 'ana's budget.
const charging = `SELECT geoind_laplace('ana', 48.85, 2.35, 0.25)`

// backupOf backs up a database.
func backupOf(t *testing.T, db string) (to string) {
	t.Helper()
	to = clitest.TempFile(t, "copy.db")
	clitest.Query(t, "backup", db, to)
	return to
}

// spentBy returns the spending of an account.
func spentBy(t *testing.T, db, account string) string {
	t.Helper()
	out := clitest.Query(t, "-csv", db, `SELECT budget_spent('`+account+`', 'm')`)
	_, spent, _ := strings.Cut(out, "\n")
	return strings.TrimSuffix(spent, "\n")
}

// namesIn returns the names in the folder of a file.
func namesIn(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A backup can be read, and nothing is charged to it; the error names the cure, which works.
func TestBackup(t *testing.T) {
	db := administered(t)
	to := backupOf(t, db)
	haveMode(t, to, 0o600, "", "-ledger")
	if names := namesIn(t, to); len(names) != 2 {
		t.Errorf("the folder has %q", names)
	}
	want, head := budgetOf(t, db)
	r := clitest.Run(t, "", "-csv", "budget", to)
	if r.Status != 0 || r.Out != want || !strings.HasPrefix(r.Err, "ledger head "+head+"\nthis is a backup of ") ||
		!strings.HasSuffix(r.Err, ": nothing can be charged before 'geosql restore'\n") {
		t.Errorf("budget of the backup: %+v", r)
	}
	for _, sql := range []string{charging, `SELECT budget_limit('ana', 'm', 9)`, `SELECT budget_reserve('ana', 'm', 1)`} {
		clitest.WantError(t, clitest.Run(t, "", to, sql), 1, "lacks all later charges: run 'geosql restore "+to+"-ledger'")
	}
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	if r := clitest.Run(t, "", "restore", "--yes", to+"-ledger"); r.Status != 0 {
		t.Fatalf("restore: %+v", r)
	}
	clitest.Query(t, to, charging)
}

func TestBackupRefuses(t *testing.T) {
	db, dir := administered(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, there := range []string{"a", "b-ledger", "c-wal", "d-journal", "e-ledger-wal"} {
		if err := os.WriteFile(in(there), []byte("kept"), 0o644); err != nil {
			t.Fatal(err)
		}
		to, _, _ := strings.Cut(there, "-")
		clitest.WantError(t, clitest.Run(t, "", "backup", db, in(to)), 1, in(there)+" exists, and nothing is overwritten")
	}
	if names := namesIn(t, in("a")); len(names) != 5 {
		t.Errorf("the folder has %q", names)
	}
	clitest.WantError(t, clitest.Run(t, "", "backup", db, in("none/x")), 1, "there is no folder "+in("none"))
	clitest.WantError(t, clitest.Run(t, "", "backup", in("none"), in("x")), 1, "no such database")
	clitest.WantError(t, clitest.Run(t, "", "backup", in("a"), in("x")), 1, "file is not a database")
	clitest.WantError(t, clitest.Run(t, "", "backup", db, ""), 2, "empty name")
	clitest.WantError(t, clitest.Run(t, "", "backup", db), 2, "too few arguments")
	clitest.WantError(t, clitest.Run(t, "", "backup", db+"-ledger", in("x"), "--ledger", in("y")), 2, "is a ledger itself")

	other := administered(t)
	clitest.WantError(t, clitest.Run(t, "", "backup", db, in("x"), "--ledger", other+"-ledger"), 1, "was charged to ledger")
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	clitest.WantError(t, clitest.Run(t, "", "backup", db, in("x")), 1, "is missing: "+db+" was charged to ledger")
	if names := namesIn(t, in("a")); len(names) != 5 {
		t.Errorf("the folder has %q", names)
	}
}

// A database without budgets has no ledger, and a ledger may have no database.
func TestBackupOfOneFile(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, `CREATE TABLE t AS SELECT 7 AS x`)
	to := backupOf(t, db)
	if names := namesIn(t, to); len(names) != 1 {
		t.Errorf("the folder has %q", names)
	}
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to), 1, "has no ledger, since nobody had set a limit: use it as it is")
	clitest.Query(t, to, `SELECT x FROM t`)

	ledger := administered(t) + "-ledger"
	want, head := budgetOf(t, ledger)
	copied := backupOf(t, ledger)
	haveMode(t, copied, 0o600, "")
	if names := namesIn(t, copied); len(names) != 1 {
		t.Errorf("the folder has %q", names)
	}
	r := clitest.Run(t, "", "-csv", "budget", copied)
	if r.Out != want || !strings.Contains(r.Err, head+"\nthis is a backup") {
		t.Errorf("budget of the copy: %+v", r)
	}
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", copied, ledger), 1, "is still there: there is nothing to restore")
	if err := os.Rename(ledger, ledger+"-lost"); err != nil {
		t.Fatal(err)
	}
	if r := clitest.Run(t, "", "restore", "--yes", copied, ledger); r.Status != 0 {
		t.Errorf("restore: %+v", r)
	}
	clitest.Query(t, strings.TrimSuffix(ledger, "-ledger"), charging)
}

// If the ledger is still there, the database comes back and no charge is lost.
func TestRestoreKeepsTheLedger(t *testing.T) {
	db := administered(t)
	clitest.Query(t, db, `CREATE TABLE t AS SELECT 7 AS x`)
	to := backupOf(t, db)
	clitest.Query(t, db, charging)
	clitest.Query(t, db, `DROP TABLE t`)

	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to), 1, "ledger "+db+"-ledger, which the backup was made of, is still there")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to, db), 1, db+" exists, and nothing is overwritten")
	elsewhere := clitest.TempFile(t, "new.db")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to, elsewhere), 1, "is still there: keep it")
	if err := os.Rename(db, db+".broken"); err != nil {
		t.Fatal(err)
	}
	if r := clitest.Run(t, "", "restore", "--yes", "--block", to, db); r.Status != 2 || !strings.Contains(r.Err, "leave out --block") {
		t.Errorf("--block: %+v", r)
	}
	r := clitest.Run(t, "", "restore", "--yes", to, db)
	if r.Status != 0 || r.Out != "" || !strings.Contains(r.Err, "is kept, so that no charge is lost; its entries since then: 1.\n") {
		t.Fatalf("restore: %+v", r)
	}
	haveMode(t, db, 0o600, "", "-ledger")
	if got := spentBy(t, db, "ana"); got != "0.75" {
		t.Errorf("spent %s", got)
	}
	clitest.Query(t, db, `SELECT x FROM t`)
	clitest.Query(t, db, charging)

	if r := clitest.Run(t, "", "restore", "--yes", to, elsewhere, "--ledger", db+"-ledger"); r.Status != 0 {
		t.Errorf("with the ledger named: %+v", r)
	}
	clitest.Query(t, "--ledger", db+"-ledger", elsewhere, charging)
}

// If the ledger is lost, that is said, shown and recorded.
func TestRestoreWithoutTheLedger(t *testing.T) {
	db := administered(t)
	to := backupOf(t, db)
	clitest.Query(t, db, charging)
	_, noted := budgetOf(t, db)
	for _, name := range namesIn(t, db) {
		if err := os.Remove(filepath.Join(filepath.Dir(db), name)); err != nil {
			t.Fatal(err)
		}
	}
	before := clitest.Run(t, "", "budget", to)
	r := clitest.Run(t, "yes\n", "restore", to, db)
	clitest.WantError(t, r, 2, "there is no terminal to ask on: give --yes")
	if names := namesIn(t, db); len(names) != 0 {
		t.Errorf("the folder has %q", names)
	}
	r = clitest.Run(t, "", "-csv", "restore", "--yes", to, db)
	if r.Status != 0 || !strings.Contains(r.Out, "\nana,m,5,0.5,0,4.5,") {
		t.Fatalf("restore: %+v", r)
	}
	for _, said := range []string{"is a backup of ", "Charges after that are unknown to it.\n", "give --block"} {
		if !strings.Contains(r.Err, said) {
			t.Errorf("%q is not in\n%s", said, r.Err)
		}
	}
	haveMode(t, db, 0o600, "", "-ledger")
	clitest.Query(t, db, charging)
	r = clitest.Run(t, "", "-csv", "budget", db, "--history", "--account", "*")
	if !strings.Contains(r.Out, `,ledger_backup,*,"",0,1,`) || !strings.Contains(r.Out, `,ledger_restore,*,"",0,1,`) ||
		strings.Count(r.Err, "\n") != 2 || !strings.Contains(r.Err, "charges in between are unknown to this ledger\n") {
		t.Errorf("history: %+v", r)
	}
	clitest.WantError(t, clitest.Run(t, "", "budget", db, "--verify", "--head", noted), 1, "another hash than its head")
	if after := clitest.Run(t, "", "budget", to); after != before {
		t.Errorf("the backup was changed: %+v, was %+v", after, before)
	}
	clitest.WantError(t, clitest.Run(t, "", to, charging), 1, "is a backup")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", db), 1, "there is nothing to do")
}

// A backup that is copied over the original by other means is refused too, and restored in place.
func TestRestoreInPlace(t *testing.T) {
	db := administered(t)
	to := backupOf(t, db)
	clitest.Query(t, db, charging)
	for _, suffix := range []string{"", "-ledger"} {
		text, err := os.ReadFile(to + suffix)
		if err == nil {
			err = os.WriteFile(db+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", db, charging), 1, "run 'geosql restore "+db+"-ledger'")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to, db), 1, "is a backup too: move it away, or put that one into use: geosql restore "+db+"-ledger")
	if r := clitest.Run(t, "", "restore", "--yes", "--block", db, db); r.Status != 0 || !strings.Contains(r.Err, "So every limit becomes 0") {
		t.Errorf("restore: %+v", r)
	}
	for _, account := range []string{"ana", "bo", "somebody else"} {
		clitest.WantError(t, clitest.Run(t, "", db, strings.Replace(charging, "ana", account, 1)), 1, "has 0")
	}
	clitest.Query(t, db, `SELECT budget_limit('bo', 'm', 1)`)
	clitest.Query(t, db, strings.Replace(charging, "ana", "bo", 1))
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", to, db+"2"), 1, "which the backup was made of, is still there")
}

// Where ledger and backup have gone apart, neither has all charges.
func TestRestoreOfAnother(t *testing.T) {
	db := administered(t)
	early := backupOf(t, db)
	clitest.Query(t, db, charging)
	late := backupOf(t, db)
	for _, suffix := range []string{"", "-ledger"} {
		if err := os.Remove(db + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if r := clitest.Run(t, "", "restore", "--yes", early, db); r.Status != 0 {
		t.Fatalf("restore: %+v", r)
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", late, db), 1, "has not grown out of the backup (ledger: it has another entry")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", late, db, "--ledger", early+"-ledger"), 1, "is a backup too")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", late, db, "--ledger", administered(t)+"-ledger"), 1, "name another with --ledger")
	clitest.Query(t, late+"-ledger", `UPDATE balance SET spent = 0`)
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", late), 1, "cannot be restored: ledger: the balance of account '")
	if err := os.Remove(late + "-ledger"); err != nil {
		t.Fatal(err)
	}
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", late, db), 1, "was backed up with its ledger: put "+late+"-ledger back")
}

// writers are processes that release into the database until they are killed.
func writers(t *testing.T, db string, n int) {
	t.Helper()
	script := "PRAGMA busy_timeout = 600000;\n" + strings.Repeat(`INSERT INTO seen SELECT 'ana', geoind_laplace('ana', 48.85, 2.35, 0.25) FROM json_each('[1,2,3,4,5,6,7,8]');`+"\n", 20_000)
	for range n {
		cmd := clitest.Command(t, db)
		cmd.Stdin = strings.NewReader(script)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			if _ = cmd.Wait(); said.Len() > 0 {
				t.Errorf("a writer failed: %s", &said)
			}
		})
	}
}

// filler makes a database large enough that copying it takes a while.
const filler = `CREATE TABLE filler AS WITH c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 12000)
	SELECT randomblob(4000) AS bytes FROM c`

// A backup that is made while other processes release has the charge of every answer in it.
func TestBackupWhileUsed(t *testing.T) {
	t.Parallel()
	for _, journal := range trials.Some(t, 1, "wal", "delete") {
		t.Run(journal, func(t *testing.T) {
			db := limited(t)
			clitest.Query(t, db, `PRAGMA journal_mode = `+journal+`; CREATE TABLE seen(account, wkt); `+filler)
			writers(t, db, 2)
			clitest.Await(t, "answer", func() bool {
				return clitest.Query(t, "-csv", db, "SELECT count(*) > 0 FROM seen") == "count(*) > 0\n1\n"
			})
			for range 5 {
				to := backupOf(t, db)
				out := clitest.Query(t, "-csv", to, `SELECT count(*), budget_spent('ana', 'm'), (SELECT * FROM pragma_integrity_check) FROM seen`)
				cells := strings.Split(strings.TrimSpace(strings.Split(out, "\n")[1]), ",")
				n, err := strconv.Atoi(cells[0])
				spent, err2 := strconv.ParseFloat(cells[1], 64)
				if err != nil || err2 != nil || cells[2] != "ok" {
					t.Fatalf("the backup says %q", out)
				}
				if spent < 0.25*float64(n) {
					t.Errorf("%d answers, %v spent", n, spent)
				}
				budget := clitest.Run(t, "", "budget", to, "--verify")
				if budget.Status != 0 {
					t.Errorf("verify: %+v", budget)
				}
				if n == 0 {
					t.Error("nothing was released before")
				}
			}
		})
	}
}

// stopBackup starts a backup and sends it a signal once it has begun to write. It returns the
// exit status and the names it has left in its folder.
func stopBackup(t *testing.T, db string, delay time.Duration, with syscall.Signal) (status int, to string, left []string) {
	t.Helper()
	to = clitest.TempFile(t, "copy.db")
	cmd := clitest.Command(t, "backup", db, to)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	clitest.Await(t, "file of the backup", func() bool { return len(namesIn(t, to)) > 1 })
	time.Sleep(delay)
	_ = clitest.Signal(cmd.Process, with)
	err := cmd.Wait()
	return clitest.ExitStatus(t, err), to, namesIn(t, to)
}

// However a backup is ended, a file that has its name is complete, and a signal leaves nothing.
func TestBackupStopped(t *testing.T) {
	t.Parallel()
	db := administered(t)
	clitest.Query(t, db, filler)
	whole := []string{"copy.db", "copy.db-ledger"}
	for _, with := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		if !clitest.Sends(with) {
			continue
		}
		stopped := 0
		for i := 0; i < 8 || stopped == 0; i++ { // a busy machine may have woken this test too late each time
			status, to, left := stopBackup(t, db, time.Duration(i%8)*5*time.Millisecond, with)
			if status != 0 {
				stopped++
			}
			switch {
			case status == 0 && slices.Equal(left, whole):
			case status == 128+int(with) && len(left) == 0:
			case with == syscall.SIGKILL && status == clitest.Killed:
				if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
					if _, err := os.Stat(to + "-ledger"); err != nil {
						t.Errorf("a database without its ledger: %v", err)
					}
				}
				for _, name := range left {
					info, err := os.Stat(filepath.Join(filepath.Dir(to), name))
					if err != nil || forOthers(info) {
						t.Errorf("%s is left: %v, %v", name, info.Mode(), err)
					}
				}
				if r := clitest.Run(t, "", "backup", db, to+"2"); r.Status != 0 {
					t.Errorf("after a kill: %+v", r)
				}
			default:
				t.Errorf("%v: status %d, left %q", with, status, left)
			}
		}
	}
	clitest.Query(t, db, charging)
	if fmt.Sprint(spentBy(t, db, "ana")) != "0.75" {
		t.Error("the database was not left as it was")
	}
}

// A restore that is killed can be repeated: a database is never without its ledger, and the ledger
// is restored once.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	db := administered(t)
	clitest.Query(t, db, filler)
	to := backupOf(t, db)
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		at := clitest.TempFile(t, "new.db")
		cmd := clitest.Command(t, "restore", "--yes", to, at)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		clitest.Await(t, "file of the restored database", func() bool { return len(namesIn(t, at)) > 1 })
		time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, err := os.Stat(at)
		_, without := os.Stat(at + "-ledger")
		switch r := clitest.Run(t, "", "restore", "--yes", to, at); {
		case err == nil && without == nil: // it was done
			clitest.WantError(t, r, 1, at+" exists")
		case err == nil:
			t.Error("a database without its ledger")
		case r.Status != 0:
			t.Errorf("repeated: %+v", r)
		}
		clitest.Query(t, at, charging)
		if r := clitest.Run(t, "", "budget", at, "--verify"); r.Status != 0 || strings.Count(r.Err, "restored at") != 1 {
			t.Errorf("budget: %+v", r)
		}
	}
}

// A backup of a sealed database has who was erased and revoked, and its key if that is given.
func TestBackupOfSealed(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2,,\nbo,2,3,,\n")
	p.run("erase", p.out, "--account", "ana", "--key", p.key)
	to := clitest.TempFile(t, "copy.db")
	if said := p.run("backup", p.out, to); said != "the key of "+p.out+" is not in the backup: keep a copy of it too, or give --key KEY\n" {
		t.Errorf("it says %q", said)
	}
	if names := namesIn(t, to); len(names) != 2 {
		t.Errorf("the folder has %q", names)
	}
	locked := clitest.TempFile(t, "locked")
	p.run("keygen", locked, "--passphrase-file", p.pub) // any file with a first line
	to = clitest.TempFile(t, "copy.db")
	if said := p.run("backup", p.out, to, "--key", p.key, "--key", locked); said != "" {
		t.Errorf("it says %q", said)
	}
	haveMode(t, to, 0o600, "", "-ledger", "-key", "-key-2")
	if readAll(t, to+"-key") != readAll(t, p.key) || readAll(t, to+"-key-2") != readAll(t, locked) {
		t.Error("the keys differ")
	}
	if names := namesIn(t, to); len(names) != 4 {
		t.Errorf("the folder has %q", names)
	}
	if got := fmt.Sprint(opened(t, to, to+"-key")); got != "[bo 2 3 NULL]" {
		t.Errorf("the backup opens as %s", got)
	}

	other, _ := p.keygen(clitest.TempFile(t, "other"))
	in := clitest.TempFile(t, "x.db")
	for _, c := range []struct {
		status  int
		db, key string
		want    string
	}{
		{1, p.out, other, "is not a key that " + p.out + " is sealed for"},
		{1, p.out, p.pub, "is not a private key"},
		{1, p.out, "none", clitest.NoSuchFile},
		{2, administered(t), p.key, "is not sealed"},
		{2, p.out + "-ledger", p.key, "this is a ledger"},
	} {
		clitest.WantError(t, clitest.Run(t, "", "backup", c.db, in, "--key", c.key), c.status, c.want)
	}
	check(t, os.WriteFile(in+"-key", nil, 0o600))
	clitest.WantError(t, clitest.Run(t, "", "backup", p.out, in, "--key", p.key), 1, "-key exists, and nothing is overwritten")
	if names := namesIn(t, in); len(names) != 1 {
		t.Errorf("the folder has %q", names)
	}
}

// No way of restoring forgets who was erased or revoked after the backup, as long as the ledger
// that knows it is there.
func TestRestoreKeepsErasures(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	sign, verify := p.keygen(clitest.TempFile(t, "c"))
	p.run("collector", p.out, "add", "c", "--verify", verify)
	p.append("ana,1,2,,\nbo,2,3,,\n")
	p.append("cy,3,4,,\n", "--sign", sign)
	backup := func() string {
		t.Helper()
		to := clitest.TempFile(t, "copy.db")
		p.run("backup", p.out, to, "--key", p.key)
		return to
	}
	kept, blocked, there, lost := backup(), backup(), backup(), backup()
	p.run("erase", p.out, "--account", "ana", "--key", p.key)
	p.run("collector", p.out, "revoke", "c")
	const want = "[? 1 - NULL ? 3 - NULL bo 2 3 NULL]"

	check(t, os.Remove(p.out))
	p.run("restore", "--yes", kept, p.out)
	if got := sortedRows(opened(t, p.out, p.key)); got != want {
		t.Errorf("with its ledger kept: %s", got)
	}
	to := clitest.TempFile(t, "second.db")
	p.run("restore", "--yes", "--block", blocked, to)
	if got := sortedRows(opened(t, to, p.key)); got != want {
		t.Errorf("blocked, elsewhere: %s", got)
	}
	p.run("restore", "--yes", "--block", there)
	if got := sortedRows(opened(t, there, p.key)); got != want {
		t.Errorf("blocked, in its place: %s", got)
	}
	// Without that ledger nobody knows, and the command says so.
	check(t, os.Remove(p.out+"-ledger"))
	if said := p.run("restore", "--yes", lost); !strings.Contains(said, "erase and revoke them again, before anybody uses the database.\n") {
		t.Errorf("it says %q", said)
	}
	if got := sortedRows(opened(t, lost, lost+"-key")); got != "[ana 1 2 NULL bo 2 3 NULL cy 3 4 NULL]" {
		t.Errorf("with the backup's ledger: %s", got)
	}
}
