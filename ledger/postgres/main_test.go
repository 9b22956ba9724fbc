package postgres

import (
	"os"
	"testing"

	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "geosql-state-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		os.Setenv(state.FolderVariable, folder) // what the user has is not for tests
		return m.Run()
	}())
}
