package monitor

import (
	"io"
	"log/slog"
	"testing"
)

// The time that observation adds to a statement.
func BenchmarkStatementEnded(b *testing.B) {
	audit, err := OpenAudit(b.TempDir()+"/audit.log", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer audit.Close()
	for name, o := range map[string]Observer{"audit": audit, "metrics": NewMetrics(), "log": Log{slog.New(slog.NewJSONHandler(io.Discard, nil))}} {
		b.Run(name, func(b *testing.B) {
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					o.StatementEnded(asked)
				}
			})
		})
	}
}
