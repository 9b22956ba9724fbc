package release

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/report"
)

// seal writes the report and the metadata, syncs all files and then seals the release in the ledger.
func (r *run) seal(ctx context.Context) error {
	r.spec.report(Progress{Sealing, 1, r.found.rows})
	hash, err := r.out.syncAndHash()
	if err != nil {
		return err
	}
	if r.rejects != nil {
		if err := r.rejects.Sync(); err != nil {
			return err
		}
	}
	if err := r.writeReports(ctx, hash); err != nil {
		return err
	}
	for _, f := range r.files() {
		if err := files.SyncFolder(filepath.Dir(f.path)); err != nil {
			return err
		}
		f.keep = true // from here on it may be sealed, even if the commit seems to fail
	}
	err = r.release.Seal(hash)
	if _, ok := errors.AsType[*ledger.ReleaseError](err); ok { // another process has continued it
		for _, f := range r.files() {
			f.keep = false
		}
	}
	return err
}

// publish gives the files their final names, the output last.
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

// files returns the temporary files, starting with the output's.
func (r *run) files() []*file {
	files := []*file{r.out, r.report, r.metadata}
	for _, f := range []*file{r.density, r.rejects} {
		if f != nil {
			files = append(files, f)
		}
	}
	return files
}

// hashOutput returns the hash of the output if an earlier release has published it, and "" if there
// is none. Any other file in its place is an error.
func (r *run) hashOutput() (string, error) {
	if !exists(r.spec.Out) {
		return "", nil
	}
	f, err := os.Open(r.spec.Out)
	if err != nil {
		return "", existsError(r.spec.Out)
	}
	defer f.Close()
	hash, err := (&file{File: f}).hash()
	if err != nil {
		return "", existsError(r.spec.Out)
	}
	output, err := filepath.Abs(r.spec.Out)
	if err != nil {
		return "", err
	}
	// A release that nobody has begun tells which others have this output.
	none, err := r.ledger.FindRelease(rand.Text(), ledger.ReleasePlan{Output: output})
	if err != nil {
		return "", err
	}
	id, err := none.Other(hash)
	if err == nil && id == "" {
		err = existsError(r.spec.Out)
	}
	return hash, err
}

// finish publishes the sealed file of an earlier attempt. If that has its name already, finish does
// nothing.
func (r *run) finish(p *ledger.Published) (*Summary, error) {
	sealed, err := r.leftSealed(p)
	if err != nil {
		return nil, err
	}
	if !sealed {
		s, err := r.summary(r.found.payers)
		if err == nil {
			s.Repeated, s.Finished, s.Gone = true, &p.Time, r.there != p.SHA256
		}
		return s, err
	}
	nameless, err := r.sealedFiles()
	if err != nil {
		return nil, err
	}
	for _, f := range r.files() {
		if f.keep = f.left; !f.left { // the file has its final name; this one is empty and not needed
			f.remove()
		}
	}
	if err := r.publish(nameless); err != nil {
		return nil, err
	}
	s, err := r.summary(r.found.payers)
	if err == nil {
		s.Finished = &p.Time
	}
	return s, err
}

// leftSealed reports whether the file that an earlier attempt has left is the sealed one, which
// still lacks its name. It may be another sealed release.
func (r *run) leftSealed(p *ledger.Published) (bool, error) {
	if !r.out.left {
		return false, nil
	}
	hash, err := r.out.hash()
	return hash == p.SHA256, err
}

// sealedFiles returns the files of a sealed release that still lack their names.
func (r *run) sealedFiles() (nameless []*file, err error) {
	if err := r.checkReport(); err != nil {
		return nil, err
	}
	if r.found.invalid > 0 && !r.rejects.left && !exists(r.rejects.path) {
		return nil, fmt.Errorf("release %s did not write invalid rows to %s: repeat the command with its earlier --rejects", r.id, r.rejects.path)
	}
	for _, f := range r.files() {
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
