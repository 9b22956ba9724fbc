package ledger

import (
	"os"
	"testing"
)

// roleVariable makes the test binary play a process of a test with several.
const roleVariable = "GEOSQL_LEDGER_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVariable); name != "" {
		play(name, os.Args[1:])
		return
	}
	os.Exit(m.Run())
}
