package report

import (
	"time"

	"github.com/geosql/geosql/mechanism/planar"
)

// A Box is a range of latitudes and of longitudes in degrees, as
// planar.NewDomain takes it: West > East crosses the antimeridian.
type Box struct{ South, West, North, East float64 }

// Data is the content of a page.
type Data struct {
	Public Public
	Owner  *Owner // nil for a publishable page
}

// About holds the texts of the publisher. The names in JSON are those of DCAT. A text is "" if there is none.
type About struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	License     string `json:"license,omitempty"`
	Contact     string `json:"contactPoint,omitempty"`
}

// Public holds the public facts of a release: the content of the output file, and the
// settings. It must not hold the name, the digest or the accounts of the input, nor an
// identifier derived from them: somebody who can guess a small input can confirm the guess by
// its digest.
type Public struct {
	About  About
	Output string    // name of the output file, without its folder
	SHA256 string    // of the output file, in hexadecimal
	Also   []Copy    // further files that have the same rows
	Shards int       // files that the output is divided into; 0: it is one file
	Listed string    // name of the file that lists them, without its folder
	Time   time.Time // of the release

	Rows            int64      // of the output
	Weight          string     // column of the original that says how many rows each of its rows became; "" if each became one
	MaxRows         int        // the first rows of each account that were kept; 0 if all were
	Dropped         int64      // rows that were left out for it
	Kept            []string   // columns copied as they are
	EscapedFormulas bool       // kept text that looks like a formula has an apostrophe in front
	Locations       []Location // in the order of the columns, at least one
	SetAside        bool       // invalid rows are left out, instead of stopping the release

	Mechanism     string      // its name in commands
	Law           *planar.Law // of the mechanism
	Epsilon       float64     // per metre, charged for each location
	Level, Radius float64     // if epsilon was given as level/radius; otherwise both 0
	OneAccount    bool        // every location is charged to the same account

	Box    Box
	Step   float64 // of the domain's lattice, metres
	Region bool    // outputs are moved into a region

	Density     string  // name of the file with the population behind the locations, without its folder; "" if there is none
	DensityCell float64 // side of its cells, metres

	MeanError float64 // expected distance in metres between a location and its released one
	Error95   float64 // distance in metres that 95 of 100 are expected not to exceed
}

// A Copy is a file with the rows of another.
type Copy struct {
	File   string `json:"file"` // without its folder
	SHA256 string `json:"sha256"`
}

// noise returns the accuracy of the mechanism in the plane.
func (p *Public) noise() planar.Accuracy { return p.Law.Plane(p.Epsilon) }

// A Location is a pair of columns that is released.
type Location struct {
	Lat, Lon  string // names of the columns
	Released  *Grid  // of the released locations; rows without a location are not in it
	Recovered *Grid  // of the population behind them; nil without one
}

// Owner holds facts that only the owner of the raw data may know.
type Owner struct {
	Input   string // path
	Digest  string // of the input, in hexadecimal
	ID      string // of the release
	Ledger  string // path
	Account string // column of the accounts, or const:NAME

	Accounts int64  // number of accounts charged
	Rejected int64  // number of invalid rows, which were left out
	Rejects  string // path of the file of invalid rows; empty if there is none

	Locations []OwnerLocation // one for each of Public.Locations, in their order
}

// An OwnerLocation compares the released locations of a pair of columns with the raw
// ones.
type OwnerLocation struct {
	Raw     *Grid  // of the raw locations
	Outside int64  // raw locations outside the box or the region
	Moved   *Moves // from the raw to the released locations
}
