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
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release"
)

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

// releaseFlagNames are the flags of the command, those that others have too included.
func releaseFlagNames() []string {
	names := []string{"account", "ledger", "ledger-mode"}
	flagsOfStudy(new(releaseTask)).VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

func (t *releaseTask) register(fs *flag.FlagSet) {
	s := &t.spec
	fs.StringVar(&s.In, "in", "", "")
	fs.StringVar(&s.Out, "out", "", "")
	fs.Func("id", "", func(v string) error {
		if s.ID = v; !printable.Is(v) || v == "" {
			return errors.New("an id is a line of text")
		}
		return nil
	})
	fs.StringVar(&s.Rejects, "rejects", "", "")
	fs.StringVar(&t.region, "region", "", "")
	wordsFlag(fs, "lat", &s.Lat)
	wordsFlag(fs, "lon", &s.Lon)
	wordsFlag(fs, "keep", &s.Keep)
	numbersFlag(fs, "domain", &t.domain)
	fs.Func("workers", "", func(v string) (err error) {
		if s.Workers, err = strconv.Atoi(v); err != nil || s.Workers < 1 {
			return errors.New("it is a whole number, at least 1")
		}
		return nil
	})
	boolFlag(fs, "publishable", func() { s.Publishable = true })
	boolFlag(fs, "escape-formulas", func() { s.EscapeFormulas = true })
	ratFlag(fs, "epsilon", &s.Epsilon)
	rationalFlag(fs, "level", &t.level, rationalLevel)
	ratFlag(fs, "radius", &t.radius)
	fs.Func("limit", "", func(v string) error {
		x, err := rational(v)
		if err != nil {
			return err
		}
		limit, err := budget.Limit(x)
		s.Limit = &limit
		return err
	})
}

// ratFlag is a flag whose value is the decimal that is written, exactly.
func ratFlag(fs *flag.FlagSet, name string, value **big.Rat) {
	rationalFlag(fs, name, value, rational)
}

func rationalFlag(fs *flag.FlagSet, name string, value **big.Rat, parse func(text string) (*big.Rat, error)) {
	fs.Func(name, "", func(v string) error {
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
	if _, err := number(text); err != nil {
		return nil, err
	}
	x, ok := new(big.Rat).SetString(trimBlanks(text))
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal number", text)
	}
	return x, nil
}

// rationalLevel reads a decimal, or the logarithm of one, which it rounds down.
func rationalLevel(text string) (*big.Rat, error) {
	x, err := level(text)
	if err != nil || !strings.HasPrefix(trimBlanks(text), "ln") {
		return rational(text)
	}
	steps := math.Floor(x*1e12) - 1 // of the last decimal, below what rounding may have added
	return new(big.Rat).SetFrac(big.NewInt(int64(steps)), big.NewInt(1e12)), nil
}

func (t *releaseTask) check() error {
	s := &t.spec
	switch {
	case s.In == "":
		return usageError("release: no input given: -in FILE")
	case s.Out == "":
		return usageError("release: no output given: -out FILE")
	case t.account == nil || *t.account == "":
		return usageError("release: nobody is charged: -account COLUMN or -account const:NAME")
	case len(s.Lat) == 0 || len(s.Lat) != len(s.Lon):
		return usageError("release: -lat and -lon name as many columns, at least one each")
	case t.ledger.file == "":
		return usageError("release: no ledger given: -ledger FILE")
	case s.Epsilon != nil && (t.level != nil || t.radius != nil):
		return usageError("release: either -epsilon, or -level and -radius")
	case s.Epsilon == nil && (t.level == nil || t.radius == nil):
		return usageError("release: no epsilon given: -epsilon E, or -level L and -radius METRES")
	case t.domain == nil && t.region == "":
		return usageError("release: no domain given: -domain SOUTH,WEST,NORTH,EAST,STEP or -region FILE")
	case t.domain != nil && len(t.domain) != 5:
		return usageError("release: -domain is SOUTH,WEST,NORTH,EAST,STEP")
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
	l, err := ledger.Open(t.ledger.file, true, ledger.WithMode(t.ledger.mode))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	line := newTerminalLine()
	t.spec.Progress = showRelease(line)
	summary, err := release.Run(ctx, t.spec, l)
	line.clear()
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
func showRelease(line *terminalLine) func(release.Progress) {
	if line == nil {
		return nil
	}
	begun, stage := time.Now(), release.Checking
	return func(p release.Progress) {
		if p.Stage != stage {
			begun, stage = time.Now(), p.Stage
		}
		if stage >= release.Sealing { // which has no parts
			line.show("%s", stageNames[stage])
			return
		}
		unit := "rows"
		if stage == release.Charging {
			unit = "accounts"
		}
		rate := float64(p.Done) / max(time.Since(begun).Seconds(), 0.001)
		line.show("%s: %s, %d %s, %.0f %s/s", stageNames[stage],
			shareAndRest(p.Share, timeLeft(begun, p.Share)), p.Done, unit, rate, unit)
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
		say("release %s was complete since %s and has its name now", s.ID, s.Finished.Format(time.RFC3339))
	}
	say("released %s: %d rows in the order of the input, which is public", s.Out, s.Rows)
	accounts := strconv.FormatInt(s.Accounts, 10) + " accounts"
	if s.Accounts == 1 {
		accounts = "1 account"
	}
	say("charged: %v/m for each of %d locations, to %s; %s/m in all (release %s)",
		s.Epsilon, s.Locations, accounts, total(s.Epsilon, s.Locations), s.ID)
	if s.Already > 0 && s.Finished == nil {
		say("of these an earlier attempt had charged the first %d accounts", s.Already)
	}
	say("expected error: %.0f m in the mean, within %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Invalid > 0 {
		say("invalid: %d rows, set aside in %s", s.Invalid, s.Rejects)
	}
	if s.Finished == nil {
		say("for the owner only: %d locations lay outside of where released ones may be; they were moved there", s.Outside)
	}
	say("report: %s", s.Report)
}

// total is the sum of n charges, which may be more than an amount holds.
func total(epsilon budget.Amount, n int64) string {
	sum := new(big.Rat).Mul(epsilon.Rat(), new(big.Rat).SetInt64(n))
	text, _ := sum.Float64()
	return strconv.FormatFloat(text, 'f', -1, 64)
}
