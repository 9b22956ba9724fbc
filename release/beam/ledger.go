package beam

import (
	"errors"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/postgres"
)

// checkLedger returns an error unless the text is the URL of a ledger, without a password.
func checkLedger(url string) error {
	if !postgres.IsURL(url) {
		return errors.New("a release in shards needs a ledger that machines share: postgres://USER@HOST/DATABASE")
	}
	return postgres.CheckURL(url)
}

// openLedger opens the ledger of that URL, or makes it.
func openLedger(url string) (ledger.Shared, error) {
	l, err := postgres.Open(url, true)
	if err != nil {
		return nil, err // and no pointer in an interface
	}
	return l, nil
}
