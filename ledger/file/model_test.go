package file

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/ledgertest"
	"pgregory.net/rapid"
)

// world runs a ledger beside a model of it: the granted amounts, and the limits.
// The model cannot know who holds how much. It takes that from the ledger's
// memory; that nothing is granted beyond the limit it takes from the file.
type world struct {
	*rapid.T
	ledger     *Ledger
	disk       *auditor
	limits     map[key]budget.Amount
	before     map[key]row // on disk, before the last step
	granted    map[key]budget.Amount
	charged    map[string]ledger.Charge // sums by function, account and unit
	statements []ledger.Statement
}

var (
	modelAccounts = []string{"ana", "bob", "o'neil"}
	modelUnits    = []budget.Unit{"m", "kWh"}
)

func TestModel(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		l, err := Open(path, true)
		check(t, err)
		w := &world{
			T:       t,
			ledger:  l,
			disk:    newAuditor(t, path),
			limits:  map[key]budget.Amount{},
			granted: map[key]budget.Amount{},
			charged: map[string]ledger.Charge{},
		}
		defer func() {
			w.disk.close()
			for _, s := range w.statements {
				s.End()
			}
			w.ledger.Close()
		}()
		w.setLimit("*", "m", 100)
		t.Repeat(map[string]func(*rapid.T){
			"limit":     w.drawLimit,
			"charge":    w.drawCharge,
			"reserve":   w.drawReserve,
			"statement": func(*rapid.T) { w.statements = append(w.statements, w.ledger.NewStatement()) },
			"set aside": w.drawSetAside,
			"spend":     w.drawSpend,
			"spend on":  w.drawSpend,
			"end":       w.drawEnd,
			"read":      w.read,
			"":          w.audit,
		})
		w.finish()
	})
}

func (w *world) key(t *rapid.T) key {
	return key{rapid.SampledFrom(modelAccounts).Draw(t, "account"), rapid.SampledFrom(modelUnits).Draw(t, "unit")}
}

func (w *world) amount(t *rapid.T, most int64) budget.Amount {
	return budget.Amount(rapid.Int64Range(1, most).Draw(t, "amount"))
}

func (w *world) setLimit(account string, unit budget.Unit, eps budget.Amount) {
	check(w, w.ledger.SetLimit(account, unit, eps, 0))
	w.limits[key{account, unit}] = eps
}

// limit is the limit that holds for an account, -1 without one.
func (w *world) limit(k key) budget.Amount {
	if l, ok := w.limits[k]; ok {
		return l
	}
	if l, ok := w.limits[key{ledger.Everyone, k.unit}]; ok {
		return l
	}
	return -1
}

// free is the limit less the amounts on disk.
func (w *world) free(k key) budget.Amount {
	return max(0, w.limit(k)-w.before[k].total())
}

func (w *world) pooled(k key) budget.Amount {
	return w.ledger.Pooled(engine.Key{Account: k.account, Unit: k.unit})
}

func (w *world) grant(function string, k key, eps budget.Amount, evaluations int64) {
	w.granted[k] += eps
	name := fmt.Sprint(function, k)
	c := w.charged[name]
	c.Epsilon += eps
	c.Evaluations += evaluations
	w.charged[name] = c
}

func (w *world) drawLimit(t *rapid.T) {
	k := w.key(t)
	if rapid.IntRange(0, 3).Draw(t, "for") == 0 {
		k.account = ledger.Everyone
	}
	w.setLimit(k.account, k.unit, budget.Amount(rapid.Int64Range(0, 300).Draw(t, "limit")))
}

func (w *world) drawCharge(t *rapid.T) {
	unit := rapid.SampledFrom(modelUnits).Draw(t, "unit")
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Item {
		return ledger.Item{Account: rapid.SampledFrom(modelAccounts).Draw(t, "account"), Epsilon: w.amount(t, 20), Evaluations: rapid.Int64Range(1, 3).Draw(t, "evaluations")}
	}), 1, 4).Draw(t, "items")
	// The first item that its account cannot pay is the one that is refused.
	used := map[key]budget.Amount{}
	for _, item := range items {
		k := key{item.Account, unit}
		available := w.free(k) + w.pooled(k) - used[k]
		if w.limit(k) < 0 || item.Epsilon > available {
			refused(w, w.ledger.Charge("charge", unit, items))
			return
		}
		used[k] += item.Epsilon
	}
	check(w, w.ledger.Charge("charge", unit, items))
	for _, item := range items {
		w.grant("charge", key{item.Account, unit}, item.Epsilon, item.Evaluations)
	}
}

func (w *world) drawReserve(t *rapid.T) {
	k, eps := w.key(t), w.amount(t, 60)
	available := w.free(k)
	err := w.ledger.Reserve(k.unit, []ledger.Item{{Account: k.account, Epsilon: eps}})
	if w.limit(k) >= 0 && eps <= available {
		check(w, err)
	} else if r := refused(w, err); r.Left != available {
		w.Fatalf("%d available, refused with %+v", available, r)
	}
}

// drawSetAside has a statement reserve.
func (w *world) drawSetAside(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	s := rapid.SampledFrom(w.statements).Draw(t, "statement")
	var demands []ledger.Demand
	for _, unit := range modelUnits {
		d := ledger.Demand{Unit: unit}
		for _, account := range rapid.SliceOf(rapid.SampledFrom(modelAccounts)).Draw(t, "accounts") {
			d.Items = append(d.Items, ledger.Item{Account: account, Epsilon: w.amount(t, 60)})
		}
		demands = append(demands, d)
	}
	check(w, s.Reserve(demands))
}

// spending are the functions of statements.
var spending = []string{"f", "g"}

func (w *world) drawSpend(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	s := rapid.SampledFrom(w.statements).Draw(t, "statement")
	function := rapid.SampledFrom(spending).Draw(t, "function")
	k, cost := w.key(t), w.amount(t, 10)
	p := s.Spender(function, k.unit)
	for range rapid.IntRange(1, 12).Draw(t, "times") {
		available, total := w.pooled(k), w.before[k].total()
		for _, function := range spending {
			other := s.Spender(function, k.unit)
			h := engine.Held(other, k.account)
			if h == nil {
				continue
			}
			switch fromLimit, fromPool := h.Unused(); {
			case w.limit(k) < h.Limit: // it returns
				total -= h.Left
			case other == p:
				available += h.Left
			default: // it returns before anything is refused
				available, total = available+fromPool, total-fromLimit
			}
		}
		available += max(0, w.limit(k)-total)
		err := p.Charge([]byte(k.account), cost)
		w.spendVerdict(err, k, cost, available)
		if err == nil {
			w.grant(function, k, cost, 1)
		}
		w.audit(t)
	}
}

func (w *world) spendVerdict(err error, k key, cost, available budget.Amount) {
	if w.limit(k) >= 0 && cost <= available {
		check(w, err)
		return
	}
	r := refused(w, err)
	if r.Account != k.account || r.Unit != k.unit || r.Asked != cost || r.Left != available {
		w.Fatalf("%d available, refused with %+v", available, r)
	}
}

func (w *world) drawEnd(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	i := rapid.IntRange(0, len(w.statements)-1).Draw(t, "statement")
	check(w, w.statements[i].End())
	w.statements = append(w.statements[:i:i], w.statements[i+1:]...)
}

// read demands that the balances the ledger tells are those of the file, and
// that without statements they are exact.
func (w *world) read(t *rapid.T) {
	all := ledgertest.Balances(w, w.ledger)
	disk, err := w.disk.audit()
	check(w, err)
	for _, b := range all {
		k := key{b.Account, b.Unit}
		if b.Spent != disk[k].spent || b.Reserved != disk[k].reserved || b.Limited != (w.limit(k) >= 0) || b.Limited && b.Limit != w.limit(k) {
			w.Fatalf("told %+v, on disk %v", b, disk[k])
		}
		if len(w.statements) == 0 && (b.Spent != w.granted[k] || b.Reserved != w.pooled(k)) {
			w.Fatalf("granted %d, set aside %d, balance %+v", w.granted[k], w.pooled(k), b)
		}
		if b.LastCharge.IsZero() != (b.Spent == 0) {
			w.Fatalf("last charge %v", b)
		}
	}
}

// audit looks at the file after every step: balances are the sums of their
// entries, they cover the granted amounts, and none has grown beyond its limit.
func (w *world) audit(*rapid.T) {
	disk, err := w.disk.audit()
	check(w, err)
	for k, r := range disk {
		if r.total() > max(w.before[k].total(), w.limit(k)) {
			w.Fatalf("%v grew from %v to %v beyond %d", k, w.before[k], r, int64(w.limit(k)))
		}
	}
	for k, granted := range w.granted {
		if granted > disk[k].total() {
			w.Fatalf("%v was granted %d, on disk %v", k, int64(granted), disk[k])
		}
	}
	w.before = disk
}

// finish ends everything and demands that the file tells exactly the amounts
// granted, by balance and by charge.
func (w *world) finish() {
	for _, s := range w.statements {
		check(w, s.End())
	}
	w.statements = nil
	path := w.ledger.Path()
	check(w, w.ledger.Close())
	disk, err := w.disk.audit()
	check(w, err)
	for k, r := range disk {
		if r != (row{w.granted[k], 0}) {
			w.Fatalf("%v was granted %d, on disk %v", k, int64(w.granted[k]), r)
		}
	}
	w.ledger, err = Open(path, false)
	check(w, err)
	for c, err := range w.ledger.Charges() {
		check(w, err)
		w.grant(c.Function, key{c.Account, c.Unit}, -c.Epsilon, -c.Evaluations)
	}
	for name, c := range w.charged {
		if c.Epsilon != 0 || c.Evaluations != 0 {
			w.Fatalf("%s: listed charges differ by %d in %d evaluations", name, int64(c.Epsilon), c.Evaluations)
		}
	}
}

// The audit must notice a balance that is not the sum of its entries.
func TestAuditNoticesARefund(t *testing.T) {
	for _, sql := range []string{
		"UPDATE balance SET spent = spent - 1",
		"UPDATE balance SET reserved = reserved + 1",
		"DELETE FROM balance",
		"DELETE FROM entry",
		"UPDATE entry SET account = 'bob'",
	} {
		l := newFile(t)
		check(t, l.SetLimit("*", "m", one, 0))
		check(t, charge(l, "ana", 5))
		spoil(t, l.Path(), sql)
		a := newAuditor(t, l.Path())
		if _, err := a.audit(); err == nil {
			t.Errorf("%s was not noticed", sql)
		}
		a.close()
	}
}
