//go:build !geosql_loadable

package sealing_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/sealing"
)

// BenchmarkSeal reads and seals 1,000,000 rows of 5,000 accounts, with an integer column that is
// public, and says how many values that is in a second.
func BenchmarkSeal(b *testing.B) {
	in := plain(b, `CREATE TABLE r(person INT, kwh REAL, c REAL, lat REAL, lon REAL, day INT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		INSERT INTO r SELECT i % 5000, abs(random() % 10000) / 1000.0, random() % 20, 48.8 + abs(random() % 1000) / 9000.0, 2.3, i % 365 FROM n`)
	key, err := sealed.GenerateKey()
	check(b, err)
	for _, secrets := range [][]sealing.Secret{
		{{Columns: "kwh", Of: "halfhour"}},
		{{Columns: "kwh", Of: "halfhour"}, {Columns: "c", Of: "cold"}, {Columns: "lat,lon", Of: "paris"}},
	} {
		b.Run(fmt.Sprintf("columns=%d", len(secrets)), func(b *testing.B) {
			values := int64(0)
			for b.Loop() {
				contents, err := sealing.Read(context.Background(), in, []sealing.Table{{Name: "r", Account: "person", Public: []string{"day"}, Secrets: secrets}}, nil)
				check(b, err)
				conn, err := sqlite.Open(filepath.Join(b.TempDir(), "out.db"), sqlite.ReadWrite|sqlite.Create)
				check(b, err)
				done, err := contents.Seal(context.Background(), conn, key.Public(), "ledger", nil)
				check(b, err)
				check(b, conn.Close())
				values += done.Values
			}
			b.ReportMetric(float64(values)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
