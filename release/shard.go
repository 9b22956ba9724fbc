package release

import (
	"context"
	"errors"

	"github.com/geosql/geosql/ledger"
)

// MostShards is the largest number of shards of a release.
const MostShards = 100_000

// A ShardSummary says what a process did for a release in shards, and how far the release is.
type ShardSummary struct {
	Summary // of the whole release, if Complete; before that only ID and Out

	Shards    int   // of the release
	Counted   []int // by this process, ascending
	Published []int // drawn by this process, and nobody else's draw was published; ascending
	Done      int   // shards that are published, by whatever process
	Complete  bool  // all shards have their names, and the manifest and the report are written
	Manifest  string
}

// RunShards does what is left to do of a release in shards, together with other processes on any
// machines that call it with the same spec. Only is the number of the shard after whose
// publication it returns, or -1 to work until the release is complete. Spec.In is a file of this
// machine, and Target is where the output goes: nil is [LocalFiles]. After an error or a crash
// the same call goes on, and charges nothing twice. A call for a complete release charges nothing
// and returns nil.
func RunShards(ctx context.Context, spec Spec, l ledger.Shared, shards, only int, target Target) (*ShardSummary, error) {
	return nil, errors.New("releases in shards do not work yet")
}
