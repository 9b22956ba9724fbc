package engines_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/ledgertest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a ledger.
func open(t testing.TB, where string, create bool) ledger.Ledger {
	t.Helper()
	l, err := engines.Open(where, create, 0)
	check(t, err)
	return l
}

const one = budget.Amount(1e12)

// ends returns the two ends of a move, a path and the URL of a database. Neither has a ledger yet.
func ends(t testing.TB) (path, url string) {
	t.Helper()
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	return filepath.Join(t.TempDir(), "books"), pgtest.Start(t).Database(t)
}

// fill makes a ledger that uses everything a ledger has, and returns its head.
func fill(t testing.TB, where string) ledger.Head {
	t.Helper()
	l := open(t, where, true)
	check(t, l.SetLimit("*", "m", 5*one, 0))
	check(t, l.SetLimit("ana", "m", 7*one+1, 86400))
	check(t, l.SetLimit("bo's \"x\"", "kWh", 3*one, 0))
	for i := range 20 {
		check(t, l.Charge("dx_sum", "m", []ledger.Item{{Account: fmt.Sprintf("a%02d", i), Epsilon: one/3 + budget.Amount(i), Evaluations: 1}, {Account: "ana", Epsilon: 7, Evaluations: 2}}))
	}
	check(t, l.SetLimit("*", "cip:day", one, 0))
	check(t, l.ChargeOnce("cip_trace", "cip:day", ledger.Item{Account: "ana", Epsilon: 1, Evaluations: 1}))
	s := l.NewStatement()
	check(t, s.Spender("geoind_laplace", "m").Charge([]byte("bo"), one/7))
	check(t, s.End())
	tr, _, _, err := l.OpenTrace("tram", "ana", "m", "predictive_step")
	check(t, err)
	check(t, tr.Reserve(10, 10))
	tr.Add(ledger.Point{Time: time.Unix(1, 0), Lat: 1, Lon: 2, Spent: 7})
	check(t, tr.Close([]byte("state")))
	r, err := l.OpenRelease("one", ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "o"})
	check(t, err)
	check(t, r.Charge("m", []ledger.Item{{Account: "a00", Epsilon: 5, Evaluations: 1}, {Account: "zoë", Epsilon: 5, Evaluations: 1}}))
	check(t, r.Seal(strings.Repeat("ab", 32)))
	_, err = l.OpenRelease("two", ledger.ReleasePlan{Digest: "d", Settings: "t", Output: "p"})
	check(t, err)
	_, err = l.Answer(t.Context(), question("q"))
	check(t, err)
	check(t, l.Record(ledger.Fact{Kind: "role", Text: "x"}, ledger.Fact{Kind: "role"}))
	head, err := l.Head()
	check(t, err)
	check(t, l.Close())
	return head
}

// question returns a question of the role chris.
func question(name string) ledger.Question {
	return ledger.Question{
		Key: sha256.Sum256([]byte(name)), Function: "dx_sum", Unit: "m", Role: "chris", RoleLimit: one,
		Members: []ledger.Member{{Account: "a01", Epsilon: 9, Due: 3, RoleDue: 4, Evaluations: 1}, {Account: "a02", Epsilon: 9, Due: 5, RoleDue: 6, Evaluations: 1}},
		Draw:    func([]string) ([]byte, error) { return []byte("answer"), nil },
	}
}

// view is the visible state of a ledger.
type view struct {
	id          string
	balances    []ledger.Balance
	charges     []ledger.Charge
	limits      []ledger.LimitChange
	roleBudgets []ledger.RoleBudget
	facts       []ledger.Fact
	run         []ledger.Point
}

func see(t testing.TB, where string) (v view) {
	t.Helper()
	l := open(t, where, false)
	defer l.Close()
	var err error
	v.id = l.ID()
	v.balances = ledgertest.Balances(t, l)
	for c, err := range l.Charges() {
		check(t, err)
		v.charges = append(v.charges, c)
	}
	v.limits, err = l.LimitChanges()
	check(t, err)
	v.roleBudgets, err = l.RoleBudgets("chris")
	check(t, err)
	v.facts, err = l.Facts(t.Context(), 0)
	check(t, err)
	v.run, err = l.TraceRun("tram")
	check(t, err)
	return v
}

func (v view) want(t testing.TB, want view) {
	t.Helper()
	a, b := reflect.ValueOf(v), reflect.ValueOf(want)
	for i := range a.NumField() {
		if x, y := fmt.Sprintf("%+v", a.Field(i)), fmt.Sprintf("%+v", b.Field(i)); x != y {
			t.Errorf("%s:\n%s\nwant\n%s", a.Type().Field(i).Name, x, y)
		}
	}
}

func move(from, to string) (*engines.Moved, error) {
	return engines.Move(context.Background(), from, to, 0, func(string, float64) {})
}

// unusable checks that a ledger cannot be charged.
func unusable(t testing.TB, where string, want ...string) {
	t.Helper()
	l := open(t, where, false)
	defer l.Close()
	err := l.SetLimit("ana", "m", one, 0)
	if err == nil {
		t.Errorf("%s can be charged", engines.Label(where))
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want %q", err, w)
		}
	}
}

func TestMove(t *testing.T) {
	path, url := ends(t)
	head := fill(t, path)
	before := see(t, path)

	moved, err := move(path, url)
	check(t, err)
	if moved.ID != before.id || moved.Before || moved.Entries != head.ID || moved.Limits != 4 {
		t.Errorf("%+v", moved)
	}
	see(t, url).want(t, before)
	unusable(t, path, "was moved to "+engines.Label(url))
	if again, err := move(path, url); err != nil || !again.Before {
		t.Errorf("again: %+v, %v", again, err)
	}

	// An account that has asked sees the same answer for nothing, and sealed values stay sealed.
	server := open(t, url, false)
	a, err := server.Answer(t.Context(), question("q"))
	if err != nil || !a.Remembered || !a.Seen || string(a.Answer) != "answer" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := server.OpenRelease("one", ledger.ReleasePlan{Digest: "x", Settings: "s", Output: "o"}); err == nil {
		t.Error("the plan of a release is forgotten")
	}
	tr, state, _, err := server.OpenTrace("tram", "ana", "m", "predictive_step")
	if err != nil || string(state) != "state" {
		t.Fatalf("trace: %q, %v", state, err)
	}
	check(t, tr.Close(state))
	var refused *ledger.AlreadyChargedError
	if err := server.ChargeOnce("cip_trace", "cip:day", ledger.Item{Account: "ana", Epsilon: 1, Evaluations: 1}); !errors.As(err, &refused) {
		t.Errorf("charged once: %v", err)
	}
	check(t, server.Charge("dx_sum", "m", []ledger.Item{{Account: "ana", Epsilon: 3, Evaluations: 1}, {Account: "new", Epsilon: 1, Evaluations: 1}}))
	check(t, server.SetLimit("ana", "m", 8*one, 0))
	check(t, server.Close())
	during := see(t, url)

	// An old state does not come over a newer one.
	if _, err := move(path, url); err != nil {
		t.Errorf("the move that is done: %v", err)
	}
	moved, err = move(url, path)
	check(t, err)
	after := see(t, path)
	if n := len(after.charges); n <= len(during.charges) || !strings.HasPrefix(after.charges[n-1].Function, "ledger_move ") {
		t.Errorf("no entry has the head of the writer: %v", after.charges[n-1])
	}
	after.charges = after.charges[:len(during.charges)]
	after.want(t, during)
	unusable(t, url, "was moved to ", path)
	back := open(t, path, false)
	if v, err := back.Verify("", &head, nil); err != nil || v.Entries != moved.Entries {
		t.Errorf("%+v, %v", v, err)
	}
	check(t, back.Charge("dx_sum", "m", []ledger.Item{{Account: "ana", Epsilon: 3, Evaluations: 1}}))
	check(t, back.Close())

	// And to the server again, over the retired ledger there.
	_, err = move(path, url)
	check(t, err)
	server = open(t, url, false)
	check(t, server.Charge("dx_sum", "m", []ledger.Item{{Account: "ana", Epsilon: 3, Evaluations: 1}}))
	if _, err := server.Verify("", nil, nil); err != nil {
		t.Error(err)
	}
	check(t, server.Close())
}

func TestMoveIsRefused(t *testing.T) {
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	server := pgtest.Start(t)
	url := server.Database(t)
	dir := t.TempDir()
	path, other := filepath.Join(dir, "books"), filepath.Join(dir, "other")
	refused := func(from, to string, want string) {
		t.Helper()
		if _, err := move(from, to); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s to %s: %v, want %q", from, to, err, want)
		}
	}
	refused(path, url, "there is no ledger "+path)
	refused(url, path, "there is no ledger at "+engines.Label(url))
	refused(path, other, "use 'mv'")
	refused(url, url, "to a file first")
	refused("postgres:/x", url, "begins with postgres://")
	for _, p := range []string{path, other} {
		l := open(t, p, true)
		check(t, l.SetLimit("ana", "m", one, 0))
		check(t, l.Close())
	}
	_, err := move(path, url)
	check(t, err)
	refused(other, url, "there is another ledger at ")
	refused(url, other, "there is another ledger at ")
	refused(path, server.Database(t), "was moved to "+engines.Label(url))

	// A third place has the newest state.
	third := filepath.Join(dir, "third")
	_, err = move(url, third)
	check(t, err)
	refused(path, url, "is an older state")
	for _, p := range []string{path, url} {
		unusable(t, p, "was moved to ")
	}

	// A name that a server cannot store.
	bad := filepath.Join(dir, "bad")
	l := open(t, bad, true)
	check(t, l.SetLimit("a\x00b", "m", one, 0))
	check(t, l.Close())
	empty := server.Database(t)
	refused(bad, empty, "the ledger is in use where it was")
	l = open(t, bad, false)
	check(t, l.SetLimit("ana", "m", one, 0))
	check(t, l.Close())
	if _, err := engines.Open(empty, false, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a move that failed: %v", err)
	}
}

// A move that is given up before each of its steps leaves one ledger that can be charged.
func TestMoveIsInterrupted(t *testing.T) {
	path, url := ends(t)
	fill(t, path)
	stopped := errors.New("stopped")
	for _, way := range [][2]string{{path, url}, {url, path}} {
		for n := 1; ; n++ {
			ctx, cancel := context.WithCancelCause(context.Background())
			steps := 0
			_, err := engines.Move(ctx, way[0], way[1], 0, func(_ string, share float64) {
				if share > 0 {
					return
				}
				if steps++; steps == n {
					cancel(stopped)
				}
			})
			if err == nil {
				break
			}
			if !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			l := open(t, way[0], false)
			check(t, l.Charge("dx_sum", "m", []ledger.Item{{Account: "ana", Epsilon: 1, Evaluations: 1}}))
			check(t, l.Close())
		}
	}
}

// A move that is killed before any of its steps can be repeated, and at no time both can be
// charged.
func TestMoveIsKilled(t *testing.T) {
	path, url := ends(t)
	fill(t, path)
	from, to := path, url
	killed := 0
	for n := 1; n <= 5; n++ {
		for range 2 { // there and back
			ended := make(chan bool)
			go func() {
				defer close(ended)
				steps := 0
				_, _ = engines.Move(context.Background(), from, to, 0, func(_ string, share float64) {
					if share > 0 {
						return
					}
					if steps++; steps == n {
						killed++
						runtime.Goexit() // which undoes nothing
					}
				})
			}()
			<-ended
			if a, b := chargeable(t, from), chargeable(t, to); b || a != (n == 1) {
				t.Errorf("killed before step %d: %v at %s, %v at %s", n, a, from, b, to)
			}
			_, err := move(from, to)
			check(t, err)
			if chargeable(t, from) || !chargeable(t, to) {
				t.Errorf("after step %d was repeated", n)
			}
			from, to = to, from
		}
	}
	if killed != 10 {
		t.Errorf("%d moves were killed", killed)
	}
}

// chargeable reports whether a ledger can be charged.
func chargeable(t testing.TB, where string) bool {
	t.Helper()
	l, err := engines.Open(where, false, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	check(t, err)
	defer l.Close()
	return l.Charge("dx_sum", "m", []ledger.Item{{Account: "ana", Epsilon: 1, Evaluations: 1}}) == nil
}
