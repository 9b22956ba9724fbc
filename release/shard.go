package release

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/ledger"
)

// MostShards is the largest number of shards of a release.
const MostShards = 100_000

// A ShardSummary reports the work of a process for a release in shards, and how far the release is.
type ShardSummary struct {
	Summary // of the whole release, if Complete and its shards are known; else only ID and Out

	Shards    int   // of the release; 0 if the ledger has moved since, and does not know them
	Counted   []int // by this process
	Published []int // drawn by this process, and published
	Lost      []int // drawn by this process, but another draw was published
	Done      int   // shards that are published, by whatever process
	Complete  bool  // all files have their names, and the manifest and the report are written
	Manifest  string
}

// RunShards does the rest of a release in shards, together with other processes on any
// machines that call it with the same spec. Only is the number of a shard: it returns
// once that is published. With -1 it works until the release is complete. Spec.In is a file of this
// machine, and target is where the output goes: nil is [LocalFiles]. After an error or a crash
// the same call goes on, and charges nothing twice. A call for a complete release charges nothing
// and returns nil.
func RunShards(ctx context.Context, spec Spec, l ledger.Shared, shards, only int, target Target) (*ShardSummary, error) {
	if target == nil {
		target = LocalFiles
	}
	s := &sharding{
		run: &run{spec: &spec, sizes: shardSizes, ledger: l}, shared: l, n: shards, only: only, target: target,
		lease: defaultLease, wait: waitForOthers,
	}
	defer s.close()
	return s.work(ctx)
}

// shardSizes are those of a release in shards. A server stores fewer charges in a second.
var shardSizes = sizes{batch: defaultSizes.batch, accounts: defaultSizes.accounts, charge: 1 << 14}

// defaultLease is how long a shard is left to a process that says nothing.
const defaultLease = 30 * time.Second

// pause is how long a process waits before it looks again for the work of others.
const pause = 200 * time.Millisecond

func waitForOthers(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A sharding is the work of one process on a release in shards. The phases follow one another for
// all processes: all shards are counted, then all accounts are charged, then the shards are drawn.
// The progress is in the ledger alone, so that every step can be done again, by anybody.
type sharding struct {
	*run
	shared  ledger.Shared
	sharded ledger.Sharded
	shards  *dataset.Shards
	n, only int
	target  Target

	lease   time.Duration
	wait    func(context.Context) error
	renewed time.Time // when the shard that this process works on was claimed
	working int       // that shard

	progress func(Progress) // of the user
	stage    Stage          // that was reported last
	before   int64          // rows of earlier shards in it
	latest   int64          // rows of this shard
	done     ShardProgress

	whole   *findings        // of all shards, once they are counted
	reasons map[int]error    // why the first row of a shard that this process has counted is invalid
	named   map[int]struct{} // shards with named files
	checked bool             // that the release may begin
	charged int64            // accounts, when this process last looked
	sum     ShardSummary
}

// ShardProgress is that of the ledger.
type ShardProgress = ledger.ShardProgress

func (s *sharding) work(ctx context.Context) (*ShardSummary, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s.loop(ctx)
}

// loop does one step after the other until there is nothing left to do.
func (s *sharding) loop(ctx context.Context) (*ShardSummary, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if s.sharded.Published() != nil {
			return s.finished(ctx)
		}
		var err error
		if s.done, err = s.sharded.Progress(); err != nil {
			return nil, err
		}
		switch {
		case s.done.Counted < s.n:
			err = s.countNext(ctx)
		case !s.done.Charged:
			err = s.chargeNext(ctx)
		case s.done.Drawn < s.n:
			var enough bool
			if enough, err = s.drawNext(ctx); enough && err == nil {
				return s.partly()
			}
		default:
			err = s.complete(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// prepare checks the spec, reads the input once and opens the release.
func (s *sharding) prepare(ctx context.Context) (err error) {
	x := s.spec
	s.progress, s.spec.Progress = x.Progress, s.onProgress
	s.reasons, s.named, s.working, s.charged = map[int]error{}, map[int]struct{}{}, -1, -1
	if err := s.checkShards(); err != nil {
		return err
	}
	if err := s.setFormats(); err != nil {
		return err
	}
	if s.mechanism, err = newMechanism(ctx, x); err != nil {
		return err
	}
	if s.shards, err = openShards(ctx, x.In, s.n); err != nil {
		return err
	}
	if err := s.read(ctx, 0); err != nil {
		return err
	}
	if err := s.setPlan(); err != nil {
		return err
	}
	s.spill = s.openSpill
	if err := s.setID(); err != nil {
		return err
	}
	if err := s.checkTarget(ctx); err != nil {
		return err
	}
	return s.reopen()
}

// checkShards checks the needs of a release in shards besides a spec.
func (s *sharding) checkShards() error {
	switch {
	case s.n < 1 || s.n > MostShards:
		return fmt.Errorf("%d shards: a release has from 1 to %d", s.n, MostShards)
	case s.only < -1 || s.only >= s.n:
		return fmt.Errorf("there is no shard %d: %d shards have the numbers 0 to %d", s.only, s.n, s.n-1)
	case s.spec.Rejects != "":
		return errors.New("a release in shards cannot set invalid rows aside: leave out --rejects, and mend or remove the rows")
	case len(s.spec.Also) > 0:
		return errors.New("a release in shards has one output: name one, and convert its files for others")
	case s.spec.Utility != "" || s.spec.Regions != nil:
		return errors.New("a release in shards has no tables of the owner: leave out --utility and --regions")
	case s.spec.Density > 0:
		return errors.New("a release in shards has no density: leave out --density")
	}
	return nil
}

// checkTarget checks that files can be written where the output goes.
func (s *sharding) checkTarget(ctx context.Context) error {
	probe := s.draft(s.spec.Out + "-probe")
	w, err := s.target.Create(ctx, probe)
	if err != nil {
		return err
	}
	abandon(w)
	return s.target.Remove(ctx, probe)
}

// local reports whether the output goes to files of this machine.
func (s *sharding) local() bool { return s.target == LocalFiles }

// setID sets the release's ID and plan.
func (s *sharding) setID() (err error) {
	output := s.spec.Out
	if s.local() {
		if output, err = filepath.Abs(output); err != nil {
			return err
		}
	}
	s.inLedger = ledger.ReleasePlan{Digest: s.shards.SHA256(), Settings: s.settings(), Output: output}
	if s.id = s.spec.ID; s.id == "" {
		s.id = defaultID(s.ledger.ID(), s.inLedger)
	}
	s.sum.ID, s.sum.Out, s.sum.Shards, s.sum.Manifest = s.id, s.spec.Out, s.n, manifestPath(s.spec.Out)
	return nil
}

// reopen opens the release in the ledger, which knows it from then on, or reads again how far it is.
func (s *sharding) reopen() (err error) {
	if s.sharded, err = s.shared.OpenSharded(s.id, s.inLedger, s.n); err == nil {
		s.release = s.sharded
	}
	return err
}

// read makes a shard the one that is read.
func (s *sharding) read(ctx context.Context, shard int) (err error) {
	if s.reader != nil {
		s.reader.Close()
	}
	s.reader, err = s.shards.Open(ctx, shard)
	return err
}

// claim asks for a shard: first for the one that this process is to publish.
func (s *sharding) claim() (shard int, err error) {
	shard = -1
	if s.only >= 0 {
		shard, err = s.sharded.Claim(s.only, s.lease)
	}
	if shard < 0 && err == nil && (s.only < 0 || s.done.Counted < s.n) {
		shard, err = s.sharded.Claim(-1, s.lease)
	}
	if shard >= 0 {
		s.working, s.renewed = shard, time.Now()
	}
	return shard, err
}

// leave leaves the shard that this process works on to others, after an error.
func (s *sharding) leave() {
	if s.working >= 0 {
		_, _ = s.sharded.Claim(s.working, 0) // the lease ends anyway
	}
	s.working = -1
}

// idle waits for others.
func (s *sharding) idle(ctx context.Context) error {
	if s.progress != nil {
		s.progress(Progress{Waiting, 0, 0})
	}
	return s.wait(ctx)
}

// onProgress passes on the progress of one shard as that of the release, and keeps the shard for
// this process.
func (s *sharding) onProgress(p Progress) {
	if s.working >= 0 && time.Since(s.renewed) > s.lease/3 {
		s.renewed = time.Now()
		_, _ = s.sharded.Claim(s.working, s.lease) // without it another process does the same work
	}
	if s.progress == nil {
		return
	}
	switch p.Stage {
	case Checking:
		p.Share = (float64(s.done.Counted) + p.Share) / float64(s.n)
	case Releasing:
		p.Share = (float64(s.done.Drawn) + p.Share) / float64(s.n)
	}
	switch {
	case p.Stage != s.stage:
		s.stage, s.before = p.Stage, 0
	case p.Done < s.latest: // another shard
		s.before += s.latest
	}
	s.latest = p.Done
	p.Done += s.before
	p.Share = min(p.Share, 1)
	s.progress(p)
}

// openSpill opens a file without a name for accounts.
func (s *sharding) openSpill() (*os.File, error) {
	folder := os.TempDir()
	if s.local() {
		folder = filepath.Dir(s.spec.Out)
	}
	return files.CreateNameless(filepath.Join(folder, spillName(s.spec.Out)+rand.Text()+unfinished))
}

// spillName begins the names of files for accounts.
func spillName(out string) string { return "." + filepath.Base(out) + ".accounts-" }

// shardPath returns the name of the file of a shard.
func shardPath(out string, format dataset.Format, shard, n int) string {
	stem := len(out) - len(format.Extension())
	return fmt.Sprintf("%s-%05d-of-%05d%s", out[:stem], shard, n, out[stem:])
}

// manifestPath returns the name of the file that lists the files of a release.
func manifestPath(out string) string { return out + ".manifest.json" }

// draftEnding is the ending of the names of files that nobody may see. It is not that of an
// output.
const draftEnding = ".draft"

// draft returns a new name for a file that is to become path.
func (s *sharding) draft(path string) string {
	return path + "." + s.draftMark() + "-" + strings.ToLower(rand.Text()[:13]) + draftEnding
}

// draftMark is in the names of all drafts of a release, and tells them from those of another.
func (s *sharding) draftMark() string {
	sum := sha256.Sum256([]byte(s.id + "\n" + s.spec.Out))
	return hex.EncodeToString(sum[:4])
}

// name gives a draft its final name, if nobody has done so.
func (s *sharding) name(ctx context.Context, draft, path string) error {
	err := s.target.Rename(ctx, draft, path)
	if errors.Is(err, fs.ErrNotExist) {
		there, unknown := s.target.Exists(ctx, path)
		if unknown != nil || there {
			return unknown
		}
	}
	return err
}

// abandon closes a file that is not needed.
func abandon(w interface{ Close() error }) {
	if a, ok := w.(interface{ Abandon() }); ok {
		a.Abandon()
	} else {
		w.Close()
	}
}

// partly returns the summary of a process that was to publish one shard, before the release is
// complete.
func (s *sharding) partly() (*ShardSummary, error) {
	p, err := s.sharded.Progress()
	s.sum.Done = p.Drawn
	return &s.sum, err
}

// finished returns the summary of a release that is complete.
func (s *sharding) finished(ctx context.Context) (*ShardSummary, error) {
	known, err := s.sharded.Progress()
	if err != nil {
		return nil, err
	}
	s.sum.Shards, s.sum.Done, s.sum.Complete = known.Drawn, known.Drawn, true
	if known.Drawn > 0 {
		if err := s.gather(ctx, nil); err != nil {
			return nil, err
		}
		own, err := s.run.summary(0)
		if err != nil {
			return nil, err
		}
		s.sum.Summary = *own
		s.sum.Metadata = ""
	}
	if err := s.clean(ctx); err != nil { // files of a process that was killed meanwhile
		return nil, err
	}
	if p := s.sharded.Published(); len(s.sum.Counted)+len(s.sum.Published)+len(s.sum.Lost) == 0 && s.working != finishing {
		there, err := s.target.Exists(ctx, s.sum.Manifest)
		if err != nil {
			return nil, err
		}
		s.sum.Repeated, s.sum.Finished = true, &p.Time
		if !there {
			s.sum.Gone = []string{s.sum.Manifest}
		}
	}
	return &s.sum, nil
}

// finishing is in place of the shard that a process works on when it completes the release.
const finishing = -2

// host returns the name of this machine.
func host() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "an unknown machine")
}
