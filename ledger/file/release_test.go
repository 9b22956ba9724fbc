package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
	"pgregory.net/rapid"
)

var plan = ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "/o"}

// releaseOf opens a release and demands how far it is.
func releaseOf(t *testing.T, l *Ledger, id string, charged int64) ledger.Release {
	t.Helper()
	r, err := l.OpenRelease(id, plan)
	check(t, err)
	if r.Charged() != charged {
		t.Errorf("%d accounts are charged, want %d", r.Charged(), charged)
	}
	return r
}

func items(eps budget.Amount, accounts ...string) (all []ledger.Item) {
	for _, a := range accounts {
		all = append(all, ledger.Item{Account: a, Epsilon: eps, Evaluations: 2})
	}
	return all
}

// Many accounts, with all kinds of limits and of earlier charges, in one charge or one for
// each, are the same charges and the same balances.
func TestReleaseOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prepare := rapid.SliceOfN(rapid.Uint64(), 1, 40).Draw(t, "before")
		accounts := rapid.SliceOfNDistinct(rapid.IntRange(0, 400), 0, 300, rapid.ID).Draw(t, "accounts")
		slices.Sort(accounts)
		var all []ledger.Item
		for _, n := range accounts {
			all = append(all, ledger.Item{Account: fmt.Sprintf("%03d", n), Epsilon: budget.Amount(1 + n), Evaluations: int64(n)})
		}
		var told []string
		for _, split := range []bool{false, true} {
			l, err := OpenMemory("")
			check(t, err)
			l.clock = func() int64 { return 1e15 }
			prepareAccounts(t, l, prepare)
			r, err := l.OpenRelease("1", plan)
			check(t, err)
			if !split {
				check(t, r.Charge("m", all))
			}
			for i := range all {
				if split {
					check(t, r.Charge("m", all[i:i+1]))
				}
			}
			told = append(told, fmt.Sprint(r.Charged(), ledgertest.Balances(t, l)))
			v, err := l.Verify("", nil, nil)
			check(t, err)
			if int(r.Charged()) != len(all) || v.Entries < int64(len(all)) {
				t.Fatalf("charged %d, %d entries", r.Charged(), v.Entries)
			}
			check(t, l.Close())
		}
		if told[0] != told[1] {
			t.Fatalf("at once  %s\none by one %s", told[0], told[1])
		}
	})
}

// prepareAccounts gives some accounts limits, windows and charges of this and other units.
func prepareAccounts(t *rapid.T, l *Ledger, random []uint64) {
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, l.SetLimit("*", "kWh", one, 0))
	for _, x := range random {
		account := fmt.Sprintf("%03d", x>>8%401)
		unit := budget.Unit([]string{"m", "kWh"}[x%2])
		switch x >> 1 % 3 {
		case 0:
			check(t, l.SetLimit(account, unit, one/2, 0))
		case 1:
			check(t, l.SetLimit(account, unit, one/2, 3600))
		}
		check(t, l.Charge("f", unit, []ledger.Item{{Account: account, Epsilon: 1000, Evaluations: 1}}))
	}
}

// A ledger without the table, as an earlier program has written it, gets it when it is
// needed, and that program can go on using the file.
func TestReleaseInEarlierFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l := open(t, path)
	check(t, l.SetLimit("*", "m", one, 0))
	check(t, charge(l, "ana", tenth))
	check(t, releaseOf(t, l, "1", 0).Charge("m", items(tenth, "ana")))
	check(t, charge(l, "ana", tenth))
	if b := balance(t, l, "ana"); b.Spent != 3*tenth {
		t.Errorf("spent %v", b.Spent)
	}
	if _, ok := onDisk(t, path)[key{"ana", "m"}]; !ok {
		t.Error("no balance on disk")
	}
}

// After a big charge another connection moves the log into the file. The chain holds, and small
// charges let SQLite move it as ever.
func TestBigTransaction(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	r := releaseOf(t, l, "1", 0)
	var all []ledger.Item
	for i := range 140_003 {
		all = append(all, ledger.Item{Account: fmt.Sprintf("account %06d", i), Epsilon: budget.Amount(1 + i), Evaluations: 1})
	}
	check(t, r.Charge("m", all[:70_001]))
	check(t, r.Charge("m", all[70_001:]))
	for i := range 1200 { // a minute: the file has most of 140,003 entries of 100 bytes
		info, err := os.Stat(l.Path())
		check(t, err)
		if info.Size() >= 14e6 {
			break
		}
		if i == 1199 {
			t.Fatalf("the file has %d bytes", info.Size())
		}
		time.Sleep(50 * time.Millisecond)
	}
	pages, err := l.db.readInt("PRAGMA wal_autocheckpoint")
	check(t, err)
	if pages != 1000 {
		t.Errorf("the log is moved from %d pages on", pages)
	}
	checked, err := l.Verify("", nil, nil)
	check(t, err)
	if checked.Entries != 140_004 {
		t.Errorf("%d entries", checked.Entries)
	}
	for _, i := range []int{0, 511, 512, 70_000, 70_001, 140_002} {
		if b := balance(t, l, all[i].Account); b.Spent != all[i].Epsilon {
			t.Errorf("%s has spent %v", b.Account, b.Spent)
		}
	}
}

// A ledger may be closed while its log is being moved.
func TestBigTransactionThenClose(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", one, 0))
	r := releaseOf(t, l, "1", 0)
	var all []ledger.Item
	for i := range 1 << 17 {
		all = append(all, ledger.Item{Account: fmt.Sprintf("account %06d", i), Epsilon: 1, Evaluations: 1})
	}
	check(t, r.Charge("m", all))
	path := l.Path()
	check(t, l.Close())
	if hasCompanions(path) {
		t.Error("the log is still there")
	}
	releaseOf(t, open(t, path), "1", 1<<17)
}
