package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// chargeSome charges until the ledger has more entries.
func chargeSome(t testing.TB, l *Ledger) {
	t.Helper()
	for range 3 {
		check(t, l.Charge("f", "m", items(1, "ana")))
	}
}

// charged opens a ledger, and charges it under a limit that is far away.
func charged(t testing.TB, where string) *Ledger {
	t.Helper()
	l := open(t, where)
	check(t, l.SetLimit("*", "m", 1000, 0))
	chargeSome(t, l)
	return l
}

// An older copy that is restored under a process is refused at its next transaction, and by
// everybody who knows more, until the owner accepts the loss.
func TestRestoredServer(t *testing.T) {
	server := pgtest.Own(t)
	where := server.Database(t)
	here, there := t.TempDir(), t.TempDir()
	t.Setenv(state.FolderVariable, there)
	far := open(t, where+"&application_name=far") // on another machine
	check(t, far.SetLimit("*", "m", 1000, 0))
	chargeSome(t, far)
	t.Setenv(state.FolderVariable, here)
	l := open(t, where)
	chargeSome(t, l)
	t.Setenv(state.FolderVariable, t.TempDir())
	quiet := open(t, where+"&application_name=quiet") // on a third, which has nothing to lose
	chargeSome(t, quiet)
	t.Setenv(state.FolderVariable, here)
	dump := server.Dump(t, where)
	dumped := headOfLedger(t, l)
	chargeSome(t, l)
	chargeSome(t, far)
	noted := headOfLedger(t, l)
	server.Restore(t, where, dump)

	lacks := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "geosql ledger accept") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
	spent := func() int64 {
		t.Helper()
		return ask(t, where, "SELECT spent FROM geosql.balance WHERE account = 'ana' AND unit = 'm'")
	}
	before := spent()
	check(t, quiet.Ready(t.Context()))
	lacks(l.Charge("f", "m", items(1, "ana")))
	lacks(l.Charge("f", "m", items(1, "ana")))
	_, err := Open(where+"&application_name=again", false)
	lacks(err)
	lacks(quiet.Charge("f", "m", items(1, "ana"))) // it was told
	for _, l := range []*Ledger{l, far, quiet} {
		if err := l.Ready(t.Context()); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("Ready: %v", err)
		}
	}
	loss, err := FindLoss(where)
	check(t, err)
	if !loss.Here || !loss.Known() || time.Since(loss.Found).Abs() > time.Hour || loss.Generation != 1 {
		t.Errorf("the loss is %+v", loss)
	}
	if err := verify(l, "", &noted); err == nil || !strings.Contains(err.Error(), "older copy") {
		t.Errorf("Verify: %v", err)
	}
	check(t, verify(l, "", &dumped))
	check(t, verify(l, "", nil))
	if now := spent(); now != before {
		t.Errorf("%d were spent, %d are", before, now)
	}

	loss, err = Accept(where, false)
	check(t, err)
	if loss.Generation != 2 {
		t.Errorf("generation %d", loss.Generation)
	}
	for _, l := range []*Ledger{l, quiet} {
		if err := l.Charge("f", "m", items(1, "ana")); !errors.Is(err, ledger.ErrLossAccepted) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a process from before the loss was accepted goes on: %v", err)
		}
	}
	again := open(t, where+"&application_name=again")
	chargeSome(t, again)
	if now := spent(); now != before+3 {
		t.Errorf("%d were spent, %d are", before, now)
	}
	events := 0
	for c, err := range again.Charges() {
		check(t, err)
		if c.Function == acceptFunction {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events", events)
	}
	check(t, verify(again, "", nil))
	// The newer generation is accepted everywhere.
	t.Setenv(state.FolderVariable, there)
	if err := far.Charge("f", "m", items(1, "ana")); err == nil {
		t.Error("a process on another machine goes on")
	}
	elsewhere := open(t, where+"&application_name=elsewhere")
	chargeSome(t, elsewhere)

	// The dump has the first generation, and is older than both machines know.
	server.Restore(t, where, dump)
	for _, folder := range []string{here, there} {
		t.Setenv(state.FolderVariable, folder)
		_, err := Open(where+"&application_name="+filepath.Base(folder), false)
		lacks(err)
	}
	t.Setenv(state.FolderVariable, here)
	loss, err = Accept(where, false)
	check(t, err)
	if loss.Generation != 3 {
		t.Errorf("generation %d", loss.Generation)
	}
	for _, folder := range []string{here, there} {
		t.Setenv(state.FolderVariable, folder)
		last := open(t, where+"&application_name=last"+filepath.Base(folder))
		chargeSome(t, last)
		check(t, verify(last, "", nil))
	}
}

// A state folder that was copied, as in the image of a machine that is started twice, has two processes write under one
// name. Their
// grants stay within the limit, and the one that finds that the other was there is refused.
func TestCopiedStateFolder(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	here, there := t.TempDir(), t.TempDir()
	t.Setenv(state.FolderVariable, here)
	first := open(t, where+"&application_name=first")
	check(t, first.SetLimit("*", "m", 10, 0))
	chargeSome(t, first)
	check(t, os.CopyFS(there, os.DirFS(here)))
	t.Setenv(state.FolderVariable, there)
	second := open(t, where+"&application_name=second")
	chargeSome(t, second)
	if err := first.Charge("f", "m", items(1, "ana")); !errors.Is(err, errSameWriter) {
		t.Errorf("the process whose folder was copied: %v", err)
	}
	for range 4 {
		check(t, second.Charge("f", "m", items(1, "ana")))
	}
	if !refused(t, second.Charge("f", "m", items(1, "ana"))) {
		t.Error("more than the limit is granted")
	}
	check(t, verify(second, "", nil))
}

// A replica that was behind lacks acknowledged charges.
func TestAsynchronousFailover(t *testing.T) {
	otherMachine(t)
	server := pgtest.Own(t)
	where := server.Database(t)
	l := charged(t, where)
	standby := server.Standby(t)
	server.CaughtUp(t, standby)
	replica := standby.URL(t, where)
	if _, err := Open(replica, false); err == nil || !strings.Contains(err.Error(), "recovery") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a standby: %v", err)
	}
	if _, err := Accept(replica, false); err == nil || !strings.Contains(err.Error(), "recovery") {
		t.Errorf("a standby: %v", err)
	}
	standby.Set(t, "primary_conninfo", "")
	for ask(t, replica, "SELECT count(*) FROM pg_stat_wal_receiver") > 0 {
		time.Sleep(time.Millisecond)
	}
	chargeSome(t, l) // unknown to the standby
	server.Kill(t)
	standby.Promote(t)
	if _, err := Open(replica, false); err == nil || !strings.Contains(err.Error(), "geosql ledger accept") {
		t.Errorf("a replica that is behind: %v", err)
	}
	_, err := Accept(replica, false)
	check(t, err)
	again := open(t, replica)
	chargeSome(t, again)
	check(t, verify(again, "", nil))
}

func TestAcceptErrors(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	if _, err := Accept(where, true); err == nil || !strings.Contains(err.Error(), "no ledger") {
		t.Errorf("an empty database: %v", err)
	}
	if _, err := Accept("postgres://a:b@h/d", true); err == nil || !strings.Contains(err.Error(), "PGPASSFILE") {
		t.Errorf("a password: %v", err)
	}
	server := pgtest.Own(t)
	where = server.Database(t)
	check(t, open(t, where).Charge("f", "m", nil))
	server.Set(t, "fsync", "off")
	if _, err := Accept(where, true); err == nil || !strings.Contains(err.Error(), "fsync") {
		t.Errorf("fsync = off: %v", err)
	}
}

// Nothing changes where nobody knows of a loss, unless it is forced.
func TestAcceptWithoutLoss(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l := charged(t, where)
	_, err := l.OpenRelease("begun", ledger.ReleasePlan{Output: "out"})
	check(t, err)
	if _, err := Accept(where, false); err != ErrNoLoss {
		t.Errorf("got %v", err)
	}
	loss, err := FindLoss(where)
	check(t, err)
	if loss.Known() || loss.Generation != 1 || !slices.Equal(loss.Unfinished, []string{"begun"}) {
		t.Errorf("the loss is %+v", loss)
	}
	chargeSome(t, l)
	loss, err = Accept(where, true)
	check(t, err)
	if loss.Known() || loss.Generation != 2 || !slices.Equal(loss.Unfinished, []string{"begun"}) {
		t.Errorf("the loss is %+v", loss)
	}
	if err := l.Ready(t.Context()); !errors.Is(err, ledger.ErrLossAccepted) {
		t.Errorf("got %v", err)
	}
	again := open(t, where) // the same URL, while the old one is still open
	chargeSome(t, again)
	if loss, err := FindLoss(where); err != nil || len(loss.Unfinished) != 0 {
		t.Errorf("%+v, %v", loss, err)
	}
}

// The mark of a loss goes away with the state that lacks charges.
func TestNewerCopyHasNoMark(t *testing.T) {
	otherMachine(t)
	server := pgtest.Own(t)
	where := server.Database(t)
	l := charged(t, where)
	old := server.Dump(t, where)
	chargeSome(t, l)
	newest := server.Dump(t, where)
	server.Restore(t, where, old)
	if err := l.Ready(t.Context()); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("got %v", err)
	}
	server.Restore(t, where, newest)
	chargeSome(t, l)
}
