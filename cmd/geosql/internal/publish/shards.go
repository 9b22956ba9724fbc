package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/release"
)

// errNotShared is the error of a release in shards with a ledger that one machine has.
var errNotShared = errors.New("a release in shards needs a ledger that machines share, such as --ledger postgres://host/database")

// checkShards checks the flags of a release in shards.
func (t *Task) checkShards() error {
	switch {
	case t.Shards == 0 && t.Shard >= 0:
		return cli.UsageError("release: -shard needs -shards N")
	case t.Shards == 0:
		return nil
	case t.Shard >= t.Shards:
		return cli.UsageError(fmt.Sprintf("release: -shard must be from 0 to %d", t.Shards-1))
	case t.Dry:
		return cli.UsageError("release: -dry-run shows the same without -shards: leave it out")
	case t.Spec.Rejects != "":
		return cli.UsageError("release: a release in shards cannot set invalid rows aside: leave out -rejects, and mend or remove the rows")
	case !t.Ledger.OnServer():
		return cli.UsageError("release: " + errNotShared.Error())
	}
	return nil
}

// publishShards does the rest of a release in shards.
func (t *Task) publishShards(ctx context.Context) error {
	l, err := engines.Open(t.Ledger.File, true, t.Ledger.Mode)
	if err != nil {
		return err
	}
	shared, ok := l.(ledger.Shared)
	if !ok {
		return cmp.Or(l.Close(), errNotShared)
	}
	line := cli.NewTerminalLine()
	t.Spec.Progress = showProgress(line, "checking (1 of 2)")
	summary, err := release.RunShards(ctx, t.Spec, shared, t.Shards, t.Shard, release.LocalFiles)
	line.Clear()
	if err := cmp.Or(err, l.Close()); err != nil {
		return err
	}
	t.printShards(summary)
	return nil
}

// printShards prints the work of this process on standard error, and the summary of the release if that
// is complete.
func (t *Task) printShards(s *release.ShardSummary) {
	if s.Repeated {
		files := "files"
		if s.Shards > 0 {
			files = cli.Count(int64(s.Shards), "file")
		}
		cli.Say("release %s has been complete since %s, as the %s in %s: nothing was charged or drawn", s.ID, s.Finished.Format(time.RFC3339), files, s.Manifest)
		if s.Gone {
			cli.Say("%s is not there any more; to draw again, which is charged, use another --id", s.Manifest)
		}
		return
	}
	cli.Say("this process counted %s and published %s", shardNumbers(s.Counted), shardNumbers(s.Published))
	if len(s.Lost) > 0 {
		cli.Say("it also drew %s, which another process had published meanwhile: these draws were removed unseen", shardNumbers(s.Lost))
	}
	if !s.Complete {
		cli.Say("release %s: %d of %d shards are published", s.ID, s.Done, s.Shards)
		return
	}
	cli.Say("released %s in %s: %d rows in the order of the input, which is public", s.Out, cli.Count(int64(s.Shards), "file"), s.Rows)
	cli.Say("charged: %v/m for each of %d locations, to %s; %s/m in total (release %s)",
		s.Epsilon, s.Locations, cli.Count(s.Accounts, "account"), total(s.Epsilon, s.Locations), s.ID)
	cli.Say("expected error: %.0f m on average, at most %.0f m with probability 0.95", s.Mean, s.Within95)
	if s.Dropped > 0 {
		cli.Say("left out: %d rows, since their accounts have more than %d", s.Dropped, t.Spec.MaxRows)
	}
	cli.Say("for the owner only: %d locations were outside the area of the release and were moved into it", s.Outside)
	for _, g := range s.Gridded {
		cli.Say("for the owner only: %v", g)
	}
	cli.Say("report: %s", s.Report)
	cli.Say("manifest: %s", s.Manifest)
	if note := t.parquetNote(); note != "" {
		cli.Say("%s", note)
	}
}

// shardNumbers names shards by their numbers, as "shards 0, 3 to 5".
func shardNumbers(all []int) string {
	if len(all) == 0 {
		return "no shard"
	}
	all = slices.Sorted(slices.Values(all))
	var parts []string
	for from := 0; from < len(all); {
		to := from
		for to+1 < len(all) && all[to+1] <= all[to]+1 {
			to++
		}
		if to-from < 2 {
			to = from
			parts = append(parts, fmt.Sprint(all[from]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", all[from], all[to]))
		}
		from = to + 1
	}
	noun := "shard "
	if len(all) > 1 {
		noun = "shards "
	}
	return noun + strings.Join(parts, ", ")
}
