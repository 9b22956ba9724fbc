package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/release"
)

var releaseCommand = &cli.Command{
	Name: "release", Operands: "--in IN --out OUT ..",
	Summary: "publish a copy of a data set with noise on all locations",
	Details: `Charges epsilon per metre for each location to the account of its row. Drops the columns that
--keep does not name. After an interruption, the same command continues and charges nothing
twice. Also writes OUT.report.html and OUT.metadata.json. Required are --in, --out, --account,
--lat, --lon and --ledger, either --epsilon or --level and --radius, and --domain or --region.
Stops before it charges if an account cannot pay, or if too many locations lie outside the box.
With --shards, the files are OUT-00000-of-0000N and so on, before the extension, and
OUT.manifest.json lists them. Repeating a complete release does nothing.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t releaseTask
		registerRelease(fs, &t)
		return func(ctx context.Context, _ []string) error {
			if err := t.check(); err != nil {
				return err
			}
			return t.run(ctx)
		}
	},
}

// A releaseTask holds the flags of the command release.
type releaseTask struct {
	spec    release.Spec
	account *string // nil: not given
	ledger  ledgerFlags
	level   *big.Rat
	radius  *big.Rat
	domain  []float64
	region  string
	dry     bool
	shards  int // 0: the output is one file
	shard   int // -1: all
}

// registerRelease defines the flags of the command release.
func registerRelease(fs *flag.FlagSet, t *releaseTask) {
	s := &t.spec
	t.shard = -1
	t.ledger.register(fs, "keep the budgets in the ledger `FILE`, or at a postgres:// URL")
	optionalVar(fs, &t.account, "account", "charge the account that `COLUMN` names, or const:NAME for all rows")
	fs.StringVar(&s.In, "in", "", "read the data set `FILE`, in a format that import reads")
	fs.StringVar(&s.Out, "out", "", "write the copy to `FILE`: .csv, .csv.gz, .parquet, .geoparquet, .geojson or .gpkg")
	fs.Func("id", "name the release `NAME`; the same name continues it", func(v string) error {
		if s.ID = v; !printable.Is(v) || v == "" {
			return errors.New("an id must be a line of text")
		}
		return nil
	})
	fs.StringVar(&s.Rejects, "rejects", "", "write invalid rows to `FILE`; without this flag they stop the release")
	fs.StringVar(&t.region, "region", "", "move released locations into the polygons of `FILE`, a .geojson file")
	cli.WordsVar(fs, &s.Lat, "lat", "read latitudes from `COLUMNS`")
	cli.WordsVar(fs, &s.Lon, "lon", "read longitudes from `COLUMNS`, one for each latitude")
	cli.WordsVar(fs, &s.Keep, "keep", "also publish `COLUMNS`, as they are")
	cli.NumbersVar(fs, &t.domain, "domain", "set the domain to `BOX`: SOUTH,WEST,NORTH,EAST,STEP (default: the box around the region, with a step of 1 m)")
	fs.Func("max-rows-per-account", "release the first `K` rows of each account, in the order of the input, and leave the others out, which cost nothing", func(v string) (err error) {
		if s.MaxRows, err = strconv.Atoi(v); err != nil || s.MaxRows < 1 {
			return errors.New("it must be a whole number of at least 1")
		}
		return nil
	})
	fs.Func("shards", "divide the output into `N` files, which processes on many machines make together: each runs this command; the ledger must be at a postgres:// URL", func(v string) (err error) {
		if t.shards, err = strconv.Atoi(v); err != nil || t.shards < 1 || t.shards > release.MostShards {
			return fmt.Errorf("it must be a whole number from 1 to %d", release.MostShards)
		}
		return nil
	})
	fs.Func("shard", "stop when shard `I` is published, from 0, and what must come before is done", func(v string) (err error) {
		if t.shard, err = strconv.Atoi(v); err != nil || t.shard < 0 {
			return errors.New("it must be a whole number of at least 0")
		}
		return nil
	})
	fs.Func("workers", "draw with `N` workers", func(v string) (err error) {
		if s.Workers, err = strconv.Atoi(v); err != nil || s.Workers < 1 {
			return errors.New("it must be a whole number of at least 1")
		}
		return nil
	})
	cli.Switch(fs, "dry-run", "show what the release would charge and how accurate it would be, and where the true locations lie; "+
		"charge and write nothing; the exit status is 1 if the release would be refused", func() { t.dry = true })
	s.Outside = release.DefaultOutside
	shareVar(fs, &s.Outside, "outside", "allow that a `SHARE` of the locations lies outside the box, from 0 to 1 (default 0.01)")
	cli.Switch(fs, "publishable", "leave the owner's section out of the report", func() { s.Publishable = true })
	cli.Switch(fs, "escape-formulas", "put an apostrophe before text of a CSV file that a spreadsheet program would take for a formula",
		func() { s.EscapeFormulas = true })
	fs.Func("mechanism", "draw with the mechanism `NAME`: "+strings.Join(release.Mechanisms(), ", ")+" (default "+release.DefaultMechanism+")", func(v string) error {
		s.Mechanism = v
		return release.CheckMechanism(v)
	})
	rationalVar(fs, &s.Epsilon, cli.Rational, "epsilon", "charge `E` per metre for each location")
	rationalVar(fs, &t.level, cli.RationalLevel, "level", "set epsilon to `L`/METRES; a level is the logarithm of a factor, such as 1.386 or ln4")
	rationalVar(fs, &t.radius, cli.Rational, "radius", "set the radius of the level to `METRES`")
	fs.Func("limit", "give every account a budget of `E` per metre, if the ledger has no limit for everybody", func(v string) error {
		x, err := cli.Rational(v)
		if err != nil {
			return err
		}
		limit, err := budget.Limit(x)
		s.Limit = &limit
		return err
	})
}

// rationalVar defines a flag whose value is a fraction above 0.
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

func (t *releaseTask) check() error {
	s := &t.spec
	switch {
	case s.In == "":
		return cli.UsageError("release: no input given: use -in FILE")
	case s.Out == "":
		return cli.UsageError("release: no output given: use -out FILE")
	case t.account == nil || *t.account == "":
		return cli.UsageError("release: no account to charge: use -account COLUMN or -account const:NAME")
	case len(s.Lat) == 0 || len(s.Lat) != len(s.Lon):
		return cli.UsageError("release: -lat and -lon must name equally many columns, at least one each")
	case t.ledger.file == "":
		return cli.UsageError("release: no ledger given: use -ledger FILE")
	case s.Epsilon != nil && (t.level != nil || t.radius != nil):
		return cli.UsageError("release: give either -epsilon, or -level and -radius")
	case s.Epsilon == nil && (t.level == nil || t.radius == nil):
		return cli.UsageError("release: no epsilon given: use -epsilon E, or -level L and -radius METRES")
	case t.domain == nil && t.region == "":
		return cli.UsageError("release: no domain given: use -domain SOUTH,WEST,NORTH,EAST,STEP or -region FILE")
	case t.domain != nil && len(t.domain) != 5:
		return cli.UsageError("release: -domain must be SOUTH,WEST,NORTH,EAST,STEP")
	}
	if err := t.ledger.check(); err != nil {
		return err
	}
	if err := t.checkShards(); err != nil {
		return err
	}
	s.Account = *t.account
	if s.Epsilon == nil {
		s.Epsilon = new(big.Rat).Quo(t.level, t.radius)
		s.Level, _ = t.level.Float64()
		s.Radius, _ = t.radius.Float64()
	}
	if err := t.setDomain(); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// softMemory is the number of bytes above which garbage is collected at once. With wide
// rows most of a release's memory is garbage.
const softMemory = 200 << 20

func (t *releaseTask) run(ctx context.Context) error {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(softMemory)
	}
	work := t.publish
	if t.dry {
		work = t.dryRun
	}
	if err := work(ctx); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// publish releases the data set.
func (t *releaseTask) publish(ctx context.Context) error {
	if t.shards > 0 {
		return t.publishShards(ctx)
	}
	l, err := engines.Open(t.ledger.file, true, t.ledger.mode)
	if err != nil {
		return err
	}
	line := cli.NewTerminalLine()
	t.spec.Progress = showProgress(line, "checking (1 of 2)")
	summary, err := release.Run(ctx, t.spec, l)
	line.Clear()
	if err := cmp.Or(err, l.Close()); err != nil {
		return err
	}
	t.printSummary(summary)
	return nil
}

// setDomain sets the domain. If none is given, it is the box around the region, with a
// step of 1 m.
func (t *releaseTask) setDomain() error {
	s := &t.spec
	if t.region != "" {
		region, err := release.ReadRegion(t.region)
		if err != nil {
			return err
		}
		s.Region, s.Box, s.Step = region.WKT, region.Box, 1
	}
	if d := t.domain; d != nil {
		s.Box, s.Step = release.Box{South: d[0], West: d[1], North: d[2], East: d[3]}, d[4]
	}
	return nil
}

// showProgress returns a function that shows the progress of a release on the terminal, or
// nil if there is no terminal. Checking is what the first stage is called.
func showProgress(line *cli.TerminalLine, checking string) func(release.Progress) {
	if line == nil {
		return nil
	}
	begun, stage, name := time.Now(), release.Checking, checking
	return func(p release.Progress) {
		if p.Stage != stage {
			begun, stage, name = time.Now(), p.Stage, stageNames[p.Stage]
		}
		if stage >= release.Sealing { // these stages have no parts
			line.Show("%s", name)
			return
		}
		unit := "rows"
		if stage == release.Charging {
			unit = "accounts"
		}
		rate := float64(p.Done) / max(time.Since(begun).Seconds(), 0.001)
		line.Show("%s: %s, %d %s, %.0f %s/s", name,
			cli.ShareAndRest(p.Share, cli.TimeLeft(begun, p.Share)), p.Done, unit, rate, unit)
	}
}

var stageNames = [...]string{
	release.Charging:   "charging",
	release.Releasing:  "releasing (2 of 2)",
	release.Sealing:    "sealing",
	release.Publishing: "publishing",
	release.Waiting:    "waiting for other processes",
}

// printSummary prints on standard error what was released.
func (t *releaseTask) printSummary(s *release.Summary) {
	if s.Repeated {
		cli.Say("release %s has been complete since %s, as %s: nothing was charged or drawn", s.ID, s.Finished.Format(time.RFC3339), s.Out)
		if s.Gone {
			cli.Say("%s is not there any more, or is not what was published; to draw again, which is charged, use another --id", s.Out)
		}
		return
	}
	if s.Finished != nil {
		cli.Say("release %s has been complete since %s; its output now has its name", s.ID, s.Finished.Format(time.RFC3339))
	}
	cli.Say("released %s: %d rows in the order of the input, which is public", s.Out, s.Rows)
	cli.Say("charged: %v/m for each of %d locations, to %s; %s/m in total (release %s)",
		s.Epsilon, s.Locations, count(s.Accounts, "account"), total(s.Epsilon, s.Locations), s.ID)
	if s.Already > 0 && s.Finished == nil {
		cli.Say("an earlier attempt had already charged the first %d of these accounts", s.Already)
	}
	cli.Say("expected error: %.0f m on average, at most %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Dropped > 0 {
		cli.Say("left out: %d rows, since their accounts have more than %d", s.Dropped, t.spec.MaxRows)
	}
	if s.Invalid > 0 {
		cli.Say("invalid: %d rows, written to %s", s.Invalid, s.Rejects)
	}
	if s.Finished == nil {
		cli.Say("for the owner only: %d locations were outside the area of the release and were moved into it", s.Outside)
	}
	for _, g := range s.Gridded {
		cli.Say("for the owner only: %v", g)
	}
	cli.Say("report: %s", s.Report)
	cli.Say("metadata: %s", s.Metadata)
	if note := t.parquetNote(); note != "" {
		cli.Say("%s", note)
	}
}

// parquetNote says of an output in plain Parquet how to get geometries; of another it returns "".
func (t *releaseTask) parquetNote() string {
	s := &t.spec
	format, err := dataset.FormatOf(s.Out)
	if err != nil || format != dataset.Parquet {
		return ""
	}
	return fmt.Sprintf("a .parquet output has %s as columns of numbers, without a geometry: for GeoParquet, name it %s%s",
		strings.Join([]string{s.Lat[0], s.Lon[0]}, " and "), strings.TrimSuffix(filepath.Base(s.Out), filepath.Ext(s.Out)), dataset.GeoParquet.Extension())
}

// total returns the sum of n charges, which may be more than an amount holds.
func total(epsilon budget.Amount, n int64) string {
	sum := new(big.Rat).Mul(epsilon.Rat(), new(big.Rat).SetInt64(n))
	text, _ := sum.Float64()
	return strconv.FormatFloat(text, 'f', -1, 64)
}
