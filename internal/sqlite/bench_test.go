//go:build !geosql_loadable

package sqlite

import (
	"fmt"
	"testing"
)

// BenchmarkWindow is a window function over a million rows in one and in 1000
// partitions, which are sorted, beside SQLite's sum over the same window. The
// function adds a column to a sum in Go.
func BenchmarkWindow(b *testing.B) {
	const rows = 1_000_000
	c := memory(b)
	register(b, c, Library{Windows: []Window{{Name: "go_sum", Args: []int{1, 4}, New: func() Partition {
		sum := 0.0
		return &testPartition{row: func(c *Call) error {
			sum += c.Arg(c.Len() - 1).Float()
			c.ResultFloat(0, sum)
			return nil
		}}
	}}}})
	run(b, c, `CREATE TABLE t(one, thousand, i, x)`,
		`INSERT INTO t `+numbers(rows)+`SELECT 'trace', 'trace-' || (i % 1000), i, i / 8.0 FROM s`)
	for _, partition := range []string{"one", "thousand"} {
		for _, call := range []string{"sum(x)", "go_sum(x)", "go_sum(" + partition + ",i,x,x)"} {
			b.Run(partition+"/"+call, func(b *testing.B) {
				s := prepare(b, c, fmt.Sprintf(`SELECT sum(z) FROM (SELECT %s OVER (PARTITION BY %s ORDER BY i ROWS UNBOUNDED PRECEDING) AS z FROM t)`, call, partition))
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Run(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}
