package postgres

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

var census = ledger.ReleasePlan{Digest: "d", Settings: "s", Output: "/out.csv"}

func openSharded(t testing.TB, l *Ledger, shards int) ledger.Sharded {
	t.Helper()
	s, err := l.OpenSharded("census", census, shards)
	check(t, err)
	return s
}

// rowsOf returns how many rows accounts have: "ana 3 ben 1".
func rowsOf(text string) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		words := strings.Fields(text)
		for i := 0; i < len(words); i += 2 {
			x := ledger.Item{Account: words[i]}
			if _, err := fmt.Sscan(words[i+1], &x.Evaluations); !yield(x, err) {
				return
			}
		}
	}
}

// listed returns items as rowsOf takes them.
func listed(t testing.TB, all iter.Seq2[ledger.Item, error]) string {
	t.Helper()
	var words []string
	for x, err := range all {
		check(t, err)
		words = append(words, fmt.Sprintf("%s %d", x.Account, x.Evaluations))
	}
	return strings.Join(words, " ")
}

func progress(t testing.TB, s ledger.Sharded, want ledger.ShardProgress) {
	t.Helper()
	if got, err := s.Progress(); err != nil || got != want {
		t.Errorf("progress %+v, %v, want %+v", got, err, want)
	}
}

// releaseErrored reports whether an error is a *ledger.ReleaseError with a text.
func releaseErrored(err error, text string) bool {
	_, ok := errors.AsType[*ledger.ReleaseError](err)
	return ok && strings.Contains(err.Error(), text)
}

// A release in shards goes from phase to phase, and each step can be repeated.
func TestSharded(t *testing.T) {
	url := hostileDatabase(t)
	l, other := open(t, url), another(t, url)
	check(t, l.SetLimit("*", "m", one, 0))
	a := openSharded(t, l, 3)
	b := openSharded(t, other, 3)
	if _, err := l.OpenSharded("census", census, 4); !releaseErrored(err, "has 3 shards") {
		t.Errorf("got %v", err)
	}
	if _, err := l.OpenSharded("census", ledger.ReleasePlan{Digest: "x", Settings: "s", Output: "/out.csv"}, 3); !releaseErrored(err, "another input") {
		t.Errorf("got %v", err)
	}
	progress(t, a, ledger.ShardProgress{})

	claim := func(s ledger.Sharded, wanted int, lease time.Duration, want int) {
		t.Helper()
		if got, err := s.Claim(wanted, lease); err != nil || got != want {
			t.Errorf("claimed %d, %v, want %d", got, err, want)
		}
	}
	claim(a, 1, time.Hour, 1)
	claim(b, 1, time.Hour, -1)
	claim(b, -1, time.Hour, 0)
	claim(a, 1, time.Hour, 1) // again, for longer
	claim(a, 1, 0, 1)         // left to others
	claim(b, 1, time.Millisecond, 1)
	time.Sleep(2 * time.Millisecond)
	claim(a, 1, time.Hour, 1)

	check(t, a.SetCount(1, "d1", []byte("i1"), rowsOf("ana 2 ben 1")))
	check(t, b.SetCount(1, "d1", []byte("other"), rowsOf("zoe 9"))) // changes nothing
	if err := b.SetCount(1, "dx", nil, rowsOf("")); !releaseErrored(err, "has another input: shard 1") {
		t.Errorf("got %v", err)
	}
	broken := errors.New("broken")
	if err := b.SetCount(0, "d0", nil, func(yield func(ledger.Item, error) bool) {
		_ = yield(ledger.Item{Account: "ana", Evaluations: 1}, nil) && yield(ledger.Item{}, broken)
	}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := b.SetCount(0, "d0", nil, rowsOf("a\x00b 1")); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("got %v", err)
	}
	if err := b.SetCount(0, "d0", nil, rowsOf("b 1 a 1")); err == nil || !strings.Contains(err.Error(), "account 'a' is counted after 'b'") {
		t.Errorf("got %v", err)
	}
	claim(a, 1, time.Hour, -1) // counted, and nobody may draw yet
	if err := a.SetCharged(); err == nil || !strings.Contains(err.Error(), "2 shards are not counted") {
		t.Errorf("got %v", err)
	}
	check(t, b.SetCount(0, "d0", nil, rowsOf("Zoe 1 ana 1 cem 4")))
	check(t, a.SetCount(2, "d2", nil, rowsOf("")))
	progress(t, b, ledger.ShardProgress{Counted: 3})
	if x, err := b.Shard(1); err != nil || x.Digest != "d1" || string(x.Info) != "i1" || !x.Counted || x.Drawn != nil {
		t.Errorf("%+v, %v", x, err)
	}

	if got := listed(t, a.Accounts(0)); got != "Zoe 1 ana 3 ben 1 cem 4" {
		t.Errorf("accounts %s", got)
	}
	if got := listed(t, a.Accounts(3)); got != "cem 4" {
		t.Errorf("the last accounts %s", got)
	}
	for _, x := range []struct {
		shard int
		most  int64
		want  string
	}{{0, 3, "cem 3"}, {0, 9, ""}, {1, 2, "ana 1"}, {1, 1, "ana 0"}, {2, 1, ""}} {
		if got := listed(t, a.Excess(x.shard, x.most)); got != x.want {
			t.Errorf("in shard %d, with %d rows: %s", x.shard, x.most, got)
		}
	}

	attempt := ledger.Attempt{File: "f", SHA256: "h", Info: []byte("i")}
	if _, err := a.Publish(0, attempt); err == nil || !strings.Contains(err.Error(), "before all accounts are charged") {
		t.Errorf("got %v", err)
	}
	check(t, a.Charge("m", items(tenth, "Zoe", "ana")))
	if err := a.SetCharged(); err == nil || !strings.Contains(err.Error(), "2 of 4 accounts are charged") {
		t.Errorf("got %v", err)
	}
	if err := b.Charge("m", items(tenth, "Zoe", "ana")); !releaseErrored(err, "continued by another process") {
		t.Errorf("got %v", err)
	}
	b = openSharded(t, other, 3)
	if !refused(t, b.Charge("m", items(one+1, "ben", "cem"))) || b.Charged() != 2 {
		t.Error("not refused")
	}
	check(t, b.Charge("m", items(tenth, "ben", "cem")))
	a = openSharded(t, l, 3)
	for range 2 {
		check(t, a.SetCharged())
	}
	progress(t, b, ledger.ShardProgress{Counted: 3, Charged: true})
	claim(b, 2, time.Hour, 2)
	claim(a, 2, time.Hour, -1)

	if got, err := a.Publish(2, attempt); err != nil || got.File != "f" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := b.Publish(2, ledger.Attempt{File: "g"}); err != nil || got.File != "f" || got.SHA256 != "h" || string(got.Info) != "i" {
		t.Errorf("%+v, %v", got, err)
	}
	claim(b, 2, time.Hour, -1)
	progress(t, b, ledger.ShardProgress{Counted: 3, Charged: true, Drawn: 1})
	n := 0
	for x, err := range b.Shards() {
		check(t, err)
		if (x.Drawn != nil) != (n == 2) || x.Digest != fmt.Sprint("d", n) {
			t.Errorf("shard %d is %+v", n, x)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d shards", n)
	}
	check(t, a.Seal("sum"))
	if b = openSharded(t, other, 3); b.Published() == nil || listed(t, b.Accounts(0)) != "" {
		t.Error("the release is not complete, or its counts are left")
	}
	check(t, a.SetCharged()) // by a process that was slow
}

// Of many that publish at a time one is told that its draw may be seen, and all are told which. Of
// many that count at a time each gets another shard.
func TestShardedRaces(t *testing.T) {
	const shards, racers = 150, 4
	url := pgtest.Start(t).Database(t)
	var mu sync.Mutex
	seen, claimed := map[int]map[string]int{}, map[int]int{}
	var racing, counted, charged sync.WaitGroup
	counted.Add(racers)
	charged.Add(1)
	for i := range racers {
		l := open(t, fmt.Sprintf("%s&application_name=racer%d", url, i))
		s := openSharded(t, l, shards)
		racing.Go(func() {
			for {
				shard, err := s.Claim(-1, time.Hour)
				if err != nil {
					t.Error(err)
				}
				if shard < 0 || err != nil {
					break
				}
				mu.Lock()
				claimed[shard]++
				mu.Unlock()
				if err := s.SetCount(shard, "d", nil, rowsOf("")); err != nil {
					t.Error(err)
				}
			}
			counted.Done()
			charged.Wait()
			for shard := range shards {
				got, err := s.Publish(shard, ledger.Attempt{File: fmt.Sprint("f", i)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[shard] == nil {
					seen[shard] = map[string]int{}
				}
				seen[shard][got.File]++
				mu.Unlock()
			}
		})
	}
	counted.Wait()
	check(t, openSharded(t, open(t, url), shards).SetCharged())
	charged.Done()
	racing.Wait()
	for shard := range shards {
		if len(seen[shard]) != 1 || claimed[shard] != 1 {
			t.Errorf("shard %d: claimed %d times, seen %v", shard, claimed[shard], seen[shard])
		}
	}
}

// Many accounts are read page by page, in the order of their bytes, from any one on.
func TestShardedPages(t *testing.T) {
	l := fresh(t)
	s := openSharded(t, l, 2)
	const n = 40_007
	for shard := range 2 {
		check(t, s.SetCount(shard, "d", nil, func(yield func(ledger.Item, error) bool) {
			for i := shard; i < n; i += 1 + shard {
				if !yield(ledger.Item{Account: fmt.Sprintf("u%07d", i), Evaluations: 1}, nil) {
					return
				}
			}
		}))
	}
	for _, skip := range []int{0, 5, 1 << 14, n - 1, n} {
		at := skip
		for x, err := range s.Accounts(int64(skip)) {
			check(t, err)
			if want := fmt.Sprintf("u%07d", at); x.Account != want || x.Evaluations != int64(1+at%2) {
				t.Fatalf("account %d is %+v", at, x)
			}
			at++
		}
		if at != n {
			t.Errorf("from %d on there are %d accounts", skip, at-skip)
		}
	}
}
