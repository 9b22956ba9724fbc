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

// FindLoss returns the loss of charges by the server of a ledger: see [postgres.FindLoss].
func FindLoss(url string) (*postgres.Loss, error) {
	if err := Check(url); err != nil {
		return nil, err
	}
	return postgres.FindLoss(url)
}

// Accept makes a ledger usable again after its server has lost charges, for an owner who knows that: see
// [postgres.Accept].
func Accept(url string, force bool) (*postgres.Loss, error) {
	if err := Check(url); err != nil {
		return nil, err
	}
	return postgres.Accept(url, force)
}
