package beam

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/geosql/geosql/internal/printable"
)

func init() { sdk.RegisterType(reflect.TypeFor[*releaseShard]()) }

// newPipeline returns the job that releases the shards of a spec file. A reader of the job, or its
// options, learns the path of the file and how many shards there are.
func newPipeline(path string, shards int) *sdk.Pipeline {
	p, s := sdk.NewPipelineWithRoot()
	numbers := make([]int, shards)
	for i := range numbers {
		numbers[i] = i
	}
	spread := sdk.Reshuffle(s, sdk.CreateList(s, numbers))
	sdk.ParDo0(s, &releaseShard{Spec: path, Shards: shards}, spread)
	return p
}

// releaseShard is the DoFn that releases a shard. Its exported fields are part of the job.
type releaseShard struct {
	Spec   string // the path of the spec file
	Shards int
}

// Setup reads the spec file and opens its files, so that a mistake shows before the first
// shard.
func (f *releaseShard) Setup(ctx context.Context) error {
	_, release, err := workers.use(ctx, f.Spec)
	if err != nil {
		return failure(err)
	}
	release()
	return nil
}

// ProcessElement releases a shard.
func (f *releaseShard) ProcessElement(ctx context.Context, shard int) error {
	ctx, stop := untilStopped(ctx)
	defer stop()
	w, release, err := workers.use(ctx, f.Spec)
	if err != nil {
		return failure(err)
	}
	defer release()
	s, err := w.run(ctx, shard, f.Shards)
	if err != nil {
		return failure(fmt.Errorf("shard %d of %d: %w", shard, f.Shards, err))
	}
	workers.note(s)
	return nil
}

// stopping is the context of this process, which ends when it is told to. The harness of a worker
// process does not know it.
var stopping atomic.Pointer[context.Context]

// untilStopped returns a context that also ends when the process is told to end.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	process := stopping.Load()
	if process == nil {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(*process, func() { cancel(context.Cause(*process)) })
	return ctx, func() { stop(); cancel(nil) }
}

// errorMark is before the errors of a DoFn. A runner surrounds them with lines of its own.
const errorMark = "geosql release: "

// failure returns an error of one line that firstFailure finds again.
func failure(err error) error {
	return errors.New(errorMark + strings.ReplaceAll(printable.Text(err.Error()), "\n", "; "))
}

var marked = regexp.MustCompile(regexp.QuoteMeta(errorMark) + `([^\n]*)`)

// readable returns the error of a DoFn, in place of an error of a runner about it.
func readable(err error) error {
	if said := marked.FindStringSubmatch(err.Error()); said != nil {
		return errors.New(said[1])
	}
	var words []string
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, "goroutine ") { // the stack of a panic follows
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return errors.New(strings.Join(words, " "))
}
