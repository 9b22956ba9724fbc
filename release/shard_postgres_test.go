package release

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
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
		_, err := s.ledger.Verify("", nil, nil)
		check(t, err)
	}
}

// Many releases in shards go on at a time in one process, which has fewer connections, also through
// PgBouncer with fewer still.
func TestManyShardedReleases(t *testing.T) {
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	server := pgtest.Own(t)
	for name, url := range map[string]string{"server": server.Database(t), "PgBouncer": ""} {
		t.Run(name, func(t *testing.T) {
			if url == "" {
				url = server.PgBouncer(t, "transaction", server.Database(t))
			}
			l := openPostgres(t, url, "all")
			text, kept, charged := crowded(400, 0)
			var all sync.WaitGroup
			const many = 8
			for account := range charged {
				charged[account] *= many
			}
			specs := make([]Spec, many)
			for i := range specs {
				dir := t.TempDir()
				write(t, filepath.Join(dir, "in.csv"), text)
				specs[i] = newSpec(dir)
				specs[i].ID, specs[i].Keep = fmt.Sprint("census", i), []string{"id"}
				all.Go(func() {
					if sum, err := RunShards(context.Background(), specs[i], l, 4, -1, nil); err != nil || !sum.Complete {
						t.Errorf("release %d: %+v, %v", i, sum, err)
					}
				})
			}
			all.Wait()
			for _, s := range specs {
				if err := judgeWhole(t, s, 4, l, kept, charged); err != nil {
					t.Error(err)
				}
			}
			_, err := l.Verify("", nil, nil)
			check(t, err)
		})
	}
}
