package main

import (
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/owner"
	"github.com/geosql/geosql/internal/cli"
)

var roleCommand = &cli.Command{
	Name: "role", Operands: "OUT add|drop|list ..", Min: 2, Max: 3,
	Summary: "manage the roles of a sealed database",
	Details: `OUT is a sealed database. Its ledger keeps the roles.

add NAME --password-file FILE --columns T.C,.. --epsilon UNIT=E .. [--epsilon-max UNIT=E ..] ..
    adds a role that may ask about these sealed columns, and spend E of each account's budget in
    all, and at most epsilon-max in one call, for all of the account's rows. Public columns are
    for everybody. A name with a dot, a comma or a quote is in double quotes: '"a.b".c'
drop NAME
    the role cannot log in any more. Its spending stays
list
    prints the roles

They log in to geosql serve, which need not be started again for any of this.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t owner.Roles
		t.Register(fs)
		return t.Run
	},
}
