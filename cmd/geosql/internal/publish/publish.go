// Package publish runs a release of a data set for the command, shows a dry run of it, and reports the result. It
// imports release and store. Start at [Task.Check] and [Task.Run].
package publish

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/release"
)

// A Task holds the flags of the command release.
type Task struct {
	Spec    release.Spec
	Outs    []string
	Account *string // nil: not given
	Ledger  store.LedgerFlags
	Level   *big.Rat
	Radius  *big.Rat
	Domain  []float64
	Region  string
	Regions string
	Dry     bool
	Shards  int // 0: the output is one file
	Shard   int // -1: all
}

func (t *Task) Check() error {
	s := &t.Spec
	switch {
	case s.In == "":
		return cli.UsageError("release: no input given: use -in FILE")
	case len(t.Outs) == 0:
		return cli.UsageError("release: no output given: use -out FILE")
	case t.Account == nil || *t.Account == "":
		return cli.UsageError("release: no account to charge: use -account COLUMN or -account const:NAME")
	case len(s.Lat) == 0 || len(s.Lat) != len(s.Lon):
		return cli.UsageError("release: -lat and -lon must name equally many columns, at least one each")
	case t.Ledger.File == "":
		return cli.UsageError("release: no ledger given: use -ledger FILE")
	case s.Epsilon != nil && (t.Level != nil || t.Radius != nil):
		return cli.UsageError("release: give either -epsilon, or -level and -radius")
	case s.Epsilon == nil && (t.Level == nil || t.Radius == nil):
		return cli.UsageError("release: no epsilon given: use -epsilon E, or -level L and -radius METRES")
	case t.Domain == nil && t.Region == "":
		return cli.UsageError("release: no domain given: use -domain SOUTH,WEST,NORTH,EAST,STEP or -region FILE")
	case t.Domain != nil && len(t.Domain) != 5:
		return cli.UsageError("release: -domain must be SOUTH,WEST,NORTH,EAST,STEP")
	}
	if err := t.Ledger.Check(); err != nil {
		return err
	}
	if err := t.checkShards(); err != nil {
		return err
	}
	s.Out, s.Also, s.Account = t.Outs[0], t.Outs[1:], *t.Account
	if s.Epsilon == nil {
		s.Epsilon = new(big.Rat).Quo(t.Level, t.Radius)
		s.Level, _ = t.Level.Float64()
		s.Radius, _ = t.Radius.Float64()
	}
	err := t.setDomain()
	if err == nil && t.Regions != "" {
		s.Regions, err = release.ReadRegions(t.Regions)
	}
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// softMemory is the number of bytes above which garbage is collected at once. With wide
// rows most of a release's memory is garbage.
const softMemory = 200 << 20

func (t *Task) Run(ctx context.Context) error {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(softMemory)
	}
	work := t.publish
	if t.Dry {
		work = t.dryRun
	}
	if err := work(ctx); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// publish releases the data set.
func (t *Task) publish(ctx context.Context) error {
	l, err := engines.Open(t.Ledger.File, true, t.Ledger.Mode)
	if err != nil {
		return err
	}
	line := cli.NewTerminalLine()
	t.Spec.Progress = showProgress(line, "checking (1 of 2)")
	var report func()
	if t.Shards > 0 {
		report, err = t.publishShards(ctx, l)
	} else {
		var s *release.Summary
		s, err = release.Run(ctx, t.Spec, l)
		report = func() { t.printSummary(s) }
	}
	line.Clear()
	if err := cmp.Or(err, l.Close()); err != nil {
		return err
	}
	report()
	return nil
}

// setDomain sets the domain. If none is given, it is the box around the region, with a
// step of 1 m.
func (t *Task) setDomain() error {
	s := &t.Spec
	if t.Region != "" {
		region, err := release.ReadRegion(t.Region)
		if err != nil {
			return err
		}
		s.Region, s.Box, s.Step = region.WKT, region.Box, 1
	}
	if d := t.Domain; d != nil {
		s.Box, s.Step = release.Box{South: d[0], West: d[1], North: d[2], East: d[3]}, d[4]
	}
	return nil
}

// showProgress returns a function that shows the progress of a release on the terminal, or
// nil if there is no terminal. The first stage is called checking.
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

// printSummary prints the summary of a release on standard error.
func (t *Task) printSummary(s *release.Summary) {
	if s.Repeated {
		cli.Say("release %s has been complete since %s, as %s: nothing was charged or drawn", s.ID, s.Finished.Format(time.RFC3339), outputs(s))
		sayGone(s)
		return
	}
	if s.Finished != nil {
		cli.Say("release %s has been complete since %s; its output now has its name", s.ID, s.Finished.Format(time.RFC3339))
		sayGone(s)
	}
	t.printReleased(s, outputs(s), "metadata: "+s.Metadata)
}

// earlier says that the input was released before.
func earlier(x ledger.NamedRelease) string {
	state := "is not complete"
	if x.Published != nil {
		state = "is complete since " + x.Published.Time.Format(time.RFC3339)
	}
	return fmt.Sprintf("this ledger has another release of the same input: %s, to %s, %s. Draws of the same locations add up, and so do their charges",
		x.ID, x.Plan.Outputs(), state)
}

// outputs names the outputs of a release.
func outputs(s *release.Summary) string {
	return strings.Join(append([]string{s.Out}, s.Also...), ", ")
}

// sayGone names the outputs that are missing.
func sayGone(s *release.Summary) {
	for _, path := range s.Gone {
		cli.Say("%s is not there any more, or was changed after it was published; to draw again, which is charged, use another --id", path)
	}
}

// printReleased prints the names of the released files, and of the one that describes them.
func (t *Task) printReleased(s *release.Summary, files, description string) {
	cli.Say("released %s: %d rows in the order of the input, which is public", files, s.Rows)
	cli.Say("charged: %v/%s for each of %d locations, to %s; %s/%[2]s in total (release %[6]s)",
		s.Epsilon, s.Unit, s.Locations, cli.Count(s.Accounts, "account"), total(s.Epsilon, s.Locations), s.ID)
	if s.Already > 0 && s.Finished == nil {
		cli.Say("an earlier attempt had already charged the first %d of these accounts", s.Already)
	}
	cli.Say("expected error: %.0f m on average, at most %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Dropped > 0 {
		cli.Say("left out: %d rows, since their accounts have more than %d", s.Dropped, t.Spec.MaxRows)
	}
	if s.Invalid > 0 {
		cli.Say("invalid: %d rows, written to %s", s.Invalid, s.Rejects)
	}
	if s.Finished == nil {
		cli.Say("for the owner only: %d locations were outside the area of the release and were moved into it", s.Outside)
	}
	for _, m := range s.Misplaced {
		cli.Say("for the owner only: %s, %s: %s of the numbers of released locations is noise, of recovered ones %s", m.Table, m.Columns, release.Percent(m.Released), release.Percent(m.Recovered))
	}
	for _, g := range s.Gridded {
		cli.Say("for the owner only: %v", g)
	}
	for _, x := range s.Earlier {
		cli.Say("warning: %s", earlier(x))
	}
	cli.Say("report: %s", s.Report)
	if s.Density != "" {
		cli.Say("density: %s", s.Density)
	}
	cli.Say("%s", description)
	if note := t.parquetNote(); note != "" {
		cli.Say("%s", note)
	}
}

// parquetNote says of an output in plain Parquet how to get geometries; of others it returns "".
func (t *Task) parquetNote() string {
	s := &t.Spec
	for _, path := range t.Outs {
		if format, err := dataset.FormatOf(path); err == nil && format == dataset.Parquet {
			return fmt.Sprintf("a .parquet output has %s as columns of numbers, without a geometry: for GeoParquet, name it %s%s",
				strings.Join([]string{s.Lat[0], s.Lon[0]}, " and "), strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), dataset.GeoParquet.Extension())
		}
	}
	return ""
}

// total returns the sum of n charges, which may be more than an amount holds.
func total(epsilon budget.Amount, n int64) string {
	sum := new(big.Rat).Mul(epsilon.Rat(), new(big.Rat).SetInt64(n))
	text, _ := sum.Float64()
	return decimal.Format(text)
}
