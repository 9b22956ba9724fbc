package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

// BenchmarkBare compares charges with the least that a program could do on the same server, with the
// same durability: one statement that adds to the balances as far as their limits allow and inserts an
// entry for each. Both run in turns, in short rounds, since other work of the machine changes.
// Clients of the ledger are processes of their own, or goroutines of one process.
func BenchmarkBare(b *testing.B) {
	for _, size := range []int{1, 1000} {
		for _, clients := range []int{1, 8, 32} {
			if size > 1 && clients > 8 {
				continue
			}
			b.Run(fmt.Sprintf("batch=%d/clients=%d", size, clients), func(b *testing.B) { compareWithBare(b, size, clients) })
		}
	}
}

// benchAccounts is how many accounts there are.
const benchAccounts = 100_000

func compareWithBare(b *testing.B, size, clients int) {
	url := pgtest.Start(b).Database(b)
	first := open(b, url)
	check(b, first.SetLimit("*", unit, budget.Max, 0))
	bare := newBare(b, url, clients)
	fillBalances(b, bare.pool, "geosql.balance", "last_charge")
	fillBalances(b, bare.pool, "bare.balance", "changed")
	ways := []struct {
		name   string
		charge func(client int, items []ledger.Item) error
	}{
		{"bare", func(_ int, items []ledger.Item) error { return bare.charge(items) }},
		{"process", func(_ int, items []ledger.Item) error { return first.Charge("f", unit, items) }},
		{"processes", nil},
	}
	var others []*Ledger
	for range clients {
		others = append(others, another(b, url))
	}
	ways[2].charge = func(client int, items []ledger.Item) error { return others[client].Charge("f", unit, items) }
	if clients == 1 {
		ways = ways[:2] // the same
	}
	const round = 200 * time.Millisecond
	rates := make([][]float64, len(ways))
	for b.Loop() {
		for range 10 {
			for i, way := range ways {
				rates[i] = append(rates[i], measure(b, round, clients, size, way.charge))
			}
		}
	}
	reference := median(rates[0])
	for i, way := range ways {
		b.ReportMetric(median(rates[i]), way.name+"/s")
		if i > 0 {
			b.ReportMetric(median(rates[i])/reference, way.name+"/bare")
		}
	}
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// measure returns how many accounts are charged a second.
func measure(b *testing.B, round time.Duration, clients, size int, charge func(int, []ledger.Item) error) float64 {
	var charged atomic.Int64
	var wait sync.WaitGroup
	began := time.Now()
	for c := range clients {
		wait.Go(func() {
			for time.Since(began) < round {
				if err := charge(c, randomItems(size)); err != nil {
					b.Error(err)
					return
				}
				charged.Add(int64(size))
			}
		})
	}
	wait.Wait()
	return float64(charged.Load()) / time.Since(began).Seconds()
}

// randomItems returns items of different accounts, in ascending order.
func randomItems(n int) []ledger.Item {
	first, step := rand.IntN(benchAccounts), benchAccounts/n
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = (first + i*step) % benchAccounts
	}
	slices.Sort(numbers)
	items := make([]ledger.Item, n)
	for i, k := range numbers {
		items[i] = ledger.Item{Account: benchAccount(k), Epsilon: 1000, Evaluations: 1}
	}
	return items
}

func benchAccount(k int) string { return fmt.Sprintf("account-%06d", k) }

func fillBalances(b *testing.B, pool *pgxpool.Pool, table, last string) {
	_, err := pool.Exec(b.Context(), fmt.Sprintf(`INSERT INTO %s(account, unit, spent, reserved, %s)
		SELECT 'account-' || lpad(k::text, 6, '0'), '%s', 0, 0, 0 FROM generate_series(0, %d) AS k`, table, last, unit, benchAccounts-1))
	check(b, err)
	_, err = pool.Exec(b.Context(), "ANALYZE "+table)
	check(b, err)
}

// bareLedger is the least that charges.
type bareLedger struct{ pool *pgxpool.Pool }

func newBare(b *testing.B, url string, clients int) *bareLedger {
	config, err := pgxpool.ParseConfig(url)
	check(b, err)
	config.MaxConns = int32(clients)
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // as through PgBouncer
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	check(b, err)
	b.Cleanup(pool.Close)
	for _, sql := range strings.Split(`
CREATE SCHEMA bare;
CREATE TABLE bare.balance(account text COLLATE "C", unit text COLLATE "C", spent bigint NOT NULL, reserved bigint NOT NULL, changed bigint NOT NULL,
  PRIMARY KEY (account, unit)) WITH (fillfactor = 80);
CREATE TABLE bare.entry(id bigserial PRIMARY KEY, time bigint NOT NULL, function text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL, unit text COLLATE "C" NOT NULL, spent bigint NOT NULL, evaluations bigint NOT NULL, hash bytea NOT NULL)`, ";") {
		_, err := pool.Exec(b.Context(), sql)
		check(b, err)
	}
	return &bareLedger{pool}
}

// charge charges items in one statement, and fails unless it has charged all of them.
func (l *bareLedger) charge(items []ledger.Item) error {
	accounts, amounts, hashes := make([]string, len(items)), make([]int64, len(items)), make([][]byte, len(items))
	for i, item := range items {
		accounts[i], amounts[i] = item.Account, int64(item.Epsilon)
		h := sha256.Sum256([]byte(item.Account))
		hashes[i] = h[:]
	}
	tag, err := l.pool.Exec(context.Background(), `
WITH b AS (
  INSERT INTO bare.balance AS b(account, unit, spent, reserved, changed)
  SELECT account, $2, amount, 0, 0 FROM unnest($1::text[], $3::bigint[]) AS i(account, amount)
  ON CONFLICT (account, unit) DO UPDATE SET spent = b.spent + excluded.spent WHERE b.spent <= $5 - excluded.spent
  RETURNING b.account)
INSERT INTO bare.entry(time, function, account, unit, spent, evaluations, hash)
SELECT 0, 'f', account, $2, amount, 1, hash FROM unnest($1::text[], $3::bigint[], $4::bytea[]) AS i(account, amount, hash)
JOIN b USING (account)`, accounts, unit, amounts, hashes, int64(budget.Max))
	if err == nil && tag.RowsAffected() != int64(len(items)) {
		err = fmt.Errorf("%d of %d charged", tag.RowsAffected(), len(items))
	}
	return err
}
