package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/ledger"
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
	case len(t.Outs) > 1:
		return cli.UsageError("release: a release in shards has one output: give one -out, and convert its files for others")
	case t.Spec.Utility != "" || t.Regions != "":
		return cli.UsageError("release: a release in shards has no tables of the owner: leave out -utility and -regions")
	case t.Spec.Density > 0:
		return cli.UsageError("release: a release in shards has no density: leave out -density, and use geoind_density on the output")
	case !t.Ledger.OnServer():
		return cli.UsageError("release: " + errNotShared.Error())
	}
	return nil
}

// publishShards does the rest of a release in shards, and returns a function that reports it.
func (t *Task) publishShards(ctx context.Context, l ledger.Ledger) (report func(), err error) {
	shared, ok := l.(ledger.Shared)
	if !ok {
		return nil, errNotShared
	}
	s, err := release.RunShards(ctx, t.Spec, shared, t.Shards, t.Shard, release.LocalFiles)
	return func() { t.printShards(s) }, err
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
		sayGone(&s.Summary)
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
	t.printReleased(&s.Summary, s.Out+" in "+cli.Count(int64(s.Shards), "file"), "manifest: "+s.Manifest)
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
