package beam

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/geosql/geosql/release"
)

// targets are a local folder and an object store that cannot rename, as s3.
func targets(t *testing.T) map[string]struct {
	release.Target
	folder string
} {
	t.Helper()
	local, _, err := openTarget(t.TempDir() + "/x.csv")
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := openTarget("memfs://" + t.Name() + "/x.csv")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		release.Target
		folder string
	}{"local": {local, t.TempDir() + "/"}, "object": {object, "memfs://" + t.Name() + "/"}}
}

func create(t *testing.T, target release.Target, name, text string) {
	t.Helper()
	w, err := target.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func exists(t *testing.T, target release.Target, name string) bool {
	t.Helper()
	there, err := target.Exists(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestTargets(t *testing.T) {
	for kind, x := range targets(t) {
		t.Run(kind, func(t *testing.T) {
			draft, out := x.folder+"x.csv.draft", x.folder+"x.csv"
			if exists(t, x, draft) {
				t.Fatal("a file was there before")
			}
			create(t, x, draft, "rows")
			if !exists(t, x, draft) || exists(t, x, out) || exists(t, x, x.folder+"x.csv.draf") {
				t.Error("a file that was created is missing, or another one is there")
			}
			if err := x.Rename(t.Context(), draft, out); err != nil {
				t.Fatal(err)
			}
			if exists(t, x, draft) || !exists(t, x, out) || read(t, out) != "rows" {
				t.Error("the file does not have its new name")
			}
			if err := x.Rename(t.Context(), draft, out); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("renaming a file that is missing: %v", err)
			}
			create(t, x, draft, "other rows")
			if err := x.Rename(t.Context(), draft, out); !errors.Is(err, fs.ErrExist) {
				t.Errorf("renaming to the name of another file: %v", err)
			}
			if read(t, out) != "rows" {
				t.Error("a file that has its name was changed")
			}
			if names, err := x.Target.(release.Lister).List(t.Context(), x.folder+"x.csv."); err != nil || !slices.Equal(names, []string{draft}) {
				t.Errorf("the drafts are %q, %v", names, err)
			}
			for range 2 {
				if err := x.Remove(t.Context(), out); err != nil {
					t.Error(err)
				}
			}
			if exists(t, x, out) {
				t.Error("the file is still there")
			}
		})
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	r, err := openFile(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Processes may give a file its name at the same time: all are done when it has it, or learn that
// the draft is gone, and its bytes stay the same.
func TestObjectsRenamedByMany(t *testing.T) {
	x := targets(t)["object"]
	draft, out := x.folder+"y.draft", x.folder+"y.csv"
	create(t, x, draft, "rows")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if err := x.Rename(t.Context(), draft, out); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if read(t, out) != "rows" || exists(t, x, draft) {
		t.Error("the file does not have its new name")
	}
}

// A process that was killed between copy and removal leaves both names: the next one removes the
// draft.
func TestObjectsRenamedHalf(t *testing.T) {
	x := targets(t)["object"]
	draft, out := x.folder+"z.draft", x.folder+"z.csv"
	create(t, x, draft, "rows")
	create(t, x, out, "rows")
	if err := x.Rename(t.Context(), draft, out); err != nil || exists(t, x, draft) {
		t.Error("the draft is still there", err)
	}
}

// An upload that is abandoned leaves no object.
func TestAbandon(t *testing.T) {
	target, err := newObjectTarget(uploads{memfs.New(t.Context())})
	if err != nil {
		t.Fatal(err)
	}
	const name = "memfs://office/abandoned"
	w, err := target.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "rows"); err != nil {
		t.Fatal(err)
	}
	w.(interface{ Abandon() }).Abandon()
	if exists(t, target, name) {
		t.Error("the object is there")
	}
}

// uploads is a store in which, as in gs and s3, an upload with an ended context makes no object.
type uploads struct{ filesystem.Interface }

func (u uploads) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	w, err := u.Interface.OpenWrite(ctx, name)
	return upload{ctx, w}, err
}

func (u uploads) Copy(ctx context.Context, from, to string) error {
	return u.Interface.(filesystem.Copier).Copy(ctx, from, to)
}

func (u uploads) Remove(ctx context.Context, name string) error {
	return u.Interface.(filesystem.Remover).Remove(ctx, name)
}

type upload struct {
	ctx context.Context
	io.WriteCloser
}

func (u upload) Close() error {
	if u.ctx.Err() != nil {
		return u.ctx.Err()
	}
	return u.WriteCloser.Close()
}
