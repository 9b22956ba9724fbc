package file_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// The test binary plays a process of a test with several.
func TestMain(m *testing.M) {
	ledgertest.Main(reopen)
	role, args := os.Getenv(file.RoleVariable), os.Args[1:]
	if role == "" {
		trials.Histories(25)
		trials.Parallel(4)
		os.Exit(m.Run())
	}
	var err error
	if play, ok := killedRoles()[role]; ok {
		err = play(args[0], reporter{os.Stdout})
	} else {
		err = file.Play(role, args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(3) // which is not the status of a process that was killed: see file.Killed
	}
}
