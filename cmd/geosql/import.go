package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/load"
	"github.com/geosql/geosql/internal/cli"
)

var importCommand = &cli.Command{
	Name: "import", Operands: "DB TABLE FILE", Min: 3, Max: 3,
	Summary: "create TABLE from FILE; create DB if it is missing",
	Details: `FILE is a .csv, .tsv or .txt file (separated by commas, semicolons or tabs; may be .gz; the
first line names the columns), a .parquet file, or DB#TABLE of another database. A column of
CSV becomes INTEGER, REAL or TEXT, whatever fits all of its cells. An empty cell becomes
NULL, and in a column of numbers a blank one too. In files with semicolons or tabs, numbers may
have decimal commas (0,099). Codes with leading zeros and dates stay TEXT; functions read times
like 2026-03-01 12:00 as UTC. Columns of other files have the types that their file gives.

Standard error reports the import: rows, columns, their types, and which cell keeps
a column with numbers from being one. A first line that has only values, or a decimal fraction
or a date among them, is an error unless --header or --no-header is given.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t load.Task
		t.Register(fs)
		return func(ctx context.Context, operands []string) error {
			t.Database, t.Table, t.File = operands[0], operands[1], operands[2]
			return t.Run(ctx)
		}
	},
}
