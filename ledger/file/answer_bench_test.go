package file

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// BenchmarkAnswer asks questions about many accounts: new ones, for the owner and for a role, one
// that is remembered, and, for comparison, charges the same.
func BenchmarkAnswer(b *testing.B) {
	for _, accounts := range []int{1, 60, 10_000} {
		items := make([]ledger.Item, accounts)
		for i := range items {
			items[i] = ledger.Item{Account: fmt.Sprintf("account %06d", i), Epsilon: 1, Evaluations: 1}
		}
		for name, work := range map[string]func(l *Ledger, q ledger.Question, i int) error{
			"charge": func(l *Ledger, q ledger.Question, _ int) error { return l.Charge("f", "m", q.Items) },
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
				q := ledger.Question{Function: "f", Unit: "m", Items: items}
				q.Draw = func([]string) ([]byte, error) { return make([]byte, 16), nil }
				for i := range b.N {
					check(b, work(l, q, i))
				}
			})
		}
	}
}

func askNumber(l *Ledger, q ledger.Question, i int) error {
	binary.BigEndian.PutUint64(q.Key[:], uint64(i))
	_, err := l.Answer(q)
	return err
}
