package ledger

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
)

// BenchmarkCharge times durable charges of one account beside bare commits of
// one row with the same settings, taking turns, for the disk drifts.
func BenchmarkCharge(b *testing.B) {
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	insert := bareInsert(b)
	var charging, bare time.Duration
	items := []Item{{"account 7", 1000, 1}}
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		check(b, l.Charge("geoind_laplace", "m", items))
		middle := time.Now()
		check(b, insert.Run())
		charging += middle.Sub(begin)
		bare += time.Since(middle)
	}
	b.ReportMetric(float64(charging.Nanoseconds())/float64(b.N), "ns/charge")
	b.ReportMetric(float64(bare.Nanoseconds())/float64(b.N), "ns/commit")
	b.ReportMetric(100*bare.Seconds()/charging.Seconds(), "%ofbare")
}

// BenchmarkStatement is a statement of one row, from its start to its end,
// beside bare commits.
func BenchmarkStatement(b *testing.B) {
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	insert := bareInsert(b)
	var charging, bare time.Duration
	account := []byte("account 7")
	for b.Loop() {
		begin := time.Now()
		s := l.NewStatement()
		check(b, s.Spender("geoind_laplace", "m").Charge(account, 1000))
		check(b, s.End())
		middle := time.Now()
		check(b, insert.Run())
		charging += middle.Sub(begin)
		bare += time.Since(middle)
	}
	b.ReportMetric(100*bare.Seconds()/charging.Seconds(), "%ofbare")
}

func bareInsert(b *testing.B) *sqlite.Stmt {
	conn, err := sqlite.Open(filepath.Join(b.TempDir(), "bare"), sqlite.ReadWrite|sqlite.Create)
	check(b, err)
	db := &store{conn: conn}
	check(b, db.makeDurable())
	check(b, conn.Exec("CREATE TABLE t(id INTEGER PRIMARY KEY, account TEXT, epsilon INTEGER)"))
	insert, _, err := conn.Prepare("INSERT INTO t(account, epsilon) VALUES ('account 7', 1000)")
	check(b, err)
	b.Cleanup(func() {
		insert.Close()
		conn.Close()
	})
	return insert
}

// BenchmarkSpender is the cost of an evaluation whose account has a hold.
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
				check(b, p.Charge(a, 1e10)) // what is left are 15e10
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

func BenchmarkChargeMany(b *testing.B) {
	const n = 10_000
	l := newFile(b)
	check(b, l.SetLimit("*", "m", budget.Max, 0))
	_, items := manyAccounts(n, 1000)
	b.ReportAllocs()
	for b.Loop() {
		check(b, l.Charge("dx_sum", "m", items))
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/charge")
}

func BenchmarkReserveMany(b *testing.B) {
	const n = 100_000
	_, items := manyAccounts(n, 1000)
	for b.Loop() {
		b.StopTimer()
		l := newFile(b)
		check(b, l.SetLimit("*", "m", budget.Max, 0))
		b.StartTimer()
		check(b, l.Reserve("m", items))
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/reserve")
}

func manyAccounts(n int, eps budget.Amount) (accounts [][]byte, items []Item) {
	for i := range n {
		// Not in the order of the keys.
		name := fmt.Sprint("account ", i*7919%n)
		accounts = append(accounts, []byte(name))
		items = append(items, Item{name, eps, 1})
	}
	return accounts, items
}
