package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/release/internal/report"
)

// writeReports writes the temporary files of the report, of the metadata and of the density of outputs with these
// hashes.
func (r *run) writeReports(ctx context.Context, hashes []string) error {
	d, err := r.reportData(hashes)
	if err != nil {
		return err
	}
	if r.plane != nil {
		if err := r.writeDensity(ctx, &d.Public); err != nil {
			return err
		}
	}
	if r.tables != nil {
		if err := r.writeTables(ctx); err != nil {
			return err
		}
	}
	err = r.report.fill(func(w io.Writer) error { return report.Write(w, d) })
	if err == nil {
		err = r.metadata.fill(func(w io.Writer) error { return report.WriteMetadata(w, d.Public) })
	}
	return err
}

// tryReport checks, before the first charge, that the report and the metadata can be written.
func (r *run) tryReport() error {
	r.surveys = newSurveys(r.spec, r.noise())
	d, err := r.reportData(slices.Repeat([]string{strings.Repeat("0", 2*sha256.Size)}, len(r.formats)))
	r.at = time.Time{}
	if err != nil {
		return err
	}
	if err := report.Write(io.Discard, d); err != nil {
		return err
	}
	return report.WriteMetadata(io.Discard, d.Public)
}

func (r *run) reportData(hashes []string) (report.Data, error) {
	if r.at.IsZero() {
		r.at = time.Now().UTC()
	}
	s := r.spec
	mean, within95, err := r.accuracy()
	_, one := s.constant()
	p := report.Public{
		About: s.About, Output: filepath.Base(s.Out), SHA256: hashes[0], Time: r.at,
		Rows: r.found.kept(), Weight: s.Weight, MaxRows: s.MaxRows, Dropped: r.found.dropped, Kept: s.Keep, EscapedFormulas: s.EscapeFormulas, SetAside: s.Rejects != "",
		Mechanism: cmp.Or(s.Mechanism, DefaultMechanism), Law: r.noise().Law(), Epsilon: r.mechanism.Price().Amount.Float64(), Level: s.Level, Radius: s.Radius, OneAccount: one,
		Box: s.Box, Step: s.Step, Region: s.Region != "",
		MeanError: mean, Error95: within95,
	}
	for i, path := range s.Also {
		p.Also = append(p.Also, report.Copy{File: filepath.Base(path), SHA256: hashes[1+i]})
	}
	for k := range r.surveys {
		p.Locations = append(p.Locations, report.Location{Lat: s.Lat[k], Lon: s.Lon[k], Released: r.surveys[k].released})
	}
	if s.Publishable {
		return report.Data{Public: p}, err
	}
	return report.Data{Public: p, Owner: r.ownerData()}, err
}

// ledgerName returns the place of a ledger as the owner is shown it: its path, or its engine's name for it.
func ledgerName(l Ledger) string {
	if s, ok := l.(fmt.Stringer); ok {
		return s.String()
	}
	return l.Path()
}

// ownerData returns the data of the owner's section of the report.
func (r *run) ownerData() *report.Owner {
	o := &report.Owner{
		Input: r.spec.In, Digest: r.inLedger.Digest, ID: r.id, Ledger: ledgerName(r.ledger), Account: r.spec.Account,
		Accounts: r.found.payers,
		Rejected: r.found.invalid, Rejects: r.spec.Rejects,
	}
	for _, x := range r.surveys {
		o.Locations = append(o.Locations, report.OwnerLocation{Raw: x.raw, Outside: x.outside, Moved: x.moves})
	}
	return o
}
