//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// change is an entry as the judge reads it.
type change struct {
	engine.Key
	change      budget.Amount // of the spent and reserved amount
	start       int64         // of the window
	inWindow    budget.Amount
	limit       budget.Amount // ledger.NoLimit for none
	limitWindow int64
}

// recorded is the state of a server, read without this package.
type recorded struct {
	balances    map[engine.Key]budget.Amount // spent and reserved
	roleBudgets map[string]budget.Amount     // of askingRole
	limits      map[engine.Key]setting
	changes     []change
	releases    map[string]int64 // how many accounts are charged
	sealed      map[string]bool
	writers     int
}

// readRecorded reads one state of a ledger.
func readRecorded(where string) (s *recorded, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, where)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	s = &recorded{
		balances: map[engine.Key]budget.Amount{}, roleBudgets: map[string]budget.Amount{}, limits: map[engine.Key]setting{},
		releases: map[string]int64{}, sealed: map[string]bool{},
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	each := func(sql string, to []any, row func()) {
		if err != nil {
			return
		}
		var rows pgx.Rows
		if rows, err = tx.Query(ctx, sql); err == nil {
			_, err = pgx.ForEachRow(rows, to, func() error { row(); return nil })
		}
	}
	var account, unit string
	key := func() engine.Key { return engine.Key{Account: account, Unit: budget.Unit(unit)} }
	var a, b int64
	each("SELECT account, unit, spent + reserved FROM geosql.balance", []any{&account, &unit, &a}, func() { s.balances[key()] = budget.Amount(a) })
	each("SELECT account, spent FROM geosql.purse WHERE role = '"+askingRole+"'", []any{&account, &a}, func() { s.roleBudgets[account] = budget.Amount(a) })
	each("SELECT account, unit, epsilon, coalesce(window_seconds, 0) FROM geosql.budget", []any{&account, &unit, &a, &b},
		func() { s.limits[key()] = setting{budget.Amount(a), b} })
	var sealed bool
	each("SELECT id, charged, sealed IS NOT NULL FROM geosql.release", []any{&account, &a, &sealed}, func() { s.releases[account], s.sealed[account] = a, sealed })
	each("SELECT count(*) FROM geosql.writer", []any{&s.writers}, func() {})
	var c change
	each(`SELECT account, unit, spent + reserved, coalesce(window_start, 0), window_spent, coalesce(epsilon_limit, -1), coalesce(window_seconds, 0)
		FROM geosql.entry WHERE unit <> '' ORDER BY id`,
		[]any{&c.Account, &c.Unit, &c.change, &c.start, &c.inWindow, &c.limit, &c.limitWindow}, func() { s.changes = append(s.changes, c) })
	return s, err
}

// faults collects the findings of the judge, and not more of them than can be read.
type faults []string

func (f *faults) add(format string, args ...any) {
	const most = 20
	if len(*f) < most {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

// judge compares the recorded state with the reports of applications.
func judge(told *testimony, s *recorded) (f faults) {
	for k, granted := range told.granted {
		if got := s.balances[k]; granted > got {
			f.add("%v: acknowledged %v, recorded %v", k, granted, got)
		}
	}
	for k, set := range told.set {
		if now := s.limits[k]; now != set && !contains(told.asked[k], now) {
			f.add("%v: the limit is %v after it was set to %v", k, now, set)
		}
	}
	judgeHistory(&f, told, s)
	judgeReleases(&f, told, s)
	judgeQuestions(&f, s)
	for k, got := range s.balances {
		if k.Unit == onceUnit && got != eps {
			f.add("%v: recorded %v for what is charged once", k, got)
		}
	}
	return f
}

func contains(all []setting, one setting) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// window is one of an account's.
type crashWindow struct {
	start int64
	spent budget.Amount // at its end
}

// judgeHistory follows the entries: whatever was charged or reserved was below the limit that held
// then. In windows of full length it finds the amounts that were certainly granted in them.
func judgeHistory(f *faults, told *testimony, s *recorded) {
	limits, sums := map[engine.Key]setting{}, map[engine.Key]budget.Amount{}
	windows := map[engine.Key][]crashWindow{}
	for _, c := range s.changes {
		if c.limit != ledger.NoLimit {
			limits[c.Key] = setting{c.limit, c.limitWindow}
			continue
		}
		sums[c.Key] += c.change
		limit, own := limits[c.Key]
		if !own {
			limit = limits[engine.Key{Account: ledger.Everyone, Unit: c.Unit}]
		}
		counts := sums[c.Key]
		if limit.seconds > 0 {
			counts = c.inWindow
		}
		if c.change > 0 && counts > limit.eps {
			f.add("%v: recorded %v, the limit was %v", c.Key, counts, limit)
		}
		if c.Unit == windowUnit && c.start > 0 {
			all := windows[c.Key]
			if n := len(all); n == 0 || all[n-1].start != c.start {
				if n > 0 && c.start < all[n-1].start+windowLength*1e6 {
					f.add("%v: a window has started at %d, and another at %d", c.Key, all[n-1].start, c.start)
				}
				all = append(all, crashWindow{start: c.start})
			}
			all[len(all)-1].spent = c.inWindow
			windows[c.Key] = all
		}
	}
	for k, got := range s.balances {
		if sums[k] != got {
			f.add("%v: the balance is %v, the entries have %v", k, got, sums[k])
		}
	}
	for k, all := range windows {
		for _, w := range all {
			var granted budget.Amount
			for _, g := range told.grants[k] {
				if g.asked >= w.start && g.told < w.start+windowLength*1e6 {
					granted += g.eps
				}
			}
			if granted > w.spent {
				f.add("%v: acknowledged %v in the window from %d, recorded %v", k, granted, w.start, w.spent)
			}
		}
	}
}

// judgeReleases finds accounts of releases that were not charged once, in their order.
func judgeReleases(f *faults, told *testimony, s *recorded) {
	for name, charged := range s.releases {
		for i, account := range releaseAccounts(name) {
			want := budget.Amount(0)
			if int64(i) < charged {
				want = eps
			}
			if got := s.balances[engine.Key{Account: account, Unit: releaseUnit}]; got != want {
				f.add("release %s has charged %d accounts, and %s %v", name, charged, account, got)
			}
		}
		if s.sealed[name] && charged != releaseSize {
			f.add("release %s is sealed and has charged %d accounts", name, charged)
		}
	}
	for name := range told.sealed {
		if !s.sealed[name] {
			f.add("release %s was sealed", name)
		}
	}
}

// judgeQuestions finds accounts that were not charged together, and role budgets that were not charged
// with their accounts.
func judgeQuestions(f *faults, s *recorded) {
	first := s.balances[engine.Key{Account: askedAccounts[0], Unit: questUnit}]
	for _, account := range askedAccounts {
		got := s.balances[engine.Key{Account: account, Unit: questUnit}]
		if got != first || s.roleBudgets[account] != got {
			f.add("%s was charged %v, its role budget %v, another account %v for the same questions", account, got, s.roleBudgets[account], first)
		}
	}
}

// judgeLedger verifies a ledger from an earlier head, and finds answers that are forgotten and traces
// that lack points. It returns the head.
func judgeLedger(f *faults, told *testimony, l *Ledger, earlier *ledger.Head) *ledger.Head {
	if _, err := l.Verify("", earlier, nil); err != nil {
		f.add("verifying: %v", err)
	}
	for _, key := range told.latest[max(0, len(told.latest)-30):] {
		a, err := askAbout(l, key, func([]string) ([]byte, error) { return nil, errors.New("it is forgotten") })
		if err != nil || string(a.Answer) != told.drawn[key] {
			f.add("question %s had the answer %s, now %s, %v", key, told.drawn[key], a.Answer, err)
		}
	}
	for name, saved := range told.saved {
		points, err := l.TraceRun(name)
		n := int64(0)
		for _, p := range points {
			if !p.Gap {
				n++
			}
		}
		if err != nil || n < saved {
			f.add("trace %s was saved at point %d, and has %d, %v", name, saved, n, err)
		}
	}
	h, err := l.Head()
	if err != nil {
		f.add("the head: %v", err)
	}
	return &h
}

// neverTold are errors that no crash may cause: nothing is lost.
func neverTold(text string) bool {
	for _, err := range []error{errBehind, errSameWriter, errOtherGeneration} {
		if strings.Contains(text, err.Error()) {
			return true
		}
	}
	return false
}
