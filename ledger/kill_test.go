package ledger

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
)

const killAccounts = 4

// answerForEver charges in statements of all lengths and writes a byte, the
// number of the account, for every answer that was granted.
func answerForEver(l *Ledger, out io.Writer) {
	for {
		s := l.NewStatement()
		for range 1 << rand.IntN(12) {
			a := byte(rand.IntN(killAccounts))
			if err := s.Spender("f", "m").Charge([]byte{'a' + a}, 1); err != nil {
				return
			}
			out.Write([]byte{a})
		}
		s.End()
	}
}

// TestKill kills processes that answer, at random moments, and demands that
// every answer seen is on disk and that little else is. GEOSQL_KILLS sets the
// number of rounds.
func TestKill(t *testing.T) {
	rounds := 30
	if n, err := strconv.Atoi(os.Getenv("GEOSQL_KILLS")); err == nil {
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Close())
	recorded, answers := map[key]row{}, 0
	for range rounds {
		p := start(t, "answer", path)
		timer := time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { p.cmd.Process.Kill() })
		seen := map[byte]int{}
		err := p.answersOf(seen)
		timer.Stop()
		check(t, err)
		p.cmd.Wait() // killed

		now := audited(t, path)
		check(t, judge(recorded, now, seen))
		recorded = now
		for _, n := range seen {
			answers += n
		}
	}
	t.Logf("%d answers in %d rounds", answers, rounds)
}

const killReserve = 1000

// answerReserved sets amounts aside, answers from half of them and waits.
func answerReserved(l *Ledger, out io.Writer) {
	var items []Item
	for a := range byte(killAccounts) {
		items = append(items, Item{Account: string(rune('a' + a)), Epsilon: killReserve})
	}
	if l.Reserve("m", items) != nil {
		return
	}
	s := l.NewStatement()
	for range killReserve / 2 {
		for a := range byte(killAccounts) {
			if s.Spender("f", "m").Charge([]byte{'a' + a}, 1) != nil {
				return
			}
			out.Write([]byte{a})
		}
	}
	time.Sleep(time.Hour) // until it is killed
}

// What was set aside by a process that is killed stays reserved, all of it: some
// of it has been used.
func TestKillReserved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Close())
	recorded := map[key]row{}
	for range 6 {
		p := start(t, "answer reserved", path)
		timer := time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { p.cmd.Process.Kill() })
		seen := map[byte]int{}
		check(t, p.answersOf(seen))
		timer.Stop()
		p.cmd.Wait() // killed
		now := audited(t, path)
		for a := range byte(killAccounts) {
			k := key{string(rune('a' + a)), "m"}
			if added := now[k].total() - recorded[k].total(); added != killReserve && (added != 0 || len(seen) > 0) {
				t.Errorf("account %s: %d answers seen, %d recorded", k.account, seen[a], int64(added))
			}
		}
		recorded = now
	}
}

// A process that is killed while it creates a ledger leaves one, or a file that
// the next makes into one.
func TestKillCreating(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		path := filepath.Join(dir, strconv.Itoa(i))
		p := start(t, "identify", path)
		timer := time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { p.cmd.Process.Kill() })
		id, err := io.ReadAll(p.out)
		timer.Stop()
		check(t, err)
		p.cmd.Wait() // killed, or not
		l := open(t, path)
		if told := strings.TrimSpace(string(id)); told != "" && told != l.ID() {
			t.Errorf("the ledger %s became %s", told, l.ID())
		}
		check(t, l.SetLimit("*", "m", one, 0))
		check(t, charge(l, "ana", 1))
		check(t, l.Close())
		onDisk(t, path)
	}
}

// judge compares what a killed process added to the file with the answers that
// were seen: none may be missing, and what an account holds more is at most what
// it had used, and one charge whose answer was not written.
func judge(before, after map[key]row, seen map[byte]int) error {
	for a := range byte(killAccounts) {
		k := key{string(rune('a' + a)), "m"}
		added := after[k].total() - before[k].total()
		answers := budget.Amount(seen[a])
		if added < answers || added > 2*answers+1 {
			return fmt.Errorf("account %s: %d answers seen, %d recorded", k.account, int64(answers), int64(added))
		}
	}
	return nil
}

// audited opens the file as a process after a crash does, and audits it.
func audited(t *testing.T, path string) map[key]row {
	t.Helper()
	l, err := Open(path, false)
	check(t, err)
	defer l.Close()
	check(t, charge(l, "usable", 1))
	integrity, err := l.db.readText("PRAGMA integrity_check")
	check(t, err)
	if integrity != "ok" {
		t.Fatal(integrity)
	}
	return onDisk(t, path)
}

// The judge must notice a process that answers before it charges.
func TestKillNoticesAnswerBeforeCharge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	p := start(t, "answer first", path)
	seen := map[byte]int{}
	check(t, p.answersOf(seen))
	p.cmd.Wait()
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.Close())
	if len(seen) != 1 || judge(nil, audited(t, path), seen) == nil {
		t.Error("an answer without a charge was not noticed")
	}
}
