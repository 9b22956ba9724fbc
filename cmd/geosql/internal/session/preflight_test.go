package session

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/sqlite"
)

// Reports how long statements take with preflight, as a multiple of their time without it, both the best of all.
func BenchmarkPreflight(b *testing.B) {
	for name, sql := range map[string]string{
		"rows":            "SELECT geoind_laplace(who, lat, 2.33, 0.01) FROM big",
		"table":           "SELECT g.lat FROM big, geoind_laplace(who, big.lat, 2.33, 0.01) g",
		"one group":       "SELECT dx_sum(who, n, 0.01, 'u') FROM big",
		"24 groups":       "SELECT hour, dx_sum(who, n, 0.01, 'u') FROM big GROUP BY hour",
		"24 groups, told": "SELECT hour, dx_sum(who, n, 0.01, 'u') FROM big GROUP BY hour",
		"1000 groups":     "SELECT who, dx_sum(who, n, 0.01, 'u') FROM big GROUP BY who",
		"24 groups, dh":   "SELECT hour, dx_avg(who, n, 0.01, 'u', 'dh') FROM big GROUP BY hour",
		"insert":          "INSERT INTO made SELECT geoind_laplace(who, lat, 2.33, 0.01) FROM big",
		"without charge":  "SELECT n, sum(lat) FROM big GROUP BY n",
	} {
		b.Run(name, func(b *testing.B) {
			s, err := Open(b.TempDir()+"/x.db", sqlite.ReadWrite|sqlite.Create, store.LedgerFlags{}, output.CSV)
			if err != nil {
				b.Fatal(err)
			}
			s.Out = bufio.NewWriter(io.Discard)
			s.StartOutput()
			if strings.HasSuffix(name, "told") {
				s.Priced = func([]string) {}
			}
			if err := s.Conn.Exec(`SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT dx_universe('u', 0, 30, 1, 'kWh');
				SELECT budget_limit('*', 'm', 9000000); SELECT budget_limit('*', 'kWh', 9000000); SELECT budget_limit('*', 'record', 9000000);
				CREATE TABLE made(z); CREATE TABLE big(who, lat, n, hour);
				WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 99999)
				INSERT INTO big SELECT 'p' || i % 1000, 48.81 + i % 97 * 0.0009, i % 24, i % 24 FROM c`); err != nil {
				b.Fatal(err)
			}
			took := [2]time.Duration{time.Hour, time.Hour}
			for range b.N {
				for i := range took {
					s.NoPreflight = i == 0
					begun := time.Now()
					if err := s.Run(b.Context(), sql); err != nil {
						b.Fatal(err)
					}
					took[i] = min(took[i], time.Since(begun))
				}
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "times-without")
			if err := s.Close(nil); err != nil {
				b.Fatal(err)
			}
		})
	}
}
