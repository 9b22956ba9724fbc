package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// openAgain opens a ledger for the tests that every engine passes.
func openAgain(url string) (ledger.Ledger, error) { return Open(url, false) }

func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// A ledger on a server is a ledger, also where others have planted functions.
func TestConformance(t *testing.T) {
	ledgertest.Run(t, ledgertest.Engine{
		New: func(t testing.TB) string {
			url := hostileDatabase(t)
			l, err := Open(url, true)
			check(t, err)
			check(t, l.Close())
			return url
		},
		Open: openAgain, Storable: storable, LongestName: longest,
	})
}
