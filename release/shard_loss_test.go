package release

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/postgres"
)

// A paidTarget is local files. None is drawn before everybody is charged.
type paidTarget struct {
	Target
	t       *testing.T
	ledger  ledger.Ledger
	charged map[string]budget.Amount
}

func (x paidTarget) Create(ctx context.Context, name string) (io.WriteCloser, error) {
	if !strings.Contains(name, "-probe.") {
		if got := spent(x.t, x.ledger); !maps.Equal(got, x.charged) {
			x.t.Errorf("%s is made when %v are charged", filepath.Base(name), got)
		}
	}
	return x.Target.Create(ctx, name)
}

func (x paidTarget) List(ctx context.Context, prefix string) ([]string, error) {
	return LocalFiles.(Lister).List(ctx, prefix)
}

// A server that was restored from an older copy has lost charges of a release in shards, or the draws
// paid by them. When the owner has accepted that, the release begins anew: everybody is charged
// before anything is drawn, and no earlier draw is published.
func TestShardsAfterLoss(t *testing.T) {
	const n = 4
	for name, twice := range map[string]bool{"before the charge": false, "before the draw": true} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
			server := pgtest.Own(t)
			url, dir := server.Database(t), t.TempDir()
			text, kept, charged := crowded(300, 0)
			write(t, filepath.Join(dir, "in.csv"), text)
			s := newSpec(dir)
			s.ID, s.Keep = "census", []string{"id"}
			ctx := context.Background()

			l := openPostgres(t, url, "first")
			w := worker(s, l, n, -1, LocalFiles)
			check(t, w.prepare(ctx))
			for range n {
				check(t, w.countNext(ctx))
			}
			dump := ""
			if !twice {
				dump = server.Dump(t, url)
			}
			check(t, w.chargeNext(ctx))
			w.close()
			if twice {
				dump = server.Dump(t, url)
			}
			_, err := inShards(s, l, n, 0)
			check(t, err)
			draws := worker(s, l, n, 1, renameFails{LocalFiles})
			if _, err := draws.work(ctx); err != errRename {
				t.Fatal(err)
			}
			draws.close()
			first := shardFiles(t, s.Out, n)[0]
			drafts, err := filepath.Glob(filepath.Join(dir, "*"+draftEnding))
			check(t, err)
			if len(drafts) != 1 {
				t.Fatalf("drafts are %v", drafts)
			}
			old := map[string]string{first: string(must(os.ReadFile(first))), shardFiles(t, s.Out, n)[1]: string(must(os.ReadFile(drafts[0])))}
			server.Restore(t, url, dump)
			if _, err := inShards(s, l, n, -1); err == nil || !strings.Contains(err.Error(), "geosql ledger accept") {
				t.Errorf("a server that lacks charges: %v", err)
			}
			_, err = postgres.Accept(url, false)
			check(t, err)

			l = openPostgres(t, url, "second")
			before := spent(t, l)
			if _, err := inShards(s, l, n, -1); err == nil || !strings.Contains(err.Error(), "out-00000-of-00004.csv already exists") {
				t.Errorf("a file of before is in the way: %v", err)
			}
			if after := spent(t, l); !maps.Equal(before, after) {
				t.Errorf("%v were charged, %v are", before, after)
			}
			check(t, os.Remove(first))
			if twice {
				for account := range charged {
					charged[account] *= 2
				}
			}
			for only := range n {
				w := worker(s, l, n, only, paidTarget{LocalFiles, t, l, charged})
				sum, err := w.work(ctx)
				check(t, err)
				if !slices.Equal(sum.Published, []int{only}) {
					t.Errorf("%+v", sum)
				}
				w.close()
			}
			if err := judgeWhole(t, s, n, l, kept, charged); err != nil {
				t.Error(err)
			}
			for path, text := range old {
				if string(must(os.ReadFile(path))) == text {
					t.Errorf("%s is a draw of before", path)
				}
			}
			_, err = l.Verify("", nil, nil)
			check(t, err)
		})
	}
}

// A ledger does not move while a release in shards is not complete. One that was complete before is
// complete where the ledger is now, though the ledger does not know its shards any more.
func TestShardsOfMovedLedger(t *testing.T) {
	const n = 3
	t.Setenv("GEOSQL_STATE_DIR", t.TempDir())
	url, dir := pgtest.Start(t).Database(t), t.TempDir()
	text, kept, charged := crowded(300, 0)
	write(t, filepath.Join(dir, "in.csv"), text)
	file := filepath.Join(t.TempDir(), "books")
	s := newSpec(dir)
	s.ID, s.Keep = "census", []string{"id"}
	move := func(from, to string) error {
		_, err := engines.Move(context.Background(), from, to, 0o600, func(string, float64) {})
		return err
	}
	work := func(only int, s Spec, n int) (*ShardSummary, error) {
		t.Helper()
		l, err := postgres.Open(url, true)
		check(t, err)
		defer l.Close()
		return inShards(s, l, n, only)
	}
	for only := range n {
		sum, err := work(only, s, n)
		check(t, err)
		if sum.Complete != (only == n-1) {
			t.Errorf("%+v", sum)
		}
		err = move(url, file)
		if only < n-1 && (err == nil || !strings.Contains(err.Error(), "release census is not complete") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("the ledger moves: %v", err)
		} else if only == n-1 {
			check(t, err)
		}
	}
	check(t, move(file, url))
	for _, n := range []int{n, n + 4} {
		sum, err := work(-1, s, n)
		check(t, err)
		if !sum.Complete || !sum.Repeated || sum.Gone != nil || sum.Shards != 0 || sum.ID != "census" || sum.Finished == nil || len(sum.Counted)+len(sum.Published) > 0 {
			t.Errorf("%+v", sum)
		}
	}
	l, err := postgres.Open(url, false)
	check(t, err)
	defer l.Close()
	if err := judgeWhole(t, s, n, l, kept, charged); err != nil {
		t.Error(err)
	}
	// Another release can be made, and shards of the one before do not come back.
	other := s
	other.ID, other.Out = "other", filepath.Join(t.TempDir(), "out.csv")
	if sum, err := work(-1, other, n); err != nil || sum.Repeated || !sum.Complete || len(sum.Published) != n {
		t.Errorf("%+v, %v", sum, err)
	}

	// The owner can give a release up.
	other.ID, other.Out = "third", filepath.Join(t.TempDir(), "out.csv")
	_, err = work(0, other, n)
	check(t, err)
	if err := move(url, file); err == nil {
		t.Error("the ledger moves")
	}
	_, err = postgres.Accept(url, true)
	check(t, err)
	check(t, move(url, file))
}
