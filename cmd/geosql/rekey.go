package main

import (
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/owner"
	"github.com/geosql/geosql/internal/cli"
)

var rekeyCommand = &cli.Command{
	Name: "rekey", Operands: "OUT", Min: 1, Max: 1,
	Summary: "seal a sealed database anew, for another key only",
	Details: `OUT is a sealed database. All its values and accounts are sealed anew under NEW.pub, in one
transaction: another process sees OUT before or after it, and a crash or Ctrl-C leaves OUT as it
was. Rows keep their numbers. Values of erased accounts and revoked collectors are dropped, and how
many is said; so are values that never opened. Afterwards only the new key opens anything in OUT,
and nothing of the old values is left in the file. Copies that were made before open with the old
keys.

Give every key that OUT has values for with --key. Collectors go on with NEW.pub.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t owner.Rekey
		t.Register(fs)
		return t.Run
	},
}
