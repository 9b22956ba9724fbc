package main

import (
	"context"
	"flag"

	"github.com/geosql/geosql/cmd/geosql/internal/collect"
	"github.com/geosql/geosql/internal/cli"
)

var appendCommand = &cli.Command{
	Name: "append", Operands: "OUT TABLE FILE", Min: 3, Max: 3,
	Summary: "seal the rows of FILE and add them to a sealed table",
	Details: `FILE has a header and a format of import; it may be .gz. It has the columns of TABLE: that of the
account with people's names in place of pseudonyms, those of readings, the public ones, and lat
and lon for a location. Others are ignored, and that is said. Readings and locations are moved into
their universe or domain. Rows are added in random order and in one transaction: all or none.

A collector needs KEY.pub of the owner, a key of its own that the owner has enrolled with
'geosql collector', and OUT, which it may write:
  geosql append OUT TABLE FILE --key KEY.pub --sign MYKEY
The owner, beside OUT-ledger, leaves out --sign.

FILE.jsonl holds batches that devices have sealed and signed, and needs no key:
  geosql append OUT TABLE FILE.jsonl

The pseudonym of a name comes from --accounts; if it is not there, from OUT if --key is the owner's
private key; else it is made of the name with the key that signs. So a collector always gives a
name the same pseudonym; without --sign, other runs give it others.
All rows are in memory: about 100 bytes each, and the text of their public columns.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t collect.Append
		t.Ledger.RegisterFile(fs, "without --sign: enrol in the ledger `FILE`, or at a postgres:// URL (default OUT-ledger, beside OUT)")
		t.Keys.Register(fs, "seal for the public key in `KEY.pub`, or KEY")
		cli.OptionalVar(fs, &t.Sign, "sign", "sign as the collector that has the private `KEY`")
		cli.OptionalVar(fs, &t.Accounts, "accounts", "numbers and pseudonyms are in `FILE`, which 'geosql collector OUT accounts' has printed")
		cli.Switch(fs, "new-key", "OUT may have been sealed for other keys only", func() { t.NewKey = true })
		cli.ListVar(fs, &t.Lat, cli.FileName, "lat", "latitudes are in `COLUMN`; again for a second location")
		cli.ListVar(fs, &t.Lon, cli.FileName, "lon", "longitudes are in `COLUMN`; again for a second location")
		return func(ctx context.Context, operands []string) error {
			t.Path, t.Table, t.File = operands[0], operands[1], operands[2]
			return t.Run(ctx)
		}
	},
}
