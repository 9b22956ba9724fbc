package release

import (
	"math/big"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/release/internal/report"
)

// A Spec says what is to be released, and how.
type Spec struct {
	In, Out  string   // data sets: see package dataset for their formats
	Account  string   // column of the accounts, or "const:NAME"
	Lat, Lon []string // columns of the locations, in pairs
	Keep     []string // columns that are copied as they are

	Mechanism     string   // one of planar.Mechanisms that draws; "" is DefaultMechanism
	Epsilon       *big.Rat // per metre, for each location
	Level, Radius float64  // that epsilon was asked for as, level/radius in metres; 0, 0 when it was not

	Box    Box     // of the domain
	Step   float64 // of its lattice, metres
	Region string  // WKT that released locations are moved into; "" for all of the box

	ID string // of the release in the ledger; "" makes one from the input and the settings
	// EscapeFormulas puts an apostrophe before names and cells of a CSV that a spreadsheet
	// program would take for formulas. No other format may be asked for it.
	EscapeFormulas bool

	Rejects     string // file for the rows that are invalid as text; "" makes them an error
	Publishable bool   // the report has no section for the data owner
	Workers     int    // that draw at a time; 0: as many as there are processors, up to those that one reader keeps busy
	// Limit is set for every account that has none of its own, when the ledger has no
	// such limit in metres. nil sets none.
	Limit *budget.Amount

	Progress func(Progress) // called by one goroutine at a time; may be nil
}

// A Box is the range of latitudes and longitudes of a domain, in degrees.
type Box = report.Box

// A Stage is a part of a release.
type Stage uint8

// The stages, in their order.
const (
	Checking   Stage = iota // told after every batch of the first pass
	Charging                // told before the first charge and after every transaction
	Releasing               // told after every batch of the second pass
	Sealing                 // told when all rows are written
	Publishing              // told before a file gets its name
)

// A Progress says how far a release is.
type Progress struct {
	Stage Stage
	Share float64 // of the data set, about, or of the accounts
	Done  int64   // rows, or accounts when they are charged
}

// constant is the account that pays for every row, if there is one.
func (s *Spec) constant() (account string, is bool) { return strings.CutPrefix(s.Account, "const:") }

func (s *Spec) tell(p Progress) {
	if s.Progress != nil {
		s.Progress(p)
	}
}
