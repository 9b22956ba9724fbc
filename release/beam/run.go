package beam

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec/optimized" // calls without reflection
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	//lint:ignore SA1019 without a server and a protocol it shows their mistakes
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	"github.com/geosql/geosql/internal/cli"
)

// Runners returns the names of the runners.
func Runners() []string { return []string{"prism", "direct", "flink", "spark", "dataflow"} }

// A Result reports a finished job.
type Result struct {
	Out    string
	Shards int
	Done   // in this process
}

// Run runs the job of a spec file on a runner and waits until it is done. Beam must be initialised,
// and its flags parsed.
func Run(ctx context.Context, runner, path string) (*Result, error) {
	here := inProcess(runner)
	path, err := specPath(path, here)
	if err != nil {
		return nil, err
	}
	if err := checkFlags(runner, here); err != nil {
		return nil, err
	}
	if err := checkServer(ctx); err != nil {
		return nil, err
	}
	spec, err := ReadSpec(ctx, path)
	if err != nil {
		return nil, err
	}
	if here {
		silence()
	}
	_, err = sdk.Run(ctx, runner, newPipeline(path, spec.Shards))
	done, closing := workers.closeAll()
	switch {
	case ctx.Err() != nil && here:
		return nil, context.Cause(ctx)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w; the job goes on until it is cancelled at its runner: its finished work counts when the command is repeated", context.Cause(ctx))
	case err != nil:
		return nil, readable(err)
	case closing != nil:
		return nil, closing
	}
	return &Result{spec.Release.Out, spec.Shards, done}, nil
}

// inProcess reports whether the shards are released in this process.
func inProcess(runner string) bool {
	switch runner {
	case "direct":
		return true
	case "prism":
		return jobopts.IsLoopback() || *jobopts.Endpoint == "" && *jobopts.EnvironmentType == ""
	default:
		return jobopts.IsLoopback()
	}
}

// specPath returns the path under which all workers find the spec file.
func specPath(path string, here bool) (string, error) {
	switch {
	case path == "":
		return "", cli.UsageError("no spec file given: use --spec FILE")
	case here && scheme(path) == "":
		return filepath.Abs(path)
	}
	if err := checkPath(path); err != nil {
		return "", cli.UsageError("--spec " + err.Error())
	}
	return path, nil
}

// checkFlags returns an error if Beam would end the process, or build a program from sources that
// are not there.
func checkFlags(runner string, here bool) error {
	switch {
	case !slices.Contains(Runners(), runner):
		return cli.UsageError(fmt.Sprintf("there is no runner %s, only %s", runner, strings.Join(Runners(), ", ")))
	case (runner == "flink" || runner == "spark") && *jobopts.Endpoint == "":
		return cli.UsageError(fmt.Sprintf("no job server given: --runner=%s needs --endpoint HOST:PORT", runner))
	}
	if *jobopts.WorkerBinary == "" && !here {
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
			return cli.UsageError("no program for the workers given: use --worker_binary FILE, release-beam built for their system")
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		*jobopts.WorkerBinary = self
	}
	return nil
}

// checkServer returns an error if nothing listens where the job server should be. Beam would try
// again for minutes.
func checkServer(ctx context.Context) error {
	if *jobopts.Endpoint == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", *jobopts.Endpoint)
	if err != nil {
		return fmt.Errorf("cannot reach the job server: %w: check --endpoint", err)
	}
	return conn.Close()
}

// silence drops Beam's log. On one machine an error says it all.
func silence() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetLogger(&log.Standard{Level: log.SevFatal + 1})
}

// Serve makes this process a worker, which a runner has started for that. Ctx ends it, once the
// shards that it works on have stopped. Serve does not return.
func Serve(ctx context.Context, exit func()) {
	stopping.Store(&ctx)
	context.AfterFunc(ctx, func() {
		workers.closeAll()
		exit()
	})
	sdk.Init()
}
