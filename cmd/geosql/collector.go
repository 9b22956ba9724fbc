package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/collect"
	"github.com/geosql/geosql/internal/cli"
)

var collectorCommand = &cli.Command{
	Name: "collector", Operands: "OUT add|revoke|list|accounts|declaration ..", Min: 2, Max: 3,
	Summary: "say who may add values to a sealed database",
	Details: `OUT is a sealed database. Only values of collectors that its ledger knows open.

add NAME --verify KEY.pub
    enrols the collector that signs with KEY: geosql append --sign KEY
revoke NAME
    nothing that the collector has added or will add opens any more, at once and for ever; NAME may
    also be a fingerprint that list shows
list
    prints name, fingerprint, state and number of sessions in OUT
accounts --key KEY --names FILE
    prints account, number and pseudonym, as CSV, of the names in FILE, one a line: for
    'geosql append --accounts'. OUT gets the names that it lacks. Give each collector the names
    that it sends, and no others
declaration
    prints the columns, universes and domains of OUT as JSON, for devices that seal; it is public

The keys that seal, append, accounts and rekey sign with once are in the list too.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t collect.Collectors
		t.Output.Register(fs)
		t.Keys.Register(fs, "with accounts: the owner's private `KEY`; may be given again for older keys")
		cli.OptionalVar(fs, &t.Verify, "verify", "with add: the public key in `KEY.pub`, which the collector has made with 'geosql keygen KEY'")
		cli.OptionalVar(fs, &t.Names, "names", "with accounts: the names in `FILE`, one a line")
		return func(ctx context.Context, operands []string) error { return t.Run(ctx, operands) }
	},
}
