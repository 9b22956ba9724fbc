package release

import (
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// A Summary describes a finished release.
type Summary struct {
	ID, Out, Report string
	Also            []string // further outputs
	Metadata        string
	Density         string // "" without one
	Rejects         string // "" if no row was invalid

	Rows      int64 // of the output
	Locations int64 // that were drawn
	Invalid   int64 // rows that were set aside
	Dropped   int64 // rows that were left out, since their accounts have more than may be kept
	Outside   int64 // locations outside the domain or its region, which were moved into it; for the owner only

	Misplaced []Misplaced // how much of the tables of the owner is noise; for the owner only

	Gridded []Gridded // pairs of columns on a grid that the noise does not hide; for the owner only

	// Earlier are other releases of the same cells, as far as the ledger knows: the columns that were read, and their order, were the same.
	Earlier []ledger.NamedRelease

	Accounts int64 // that were charged
	Already  int64 // of them, by an earlier attempt

	Unit           budget.Unit   // of epsilon
	Epsilon        budget.Amount // charged for each location
	Mean, Within95 float64       // distance in metres of released locations: expected, and not exceeded by 95 of 100
	Finished       *time.Time    // when an earlier attempt sealed the release; nil if this one did
	Repeated       bool          // the release was complete before and nothing was done
	Gone           []string      // its outputs that are not in their places any more, or were changed
}

func (r *run) summary(already int64) (*Summary, error) {
	s := &Summary{
		ID: r.id, Out: r.spec.Out, Also: r.spec.Also, Report: reportPath(r.spec.Out), Metadata: metadataPath(r.spec.Out),
		Rows:      r.found.kept(),
		Dropped:   r.found.dropped,
		Locations: r.found.locations,
		Invalid:   r.found.invalid,
		Already:   already,
		Accounts:  r.found.payers,
		Unit:      r.mechanism.Price().Unit,
		Epsilon:   r.mechanism.Price().Amount,
		Misplaced: r.misplaced,
	}
	if r.plane != nil {
		s.Density = densityPath(r.spec.Out)
	}
	if s.Invalid > 0 {
		s.Rejects = r.spec.Rejects
	}
	for _, x := range r.surveys {
		s.Outside += x.outside
	}
	var err error
	if s.Gridded, err = r.gridded(); err != nil {
		return nil, err
	}
	if s.Earlier, err = r.earlier(); err != nil {
		return nil, err
	}
	s.Mean, s.Within95, err = r.accuracy()
	return s, err
}

// earlier returns the other releases of the same input that the ledger knows.
func (r *run) earlier() ([]ledger.NamedRelease, error) {
	all, err := r.ledger.AllReleases()
	return slices.DeleteFunc(all, func(x ledger.NamedRelease) bool { return x.ID == r.id || x.Plan.Digest != r.inLedger.Digest }), err
}
