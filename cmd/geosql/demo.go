package main

import (
	"context"
	_ "embed"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/cmd/geosql/internal/shell"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

//go:embed demo_data.sql
var demoData string

//go:embed demo.sql
var demoTour string

var demoCommand = &cli.Command{
	Name: "demo", Summary: "show a guided tour on made-up data",
	Setup: func(*flag.FlagSet) cli.Run {
		return func(ctx context.Context, _ []string) error { return demonstrate(ctx) }
	},
}

// demonstrate shows the main functions at work on made-up data. Database and ledger are in memory: the demo needs
// no folder that it may write into, which an empty container lacks.
func demonstrate(ctx context.Context) error {
	s, err := session.Open(":memory:", sqlite.ReadWrite, store.LedgerFlags{}, output.Table)
	if err != nil {
		return err
	}
	if err := s.Conn.Exec(demoData); err != nil {
		return s.Close(err)
	}
	return s.Close(showTour(ctx, s))
}

// showTour shows the tour, and what to do after it.
func showTour(ctx context.Context, s *session.Session) error {
	if err := shell.Tour(ctx, s, demoTour); err != nil {
		return err
	}
	_, err := s.Out.WriteString(`
What next:
  geosql init my.db my.csv     begin with a file of your own
  geosql help                  see all commands
  geosql help dx_sum           read about a function
`)
	return err
}
