package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/big"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release"
)

var releaseCommand = &cli.Command{
	Name: "release", Operands: "--in IN --out OUT ..",
	Summary: "publishes a copy of a data set in which every location is a noisy one",
	Details: `Charges epsilon per metre for each location to its row's account. Columns not named in --keep
are dropped. When it was interrupted, the same command goes on and charges nothing twice.
Writes OUT.report.html too. --in, --out, --account, --lat, --lon and --ledger must be given,
--epsilon or else --level and --radius, and --domain or --region.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t releaseTask
		t.register(fs)
		return func(ctx context.Context, _ []string) error {
			if err := t.check(); err != nil {
				return err
			}
			return t.run(ctx)
		}
	},
}

// A releaseTask is what the flags of the command release say.
type releaseTask struct {
	spec    release.Spec
	account *string // nil: not given
	ledger  ledgerFlags
	level   *big.Rat
	radius  *big.Rat
	domain  []float64
	region  string
}

func (t *releaseTask) register(fs *flag.FlagSet) {
	s := &t.spec
	t.ledger.register(fs, "the ledger of budgets is `FILE`")
	optionalVar(fs, &t.account, "account", "who is charged: the name in `COLUMN`, or const:NAME")
	fs.StringVar(&s.In, "in", "", "the data set: a `FILE` as for import")
	fs.StringVar(&s.Out, "out", "", "the copy: a `FILE` .csv, .csv.gz, .parquet, .geoparquet, .geojson or .gpkg")
	fs.Func("id", "the `NAME` of the release, for going on with it", func(v string) error {
		if s.ID = v; !printable.Is(v) || v == "" {
			return errors.New("an id is a line of text")
		}
		return nil
	})
	fs.StringVar(&s.Rejects, "rejects", "", "set invalid rows aside in `FILE`; otherwise they stop the release")
	fs.StringVar(&t.region, "region", "", "where released locations may be: a `FILE` .geojson")
	cli.WordsVar(fs, &s.Lat, "lat", "the `COLUMNS` of latitudes")
	cli.WordsVar(fs, &s.Lon, "lon", "the `COLUMNS` of longitudes, one for each latitude")
	cli.WordsVar(fs, &s.Keep, "keep", "further `COLUMNS` to publish as they are")
	cli.NumbersVar(fs, &t.domain, "domain", "the `BOX` SOUTH,WEST,NORTH,EAST,STEP; otherwise around the region")
	fs.Func("workers", "draw with `N` workers", func(v string) (err error) {
		if s.Workers, err = strconv.Atoi(v); err != nil || s.Workers < 1 {
			return errors.New("it is a whole number, at least 1")
		}
		return nil
	})
	cli.Switch(fs, "publishable", "leave the owner's section out of the report", func() { s.Publishable = true })
	cli.Switch(fs, "escape-formulas", "put an apostrophe in front of text in a CSV that spreadsheet programs take for a formula",
		func() { s.EscapeFormulas = true })
	fs.Func("mechanism", "the mechanism that draws is `NAME`: "+strings.Join(planar.Mechanisms(), ", ")+" (default "+release.DefaultMechanism+")", func(v string) error {
		s.Mechanism = v
		_, err := planar.LawOf(v)
		return err
	})
	rationalVar(fs, &s.Epsilon, rational, "epsilon", "the privacy `E` of a location, per metre")
	rationalVar(fs, &t.level, rationalLevel, "level", "epsilon is `L`/METRES; a level is the logarithm of a factor, such as 1.386 or ln4")
	rationalVar(fs, &t.radius, rational, "radius", "the `METRES` that the level is for")
	fs.Func("limit", "a budget of `E` per metre for everybody, if there is none", func(v string) error {
		x, err := rational(v)
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

// rational reads a decimal within the range of a float64.
func rational(text string) (*big.Rat, error) {
	if _, err := cli.Number(text); err != nil {
		return nil, err
	}
	x, ok := new(big.Rat).SetString(cli.TrimBlanks(text))
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal number", text)
	}
	return x, nil
}

// rationalLevel reads a decimal, or the logarithm of one, which it rounds down.
func rationalLevel(text string) (*big.Rat, error) {
	x, err := cli.Level(text)
	if err != nil || !strings.HasPrefix(cli.TrimBlanks(text), "ln") {
		return rational(text)
	}
	steps := math.Floor(x*1e12) - 1 // of the last decimal, below what rounding may have added
	return new(big.Rat).SetFrac(big.NewInt(int64(steps)), big.NewInt(1e12)), nil
}

func (t *releaseTask) check() error {
	s := &t.spec
	switch {
	case s.In == "":
		return cli.UsageError("release: no input given: -in FILE")
	case s.Out == "":
		return cli.UsageError("release: no output given: -out FILE")
	case t.account == nil || *t.account == "":
		return cli.UsageError("release: nobody is charged: -account COLUMN or -account const:NAME")
	case len(s.Lat) == 0 || len(s.Lat) != len(s.Lon):
		return cli.UsageError("release: -lat and -lon name as many columns, at least one each")
	case t.ledger.file == "":
		return cli.UsageError("release: no ledger given: -ledger FILE")
	case s.Epsilon != nil && (t.level != nil || t.radius != nil):
		return cli.UsageError("release: either -epsilon, or -level and -radius")
	case s.Epsilon == nil && (t.level == nil || t.radius == nil):
		return cli.UsageError("release: no epsilon given: -epsilon E, or -level L and -radius METRES")
	case t.domain == nil && t.region == "":
		return cli.UsageError("release: no domain given: -domain SOUTH,WEST,NORTH,EAST,STEP or -region FILE")
	case t.domain != nil && len(t.domain) != 5:
		return cli.UsageError("release: -domain is SOUTH,WEST,NORTH,EAST,STEP")
	}
	s.Account = *t.account
	if s.Epsilon == nil {
		s.Epsilon = new(big.Rat).Quo(t.level, t.radius)
		s.Level, _ = t.level.Float64()
		s.Radius, _ = t.radius.Float64()
	}
	return nil
}

// softMemory is how much memory a release may take before what it no longer needs is
// collected at once, in bytes: with wide rows that is most of it.
const softMemory = 200 << 20

func (t *releaseTask) run(ctx context.Context) error {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT says nothing else
		debug.SetMemoryLimit(softMemory)
	}
	if err := t.layDomain(); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	l, err := file.Open(t.ledger.file, true, file.WithMode(t.ledger.mode))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	line := cli.NewTerminalLine()
	t.spec.Progress = showRelease(line)
	summary, err := release.Run(ctx, t.spec, l)
	line.Clear()
	if err := cmp.Or(err, l.Close()); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	printSummary(summary)
	return nil
}

// layDomain sets the domain. One that is not given is the box around the region, with a
// step of 1 m.
func (t *releaseTask) layDomain() error {
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

// showRelease shows on the terminal how far a release is.
func showRelease(line *cli.TerminalLine) func(release.Progress) {
	if line == nil {
		return nil
	}
	begun, stage := time.Now(), release.Checking
	return func(p release.Progress) {
		if p.Stage != stage {
			begun, stage = time.Now(), p.Stage
		}
		if stage >= release.Sealing { // which has no parts
			line.Show("%s", stageNames[stage])
			return
		}
		unit := "rows"
		if stage == release.Charging {
			unit = "accounts"
		}
		rate := float64(p.Done) / max(time.Since(begun).Seconds(), 0.001)
		line.Show("%s: %s, %d %s, %.0f %s/s", stageNames[stage],
			cli.ShareAndRest(p.Share, cli.TimeLeft(begun, p.Share)), p.Done, unit, rate, unit)
	}
}

var stageNames = [...]string{
	release.Checking:   "checking (1 of 2)",
	release.Charging:   "charging",
	release.Releasing:  "releasing (2 of 2)",
	release.Sealing:    "sealing",
	release.Publishing: "publishing",
}

// printSummary says what was released, beside the rows.
func printSummary(s *release.Summary) {
	if s.Finished != nil {
		cli.Say("release %s was complete since %s and has its name now", s.ID, s.Finished.Format(time.RFC3339))
	}
	cli.Say("released %s: %d rows in the order of the input, which is public", s.Out, s.Rows)
	accounts := strconv.FormatInt(s.Accounts, 10) + " accounts"
	if s.Accounts == 1 {
		accounts = "1 account"
	}
	cli.Say("charged: %v/m for each of %d locations, to %s; %s/m in all (release %s)",
		s.Epsilon, s.Locations, accounts, total(s.Epsilon, s.Locations), s.ID)
	if s.Already > 0 && s.Finished == nil {
		cli.Say("of these an earlier attempt had charged the first %d accounts", s.Already)
	}
	cli.Say("expected error: %.0f m in the mean, within %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Invalid > 0 {
		cli.Say("invalid: %d rows, set aside in %s", s.Invalid, s.Rejects)
	}
	if s.Finished == nil {
		cli.Say("for the owner only: %d locations lay outside of where released ones may be; they were moved there", s.Outside)
	}
	cli.Say("report: %s", s.Report)
}

// total is the sum of n charges, which may be more than an amount holds.
func total(epsilon budget.Amount, n int64) string {
	sum := new(big.Rat).Mul(epsilon.Rat(), new(big.Rat).SetInt64(n))
	text, _ := sum.Float64()
	return strconv.FormatFloat(text, 'f', -1, 64)
}
