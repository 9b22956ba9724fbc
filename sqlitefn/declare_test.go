package sqlitefn_test

import (
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// Programs that begin with their declarations may start at the same time.
func TestDeclaredAtTheSameTime(t *testing.T) {
	t.Parallel()
	const programs = 4
	for range 20 {
		path := filepath.Join(t.TempDir(), "shared.db")
		var together sync.WaitGroup
		errs := make([]error, programs)
		for i := range programs {
			db := sql.OpenDB(sqlitefn.Connector(path))
			defer db.Close()
			together.Go(func() {
				for _, declaration := range []string{
					`SELECT geo_domain('town', 39.9, 116.3, 40, 116.4, 1)`,
					`SELECT dx_universe('u', 0, 10, 1, 'kWh')`,
					`SELECT cip_policy('day', '{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "singles"}')`,
					`SELECT trace_policy('*', 'ana', 'predictive', '{"epsilon": 0.1, "steps": 5}')`,
				} {
					var says string
					if err := db.QueryRow(declaration).Scan(&says); err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		together.Wait()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
