package release

import (
	"math/big"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/release/internal/report"
)

// A Spec holds the columns and settings of a release.
type Spec struct {
	In, Out  string   // data sets: see package dataset for their formats
	Also     []string // further outputs, which have the same rows
	Account  string   // column of the accounts, or "const:NAME" for one account
	Lat, Lon []string // columns of the locations, in pairs
	Keep     []string // columns that are copied as they are

	// Weight is a column that says how many people, or jobs, a row stands for: from 0 to [dataset.MostRepeats]. The row is read so often,
	// with a draw and a charge each time, as if the input had so many rows: the account of the row pays for each of them, since
	// all are drawn around one place. Weights are public, as the number of rows is. "" reads each row once.
	Weight string

	// MaxRows is how many rows of an account are released: the first ones in the order of the input,
	// which is public. The others are left out and cost nothing. 0 releases all. Rows without a
	// location do not count. With several pairs of columns, a row that has some of its
	// locations only is then invalid, so that every row costs the same.
	MaxRows int

	Mechanism     string   // one of [planar.Mechanisms]; "" is DefaultMechanism
	Epsilon       *big.Rat // for each location: per metre, or rho per square metre with the mechanism gauss
	Level, Radius float64  // if epsilon was given as level/radius, the radius in metres; otherwise 0, 0

	Box    Box     // of the domain
	Step   float64 // of its lattice, metres
	Region string  // WKT of the area that released locations are moved into; "" is all of the box

	// Outside is the largest share of the locations, from 0 to 1, that may lie outside the box.
	// Such locations count as the nearest ones in it. If there are more, the release stops with
	// an [*OutsideError] before anybody is charged: then something is wrong with the data or the
	// box. See [DefaultOutside].
	Outside float64

	ID string // of the release in the ledger; "" derives one from the input and the settings

	// EscapeFormulas puts an apostrophe before names and cells of a CSV that a spreadsheet
	// program would take for formulas. It must not be set for other formats.
	EscapeFormulas bool

	// Density is the side in metres of the cells of an estimate of the population behind the released points of the one pair of columns,
	// which is written beside the output as GeoJSON and drawn in the report. 0 makes none. It costs nothing.
	Density float64

	// Utility is a folder for tables of the owner: how many locations are in each of Regions, go from one to another and lie so far apart, in
	// truth, as released, and as recovered from the released ones. They are numbers of true locations, which nothing hides, so that
	// the folder must not be in one of an output. "" writes none.
	Utility string
	Regions *Regions

	About About // texts of the publisher

	Rejects     string // file for the rows that are invalid as text; "" makes them an error
	Publishable bool   // the report has no section for the data owner
	Workers     int    // 0: as many as there are processors, up to the number that one reader keeps busy

	// Limit is the limit to set for every account without a limit of its own, if the ledger
	// has no such limit in the mechanism's unit. nil sets none.
	Limit *budget.Amount

	Progress func(Progress) // called by one goroutine at a time; may be nil
}

// A Box is the range of latitudes and longitudes of a domain, in degrees.
type Box = report.Box

// About holds the texts of the publisher on the page and in the metadata.
type About = report.About

// A Stage is a part of a release.
type Stage uint8

// The stages, in their order.
const (
	Checking   Stage = iota // reported after every batch of the first pass
	Charging                // reported before the first charge and after every transaction
	Releasing               // reported after every batch of the second pass
	Sealing                 // reported when all rows are written
	Publishing              // reported before a file gets its name
	Waiting                 // for other processes; in a release in shards only
)

// A Progress is the progress of a release.
type Progress struct {
	Stage Stage
	Share float64 // of the data set, roughly, or of the accounts
	Done  int64   // rows, or accounts in the stage Charging
}

// outs returns the paths of the outputs.
func (s *Spec) outs() []string { return append([]string{s.Out}, s.Also...) }

// constant returns the account that pays for every row, if there is one.
func (s *Spec) constant() (account string, is bool) { return strings.CutPrefix(s.Account, "const:") }

func (s *Spec) report(p Progress) {
	if s.Progress != nil {
		s.Progress(p)
	}
}
