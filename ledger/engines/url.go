package engines

import (
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/postgres"
)

// openURL opens a ledger on a server.
func openURL(url string, create bool) (ledger.Ledger, error) {
	l, err := postgres.Open(url, create)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Accept makes a ledger usable again after its server has lost charges, for an owner who knows that: see
// [postgres.Accept].
func Accept(url string) error {
	if err := Check(url); err != nil {
		return err
	}
	_, err := postgres.Accept(url)
	return err
}
