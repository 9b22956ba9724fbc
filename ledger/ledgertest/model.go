package ledgertest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// world runs a ledger beside a model of it: the granted amounts, and the limits. The model sees the stored
// ledger as another process does. It cannot know how much of a reservation each spender
// holds: it demands exact answers where only the asker can hold anything, and else bounds that hold in
// any case. Each world has units of its own in one ledger.
type world struct {
	*rapid.T
	ledger     *testLedger
	stored     func(of ...key) map[key]row
	keys       []key
	units      []budget.Unit
	limits     map[key]budget.Amount
	before     map[key]row // stored before the last step
	granted    map[key]budget.Amount
	charged    map[charged]ledger.Charge // sums
	holders    map[key][]any             // spenders that have charged, of statements that run, and statements that have charged groups
	statements []ledger.Statement
}

// charged names the charges of a function to an account.
type charged struct {
	function string
	key
}

var modelAccounts = []string{"ana", "bob", "o'neil"}

func chargesModel(t *testing.T, e Engine) {
	e.shared(t) // somebody else has to look
	l := e.fresh(t)
	stored := watch(t, l)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		w := &world{
			T:       t,
			ledger:  l,
			stored:  stored,
			units:   []budget.Unit{budget.Unit(fmt.Sprint("m ", n)), budget.Unit(fmt.Sprint("kWh ", n))},
			limits:  map[key]budget.Amount{},
			before:  map[key]row{},
			granted: map[key]budget.Amount{},
			charged: map[charged]ledger.Charge{},
			holders: map[key][]any{},
		}
		defer func() {
			for _, s := range w.statements {
				_ = s.End()
			}
		}()
		for _, unit := range w.units {
			for _, account := range modelAccounts {
				w.keys = append(w.keys, key{account, unit})
			}
		}
		w.setLimit(ledger.Everyone, w.units[0], 100)
		t.Repeat(map[string]func(*rapid.T){
			"limit":     w.drawLimit,
			"charge":    w.drawCharge,
			"reserve":   w.drawReserve,
			"statement": func(*rapid.T) { w.statements = append(w.statements, w.ledger.NewStatement()) },
			"spend":     w.drawSpend,
			"spend on":  w.drawSpend,
			"groups":    w.drawGroups,
			"groups on": w.drawGroups,
			"end":       w.drawEnd,
			"read":      w.read,
			"":          w.audit,
		})
		w.finish()
	})
}

func (w *world) key(t *rapid.T) key {
	return key{rapid.SampledFrom(modelAccounts).Draw(t, "account"), rapid.SampledFrom(w.units).Draw(t, "unit")}
}

func amountUpTo(t *rapid.T, most int64) budget.Amount {
	return budget.Amount(rapid.Int64Range(1, most).Draw(t, "amount"))
}

func (w *world) setLimit(account string, unit budget.Unit, eps budget.Amount) {
	check(w, w.ledger.SetLimit(account, unit, eps, 0))
	w.limits[key{account, unit}] = eps
}

// limit returns the limit that holds for an account, and whether there is one.
func (w *world) limit(k key) (limit budget.Amount, limited bool) {
	for _, of := range []key{k, {ledger.Everyone, k.unit}} {
		if limit, limited := w.limits[of]; limited {
			return limit, true
		}
	}
	return 0, false
}

// left returns bounds on the remaining budget of an account for a holder, nil for a charge:
// at least the limit less all that is stored, and at most the limit
// less the granted amounts. They are equal if nobody else can hold anything.
func (w *world) left(k key, p any) (least, most budget.Amount) {
	limit, _ := w.limit(k)
	least, most = max(0, limit-w.before[k].total()), max(0, limit-w.granted[k])
	if !slices.ContainsFunc(w.holders[k], func(other any) bool { return other != p }) {
		least = most
	}
	return least, most
}

func (w *world) grant(function string, k key, eps budget.Amount, evaluations int64) {
	w.granted[k] += eps
	name := charged{function, k}
	c := w.charged[name]
	c.Epsilon += eps
	c.Evaluations += evaluations
	w.charged[name] = c
}

// judge judges the answer to a request for an amount.
func (w *world) judge(err error, k key, asked budget.Amount, p any) {
	_, limited := w.limit(k)
	least, most := w.left(k, p)
	if err == nil {
		if !limited || asked > most {
			w.Fatalf("%v was granted %d, at most %d left", k, int64(asked), int64(most))
		}
		return
	}
	r := refused(w, err)
	if limited && asked <= least || r.Account != k.account || r.Unit != k.unit || r.Asked != asked || r.Limited != limited {
		w.Fatalf("%v asked for %d, at least %d left, refused with %+v", k, int64(asked), int64(least), r)
	}
	if limited && (r.Left < least || r.Left > most || r.Left >= asked) || !limited && r.Left != 0 {
		w.Fatalf("%v has between %d and %d left, refused with %+v", k, int64(least), int64(most), r)
	}
}

func (w *world) drawLimit(t *rapid.T) {
	k := w.key(t)
	if rapid.IntRange(0, 3).Draw(t, "for") == 0 {
		k.account = ledger.Everyone
	}
	w.setLimit(k.account, k.unit, budget.Amount(rapid.Int64Range(0, 300).Draw(t, "limit")))
}

func (w *world) drawCharge(t *rapid.T) { w.chargeItems(t, "charge", w.ledger.Charge, nil) }

// drawGroups charges a few groups of a statement alike, so that it reserves ahead.
func (w *world) drawGroups(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	s := rapid.SampledFrom(w.statements).Draw(t, "statement")
	w.chargeItems(t, rapid.SampledFrom([]string{"sum", "avg"}).Draw(t, "function"), s.Charge, s)
}

// chargeItems charges some items, for a statement several times.
func (w *world) chargeItems(t *rapid.T, function string, charge func(string, budget.Unit, []ledger.Item) error, s ledger.Statement) {
	unit := rapid.SampledFrom(w.units).Draw(t, "unit")
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Item {
		return ledger.Item{Account: rapid.SampledFrom(modelAccounts).Draw(t, "account"), Epsilon: amountUpTo(t, 20), Evaluations: rapid.Int64Range(1, 3).Draw(t, "evaluations")}
	}), 1, 4).Draw(t, "items")
	asked := map[string]budget.Amount{}
	for _, item := range items {
		asked[item.Account] += item.Epsilon
	}
	times := 1
	var holder any
	if s != nil {
		holder = s
		times = rapid.IntRange(1, 8).Draw(t, "times")
	}
	for range times {
		if err := charge(function, unit, items); err != nil {
			r := refused(w, err)
			w.judge(err, key{r.Account, unit}, asked[r.Account], holder)
			w.audit(t)
			continue
		}
		for account, eps := range asked {
			k := key{account, unit}
			w.judge(nil, k, eps, holder)
			if holder != nil && !slices.Contains(w.holders[k], holder) {
				w.holders[k] = append(w.holders[k], holder)
			}
		}
		for _, item := range items {
			w.grant(function, key{item.Account, unit}, item.Epsilon, item.Evaluations)
		}
		w.audit(t)
	}
}

func (w *world) drawReserve(t *rapid.T) {
	k, eps := w.key(t), amountUpTo(t, 60)
	limit, limited := w.limit(k)
	available := max(0, limit-w.before[k].total())
	err := w.ledger.Reserve(k.unit, []ledger.Item{{Account: k.account, Epsilon: eps}})
	if limited && eps <= available {
		check(w, err)
	} else if r := refused(w, err); len(w.holders[k]) == 0 && r.Left != available && limited {
		w.Fatalf("%d available, refused with %+v", int64(available), r)
	}
}

func (w *world) drawSpend(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	s := rapid.SampledFrom(w.statements).Draw(t, "statement")
	function := rapid.SampledFrom([]string{"f", "g"}).Draw(t, "function")
	k, cost := w.key(t), amountUpTo(t, 10)
	p := s.Spender(function, k.unit)
	for range rapid.IntRange(1, 12).Draw(t, "times") {
		err := p.Charge([]byte(k.account), cost)
		w.judge(err, k, cost, p)
		if err == nil {
			w.grant(function, k, cost, 1)
			if !slices.Contains(w.holders[k], any(p)) {
				w.holders[k] = append(w.holders[k], p)
			}
		}
		w.audit(t)
	}
}

func (w *world) drawEnd(t *rapid.T) {
	if len(w.statements) == 0 {
		t.Skip("no statement")
	}
	i := rapid.IntRange(0, len(w.statements)-1).Draw(t, "statement")
	w.end(w.statements[i])
	w.statements = slices.Delete(w.statements, i, i+1)
}

// end ends a statement. Its spenders hold nothing any more.
func (w *world) end(s ledger.Statement) {
	for k := range w.holders {
		w.holders[k] = slices.DeleteFunc(w.holders[k], func(p any) bool {
			return p == s || p == s.Spender("f", k.unit) || p == s.Spender("g", k.unit)
		})
	}
	check(w, s.End())
}

// read demands that the balances that the ledger tells are the stored ones, and that without
// statements their spent amounts are the granted ones.
func (w *world) read(*rapid.T) {
	all := Balances(w, w.ledger)
	stored := w.stored(w.keys...)
	for _, b := range all {
		k := key{b.Account, b.Unit}
		if !slices.Contains(w.units, b.Unit) {
			continue
		}
		limit, limited := w.limit(k)
		if b.Spent != stored[k].spent || b.Reserved != stored[k].reserved || b.Limited != limited || b.Limit != limit {
			w.Fatalf("told %+v, stored %v, limit %d", b, stored[k], int64(limit))
		}
		if b.Spent > w.granted[k] || len(w.statements) == 0 && b.Spent != w.granted[k] {
			w.Fatalf("granted %d, balance %+v", int64(w.granted[k]), b)
		}
		if b.LastCharge.IsZero() != (b.Spent == 0) {
			w.Fatalf("last charge %v", b)
		}
	}
}

// audit looks at the stored ledger after every step: it covers the granted amounts, and nothing has grown
// beyond its limit.
func (w *world) audit(*rapid.T) {
	stored := w.stored(w.keys...)
	for k, r := range stored {
		limit, _ := w.limit(k)
		if r.total() > max(w.before[k].total(), limit) || r.spent < 0 || r.reserved < 0 {
			w.Fatalf("%v grew from %v to %v beyond %d", k, w.before[k], r, int64(limit))
		}
		if granted := w.granted[k]; granted > r.total() {
			w.Fatalf("%v was granted %d, stored is %v", k, int64(granted), r)
		}
	}
	w.before = stored
}

// finish ends everything and demands that balances and charges tell exactly the granted amounts.
func (w *world) finish() {
	for _, s := range w.statements {
		w.end(s)
	}
	w.statements = nil
	w.read(w.T)
	for _, c := range charges(w, w.ledger) {
		if slices.Contains(w.units, c.Unit) {
			w.grant(c.Function, key{c.Account, c.Unit}, -c.Epsilon, -c.Evaluations)
		}
	}
	for name, c := range w.charged {
		if c.Epsilon != 0 || c.Evaluations != 0 {
			w.Fatalf("%v: listed charges differ by %d in %d evaluations", name, int64(c.Epsilon), c.Evaluations)
		}
	}
}
