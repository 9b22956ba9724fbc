package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/guide"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/release"
)

var initCommand = &cli.Command{
	Name: "init", Operands: "DB FILE ..", Min: 2, Max: -1,
	Summary: "a guided start: import, declare, set limits, ask",
	Details: `Imports each FILE as 'geosql import' does, describes its columns, and asks for the decisions
to decide: the account, the columns to protect, the box or the universe, epsilon, the limits.
help explains a question, back returns to the one before. A flag answers a question, -y takes
the default of each that is left, and without a terminal flags must answer all, or -y. Nothing is
written before the last answer: Ctrl-C leaves everything as it was. The declarations are shown,
run, and kept in DB.sql. Nothing is charged. DB may exist; its declarations are offered.

  geosql init city.db trips.csv --account person --lat lat --lon lon --box Lisbon \
    --epsilon-for 500 --limit 4x`,
	Setup: func(flags *flag.FlagSet) cli.Run {
		t := guide.Task{Step: 1, Given: map[string]*string{}}
		registerInit(flags, &t)
		return func(ctx context.Context, operands []string) error {
			t.Database, t.Files = operands[0], operands[1:]
			return t.Run(ctx)
		}
	},
}

// answers are the flags that answer a question.
var answers = []struct{ name, usage string }{
	{"into", "create the table `TABLE` (default: the file's name)"},
	{"account", "charge the account that `COLUMN` names, or const:NAME for all rows"},
	{"time", "group by the times in `COLUMN`, or none; 't +05:30' for months and hours in that time zone"},
	{"lat", "protect locations: latitudes are in `COLUMN`, or none"},
	{"lon", "longitudes are in `COLUMN`"},
	{"reading", "protect readings, such as kWh: they are in `COLUMN`, or none"},
	{"box", "locations lie in `PLACE`: a country, a large city, a domain of DB, or SOUTH,WEST,NORTH,EAST"},
	{"epsilon", "plan for releases of a location at `E` per metre"},
	{"epsilon-for", "plan for releases within `METRES` of the true location, 95 % of them"},
	{"limit", "set the limit of every account to `E` per metre, or such as 4x for four releases"},
	{"universe", "readings are `LO,HI,STEP`, or in a universe of DB"},
	{"unit", "readings are in `UNIT`, such as kWh"},
	{"reading-epsilon", "plan for answers about readings at `E` per unit"},
	{"reading-epsilon-for", "plan for sums of readings within `R` units of the true ones, 95 % of them"},
	{"reading-limit", "set the limit of every account to `E` per unit, or such as 4x for four answers"},
	{"record-limit", "set the limit for counts and heat maps to `E` per record, or none"},
	{"window", "limits reopen after `SECONDS`, or such as 30d for days (default never)"},
}

// registerInit defines the flags of the command init.
func registerInit(flags *flag.FlagSet, t *guide.Task) {
	t.Ledger.Register(flags, "keep the budgets in the ledger `FILE`, or at a postgres:// URL (default DB-ledger, beside DB)")
	t.Form.Register(flags)
	for _, a := range answers {
		flags.Func(a.name, a.usage, func(v string) error {
			t.Given[a.name] = &v
			return nil
		})
	}
	t.Outside = release.DefaultOutside
	cli.ShareVar(flags, &t.Outside, "outside", "go on if up to `SHARE` of the locations or readings lie outside box or universe (default 0.01)")
	cli.NumberVar(flags, &t.Step, "step", "set the step of a new domain's lattice to `METRES`")
	for _, name := range []string{"y", "yes"} {
		cli.Switch(flags, name, "take the default of each question, and do not ask", func() { t.Yes = true })
	}
}
