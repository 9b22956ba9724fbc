package ledgertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var contentionTests = tests{
	"GoroutinesStopAtTheLimit": goroutinesStopAtTheLimit,
	"ProcessesStopAtTheLimit":  processesStopAtTheLimit,
	"ConcurrentUse":            concurrentUse,
	"LimitOverCost":            limitOverCost,
	"BatchesAreWhole":          batchesAreWhole,
	"BatchesOfProcesses":       batchesOfProcesses,
	"NewAccountsAreRaced":      newAccountsAreRaced,
}

func init() {
	for name, charge := range chargers {
		clients[name] = tellGranted(together(charge))
	}
	clients["batches"] = func(l ledger.Ledger, args []string) error {
		return json.NewEncoder(os.Stdout).Encode(chargeBatches(dying{}, l, args[0], callers))
	}
}

// chargers charge 1 at a time until that is refused. They return how often it was granted, and an
// error that is no refusal.
var chargers = map[string]func(ledger.Ledger) (int, error){
	"charge":  chargeUntilRefused,
	"spend":   spendUntilRefused,
	"reserve": reserveUntilRefused,
}

// callers is how many goroutines a process has.
const callers = 4

// together charges from several goroutines.
func together(untilRefused func(ledger.Ledger) (int, error)) func(ledger.Ledger) (int, error) {
	return func(l ledger.Ledger) (granted int, err error) {
		grants, errs := make([]int, callers), make([]error, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() { grants[i], errs[i] = untilRefused(l) })
		}
		all.Wait()
		for _, n := range grants {
			granted += n
		}
		return granted, errors.Join(errs...)
	}
}

// tellGranted writes how often a client was granted something.
func tellGranted(charge func(ledger.Ledger) (int, error)) func(ledger.Ledger, []string) error {
	return func(l ledger.Ledger, _ []string) error {
		granted, err := charge(l)
		fmt.Println(granted)
		return err
	}
}

func chargeUntilRefused(l ledger.Ledger) (granted int, err error) {
	for err == nil {
		if err = charge(l, "ana", 1); err == nil {
			granted++
		}
	}
	return granted, unlessRefused(err)
}

// spendUntilRefused charges in statements of different lengths.
func spendUntilRefused(l ledger.Ledger) (granted int, err error) {
	for n := 1; err == nil; n = n%17 + 1 {
		s := l.NewStatement()
		for i := 0; i < n && err == nil; i++ {
			if err = s.Spender("f", "m").Charge([]byte("ana"), 1); err == nil {
				granted++
			}
		}
		if ending := s.End(); ending != nil {
			return granted, ending
		}
	}
	return granted, unlessRefused(err)
}

// reserveUntilRefused charges from amounts that it has set aside before.
func reserveUntilRefused(l ledger.Ledger) (granted int, err error) {
	for n := 1; err == nil; n = n%17 + 1 {
		err = l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: budget.Amount(n)}})
		if unlessRefused(err) != nil {
			return granted, err
		}
		for range n { // also from amounts that others have set aside, or the rest of the limit
			if err = charge(l, "ana", 1); err != nil {
				break
			}
			granted++
		}
	}
	return granted, unlessRefused(err)
}

// goroutines is how many callers a ledger has at a time in these tests.
const goroutines = 16

// However it is charged, a limit is used up exactly.
func goroutinesStopAtTheLimit(t *testing.T, e Engine) {
	const limit = 400
	for name, charge := range chargers {
		l := e.fresh(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 50}}))
		granted := make([]int, goroutines)
		var all sync.WaitGroup
		for i := range granted {
			all.Go(func() {
				n, err := charge(l)
				if err != nil {
					t.Error(err)
				}
				granted[i] = n
			})
		}
		all.Wait()
		stopsAt(t, name, l, limit, granted)
	}
}

func processesStopAtTheLimit(t *testing.T, e Engine) {
	e.shared(t)
	const limit = 1000
	for role := range chargers {
		l := e.fresh(t)
		check(t, l.SetLimit("ana", "m", limit, 0))
		players := make([]*player, 4)
		for i := range players {
			players[i] = l.start(t, role)
		}
		granted := make([]int, len(players))
		for i, p := range players {
			n, err := strconv.Atoi(p.end())
			check(t, err)
			granted[i] = n
		}
		stopsAt(t, role, l, limit, granted)
	}
}

// stopsAt demands that the amounts granted, together with the amount that one more spender gets, are the
// limit. (A spender may be refused while others hold amounts that they return later.)
func stopsAt(t *testing.T, name string, l *testLedger, limit int, granted []int) {
	t.Helper()
	total := 0
	for _, n := range granted {
		total += n
	}
	b := balance(t, l, "ana")
	if b.Spent != budget.Amount(total) || total > limit {
		t.Errorf("%s: granted %v, balance %+v", name, granted, b)
	}
	if name == "charge" && total != limit {
		t.Errorf("charge: granted %v", granted)
	}
	rest, err := chargeUntilRefused(l)
	check(t, err)
	if total+rest != limit {
		t.Errorf("%s: granted %v and then %d", name, granted, rest)
	}
	if r := stored(t, l, "ana"); r.total() != budget.Amount(limit) {
		t.Errorf("%s: stored %v", name, r)
	}
}

// Charges and reads of one ledger from many goroutines at once, for the race detector.
func concurrentUse(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			account := []byte(fmt.Sprint("account ", g%2))
			for range 10 {
				s := l.NewStatement()
				for range 40 {
					if err := s.Spender("f", "m").Charge(account, 1); err != nil {
						t.Error(err)
					}
				}
				if err := s.End(); err != nil {
					t.Error(err)
				}
				if err := l.Reserve("m", []ledger.Item{{Account: string(account), Epsilon: 30}}); err != nil {
					t.Error(err)
				}
				for _, err := range l.Charges() {
					if err != nil {
						t.Error(err)
					}
					l.ID() // the loop may use the ledger
					if _, err := l.Balance("ana", "m"); err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	all.Wait()
	for g := range 2 {
		if b := balance(t, l, fmt.Sprint("account ", g)); b.Spent != 800 {
			t.Errorf("account %d: %+v", g, b)
		}
	}
	if e.Alone {
		return // it ends when it is closed
	}
	check(t, l.Close())
	for g := range 2 {
		if r := stored(t, l, fmt.Sprint("account ", g)); r != (row{800, 0}) {
			t.Errorf("account %d: %v", g, r)
		}
	}
}

// As often as the limit has room for the cost it is charged, and every other call is refused, with
// the remaining budget.
func limitOverCost(t *testing.T, e Engine) {
	const limit, cost, each = 400, 7, 10
	l := e.fresh(t)
	check(t, l.SetLimit("ana", "m", limit, 0))
	errs := make([]error, goroutines*each)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				errs[g*each+i] = charge(l, "ana", cost)
			}
		})
	}
	all.Wait()
	granted := 0
	for _, err := range errs {
		if err == nil {
			granted++
		} else if r := refused(t, err); r.Left != limit%cost || r.Asked != cost {
			t.Errorf("refused with %+v", r)
		}
	}
	if b := balance(t, l, "ana"); granted != limit/cost || b.Spent != limit/cost*cost || len(charges(t, l)) != granted {
		t.Errorf("granted %d, %+v", granted, b)
	}
}

// Batches about overlapping accounts, in any order, are charged whole or not at all.
func batchesAreWhole(t *testing.T, e Engine) {
	l := e.fresh(t)
	limitBatches(t, l)
	judgeBatches(t, l, chargeBatches(t, l, "the test", goroutines))
}

// So they are by several processes.
func batchesOfProcesses(t *testing.T, e Engine) {
	e.shared(t)
	l := e.fresh(t)
	limitBatches(t, l)
	var players []*player
	for i := range 4 {
		players = append(players, l.start(t, "batches", fmt.Sprint("process ", i)))
	}
	var granted []batch
	for _, p := range players {
		var of []batch
		check(t, json.Unmarshal([]byte(p.end()), &of))
		granted = append(granted, of...)
	}
	judgeBatches(t, l, granted)
}

// batchAccounts are charged in batches. Some can pay more than others.
var batchAccounts = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

func limitBatches(t *testing.T, l *testLedger) {
	t.Helper()
	check(t, l.SetLimit("*", "m", 300, 0))
	check(t, l.SetLimit("c", "m", 100, 0))
	check(t, l.SetLimit("h", "m", 200, 3600))
}

// batch is a batch that was charged.
type batch struct {
	Function string
	Items    []ledger.Item
}

// chargeBatches charges from several callers until each of them was refused a few times. It returns
// the batches that were charged. The function of a batch is its name.
func chargeBatches(t failer, l ledger.Ledger, name string, callers int) (granted []batch) {
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make([]error, callers)
	for g := range callers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), uint64(len(name))))
			for i, refusals := 0, 0; refusals < 4; i++ {
				b := batch{Function: fmt.Sprint(name, " ", g, " ", i)}
				for _, a := range random.Perm(len(batchAccounts))[:1+random.IntN(len(batchAccounts))] {
					b.Items = append(b.Items, ledger.Item{Account: batchAccounts[a], Epsilon: 1 + budget.Amount(random.IntN(9)), Evaluations: 1})
				}
				switch err := l.Charge(b.Function, "m", b.Items); {
				case err == nil:
					mu.Lock()
					granted = append(granted, b)
					mu.Unlock()
				case unlessRefused(err) == nil:
					refusals++
				default:
					errs[g] = err
					return
				}
			}
		})
	}
	all.Wait()
	check(t, errors.Join(errs...))
	return granted
}

// judgeBatches demands that the charges are those of the batches that were granted, and that the rest
// of each limit, and no more, can be charged.
func judgeBatches(t *testing.T, l *testLedger, granted []batch) {
	t.Helper()
	type of struct{ function, account string }
	want, total := map[of]budget.Amount{}, map[string]budget.Amount{}
	for _, b := range granted {
		for _, item := range b.Items {
			want[of{b.Function, item.Account}] += item.Epsilon
			total[item.Account] += item.Epsilon
		}
	}
	got := map[of]budget.Amount{}
	for _, c := range charges(t, l) {
		got[of{c.Function, c.Account}] += c.Epsilon
	}
	if len(granted) == 0 || !maps.Equal(got, want) {
		t.Errorf("%d batches: %d charges to accounts were granted, there are %d, or their amounts differ", len(granted), len(want), len(got))
	}
	short := false
	for _, account := range batchAccounts {
		b := balance(t, l, account)
		left := b.Remaining()
		if b.Spent != total[account] || b.Reserved != 0 || b.Spent+left != b.Limit {
			t.Errorf("%s was charged %d: %+v", account, int64(total[account]), b)
		}
		short = short || left < 9
		if left > 0 {
			check(t, charge(l, account, left))
		}
		refused(t, charge(l, account, 1))
	}
	if !short {
		t.Error("nobody was short")
	}
	check(t, verify(l, "", nil))
}

// Of many who charge a new account for the first time none is lost.
func newAccountsAreRaced(t *testing.T, e Engine) {
	l := e.fresh(t)
	check(t, l.SetLimit("*", "m", one, 0))
	const rounds = 20
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range rounds {
				errs[g] = errors.Join(errs[g], charge(l, fmt.Sprint("account ", i), 1))
			}
		})
	}
	all.Wait()
	check(t, errors.Join(errs...))
	for i := range rounds {
		if b := balance(t, l, fmt.Sprint("account ", i)); b.Spent != goroutines {
			t.Errorf("%+v", b)
		}
	}
}
