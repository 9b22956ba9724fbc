package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// versus are the times of work of the ledger and of the same work of bare SQLite with
// the same settings. They take turns, for the disk drifts.
type versus struct{ ours, bare time.Duration }

func (v *versus) turn(ours, bare func()) {
	begin := time.Now()
	ours()
	middle := time.Now()
	bare()
	v.ours += middle.Sub(begin)
	v.bare += time.Since(middle)
}

// reportRate reports the ledger's rate, n for one of bare SQLite's.
func (v *versus) reportRate(b *testing.B, n float64) {
	b.ReportMetric(float64(v.ours.Nanoseconds())/float64(b.N), "ns/ours")
	b.ReportMetric(float64(v.bare.Nanoseconds())/float64(b.N), "ns/bare")
	b.ReportMetric(n*v.bare.Seconds()/v.ours.Seconds(), "rate/bare")
}

// reportTime reports how long the ledger takes for the work that bare SQLite does in 1.
func (v *versus) reportTime(b *testing.B) {
	b.ReportMetric(float64(v.ours.Microseconds())/float64(b.N)/1000, "ms/ours")
	b.ReportMetric(float64(v.bare.Microseconds())/float64(b.N)/1000, "ms/bare")
	b.ReportMetric(v.ours.Seconds()/v.bare.Seconds(), "time/bare")
}

// bare is SQLite without a ledger, as durable as one.
func bare(b *testing.B, schema string) *store {
	conn, err := sqlite.Open(filepath.Join(b.TempDir(), "bare"), sqlite.ReadWrite|sqlite.Create)
	check(b, err)
	db := &store{conn: conn}
	b.Cleanup(func() { check(b, db.close()) })
	check(b, db.makeDurable())
	check(b, conn.Exec(schema))
	db.begin = prepared(b, db, "BEGIN IMMEDIATE")
	db.commit = prepared(b, db, "COMMIT")
	return db
}

func prepared(b *testing.B, db *store, sql string) *sqlite.Stmt {
	s, _, err := db.conn.Prepare(sql)
	check(b, err)
	return s
}

// bareCommit commits one row.
func bareCommit(b *testing.B) func() {
	db := bare(b, "CREATE TABLE t(id INTEGER PRIMARY KEY, account TEXT, epsilon INTEGER)")
	db.addEntry = prepared(b, db, "INSERT INTO t(account, epsilon) VALUES ('account 7', 1000)")
	return func() { check(b, db.addEntry.Run()) }
}

// bareBatch commits a new entry and a new balance of every account, in tables
// with the columns that they cannot do without.
func bareBatch(b *testing.B, items []ledger.Item) func() {
	db := bare(b, `
		CREATE TABLE entry(id INTEGER PRIMARY KEY, time INTEGER, function TEXT, account TEXT, unit TEXT, spent INTEGER);
		CREATE TABLE balance(account TEXT, unit TEXT, spent INTEGER, PRIMARY KEY (account, unit)) WITHOUT ROWID`)
	db.addEntry = prepared(b, db, "INSERT INTO entry(time, function, account, unit, spent) VALUES (1767225600000000, 'dx_sum', ?1, 'm', ?2)")
	db.putBalance = prepared(b, db, "INSERT INTO balance VALUES (?1, 'm', ?2) ON CONFLICT DO UPDATE SET spent = spent + excluded.spent")
	return func() {
		check(b, db.begin.Run())
		for i := range items {
			for _, s := range []*sqlite.Stmt{db.addEntry, db.putBalance} {
				s.BindText(1, items[i].Account)
				s.BindInts(2, int64(items[i].Epsilon))
				check(b, s.Run())
			}
		}
		check(b, db.commit.Run())
	}
}

// BenchmarkCharge is a durable charge of one account.
func BenchmarkCharge(b *testing.B) {
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	commit := bareCommit(b)
	items := []ledger.Item{{Account: "account 7", Epsilon: 1000, Evaluations: 1}}
	b.ReportAllocs()
	var v versus
	for b.Loop() {
		v.turn(func() { check(b, l.Charge("geoind_laplace", "m", items)) }, commit)
	}
	v.reportRate(b, 1)
}

// BenchmarkStatement is a statement of one row, from its start to its end.
func BenchmarkStatement(b *testing.B) {
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	commit := bareCommit(b)
	account := []byte("account 7")
	var v versus
	for b.Loop() {
		v.turn(func() {
			s := l.NewStatement()
			check(b, s.Spender("geoind_laplace", "m").Charge(account, 1000))
			check(b, s.End())
		}, commit)
	}
	v.reportRate(b, 1)
}

// BenchmarkGroup is charges of several goroutines at once for each bare commit of
// one.
func BenchmarkGroup(b *testing.B) {
	const each = 50
	for _, callers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			commit := bareCommit(b)
			var v versus
			for b.Loop() {
				v.turn(func() {
					var all sync.WaitGroup
					for i := range callers {
						all.Go(func() {
							items := []ledger.Item{{Account: fmt.Sprint("account ", i), Epsilon: 1000, Evaluations: 1}}
							for range each {
								if err := l.Charge("geoind_laplace", "m", items); err != nil {
									b.Error(err)
								}
							}
						})
					}
					all.Wait()
				}, func() {
					for range each {
						commit()
					}
				})
			}
			v.reportRate(b, float64(callers))
		})
	}
}

// BenchmarkProcesses is charges of several processes with several goroutines each
// for each bare commit of one. It includes their start.
func BenchmarkProcesses(b *testing.B) {
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprint("processes=", n), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			commit := bareCommit(b)
			var v versus
			for b.Loop() {
				v.turn(func() {
					var players []*player
					for range n {
						players = append(players, start(b, "hammer", l.Path()))
					}
					for _, p := range players {
						p.result(b)
					}
				}, func() {
					for range hammerings {
						commit()
					}
				})
			}
			v.reportRate(b, float64(n*callers))
		})
	}
}

// BenchmarkChargeMany charges many accounts in one transaction.
func BenchmarkChargeMany(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint("accounts=", n), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			_, items := manyAccounts(n, 1000)
			batch := bareBatch(b, items)
			b.ReportAllocs()
			var v versus
			for b.Loop() {
				v.turn(func() { check(b, l.Charge("dx_sum", "m", items)) }, batch)
			}
			v.reportTime(b)
		})
	}
}

// BenchmarkReserveMany sets aside for many accounts that are not yet known.
func BenchmarkReserveMany(b *testing.B) {
	const n = 100_000
	_, items := manyAccounts(n, 1000)
	var v versus
	for b.Loop() {
		l := newFile(b)
		check(b, l.SetLimit("*", "m", budget.Max, 0))
		v.turn(func() { check(b, l.Reserve("m", items)) }, bareBatch(b, items))
		check(b, l.Close())
	}
	v.reportTime(b)
}

// BenchmarkChain measures the cost of the hashes: the ledger's entries with them beside
// the same rows without.
func BenchmarkChain(b *testing.B) {
	const n = 10_000
	without := strings.NewReplacer(",\n  hash BLOB NOT NULL", "", ", hash)", ")", ", ?14)", ")")
	chained, plain := bare(b, entrySchema), bare(b, without.Replace(entrySchema))
	chained.addEntry = prepared(b, chained, addEntrySQL)
	plain.addEntry = prepared(b, plain, without.Replace(addEntrySQL))
	r := ledger.Entry{
		Time: 1767225600000000, Spent: 1000, Evaluations: 1, Limit: ledger.NoLimit,
		Function: "dx_sum", Account: "account 7", Unit: "m",
	}
	head, id := ledger.Genesis("a benchmark"), int64(0)
	insertAll := func(db *store, insert func() error) func() {
		return func() {
			check(b, db.begin.Run())
			for range n {
				check(b, insert())
			}
			check(b, db.commit.Run())
		}
	}
	withHashes := insertAll(chained, func() error {
		head = head.Next(&r, &chained.scratch)
		return chained.insert(&r, &head)
	})
	withoutHashes := insertAll(plain, func() error {
		id++
		s := plain.addEntry
		s.BindInts(1, id, r.Statement, r.Time, int64(r.Spent), int64(r.Reserved), r.Evaluations,
			r.Window.Start, int64(r.Window.Spent), int64(r.Limit), r.LimitWindow)
		s.BindText(11, r.Function)
		s.BindText(12, r.Account)
		s.BindText(13, string(r.Unit))
		return s.Run()
	})
	var v versus
	for b.Loop() {
		v.turn(withHashes, withoutHashes)
	}
	v.reportTime(b)
}

// BenchmarkSpender is the cost of an evaluation for an account with a hold.
func BenchmarkSpender(b *testing.B) {
	for _, n := range []int{1, 60, 100_000} {
		b.Run(fmt.Sprint("accounts=", n), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			accounts, items := manyAccounts(n, 1e12)
			check(b, l.Reserve("m", items))
			s := l.NewStatement()
			defer s.End()
			p := s.Spender("geoind_laplace", "m")
			for _, a := range accounts {
				check(b, p.Charge(a, 1e10)) // 15e10 remain
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if p.Charge(accounts[i], 1) != nil {
					b.Fatal("refused")
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

// BenchmarkSpenderAhead includes the commits of reservations that double.
func BenchmarkSpenderAhead(b *testing.B) {
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	s := l.NewStatement()
	defer s.End()
	p := s.Spender("geoind_laplace", "m")
	account := []byte("account 7")
	for b.Loop() {
		if p.Charge(account, 1) != nil {
			b.Fatal("refused")
		}
	}
}

// BenchmarkSpenderFirst charges 100,000 reserved accounts once each, in a
// statement of its own each time.
func BenchmarkSpenderFirst(b *testing.B) {
	const n = 100_000
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	accounts, items := manyAccounts(n, 1e12)
	check(b, l.Reserve("m", items))
	b.ReportAllocs()
	for b.Loop() {
		s := l.NewStatement()
		p := s.Spender("geoind_laplace", "m")
		for _, a := range accounts {
			check(b, p.Charge(a, 1))
		}
		b.StopTimer()
		check(b, s.End())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/account")
}

func manyAccounts(n int, eps budget.Amount) (accounts [][]byte, items []ledger.Item) {
	for i := range n {
		// Not in the order of the keys.
		name := fmt.Sprint("account ", i*7919%n)
		accounts = append(accounts, []byte(name))
		items = append(items, ledger.Item{Account: name, Epsilon: eps, Evaluations: 1})
	}
	return accounts, items
}
