package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/ledger"
	ledgerfile "github.com/geosql/geosql/ledger/file"
)

// shardTest are sizes with which a shard has several batches and is charged in several transactions.
var shardTest = small

func newShared(t testing.TB) *fakeShared {
	t.Helper()
	l, err := ledgerfile.OpenMemory("")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return newFakeShared(l)
}

// worker is a process that works on a release in shards.
func worker(s Spec, l ledger.Shared, n, only int, target Target) *sharding {
	return &sharding{
		run: &run{spec: &s, sizes: shardTest, ledger: l}, shared: l, n: n, only: only, target: target,
		lease: time.Hour, wait: func(ctx context.Context) error {
			time.Sleep(time.Millisecond)
			return context.Cause(ctx)
		},
	}
}

func inShards(s Spec, l ledger.Shared, n, only int) (*ShardSummary, error) {
	w := worker(s, l, n, only, LocalFiles)
	defer w.close()
	return w.work(context.Background())
}

// shardFiles are the names of the files of a release in shards.
func shardFiles(t testing.TB, out string, n int) (all []string) {
	t.Helper()
	format, err := dataset.FormatOf(out)
	check(t, err)
	for i := range n {
		all = append(all, shardPath(out, format, i, n))
	}
	return all
}

// wantWhole checks the files of a complete release in shards.
func wantWhole(t testing.TB, s Spec, n int, l *fakeShared, kept []string, charged map[string]budget.Amount) {
	t.Helper()
	if err := judgeWhole(t, s, n, l.Ledger, kept, charged); err != nil {
		t.Error(err)
	}
}

func judgeWhole(t testing.TB, s Spec, n int, l ledger.Ledger, kept []string, charged map[string]budget.Amount) error {
	t.Helper()
	files := shardFiles(t, s.Out, n)
	if got := ids(t, files...); !slices.Equal(got, kept) {
		return fmt.Errorf("%d rows are published, want %d", len(got), len(kept))
	}
	if got := spent(t, l); !maps.Equal(got, charged) {
		return fmt.Errorf("charged %v, want %v", got, charged)
	}
	var m struct {
		Rows  int64
		Files []struct {
			Name, SHA256 string
			Rows         int
		}
	}
	text, err := os.ReadFile(manifestPath(s.Out))
	check(t, err)
	check(t, json.Unmarshal(text, &m))
	if len(m.Files) != n || m.Rows != int64(len(kept)) {
		return fmt.Errorf("the manifest is %s", text)
	}
	for i, f := range m.Files {
		text, err := os.ReadFile(files[i])
		check(t, err)
		sum := sha256.Sum256(text)
		if f.Name != filepath.Base(files[i]) || f.SHA256 != hex.EncodeToString(sum[:]) || f.Rows != len(ids(t, files[i])) {
			return fmt.Errorf("the manifest has %+v", f)
		}
	}
	page, err := os.ReadFile(reportPath(s.Out))
	if err != nil || !bytes.Contains(page, []byte("</html>")) {
		return fmt.Errorf("the report is not whole: %v", err)
	}
	want := []string{"in.csv"}
	for _, path := range append(files, manifestPath(s.Out), reportPath(s.Out)) {
		want = append(want, filepath.Base(path))
	}
	slices.Sort(want)
	if got := inFolder(t, filepath.Dir(s.Out)); !slices.Equal(got, want) {
		return fmt.Errorf("the folder has %v", got)
	}
	return nil
}

// A release in shards has the rows and the kept columns of the same release in one file, charges the
// same, and does nothing when it is repeated.
func TestShards(t *testing.T) {
	for _, c := range []struct{ rows, n, most int }{{3000, 1, 0}, {3000, 7, 0}, {3000, 4, 3}, {3000, 7, 100}, {5, 9, 0}, {5, 9, 1}, {0, 2, 0}} {
		dir := t.TempDir()
		text, kept, charged := crowded(c.rows, c.most)
		write(t, filepath.Join(dir, "in.csv"), text)
		l, s := newShared(t), newSpec(dir)
		s.MaxRows, s.Keep = c.most, []string{"id"}
		sum, err := inShards(s, l, c.n, -1)
		check(t, err)
		wantWhole(t, s, c.n, l, kept, charged)
		if !sum.Complete || sum.Done != c.n || len(sum.Counted) != c.n || len(sum.Published) != c.n || len(sum.Lost) > 0 || sum.Repeated {
			t.Errorf("%+v", sum)
		}
		if sum.Rows != int64(len(kept)) || sum.Dropped != int64(c.rows-len(kept)) || sum.Accounts != int64(len(charged)) {
			t.Errorf("%+v", sum)
		}
		again, err := inShards(s, l, c.n, -1)
		if err != nil || !again.Repeated || again.Gone != nil || again.Rows != sum.Rows || len(again.Published) > 0 {
			t.Errorf("%+v, %v", again, err)
		}
		wantWhole(t, s, c.n, l, kept, charged)
	}
}

// Processes that publish one shard each leave nothing to do, in any order. Steps that must
// come before are done by the first of them.
func TestOneShardEach(t *testing.T) {
	dir := t.TempDir()
	text, kept, charged := crowded(2000, 2)
	write(t, filepath.Join(dir, "in.csv"), text)
	l, s := newShared(t), newSpec(dir)
	s.MaxRows, s.Keep = 2, []string{"id"}
	for i, only := range []int{2, 0, 3, 2, 1} {
		sum, err := inShards(s, l, 4, only)
		check(t, err)
		if want := []int{4, 0, 0, 0, 0}[i]; len(sum.Counted) != want {
			t.Errorf("process %d counted %v", i, sum.Counted)
		}
		if want := [][]int{{2}, {0}, {3}, nil, {1}}[i]; !slices.Equal(sum.Published, want) || sum.Complete != (i == 4) {
			t.Errorf("process %d: %+v", i, sum)
		}
	}
	wantWhole(t, s, 4, l, kept, charged)
}

// A data set that cannot be released in shards is refused before anybody is charged, with a cure.
func TestShardsRefuse(t *testing.T) {
	_, noFolder := os.Stat(filepath.Join(t.TempDir(), "none", "x"))
	for name, c := range map[string]struct {
		text   string
		change func(*Spec)
		n      int
		only   int
		want   string
	}{
		"no shards":    {"", nil, 0, -1, "from 1 to 100000"},
		"many shards":  {"", nil, 100_001, -1, "from 1 to 100000"},
		"no shard 4":   {"", nil, 4, 4, "there is no shard 4"},
		"rejects":      {"", func(s *Spec) { s.Rejects = s.Out + ".bad" }, 2, -1, "leave out --rejects"},
		"outputs":      {"", func(s *Spec) { s.Also = []string{"x.csv"} }, 2, -1, "has one output"},
		"density":      {"", func(s *Spec) { s.Density = 500 }, 2, -1, "leave out --density"},
		"table":        {"", func(s *Spec) { s.In = strings.TrimSuffix(s.In, "csv") + "db#x" }, 2, -1, "export the table"},
		"invalid row":  {"id,user,lat,lon\n1,ana,48.85,2.35\n2,ana,north,2.35\n3,ana,south,2.35\n", nil, 3, -1, `line 3, column lat: "north" is not a number (2 rows are invalid`},
		"swapped":      {"id,user,lat,lon\n1,ana,2.35,48.85\n2,ana,2.35,48.85\n", nil, 2, -1, "are --lat and --lon swapped"},
		"no budget":    {people(30, 3), func(s *Spec) { s.Limit = nil }, 2, -1, "3 of 3 accounts cannot pay"},
		"small budget": {people(30, 3), func(s *Spec) { limit := 9 * cost; s.Limit = &limit }, 2, -1, "3 of 3 accounts cannot pay, and a limit of 0.1/m would suffice"},
		"no column":    {people(30, 3), func(s *Spec) { s.Keep = []string{"x"} }, 2, -1, "has no column x"},
		"no folder":    {people(30, 3), func(s *Spec) { s.Out = filepath.Join(s.Out, "out.csv") }, 2, -1, errors.Unwrap(noFolder).Error()},
		"in the way":   {people(30, 3), func(s *Spec) { _ = os.WriteFile(strings.TrimSuffix(s.Out, ".csv")+"-00001-of-00002.csv", nil, 0o600) }, 2, -1, "out-00001-of-00002.csv already exists"},
		"manifest":     {people(30, 3), func(s *Spec) { _ = os.WriteFile(manifestPath(s.Out), nil, 0o600) }, 2, -1, "manifest.json already exists"},
		"quotes":       {"user,lat,lon,text\nana,48.85,2.35,\"" + strings.Repeat("\n", 200) + "\"\n", nil, 2, -1, "inside quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), cmpOr(c.text, people(30, 3)))
			l, s := newShared(t), newSpec(dir)
			if name == "table" {
				s.In = tableOf(t, dir)
			}
			if c.change != nil && name != "table" {
				c.change(&s)
			}
			before := inFolder(t, dir)
			if _, err := inShards(s, l, c.n, c.only); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if got := spent(t, l); len(got) > 0 {
				t.Errorf("charged %v", got)
			}
			if after := inFolder(t, dir); !slices.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// Nobody sees a draft, a file that is in the way of a shard is not replaced, and a shard that was
// drawn is not drawn again when its file is gone.
func TestDraftIsGone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3))
	l, s := newShared(t), newSpec(dir)
	s.ID = "census"
	w := worker(s, l, 2, 0, renameFails{LocalFiles})
	if _, err := w.work(context.Background()); !errors.Is(err, errRename) {
		t.Fatal(err)
	}
	w.close()
	drafts, _ := filepath.Glob(filepath.Join(dir, "*.draft"))
	if len(drafts) != 1 {
		t.Fatalf("drafts are %v", drafts)
	}
	info, err := os.Stat(drafts[0])
	if err != nil || !isPrivate(info) {
		t.Errorf("%v, %v", info, err)
	}
	first := shardFiles(t, s.Out, 2)[0]
	write(t, first, "somebody's")
	if _, err := inShards(s, l, 2, -1); err == nil || !strings.Contains(err.Error(), "has been created meanwhile") {
		t.Errorf("got %v", err)
	}
	check(t, os.Remove(first))
	elsewhere := filepath.Join(t.TempDir(), "draft")
	check(t, os.Rename(drafts[0], elsewhere))
	if _, err := inShards(s, l, 2, 0); err == nil || !strings.Contains(err.Error(), "shard 0 of release census was drawn by "+host()+" into "+drafts[0]) {
		t.Errorf("got %v", err)
	}
	check(t, os.Rename(elsewhere, drafts[0]))
	sum, err := inShards(s, l, 2, -1)
	if err != nil || !sum.Complete || len(sum.Published) > 0 {
		t.Errorf("%+v, %v", sum, err)
	}
}

var errRename = errors.New("no rename")

type renameFails struct{ Target }

func (renameFails) Rename(context.Context, string, string) error { return errRename }

// A target that is not made of files of this machine gets the same.
func TestOtherTarget(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3))
	l, s := newShared(t), newSpec(dir)
	remote := struct{ Target }{LocalFiles}
	w := worker(s, l, 3, -1, plain{remote})
	defer w.close()
	sum, err := w.work(context.Background())
	check(t, err)
	if !sum.Complete || len(readCSV(t, shardFiles(t, s.Out, 3)[1])) < 50 {
		t.Errorf("%+v", sum)
	}
}

// plain hides that files are those of this machine.
type plain struct{ Target }

func (p plain) Create(ctx context.Context, name string) (w writeCloser, err error) {
	f, err := p.Target.Create(ctx, name)
	return struct{ writeCloser }{f}, err
}

// Nothing that could confirm a guess of the input is in the manifest, nor a cell of it in the
// ledger's records of shards.
func TestManifestAndInfosKeepSecrets(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3)+"300,only-in-one-row,48.8412345,2.2987654\n")
	l, s := newShared(t), newSpec(dir)
	s.Keep = []string{"id"}
	sum, err := inShards(s, l, 3, -1)
	check(t, err)
	text, err := os.ReadFile(manifestPath(s.Out))
	check(t, err)
	digest := sha256.Sum256(must(os.ReadFile(s.In)))
	for _, secret := range []string{sum.ID, hex.EncodeToString(digest[:])} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the manifest has %s", secret)
		}
	}
	if !bytes.Contains(text, []byte(l.ID())) {
		t.Error("the manifest does not name the ledger")
	}
	for _, x := range l.all[sum.ID].shards {
		for _, info := range [][]byte{x.Info, x.Drawn.Info} {
			for _, secret := range []string{"8412345", "2987654", "only-in-one-row", "48.841", "2.298"} {
				if bytes.Contains(info, []byte(secret)) {
					t.Errorf("the ledger keeps %s of a shard: %s", secret, info)
				}
			}
		}
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// Types of columns are those of all shards, and grids are seen over all of them.
func TestShardsOfTypes(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,user,lat,lon,x\n")
	for i := range 400 {
		x := "12"
		if i == 399 {
			x = "a word"
		}
		fmt.Fprintf(&b, "%d,ana,%.2f,%.2f,%s\n", i, 48.81+float64(i%10)/100, 2.23+float64(i%17)/100, x)
	}
	write(t, filepath.Join(dir, "in.csv"), b.String())
	l, s := newShared(t), newSpec(dir)
	s.Out, s.Keep = filepath.Join(dir, "out.geojson"), []string{"id", "x"}
	one := s
	one.Epsilon, one.Out = s.Epsilon, filepath.Join(dir, "one.geojson")
	want, err := attempt(one, small, l.Ledger)
	check(t, err)
	sum, err := inShards(s, l, 4, -1)
	check(t, err)
	if len(want.Gridded) != 1 || fmt.Sprint(sum.Gridded) != fmt.Sprint(want.Gridded) || sum.Outside != want.Outside {
		t.Errorf("%v, %v", sum.Gridded, want.Gridded)
	}
	text := must(os.ReadFile(shardFiles(t, s.Out, 4)[0]))
	if !bytes.Contains(text, []byte(`"x":"12"`)) || !bytes.Contains(text, []byte(`"id":0`)) {
		t.Errorf("%.400s", text)
	}
}

// A release with other settings, another input or another number of shards needs another id.
func TestOtherShards(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(300, 3))
	l, s := newShared(t), newSpec(dir)
	s.ID = "census"
	_, err := inShards(s, l, 2, 0)
	check(t, err)
	for _, c := range []struct {
		change func(*Spec) int
		want   string
	}{
		{func(*Spec) int { return 3 }, "has 2 shards"},
		{func(s *Spec) int { s.MaxRows = 4; return 2 }, "has other settings"},
		{func(s *Spec) int { write(t, s.In, people(301, 3)); return 2 }, "has another input"},
	} {
		other := s
		n := c.change(&other)
		if _, err := inShards(other, l, n, -1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if got := spent(t, l)["u0"]; got != 100*cost {
		t.Errorf("spent %v", got)
	}
}
