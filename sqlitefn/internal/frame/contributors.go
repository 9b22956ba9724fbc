package frame

import (
	"fmt"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/ledger"
)

// Contributors counts the rows of each account in a group of an aggregate.
type Contributors struct {
	accounts intern.Table
	rows     []int64 // of each account
	numbers  []int32 // room for AddAll
}

// Contribute counts a row of the account that the call names, as a row with a secret must.
func (p *Contributors) Contribute(c Call) error {
	account := c.Value(ArgContributor)
	if !account.Given {
		return c.NullError(ArgContributor)
	}
	p.Add(account.Text)
	return nil
}

// Add counts a row of the account.
func (p *Contributors) Add(account []byte) {
	i := p.accounts.Number(account)
	if i == len(p.rows) {
		p.rows = append(p.rows, 0)
	}
	p.rows[i]++
}

// AddAll counts a row of each account.
func (p *Contributors) AddAll(accounts [][]byte) {
	p.numbers = p.accounts.Numbers(accounts, p.numbers[:0])
	if known, n := len(p.rows), p.accounts.Len(); n > known {
		if n > cap(p.rows) {
			p.rows = slices.Grow(p.rows, n) // doubled at least, since a copy of many takes memory
		}
		p.rows = p.rows[:n]
		clear(p.rows[known:])
	}
	for _, i := range p.numbers {
		p.rows[i]++
	}
}

// Accounts returns how many accounts there are.
func (p *Contributors) Accounts() int { return len(p.rows) }

// Rows returns how many rows they have.
func (p *Contributors) Rows() (n int64) {
	for _, rows := range p.rows {
		n += rows
	}
	return n
}

// Reset forgets all accounts.
func (p *Contributors) Reset() {
	p.accounts.Reset()
	p.rows = p.rows[:0]
}

// manyAccounts is how many accounts a table has before its memory is not kept for a later group.
const manyAccounts = 1 << 17

// Bill returns the charge for each account: the price once, or for each of its rows. It ends the group: of its accounts
// only the numbers of their rows are known afterwards, if they are many.
func (p *Contributors) Bill(price budget.Price, perRow bool) (Bill, error) {
	items := make([]ledger.Item, len(p.rows))
	accounts := p.accounts.All
	if len(items) > manyAccounts {
		accounts = p.accounts.Take
	}
	for i, account := range accounts() {
		rows, times := p.rows[i], int64(1)
		if perRow {
			times = rows
		}
		total, ok := price.Amount.Times(times)
		if !ok {
			return Bill{}, fmt.Errorf("account %s would be charged %d times %s, which no budget can hold", Quoted(account), times, price.Amount)
		}
		items[i] = ledger.Item{Account: account, Epsilon: total, Evaluations: rows}
	}
	return Bill{Unit: price.Unit, Items: items, PerRow: perRow}, nil
}

// Pay pays for the answer of a group: the price once for each account, or for each of its
// rows. It charges all accounts in one transaction, or none.
func (p *Contributors) Pay(c Call, price budget.Price, perRow bool) (Receipt, error) {
	b, err := p.Bill(price, perRow)
	if err != nil {
		return Receipt{}, err
	}
	return c.PayAll(b)
}
