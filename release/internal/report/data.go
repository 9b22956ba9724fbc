package report

import (
	"time"

	"github.com/geosql/geosql/mechanism/planar"
)

// A Box is a range of latitudes and of longitudes in degrees, as
// planar.NewDomain takes it: West > East crosses the antimeridian.
type Box struct{ South, West, North, East float64 }

// Data is what a page says.
type Data struct {
	Public Public
	Owner  *Owner // nil: the page is publishable
}

// Public is what everybody may know of a release: what the output file shows, and
// settings. Neither the name, the digest nor the accounts of the input belong here, nor
// an identifier made from them: who can guess a small input confirms the guess by its
// digest.
type Public struct {
	Output string    // name of the output file, without its folder
	SHA256 string    // of the output file, in hexadecimal
	Time   time.Time // of the release

	Rows            int64      // of the output
	Kept            []string   // columns copied as they are
	EscapedFormulas bool       // but for an apostrophe in front of what a spreadsheet program would run
	Locations       []Location // in the order of the columns, at least one
	SetAside        bool       // rows that are invalid as text are left out, instead of stopping the release

	Law           *planar.Law // of the mechanism
	Epsilon       float64     // per metre, charged for each location
	Level, Radius float64     // that epsilon was asked for as, level/radius; both 0 when it was not
	OneAccount    bool        // every location is charged to the same account

	Box    Box
	Step   float64 // of the domain's lattice, metres
	Region bool    // outputs are moved into a region

	MeanError float64 // metres a released location is expected to be away
	Error95   float64 // metres that 95 of 100 are expected to be within
}

// noise returns how far the mechanism moves locations in the plane.
func (p *Public) noise() planar.Accuracy { return p.Law.Plane(p.Epsilon) }

// A Location is a pair of columns that is released.
type Location struct {
	Lat, Lon string // names of the columns
	Released *Grid  // of the released locations; rows that are not in it have none
}

// Owner is what only the owner of the raw data may know.
type Owner struct {
	Input   string // path
	Digest  string // of the input, in hexadecimal
	ID      string // of the release
	Ledger  string // path
	Account string // column of the accounts, or const:NAME

	Accounts int64  // that were charged
	Rejected int64  // rows that are invalid as text and were left out
	Rejects  string // path of the file they are in; empty: none was asked for

	Locations []OwnerLocation // one for each of Public.Locations, in their order
}

// An OwnerLocation compares the released locations of a pair of columns with the raw
// ones.
type OwnerLocation struct {
	Raw     *Grid  // of the raw locations
	Outside int64  // raw locations outside the box or the region
	Moved   *Moves // from the raw to the released locations
}
