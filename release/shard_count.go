package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/accounts"
)

// A shardCount is the ledger's record of a counted shard, besides how many rows each
// account has. It holds numbers of rows and of locations, and no cell of the input.
type shardCount struct {
	Rows      int64          `json:"rows"`
	Invalid   int64          `json:"invalid,omitempty"`
	Beyond    bool           `json:"beyond,omitempty"` // some latitude is beyond 90 degrees
	Locations int64          `json:"locations"`
	Kinds     []infer.Column `json:"kinds,omitempty"`
	Pairs     []pairCount    `json:"pairs"`
}

// A pairCount is its record of a pair of columns.
type pairCount struct {
	Valid  tally    `json:"valid"`
	Beyond tally    `json:"beyond"`
	Steps  [2]int64 `json:"steps"` // of the grid that the coordinates lie on; 0: none
}

// tallyText is a tally as the ledger keeps it.
type tallyText struct {
	Sides   [directions]int64    `json:"sides"`
	Far     int64                `json:"far,omitempty"`
	Fits    [len(readings)]int64 `json:"fits"`
	Metres  int64                `json:"metres,omitempty"`
	Nowhere int64                `json:"nowhere,omitempty"`
}

func (t tally) MarshalJSON() ([]byte, error) {
	return json.Marshal(tallyText{t.sides, t.far, t.fits, t.metres, t.nowhere})
}

func (t *tally) UnmarshalJSON(text []byte) error {
	var x tallyText
	err := json.Unmarshal(text, &x)
	*t = tally{x.Sides, x.Far, x.Fits, x.Metres, x.Nowhere}
	return err
}

// countNext counts a shard that nobody counts, or waits.
func (s *sharding) countNext(ctx context.Context) error {
	shard, err := s.claim()
	if err != nil {
		return err
	}
	if shard < 0 {
		return s.idle(ctx)
	}
	defer s.leave()
	if err := s.count(ctx, shard); err != nil {
		return err
	}
	s.working = -1
	s.sum.Counted = append(s.sum.Counted, shard)
	return nil
}

// count counts a shard.
func (s *sharding) count(ctx context.Context, shard int) error {
	if err := s.examine(ctx, shard); err != nil {
		return err
	}
	f := s.found
	defer f.accounts.Close()
	c := shardCount{Rows: f.rows, Invalid: f.invalid, Beyond: f.beyond, Locations: f.locations, Kinds: f.kinds}
	for _, x := range f.surveyors {
		c.Pairs = append(c.Pairs, pairCount{x.valid, x.beyond, [2]int64{x.lats.units(), x.lons.units()}})
	}
	info, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.sharded.SetCount(shard, f.digest.String(), info, s.counted(ctx))
}

// examine reads a shard as the first pass of a release does.
func (s *sharding) examine(ctx context.Context, shard int) error {
	if err := s.read(ctx, shard); err != nil {
		return err
	}
	err := s.check(ctx)
	if err == nil {
		s.reasons[shard] = s.found.first
	} else if s.found != nil {
		s.found.accounts.Close()
	}
	return err
}

// counted returns how many rows each account has in the shard that was read. Without a limit on
// rows these are locations, which cost something; with one, every row has as many.
func (s *sharding) counted(ctx context.Context) iter.Seq2[ledger.Item, error] {
	return itemsOf(s.found.accounts.From(ctx, 0), func(a accounts.Account) (ledger.Item, error) {
		return ledger.Item{Account: string(a.Name), Evaluations: a.Locations / s.each()}, nil
	})
}

// each returns how many locations a row that is counted stands for.
func (s *sharding) each() int64 {
	if s.spec.MaxRows == 0 {
		return 1
	}
	return int64(len(s.plan.points))
}

// findWhole puts the counts of all shards together.
func (s *sharding) findWhole() error {
	if s.whole != nil {
		return nil
	}
	f := &findings{digest: digest{columns: s.plan.fields}, surveyors: s.newSurveyors()}
	if s.infers() {
		f.kinds = make([]infer.Column, len(s.plan.fields))
	}
	for _, x := range f.surveyors {
		x.steps = new([2]int64)
	}
	for shard, err := range s.sharded.Shards() {
		if err != nil {
			return err
		}
		var c shardCount
		if err := json.Unmarshal(shard.Info, &c); err != nil {
			return fmt.Errorf("release %s: the ledger's count of a shard is damaged: %w", s.id, err)
		}
		if len(c.Pairs) != len(f.surveyors) || len(c.Kinds) != len(f.kinds) {
			return fmt.Errorf("release %s: the ledger's count of a shard is that of other columns", s.id)
		}
		f.addShard(&c)
	}
	s.whole = f
	return nil
}

// addShard adds the count of the next shard.
func (f *findings) addShard(c *shardCount) {
	f.rows += c.Rows
	f.invalid += c.Invalid
	f.locations += c.Locations
	f.beyond = f.beyond || c.Beyond
	for i := range f.kinds {
		f.kinds[i].Merge(c.Kinds[i])
	}
	for k, x := range f.surveyors {
		x.valid.merge(&c.Pairs[k].Valid)
		x.beyond.merge(&c.Pairs[k].Beyond)
		for i, step := range c.Pairs[k].Steps {
			x.steps[i] = divisor(x.steps[i], step)
		}
	}
}

// checkRows refuses an input with invalid rows.
func (s *sharding) checkRows(ctx context.Context) error {
	f := s.whole
	if f.invalid == 0 {
		return nil
	}
	s.found = f
	first, err := s.firstReason(ctx)
	if err != nil {
		return err
	}
	switch n, cause := f.causeBeyond(); {
	case cause != "":
		return fmt.Errorf("%s: %w (%d locations are beyond 90 or 180 degrees); %s", s.spec.In, first, n, cause)
	case f.beyond && f.locations == 0:
		return fmt.Errorf("%s: every latitude is beyond 90 degrees: are --lat and --lon swapped?", s.spec.In)
	}
	return fmt.Errorf("%s: %w (%d rows are invalid; mend or remove them, since a release in shards cannot set them aside); nothing was charged", s.spec.In, first, f.invalid)
}

// firstReason returns why the first invalid row is invalid. The ledger does not know, since the
// reason names the content of a cell.
func (s *sharding) firstReason(ctx context.Context) (reason, err error) {
	i := 0
	for shard, err := range s.sharded.Shards() {
		if err != nil {
			return nil, err
		}
		var c shardCount
		if err := json.Unmarshal(shard.Info, &c); err != nil {
			return nil, err
		}
		if c.Invalid > 0 {
			break
		}
		i++
	}
	if s.reasons[i] == nil {
		if err := s.examine(ctx, i); err != nil {
			return nil, err
		}
		s.found.accounts.Close()
	}
	if s.reasons[i] == nil {
		return nil, errChanged
	}
	return s.reasons[i], nil
}

// divisions holds the divided input of the last release of this process, since a worker of a
// cluster releases many shards of it one by one.
var divisions struct {
	sync.Mutex
	path  string
	file  os.FileInfo
	parts *dataset.Shards
}

// openShards divides the input, which reads all of it, unless it is the last one that was divided
// and has not changed.
func openShards(ctx context.Context, path string, n int) (*dataset.Shards, error) {
	d := &divisions
	d.Lock()
	defer d.Unlock()
	before, err := os.Stat(dataset.FileName(path))
	if err == nil && d.path == path && d.parts.Len() == n && unchanged(d.file, before) {
		return d.parts, nil
	}
	parts, err := dataset.OpenShards(ctx, path, n)
	if err != nil {
		return nil, err
	}
	after, err := os.Stat(dataset.FileName(path))
	if err != nil {
		return nil, err
	}
	if before == nil || !unchanged(before, after) {
		return nil, errors.New(path + ": the input has changed while it was read; nothing was charged")
	}
	d.path, d.file, d.parts = path, after, parts
	return parts, nil
}

func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
