package keeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/serve/internal/wire"
)

// In a served file that is edited, any view in the place of one of geosql's tables is an error of the sessions: the keeper neither
// spins nor charges an account that the statement does not name.
func TestHostileSchema(t *testing.T) {
	for name, view := range map[string]string{
		"spins":   `WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT kept.* FROM r, kept WHERE i < 0`,
		"charges": `SELECT * FROM kept WHERE dx_value('di', 1, 0.5, 'halfhour') IS NOT NULL`,
		"calls":   `SELECT * FROM kept WHERE dx_value((SELECT kwh FROM reading), 0.5) IS NOT NULL`,
	} {
		for _, table := range []string{"geosql_sealed_account", "geosql_sealed_session", "geosql_universe", "geosql_ledger"} {
			t.Run(name+" "+table, func(t *testing.T) {
				s := newSite(t, nil)
				x := s.session()
				x.want("SELECT dx_sum(kwh, 0.1) FROM reading WHERE home = (SELECT max(home) FROM reading)")
				spent := fmt.Sprint(s.spentByAll())
				conn, err := sqlite.Open(s.path, sqlite.ReadWrite)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				conn.BusyTimeout(busyTimeout)
				if err := conn.Exec("ALTER TABLE " + table + " RENAME TO kept; CREATE VIEW " + table + " AS " + view); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if table != "geosql_universe" { // the keeper goes by its ledger
					got, err := x.queryContext(ctx, "SELECT dx_sum(kwh, 0.1) FROM reading")
					if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != "XX000" || ctx.Err() != nil {
						t.Errorf("%s, %v", got, describe(err))
					}
					if !strings.Contains(s.log.String(), table+" is a view") {
						t.Error("the log does not say why")
					}
				}
				if now := fmt.Sprint(s.spentByAll()); now != spent {
					t.Errorf("spent were %s, now %s", spent, now)
				}
				if r, err := s.Role("ann"); r == nil || err != nil {
					t.Error(err)
				}
				if strings.HasPrefix(table, "geosql_sealed") {
					k, err := Open(Options{Path: s.path, Keyring: sealed.NewKeyring(s.key), Worker: self("worker")})
					if err == nil {
						k.Close()
					}
					if err == nil || !strings.Contains(err.Error(), table+" is a view") {
						t.Errorf("it is served again: %v", err)
					}
				}
			})
		}
	}
}

// spentByAll lists the spending of each home.
func (s *site) spentByAll() (all []string) {
	for _, home := range homes {
		all = append(all, s.spent(home).String())
	}
	return all
}

// Views that SQLite takes long to resolve delay only the session that lists them.
func TestHugeViews(t *testing.T) {
	s := newSite(t, nil)
	conn, err := sqlite.Open(s.path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sql := "CREATE VIEW v0 AS SELECT home FROM reading;"
	for i := 1; i < 16; i++ {
		sql += fmt.Sprintf("CREATE VIEW v%d AS SELECT a.home FROM v%d a, v%d b;", i, i-1, i-1)
	}
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		tables, err := s.Tables()
		if err == nil && len(tables) != 17 {
			err = fmt.Errorf("%d tables", len(tables))
		}
		done <- err
	}()
	longest, from := time.Duration(0), time.Now()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			if all := time.Since(from); longest > all/2 {
				t.Errorf("others waited %v, of %v", longest, all)
			}
			return
		default:
		}
		began := time.Now()
		if _, err := s.Role("ann"); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(began))
	}
}
