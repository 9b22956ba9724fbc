package release

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/postgres"
)

// openPostgres opens the ledger of a URL as a process of that name does.
func openPostgres(t testing.TB, url, process string) *postgres.Ledger {
	t.Helper()
	l, err := postgres.Open(url+"&application_name="+process, true)
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// The schedules of TestShardsScheduled on a server, where every worker has connections of its own,
// and a lease has always ended when somebody asks.
func TestShardsScheduledOnPostgres(t *testing.T) {
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	server := pgtest.Start(t)
	for seed := range uint64(6) {
		url := server.Database(t)
		s := newSchedule(t, 1000+seed, nil)
		s.ledger, s.lease = openPostgres(t, url, "judge"), time.Microsecond
		s.shared = func(number int) ledger.Shared { return openPostgres(t, url, fmt.Sprint("player", number)) }
		if err := s.play(t, 2+int(seed%2)); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(s.trace, "\n"))
		}
	}
}
