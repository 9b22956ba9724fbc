package postgres

import (
	"iter"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// CannotPay implements [ledger.Ledger]. It reads many items and only then takes a connection for their
// accounts: items may come from the ledger themselves, as those of a release in shards do. A process that
// kept one connection and waited for another could wait for ever, once as many do so as this process,
// or a PgBouncer that many processes share, has connections.
func (l *Ledger) CannotPay(unit budget.Unit, items iter.Seq2[ledger.Item, error], first *budget.Amount, each func(ledger.Item, ledger.Standing)) error {
	var read []ledger.Item
	ask := func() error {
		err := l.Core.CannotPay(unit, func(yield func(ledger.Item, error) bool) {
			for _, x := range read {
				if !yield(x, nil) {
					return
				}
			}
		}, first, each)
		read = read[:0]
		return err
	}
	for x, err := range items {
		if err != nil {
			return err
		}
		if read = append(read, x); len(read) < mostChunk {
			continue
		}
		if err := ask(); err != nil {
			return err
		}
	}
	return ask()
}
