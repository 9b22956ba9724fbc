package report

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/version"
)

// A page holds the texts and pictures that the templates print.
type page struct {
	publicPart
	Owner *ownerPart // nil for a publishable page
}

// newPage returns the page for some data. It makes the public part without access to the
// owner's data, so that this part cannot reveal anything about the raw data.
func newPage(d Data) *page {
	p := &page{publicPart: newPublicPart(d.Public)}
	if d.Owner != nil {
		p.Owner = newOwnerPart(d.Public, *d.Owner)
	}
	return p
}

// publicPart is the part of a page for everybody.
type publicPart struct {
	About                About
	Generator            string // name and version
	Output, SHA256, Time string
	Also                 []Copy
	Rows                 string
	Shards, MaxRows      string // empty for 0
	Dropped, Listed      string
	Weight               string
	Kept                 []string
	SetAside, Region     bool
	EscapedFormulas      bool
	OneAccount           bool
	Several              int // number of pairs of columns; 0 for one pair
	Locations            []locationPart

	Box, Step       string
	Mechanism       string
	Epsilon         string
	Delta           string // of Gaussian noise, with which epsilon is rho; empty for other noise
	Level           string // within Radius; empty if epsilon was given
	Radius          string
	Example         distinction // one location
	Twice           distinction // two locations of an account
	Distinctions    []distinction
	Distinguishable string
	RowCost         string // epsilon of a row with several locations
	Total           string // epsilon of all locations together
	MeanError       string
	Error95         string
	Expected        histogramPicture

	Density, DensityCell string // empty without a recovered population
}

// locationPart describes a pair of columns.
type locationPart struct {
	Lat, Lon    string
	Count, None string // numbers of locations and of rows without one; None is empty for 0
	Map         mapPicture
	Recovered   *mapPicture // of the population behind them, beside the map; nil without one
}

func newPublicPart(p Public) publicPart {
	g := promised(&p)
	width := binWidth(p.noise())
	page := publicPart{
		About:     About{printable.Text(p.About.Title), printable.Text(p.About.Description), printable.Text(p.About.License), printable.Text(p.About.Contact)},
		Generator: "geosql " + version.Version,
		Output:    printable.Text(p.Output), SHA256: printable.Text(p.SHA256),
		Time: p.Time.UTC().Format(time.DateTime),
		Rows: count(p.Rows), Weight: printable.Text(p.Weight), Kept: printables(p.Kept),
		SetAside: p.SetAside, Region: p.Region, OneAccount: p.OneAccount, EscapedFormulas: p.EscapedFormulas,
		Box: boxText(p.Box), Step: exactLength(p.Step), Mechanism: p.Law.String(), Epsilon: plainly(p.Epsilon),
		Example:         g.at(g.example(p.Radius), 1),
		Twice:           g.at(g.example(p.Radius), 2),
		Distinctions:    g.table(p.Radius),
		Distinguishable: exactLength(g.distinguishable()),
		MeanError:       length(p.MeanError), Error95: length(p.Error95),
		Expected: newHistogram("expected", "Expected distances between published and true locations",
			width, expectedShares(p.noise(), width), nil),
	}
	if g.gauss {
		page.Delta = plainly(aside)
	}
	if p.Shards > 0 {
		page.Shards, page.Listed = count(int64(p.Shards)), printable.Text(p.Listed)
	}
	for _, c := range p.Also {
		page.Also = append(page.Also, Copy{printable.Text(c.File), printable.Text(c.SHA256)})
	}
	if p.Density != "" {
		page.Density, page.DensityCell = printable.Text(p.Density), exactLength(p.DensityCell)
	}
	if p.MaxRows > 0 {
		page.MaxRows, page.Dropped = count(int64(p.MaxRows)), count(p.Dropped)
	}
	if p.Radius != 0 {
		page.Level, page.Radius = about(p.Level, 4), exactLength(p.Radius)
	}
	if n := len(p.Locations); n > 1 {
		page.Several = n
		page.RowCost = about(float64(n)*p.Epsilon, 4)
	}
	var all int64
	for i, l := range p.Locations {
		page.Locations = append(page.Locations, newLocationPart(i, l, p.Rows))
		all += l.Released.Total()
	}
	page.Total = about(float64(all)*p.Epsilon, 4)
	return page
}

func newLocationPart(i int, l Location, rows int64) locationPart {
	n := l.Released.Total()
	part := locationPart{Lat: printable.Text(l.Lat), Lon: printable.Text(l.Lon), Count: count(n)}
	if n < rows {
		part.None = count(rows - n)
	}
	// The colours depend on this map only: colours shared with the map of the raw
	// locations would reveal how crowded these are.
	starts := colours(l.Released.highest())
	if l.Recovered != nil {
		starts = colours(max(l.Released.highest(), l.Recovered.highest()))
		recovered := newMap(fmt.Sprintf("recovered-%d", i), "Recovered population", l.Recovered, starts)
		part.Recovered = &recovered
	}
	part.Map = newMap(fmt.Sprintf("released-%d", i), "Published locations", l.Released, starts)
	return part
}

func boxText(b Box) string {
	return fmt.Sprintf("from %s to %s and from %s to %s",
		exactAngle(b.South, "N", "S"), exactAngle(b.North, "N", "S"),
		exactAngle(b.West, "E", "W"), exactAngle(b.East, "E", "W"))
}

func printables(names []string) []string {
	clean := make([]string, len(names))
	for i, name := range names {
		clean[i] = printable.Text(name)
	}
	return clean
}
