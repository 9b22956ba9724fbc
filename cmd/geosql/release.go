package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/publish"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release"
)

var releaseCommand = &cli.Command{
	Name: "release", Operands: "--in IN --out OUT ..",
	Summary: "publish a copy of a data set with noisy locations",
	Details: `Charges epsilon per metre for each location to the account of its row. Drops the columns that
--keep does not name. After an interruption, the same command continues and charges nothing
twice. Also writes OUT.report.html and OUT.metadata.json. Required are --in, --out, --account,
--lat, --lon and --ledger, either --epsilon or --level and --radius, and --domain or --region.
Stops before it charges if an account cannot pay, or if too many locations lie outside the box.
With --shards, the files are OUT-00000-of-0000N and so on, before the extension, and
OUT.manifest.json lists them. Repeating a complete release does nothing.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t publish.Task
		registerRelease(fs, &t)
		return func(ctx context.Context, _ []string) error {
			if err := t.Check(); err != nil {
				return err
			}
			return t.Run(ctx)
		}
	},
}

// registerRelease defines the flags of the command release.
func registerRelease(fs *flag.FlagSet, t *publish.Task) {
	s := &t.Spec
	t.Shard = -1
	t.Ledger.Register(fs, "keep the budgets in the ledger `FILE`, or at a postgres:// URL")
	cli.OptionalVar(fs, &t.Account, "account", "charge the account in `COLUMN`, or const:NAME for all rows")
	fs.StringVar(&s.In, "in", "", "read the data set `FILE`, in a format that import reads")
	cli.ListVar(fs, &t.Outs, fileName, "out", "write the copy to `FILE`: .csv, .csv.gz, .parquet, .geoparquet, .geojson or .gpkg; again for another format")
	lineVar(fs, &s.ID, "id", "name the release `NAME`; the same name continues it")
	lineVar(fs, &s.About.Title, "title", "state `TEXT` as title on the page and in the metadata")
	lineVar(fs, &s.About.Description, "description", "state `TEXT` as description on the page and in the metadata")
	lineVar(fs, &s.About.License, "license", "state `LICENSE` as license on the page and in the metadata")
	lineVar(fs, &s.About.Contact, "contact", "state `WHO` as contact on the page and in the metadata")
	fs.StringVar(&s.Rejects, "rejects", "", "write invalid rows to `FILE`; otherwise they stop the release")
	fs.StringVar(&t.Region, "region", "", "move released locations into the polygons of a GeoJSON `FILE`")
	fs.StringVar(&s.Utility, "utility", "", "write numbers of true locations to `FOLDER`, for the owner")
	fs.StringVar(&t.Regions, "regions", "", "count these by the features of a GeoJSON `FILE`")
	cli.WordsVar(fs, &s.Lat, "lat", "read latitudes from `COLUMNS`")
	cli.WordsVar(fs, &s.Lon, "lon", "read longitudes from `COLUMNS`, one for each latitude")
	fs.StringVar(&s.Weight, "weight", "", "read each row as often as `COLUMN` says, from 0 to 1000000, with a draw and a charge each time; weights are public")
	cli.WordsVar(fs, &s.Keep, "keep", "also publish `COLUMNS`, as they are")
	cli.NumbersVar(fs, &t.Domain, "domain", "set the domain to `BOX`: SOUTH,WEST,NORTH,EAST,STEP (default: the box around the region, with a step of 1 m)")
	fs.Func("max-rows-per-account", "release the first `K` rows of each account, in the order of the input, and leave the others out, which cost nothing", func(v string) (err error) {
		if s.MaxRows, err = strconv.Atoi(v); err != nil || s.MaxRows < 1 {
			return errors.New("it must be a whole number of at least 1")
		}
		return nil
	})
	fs.Func("shards", "divide the output into `N` files, which processes with this command on many machines make together; needs a ledger at a postgres:// URL", func(v string) (err error) {
		if t.Shards, err = strconv.Atoi(v); err != nil || t.Shards < 1 || t.Shards > release.MostShards {
			return fmt.Errorf("it must be a whole number from 1 to %d", release.MostShards)
		}
		return nil
	})
	fs.Func("shard", "stop when shard `I`, from 0, is published", func(v string) (err error) {
		if t.Shard, err = strconv.Atoi(v); err != nil || t.Shard < 0 {
			return errors.New("it must be a whole number of at least 0")
		}
		return nil
	})
	fs.Func("density", "also write OUT.density.geojson: the population behind the released locations, estimated in cells of `METRES` for nothing", func(v string) (err error) {
		if s.Density, err = strconv.ParseFloat(v, 64); err != nil || !(s.Density > 0) || math.IsInf(s.Density, 0) {
			return errors.New("it must be a number above 0")
		}
		return nil
	})
	fs.Func("workers", "draw with `N` workers", func(v string) (err error) {
		if s.Workers, err = strconv.Atoi(v); err != nil || s.Workers < 1 {
			return errors.New("it must be a whole number of at least 1")
		}
		return nil
	})
	cli.Switch(fs, "dry-run", "show the charges, the accuracy and where the true locations lie; charge and write nothing; "+
		"exit with 1 if the release would be refused", func() { t.Dry = true })
	s.Outside = release.DefaultOutside
	cli.ShareVar(fs, &s.Outside, "outside", "allow that a `SHARE` of the locations lies outside the box, from 0 to 1 (default 0.01)")
	cli.Switch(fs, "publishable", "leave the owner's section out of the report", func() { s.Publishable = true })
	cli.Switch(fs, "escape-formulas", "put an apostrophe before text of a CSV file that a spreadsheet program would take for a formula",
		func() { s.EscapeFormulas = true })
	fs.Func("mechanism", "draw with the mechanism `NAME`: "+strings.Join(planar.Mechanisms(), ", ")+" (default "+release.DefaultMechanism+")", func(v string) error {
		s.Mechanism = v
		return release.CheckMechanism(v)
	})
	rationalVar(fs, &s.Epsilon, cli.Rational, "epsilon", "charge `E` per metre for each location, with --mechanism gauss as rho per square metre")
	rationalVar(fs, &t.Level, cli.RationalLevel, "level", "set epsilon to `L`/METRES; a level is the logarithm of a factor, such as 1.386 or ln4")
	rationalVar(fs, &t.Radius, cli.Rational, "radius", "set the radius of the level to `METRES`")
	fs.Func("limit", "give every account a budget of `E` in the same unit, if the ledger has no limit for everybody", func(v string) error {
		x, err := cli.Rational(v)
		if err != nil {
			return err
		}
		limit, err := budget.Limit(x)
		s.Limit = &limit
		return err
	})
}

func fileName(name string) (string, error) {
	if name == "" {
		return "", errors.New("a name is empty")
	}
	return name, nil
}

// lineVar defines a flag for a line of text.
func lineVar(fs *flag.FlagSet, value *string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		if *value = v; !printable.Is(v) || v == "" {
			return errors.New("it must be a line of text")
		}
		return nil
	})
}

// rationalVar defines a flag for a fraction above 0.
func rationalVar(fs *flag.FlagSet, value **big.Rat, parse func(text string) (*big.Rat, error), name, usage string) {
	fs.Func(name, usage, func(v string) error {
		x, err := parse(v)
		if err == nil && x.Sign() <= 0 {
			err = fmt.Errorf("%s is not above 0", v)
		}
		*value = x
		return err
	})
}
