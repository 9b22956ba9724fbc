//go:build unix

package file_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
)

// judge opens the ledger that a power cut has left in a folder and makes sure that it
// keeps the promise and goes on.
func (o *outage) judge(dir string, p *promise) (err error) {
	l, err := file.Open(ledgerFile(dir), p.id == "")
	if err != nil {
		return err
	}
	defer func() {
		if closing := l.Close(); err == nil {
			err = closing
		}
	}()
	return o.judgeOpen(l, dir, p, (*promise).exhaust)
}

// judgeOpen judges an open ledger, and exhausts its accounts in the way given.
func (o *outage) judgeOpen(l *file.Ledger, dir string, p *promise, exhaust func(*promise, *file.Ledger) error) error {
	if p.id != "" && l.ID() != p.id {
		return fmt.Errorf("lost: the ledger is %s, it was %s", l.ID(), p.id)
	}
	l.SetClock(p.now)
	if err := o.verified(l, dir, p.head); err != nil {
		return err
	}
	if err := p.kept(l); err != nil {
		return err
	}
	if o.check != nil {
		if err := o.check(l, dir, p); err != nil {
			return err
		}
	}
	if err := exhaust(p, l); err != nil {
		return err
	}
	if err := grantsNew(l); err != nil {
		return err
	}
	return o.verified(l, dir, p.head)
}

func (o *outage) verified(l *file.Ledger, dir string, earlier *ledger.Head) error {
	if o.verify != nil {
		return o.verify(l, dir, earlier)
	}
	_, err := l.Verify("", earlier, nil)
	return err
}

// kept makes sure that grants are charged, and limits are set.
func (p *promise) kept(l *file.Ledger) error {
	for k, answers := range p.granted {
		b, err := l.Balance(k.account, k.unit)
		if err != nil {
			return err
		}
		if granted := sumSince(answers, math.MinInt64); b.Spent+b.Reserved < granted {
			return fmt.Errorf("lost: %v was granted %v and has spent %v, reserved %v", k, granted, b.Spent, b.Reserved)
		}
	}
	for k, possible := range p.limits {
		b, err := l.Balance(k.account, k.unit)
		if err != nil {
			return err
		}
		if now := (setting{b.Limit, b.Window}); !b.Limited || !slices.Contains(possible, now) {
			return fmt.Errorf("lost: the limit of %v is %v, not %v", k, now, possible)
		}
	}
	return nil
}

// sumSince is the sum granted since a time.
func sumSince(answers []answer, since int64) (sum budget.Amount) {
	for _, a := range answers {
		if a.asked >= since {
			sum += a.eps
		}
	}
	return sum
}

// exhaust charges every account its remaining budget, which together with the amounts
// granted before must be no more than its limit, and then a little more, in vain.
func (p *promise) exhaust(l *file.Ledger) error {
	left := map[budget.Unit][]ledger.Item{}
	for b, err := range ledger.AllBalances(l) {
		if err != nil {
			return err
		}
		if b.Account == "*" {
			continue
		}
		granted := sumSince(p.granted[key{b.Account, b.Unit}], windowStart(&b))
		if b.Remaining() > max(0, b.Limit-granted) {
			return fmt.Errorf("lost: %s was granted %v and has %v left of %v", b.Account, granted, b.Remaining(), b.Limit)
		}
		left[b.Unit] = append(left[b.Unit], ledger.Item{Account: b.Account, Epsilon: b.Remaining()})
	}
	for unit, items := range left {
		if err := chargeExactly(l, unit, items); err != nil {
			return err
		}
	}
	return nil
}

// chargeExactly makes sure that accounts can be charged their remaining budgets, all of
// them together, and no more.
func chargeExactly(l *file.Ledger, unit budget.Unit, left []ledger.Item) error {
	some := slices.DeleteFunc(slices.Clone(left), func(item ledger.Item) bool { return item.Epsilon == 0 })
	if err := l.Charge("f", unit, some); err != nil {
		return err
	}
	for _, item := range left {
		if err := l.Charge("f", unit, []ledger.Item{{Account: item.Account, Epsilon: 1}}); !isRefusal(err) {
			return fmt.Errorf("%s has nothing left and is charged: %v", item.Account, err)
		}
	}
	return nil
}

// exhaustWithPools does the same where the process may have set something aside: an
// account gets the rest of its limit, then the amount set aside, a half at a time.
func (p *promise) exhaustWithPools(l *file.Ledger) error {
	for b, err := range ledger.AllBalances(l) {
		if err != nil {
			return err
		}
		if b.Account == "*" {
			continue
		}
		if err := p.exhaustAccount(l, &b); err != nil {
			return err
		}
	}
	return nil
}

func (p *promise) exhaustAccount(l *file.Ledger, b *ledger.Balance) error {
	granted := sumSince(p.granted[key{b.Account, b.Unit}], windowStart(b))
	all := granted
	for _, eps := range []budget.Amount{max(b.Remaining(), 1), half, 1} {
		err := l.Charge("f", b.Unit, []ledger.Item{{Account: b.Account, Epsilon: eps}})
		for ; err == nil; err = l.Charge("f", b.Unit, []ledger.Item{{Account: b.Account, Epsilon: eps}}) {
			all += eps
		}
		if !isRefusal(err) {
			return err
		}
	}
	now, err := l.Balance(b.Account, b.Unit)
	if err == nil && (all > max(granted, b.Limit) || now.Remaining() > 0 || now.Spent+now.Reserved < all) {
		err = fmt.Errorf("lost: %s was granted %v, then %v, and has spent %v, reserved %v of %v",
			b.Account, granted, all-granted, now.Spent, now.Reserved, b.Limit)
	}
	return err
}

// windowStart is the start of the window that counts against the limit now, in microseconds.
func windowStart(b *ledger.Balance) int64 {
	switch {
	case b.Window == 0:
		return math.MinInt64
	case b.Reopens.IsZero():
		return math.MaxInt64
	}
	return b.Reopens.UnixMicro() - b.Window*1e6
}

// grantsNew makes sure that new limits hold.
func grantsNew(l *file.Ledger) error {
	b, err := l.Balance(usable, "kWh")
	if err != nil {
		return err
	}
	if err := l.SetLimit(usable, "kWh", b.Spent+half, 0); err != nil {
		return err
	}
	return chargeExactly(l, "kWh", []ledger.Item{{Account: usable, Epsilon: half}})
}
