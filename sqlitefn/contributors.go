package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
)

// contributors are the accounts that have rows in a group of an aggregate.
type contributors struct {
	accounts intern.Table
	rows     []int64 // of each account
}

// add counts a row of the account.
func (p *contributors) add(account []byte) {
	i := p.accounts.Number(account)
	if i == len(p.rows) {
		p.rows = append(p.rows, 0)
	}
	p.rows[i]++
}

func (p *contributors) reset() {
	p.accounts.Reset()
	p.rows = p.rows[:0]
}

// items is what each account is charged: cost once, or for each of its rows.
func (p *contributors) items(cost budget.Amount, perRow bool) ([]ledger.Item, error) {
	items := make([]ledger.Item, len(p.rows))
	for i, rows := range p.rows {
		times := int64(1)
		if perRow {
			times = rows
		}
		account := string(p.accounts.Name(i))
		total, ok := cost.Times(times)
		if !ok {
			return nil, fmt.Errorf("account %s would be charged %d times %s, which no budget holds", quoted([]byte(account)), times, cost)
		}
		items[i] = ledger.Item{Account: account, Epsilon: total, Evaluations: rows}
	}
	return items, nil
}

// chargeItems charges all items or none, and returns what the answer is drawn from:
// nil within a dry run.
func (s *session) chargeItems(f *function, unit budget.Unit, items []ledger.Item) (*exact.Source, error) {
	if s.dry != nil {
		for _, item := range items {
			s.dry.count(f, []byte(item.Account), unit, item.Epsilon, item.Evaluations)
		}
		return nil, nil
	}
	if len(items) == 0 {
		return s.source, nil
	}
	book, err := s.payer()
	if err != nil {
		return nil, spendError(err, items[0].Account, unit, items[0].Epsilon)
	}
	if err := book.Charge(f.name, unit, items); err != nil {
		return nil, err
	}
	return s.source, nil
}
