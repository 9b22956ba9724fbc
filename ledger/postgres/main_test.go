package postgres

import (
	"flag"
	"os"
	"testing"

	"github.com/geosql/geosql/ledger/ledgertest"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// A random test of the conformance suite has so many histories: each step waits for the server.
const histories = "20"

// asApplication plays an application of the crash harness, if the process is one, and does not return.
var asApplication = func() {}

func TestMain(m *testing.M) {
	ledgertest.Main(openAgain)
	asApplication()
	if err := flag.Set("rapid.checks", histories); err != nil {
		panic(err)
	}
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
