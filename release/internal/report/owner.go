package report

import (
	"fmt"

	"github.com/geosql/geosql/internal/printable"
)

// ownerPart is the part of a page for the owner of the raw data.
type ownerPart struct {
	Input, Digest, ID, Ledger, Account string
	Accounts                           string
	Rejected, Rejects                  string // Rejected is empty if no row was rejected
	Locations                          []comparison
}

// A comparison compares the released locations of a pair of columns with the raw ones.
type comparison struct {
	Lat, Lon   string
	Outside    string
	Mean       string // of the distances; empty if there is no location
	Difference string // of the two maps
	Before     mapPicture
	After      mapPicture
	Moved      histogramPicture
}

func newOwnerPart(p Public, o Owner) *ownerPart {
	part := &ownerPart{
		Input: printable.Text(o.Input), Digest: printable.Text(o.Digest), ID: printable.Text(o.ID),
		Ledger: printable.Text(o.Ledger), Account: printable.Text(o.Account),
		Accounts: count(o.Accounts), Rejects: printable.Text(o.Rejects),
	}
	if o.Rejected > 0 {
		part.Rejected = count(o.Rejected)
	}
	for i, l := range o.Locations {
		part.Locations = append(part.Locations, newComparison(i, p, p.Locations[i], l))
	}
	return part
}

func newComparison(i int, p Public, l Location, o OwnerLocation) comparison {
	// Both maps have the same colours, so that they can be compared.
	starts := colours(max(o.Raw.highest(), l.Released.highest()))
	measured := o.Moved.shares()
	c := comparison{
		Lat: printable.Text(l.Lat), Lon: printable.Text(l.Lon), Outside: count(o.Outside),
		Difference: percent(o.Raw.difference(l.Released)),
		Before:     newMap(fmt.Sprintf("before-%d", i), "Before: raw locations", o.Raw, starts),
		After:      newMap(fmt.Sprintf("after-%d", i), "After: published locations", l.Released, starts),
		Moved: newHistogram(fmt.Sprintf("moved-%d", i), "Measured distances between published and true locations",
			o.Moved.width, expectedShares(p.noise(), o.Moved.width), &measured),
	}
	if n := o.Moved.Total(); n > 0 {
		c.Mean = length(o.Moved.sum / float64(n))
	}
	return c
}
