package beam

import (
	"context"
	"flag"
	"os"
	"sync"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs" // memfs://
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release"
)

func TestMain(m *testing.M) {
	objectStores = append(objectStores, "memfs") // stands in for gs and s3
	flag.Parse()
	sdk.Init()
	os.Exit(m.Run())
}

// onPrism prepares a run on Prism, which keeps its settings in Beam's flags.
func onPrism() { *jobopts.Endpoint, *jobopts.EnvironmentType = "", "" }

// store writes an object.
func store(name, text string) { memfs.Write(name, []byte(text)) }

// An engine stands in for the ledger and for release.RunShards.
type engine struct {
	mu     sync.Mutex
	opened int
	closed int
	shards []int // that were run
	ins    []string
	run    func(ctx context.Context, spec release.Spec, shard int) (*release.ShardSummary, error)
}

// use makes an engine stand in until the test ends.
func (e *engine) use(t *testing.T) *engine {
	t.Helper()
	onPrism()
	open = func(string) (ledger.Shared, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.opened++
		return &fakeLedger{engine: e}, nil
	}
	runShards = func(ctx context.Context, spec release.Spec, l ledger.Shared, shards, only int, target release.Target) (*release.ShardSummary, error) {
		e.mu.Lock()
		e.shards = append(e.shards, only)
		e.ins = append(e.ins, spec.In)
		e.mu.Unlock()
		if e.run != nil {
			return e.run(ctx, spec, only)
		}
		return &release.ShardSummary{Shards: shards, Published: []int{only}}, nil
	}
	t.Cleanup(func() {
		open, runShards = openLedger, release.RunShards
		if _, err := workers.closeAll(); err != nil {
			t.Error(err)
		}
		if e.opened != e.closed {
			t.Errorf("%d ledgers were opened and %d closed", e.opened, e.closed)
		}
	})
	return e
}

type fakeLedger struct {
	ledger.Shared
	engine *engine
}

func (l *fakeLedger) Close() error {
	l.engine.mu.Lock()
	defer l.engine.mu.Unlock()
	l.engine.closed++
	return nil
}
