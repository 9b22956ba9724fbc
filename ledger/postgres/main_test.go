package postgres

import (
	"os"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger/ledgertest"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// asApplication plays an application of the crash harness, if the process is one, and does not return.
var asApplication = func() {}

func TestMain(m *testing.M) {
	ledgertest.Main(openAgain)
	asApplication()
	trials.Histories(10) // each step waits for the server
	trials.Parallel(4)
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "geosql-state-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		os.Setenv(state.FolderVariable, folder) // the user's folder is not for tests
		return m.Run()
	}())
}
