package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/mechanism/exact"
)

// numbers is a data set of one column, the numbers of its rows, which fails at one of them.
type numbers struct {
	dataset.Reader
	rows, fails, next int
}

var errReader = errors.New("no more of it")

func (n *numbers) Start([]int) error { n.next = 0; return nil }
func (n *numbers) Progress() float64 { return float64(n.next) / float64(n.rows) }

func (n *numbers) Read(rows *dataset.Rows, most int) error {
	if n.next >= n.rows {
		return io.EOF
	}
	rows.Reset(int64(n.next), 1)
	for ; n.next < n.rows && rows.Len() < most; n.next++ {
		if n.next == n.fails {
			return errReader
		}
		rows.Columns[0].Append(fmt.Append(nil, n.next))
	}
	return nil
}

// pump runs 1000 rows through a pipeline of 4 workers in batches of 7.
func pump(ctx context.Context, fails int, work, commit func(*batch) error) error {
	r := &run{spec: &Spec{Workers: 4}, sizes: sizes{batch: 7}, reader: &numbers{rows: 1000, fails: fails}, plan: &plan{}}
	return r.newPipeline().run(ctx, []func(*batch) error{work, work, work, work}, commit)
}

func TestPipelineKeepsTheOrder(t *testing.T) {
	next, workedOn := int64(0), atomic.Int64{}
	err := pump(context.Background(), -1, func(b *batch) error {
		workedOn.Add(int64(b.rows.Len()))
		return nil
	}, func(b *batch) error {
		if text, _ := b.rows.Columns[0].At(0); b.rows.First != next || string(text) != fmt.Sprint(next) {
			t.Errorf("row %d came for %d", b.rows.First, next)
		}
		next = b.end()
		return nil
	})
	check(t, err)
	if next != 1000 || workedOn.Load() != 1000 {
		t.Errorf("%d committed, %d worked on", next, workedOn.Load())
	}
}

// The first error in the order of the rows ends it, on any worker, and everything
// before it was committed.
func TestPipelineErrors(t *testing.T) {
	failure, ended := errors.New("failed"), errors.New("ended")
	at := func(row int64, err error) func(*batch) error {
		return func(b *batch) error {
			if b.rows.First <= row && row < b.end() {
				return err
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		reads        int
		works, ends  int64
		want         error
		mustBeBefore int64
	}{
		"reader":            {500, -1, -1, errReader, 497},
		"worker":            {-1, 500, -1, failure, 497},
		"worker before":     {700, 500, -1, failure, 497},
		"committer":         {-1, -1, 500, failure, 497},
		"ended":             {-1, -1, -2, ended, -1},
		"first and only":    {0, -1, -1, errReader, 0},
		"worker and reader": {500, 490, -1, failure, 490},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		committed := int64(0)
		err := pump(ctx, c.reads, at(c.works, failure), func(b *batch) error {
			if c.ends == -2 {
				cancel(ended)
				return nil
			}
			if err := at(c.ends, failure)(b); err != nil {
				return err
			}
			committed = b.end()
			return nil
		})
		if err != c.want || c.mustBeBefore >= 0 && committed != c.mustBeBefore {
			t.Errorf("%s: got %v after %d rows", name, err, committed)
		}
		cancel(nil)
	}
}

// Entropy that runs dry is an error; any other panic is one.
func TestGuarded(t *testing.T) {
	dry := &exact.EntropyError{Err: io.EOF}
	if err := recoverEntropy(func(*batch) error { panic(dry) }, nil); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic was swallowed")
		}
	}()
	_ = recoverEntropy(func(*batch) error { panic("a mistake") }, nil)
}

// end returns the number of the row after the batch.
func (b *batch) end() int64 { return b.rows.First + int64(b.rows.Len()) }
