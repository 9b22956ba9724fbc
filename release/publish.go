package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/report"
)

// seal writes the report and the metadata, syncs all files and then seals the release in the ledger.
func (r *run) seal(ctx context.Context) error {
	r.spec.report(Progress{Sealing, 1, r.found.rows})
	hashes := make([]string, len(r.outs))
	for i, out := range r.outs {
		var err error
		if hashes[i], err = out.syncAndHash(); err != nil {
			return err
		}
	}
	if r.rejects != nil {
		if err := r.rejects.Sync(); err != nil {
			return err
		}
	}
	if err := r.writeReports(ctx, hashes); err != nil {
		return err
	}
	for _, f := range r.files() {
		if err := files.SyncFolder(filepath.Dir(f.path)); err != nil {
			return err
		}
		f.keep = true // from here on it may be sealed, even if the commit seems to fail
	}
	err := r.release.Seal(strings.Join(hashes, " "))
	if _, ok := errors.AsType[*ledger.ReleaseError](err); ok { // another process has continued it
		for _, f := range r.files() {
			f.keep = false
		}
	}
	return err
}

// publish gives the files their final names, the first output last: where it is, all are.
func (r *run) publish(files []*file) error {
	for _, f := range files {
		if exists(f.path) {
			return fmt.Errorf("%s has been created meanwhile", f.path)
		}
	}
	for i := range files {
		r.spec.report(Progress{Publishing, 1, r.found.rows})
		if err := files[len(files)-1-i].publish(); err != nil {
			return err
		}
	}
	return nil
}

// files returns the temporary files that are open, starting with the outputs'.
func (r *run) files() []*file {
	all := slices.Concat(r.outs, r.utility)
	for _, f := range []*file{r.report, r.metadata, r.density, r.rejects} {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

// hashOutputs finds the outputs that an earlier release has published. Any other file in the place of
// one is an error.
func (r *run) hashOutputs() error {
	for i, out := range r.spec.outs() {
		hash, err := r.hashOutput(out, r.paths[i])
		if err != nil {
			return err
		}
		r.there = append(r.there, hash)
	}
	return nil
}

// hashOutput returns the hash of a published output, and "" if there is none.
func (r *run) hashOutput(out, path string) (string, error) {
	if !exists(path) {
		return "", nil
	}
	hash, err := hashFile(path)
	if err != nil {
		return "", existsError(out)
	}
	id, err := r.sealedAs(path, hash)
	if err == nil && id == "" {
		err = existsError(out)
	}
	return hash, err
}

// sealedAs returns the ID of a release that is sealed with an output of that path and hash, or "".
func (r *run) sealedAs(path, hash string) (id string, err error) {
	all, err := r.ledger.AllReleases()
	for _, x := range all {
		if x.Published != nil && x.Published.Hash(path) == hash {
			id = x.ID
		}
	}
	return id, err
}

// finish publishes the sealed files of an earlier attempt. If they have their names already, finish does
// nothing.
func (r *run) finish(p *ledger.Published) (*Summary, error) {
	sealed, gone, err := r.leftSealed(p)
	if err != nil {
		return nil, err
	}
	if len(sealed) > 0 {
		nameless, err := r.sealedFiles(sealed)
		if err != nil {
			return nil, err
		}
		for _, f := range r.files() {
			f.keep = slices.Contains(nameless, f)
			if !f.left { // the file has its final name; this one is empty and not needed
				f.remove()
			}
		}
		if err := r.publish(nameless); err != nil {
			return nil, err
		}
	}
	s, err := r.summary(r.found.payers)
	if err == nil {
		s.Repeated, s.Finished, s.Gone = len(sealed) == 0, &p.Time, gone
	}
	return s, err
}

// leftSealed returns the outputs that an earlier attempt has left sealed and without their names. The rest
// that it has left may be of another release. Gone are outputs that are neither there nor left.
func (r *run) leftSealed(p *ledger.Published) (sealed []*file, gone []string, err error) {
	for i, out := range r.outs {
		hash := ""
		if out.left {
			if hash, err = out.hash(); err != nil {
				return nil, nil, err
			}
		}
		switch want := p.Hash(r.paths[i]); {
		case want != "" && hash == want:
			sealed = append(sealed, out)
		case want == "" || r.there[i] != want:
			gone = append(gone, out.path)
		}
	}
	return sealed, gone, nil
}

// sealedFiles returns the files of a sealed release that still lack their names: these outputs, and others.
func (r *run) sealedFiles(outs []*file) (nameless []*file, err error) {
	if err := r.checkReport(); err != nil {
		return nil, err
	}
	if r.found.invalid > 0 && !r.rejects.left && !exists(r.rejects.path) {
		return nil, fmt.Errorf("release %s did not write invalid rows to %s: repeat the command with its earlier --rejects", r.id, r.rejects.path)
	}
	nameless = outs
	for _, f := range r.files()[len(r.outs):] {
		if f.left {
			nameless = append(nameless, f)
		}
	}
	return nameless, nil
}

// checkReport returns an error if the report of an earlier attempt, which may have its final
// name, has a section for the owner and the spec wants none.
func (r *run) checkReport() error {
	if !r.spec.Publishable {
		return nil
	}
	path := r.report.path
	if r.report.left {
		path = r.report.Name()
	}
	page, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && report.HasOwner(page) {
		err = fmt.Errorf("the report of release %s has a section for the data owner: repeat the command without --publishable", r.id)
	}
	return err
}
