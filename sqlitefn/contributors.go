package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

// argContributor is the account of a row of a group.
var argContributor = &argument{name: "account", is: argAccount.is, kind: kindContributor}

// contributors counts the rows of each account in a group of an aggregate.
type contributors struct {
	accounts intern.Table
	rows     []int64 // of each account
}

// contribute counts a row of the account that the call names, as a row with a secret must.
func (p *contributors) contribute(c call) error {
	account := c.value(argContributor)
	if !account.given {
		return c.nullError(argContributor)
	}
	p.add(account.text)
	return nil
}

// add counts a row of the account.
func (p *contributors) add(account []byte) {
	i := p.accounts.Number(account)
	if i == len(p.rows) {
		p.rows = append(p.rows, 0)
	}
	p.rows[i]++
}

// reset forgets all accounts.
func (p *contributors) reset() {
	p.accounts.Reset()
	p.rows = p.rows[:0]
}

// bill returns what each account is charged: the price once, or for each of its rows.
func (p *contributors) bill(price budget.Price, perRow bool) (bill, error) {
	items := make([]ledger.Item, len(p.rows))
	for i, account := range p.accounts.All() {
		rows, times := p.rows[i], int64(1)
		if perRow {
			times = rows
		}
		total, ok := price.Amount.Times(times)
		if !ok {
			return bill{}, fmt.Errorf("account %s would be charged %d times %s, which no budget can hold", quoted(account), times, price.Amount)
		}
		items[i] = ledger.Item{Account: account, Epsilon: total, Evaluations: rows}
	}
	return bill{unit: price.Unit, items: items, perRow: perRow}, nil
}

// pay pays for the answer of a group: the price once for each account, or for each of its
// rows. It charges all accounts in one transaction, or none.
func (p *contributors) pay(c call, price budget.Price, perRow bool) (receipt, error) {
	b, err := p.bill(price, perRow)
	if err != nil {
		return receipt{}, err
	}
	return c.payAll(b)
}
