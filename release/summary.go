package release

import (
	"time"

	"github.com/geosql/geosql/budget"
)

// A Summary says what was released.
type Summary struct {
	ID, Out, Report string
	Rejects         string // "" when no row was invalid

	Rows      int64 // of the output
	Locations int64 // that were drawn
	Invalid   int64 // rows that were set aside
	Outside   int64 // locations outside the domain or its region: moved, and kept. The owner's only

	Accounts int64 // that were charged
	Already  int64 // of them, by an earlier attempt

	Epsilon        budget.Amount // per metre, charged for each location
	Mean, Within95 float64       // metres that released locations are away, in the mean and in 95 of 100 cases
	Finished       *time.Time    // when the release was sealed, if it only had to be given its name
}

func (r *run) summary(already int64) (*Summary, error) {
	s := &Summary{
		ID: r.id, Out: r.spec.Out, Report: reportPath(r.spec.Out),
		Rows:      r.found.rows - r.found.invalid,
		Locations: r.found.locations,
		Invalid:   r.found.invalid,
		Already:   already,
		Accounts:  r.found.accounts.Len(),
		Epsilon:   r.mechanism.Price().Amount,
	}
	if s.Invalid > 0 {
		s.Rejects = r.spec.Rejects
	}
	for _, x := range r.surveys {
		s.Outside += x.outside
	}
	var err error
	s.Mean, s.Within95, err = r.errors()
	return s, err
}
