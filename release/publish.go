package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/release/internal/report"
)

// seal writes the report and the metadata, syncs all files and then seals the release in the ledger.
func (r *run) seal() error {
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
	if err := r.writeReports(hash); err != nil {
		return err
	}
	for _, f := range r.files() {
		if err := syncDir(f.path); err != nil {
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
	if r.rejects != nil {
		files = append(files, r.rejects)
	}
	return files
}

// finish publishes what an earlier attempt has sealed. It returns an error if that was
// published already.
func (r *run) finish(p *ledger.Published) (*Summary, error) {
	nameless, err := r.sealedFiles(p)
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
	s, err := r.summary(r.found.accounts.Len())
	if err == nil {
		s.Finished = &p.Time
	}
	return s, err
}

// sealedFiles returns the files of a sealed release that still lack their names. It returns an
// error if the release was published.
func (r *run) sealedFiles(p *ledger.Published) (nameless []*file, err error) {
	hash := ""
	if r.out.left {
		if hash, err = r.out.hash(); err != nil {
			return nil, err
		}
	}
	if hash != p.SHA256 { // what is left may be another sealed release
		return nil, fmt.Errorf("release %s was published as %s on %s; to draw again, which is charged, use another --id",
			r.id, p.Output, p.Time.Format(time.DateOnly))
	}
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
