package accounts

import (
	"iter"

	"github.com/geosql/geosql/internal/intern"
)

// A Tally counts locations by account, in memory. The zero value is empty.
type Tally struct {
	names  intern.Table
	text   int     // bytes of the names
	counts []int64 // by the number of the account's name
}

// Reset empties the tally and keeps its memory.
func (t *Tally) Reset() {
	t.names.Reset()
	t.text = 0
	t.counts = t.counts[:0]
}

// Add adds locations to an account.
func (t *Tally) Add(account []byte, locations int64) {
	i := t.names.Number(account)
	if i == len(t.counts) {
		t.counts = append(t.counts, 0)
		t.text += len(account)
	}
	t.counts[i] += locations
}

// all returns the accounts with the given numbers.
func (t *Tally) all(numbers []int32) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		for _, i := range numbers {
			if !yield(Account{t.names.Name(int(i)), t.counts[i]}, nil) {
				return
			}
		}
	}
}

// order returns the numbers of the accounts, in ascending order of their names.
func (t *Tally) order() []int32 { return intern.Order(t.names.Len(), t.names.Name) }
