package file

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// BenchmarkAnswer asks questions about many accounts: new ones, for the owner and for a role, one
// that is remembered, and, for comparison, charges the same.
func BenchmarkAnswer(b *testing.B) {
	for _, accounts := range []int{1, 60, 10_000} {
		items, members := make([]ledger.Item, accounts), make([]ledger.Member, accounts)
		for i := range items {
			items[i] = ledger.Item{Account: fmt.Sprintf("account %06d", i), Epsilon: 1, Evaluations: 1}
			members[i] = memberOf(items[i])
		}
		for name, work := range map[string]func(l *Ledger, q ledger.Question, i int) error{
			"charge": func(l *Ledger, q ledger.Question, _ int) error { return l.Charge("f", "m", items) },
			"owner":  func(l *Ledger, q ledger.Question, i int) error { return askNumber(l, q, i) },
			"role": func(l *Ledger, q ledger.Question, i int) error {
				q.Role, q.RoleLimit = "sales", budget.Max
				return askNumber(l, q, i)
			},
			"remembered": func(l *Ledger, q ledger.Question, i int) error {
				q.Role, q.RoleLimit = "sales", budget.Max
				return askNumber(l, q, 0)
			},
		} {
			b.Run(fmt.Sprintf("accounts=%d/%s", accounts, name), func(b *testing.B) {
				l := newFile(b)
				check(b, l.SetLimit("*", "m", budget.Max, 0))
				q := ledger.Question{Function: "f", Unit: "m", Members: members}
				q.Draw = func([]string) ([]byte, error) { return make([]byte, 16), nil }
				for i := range b.N {
					check(b, work(l, q, i))
				}
			})
		}
	}
}

// memberOf returns the member that owes the amounts of an item, to the account and to the role.
func memberOf(item ledger.Item) ledger.Member {
	return ledger.Member{Account: item.Account, Epsilon: item.Epsilon, Due: item.Epsilon, RoleDue: item.Epsilon, Evaluations: item.Evaluations}
}

func askNumber(l *Ledger, q ledger.Question, i int) error {
	binary.BigEndian.PutUint64(q.Key[:], uint64(i))
	_, err := l.Answer(context.Background(), q)
	return err
}

// BenchmarkAnswerCallers is new questions of several callers at once in a role, about an account of each
// caller's, for as many charges of the same accounts. They take turns on one file.
func BenchmarkAnswerCallers(b *testing.B) {
	const each = 50
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			l := newFile(b)
			check(b, l.SetLimit("*", "m", budget.Max, 0))
			together := func(work func(item ledger.Item, q ledger.Question, i int) error) (took time.Duration) {
				begin := time.Now()
				var all sync.WaitGroup
				for c := range callers {
					item := ledger.Item{Account: fmt.Sprint("account ", c), Epsilon: 1, Evaluations: 1}
					q := ledger.Question{Function: "f", Unit: "m", Role: "sales", RoleLimit: budget.Max, Members: []ledger.Member{memberOf(item)}}
					q.Draw = func([]string) ([]byte, error) { return make([]byte, 16), nil }
					q.Key[31] = byte(c)
					all.Go(func() {
						for i := range each {
							if err := work(item, q, i); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				return time.Since(begin)
			}
			var charging, answering time.Duration
			asked := 0
			for b.Loop() {
				charging += together(func(item ledger.Item, _ ledger.Question, _ int) error { return l.Charge("f", "m", []ledger.Item{item}) })
				answering += together(func(_ ledger.Item, q ledger.Question, i int) error { return askNumber(l, q, asked+i) })
				asked += each
			}
			n := float64(asked * callers)
			b.ReportMetric(n/charging.Seconds(), "charges/s")
			b.ReportMetric(n/answering.Seconds(), "answers/s")
			b.ReportMetric(charging.Seconds()/answering.Seconds(), "answers/charge")
		})
	}
}
