package sqlitefn_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A limit with a window refuses with the time at which it opens again, opens then,
// and the sum since the beginning stays in sight. Time passes in the ledger's file.
func TestWindow(t *testing.T) {
	d := declared(t)
	said := d.value(`SELECT budget_limit('ana', 'm', 1, 3600)`).(string)
	for _, part := range []string{"account 'ana': 1/m per window of 3600 s", "a policy, not a theorem"} {
		if !strings.Contains(said, part) {
			t.Errorf("budget_limit answers %q", said)
		}
	}
	balance := `SELECT epsilon_limit, spent, remaining, window_seconds, window_spent, reopens FROM ledger_balance WHERE account = 'ana'`
	d.answers(balance, `[[1 0 1 3600 0 <nil>]]`)
	d.run(release, release)
	reopens := d.value(`SELECT reopens FROM ledger_balance WHERE account = 'ana'`).(string)
	d.fails(release, "account 'ana' has 0.0/m left of 1.0/m, 0.5/m asked, 0.5/m short; the window of 3600 s reopens at "+reopens)
	at, err := time.Parse(time.RFC3339, reopens)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(at); left > time.Hour+time.Second {
		t.Errorf("a window of an hour reopens in %v", left)
	}
	d.close()
	plain(t, d.path+"-ledger", `UPDATE balance SET window_start = window_start - 3600 * 1000000 WHERE account = 'ana'`)
	d = open(t, d.path)
	d.answers(`SELECT budget_spent('ana', 'm'), budget_remaining('ana', 'm')`, `[[1 1]]`)
	d.run(release)
	d.answers(`SELECT spent, remaining, window_spent FROM ledger_balance WHERE account = 'ana'`, `[[1.5 0.5 0.5]]`)
	d.answers(`SELECT epsilon_limit, window_seconds FROM ledger_limits WHERE account = 'ana'`, `[[1 3600]]`)
}

// ledger_balance reads all pages, and again where it is joined.
func TestManyBalances(t *testing.T) {
	d := newDatabase(t)
	d.run(`SELECT budget_limit('*', 'record', 1)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT dx_count('user ' || i, 0.5) FROM n`)
	d.answers(`SELECT count(*), count(DISTINCT account), sum(spent) FROM (VALUES (1), (2)) LEFT JOIN ledger_balance`, `[[5002 2501 2500]]`)
	d.answers(`SELECT account FROM ledger_balance('user 7')`, `[[user 7]]`)
}

func TestVerifyAndArchive(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('ana', 'm', 10)`, release)
	early := d.value(`SELECT ledger_head()`).(string)
	d.run(release, release)
	d.answers(`SELECT balances, head = ledger_head() FROM ledger_verify('`+early+`')`, `[[1 1]]`)
	archive := filepath.Join(t.TempDir(), "old.db")
	moved := d.value(`SELECT ledger_archive('` + archive + `', '2100-01-01')`).(int64)
	if moved < 4 {
		t.Errorf("moved %d entries", moved)
	}
	d.answers(`SELECT function, epsilon, evaluations FROM ledger_charges`, `[[ledger_archive 1.5 3]]`)
	d.answers(`SELECT spent FROM ledger_balance WHERE account = 'ana'`, `[[1.5]]`)
	d.answers(`SELECT count(*) FROM ledger_verify()`, `[[1]]`)
	d.answers(`SELECT entries > `+early[:strings.Index(early, ":")]+` FROM ledger_verify('`+early+`', '`+archive+`')`, `[[1]]`)
	d.fails(`SELECT * FROM ledger_verify('`+early+`')`, "ledger_verify: ledger: the head given", "archive")
	d.fails(`SELECT * FROM ledger_verify('1:`+strings.Repeat("0", 64)+`', '`+archive+`')`, "ledger_verify: ledger: entry 1 has another hash")
	d.fails(`SELECT * FROM ledger_verify('99:`+strings.Repeat("0", 64)+`')`, "an older file was put back")
	d.fails(`SELECT ledger_archive('`+d.path+`', 0)`, "ledger_archive: ledger: archive ", "not an archive")
	d.fails(`SELECT ledger_archive('x', 'yesterday')`, "ledger_archive: before ")

	nobody := newDatabase(t)
	nobody.answers(`SELECT ledger_head()`, `[[<nil>]]`)
	nobody.answers(`SELECT * FROM ledger_limits`, `[]`)
	nobody.fails(`SELECT * FROM ledger_verify()`, "ledger_verify: there is no ledger")
}
