package location

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// An aggregate answers about sets of locations, over plain ones and over sealed ones.
type aggregate struct {
	domain *frame.Arg // of plain locations
	perRow bool       // each account is charged for each of its locations, and else once
	newSet func() set // of a group
}

// A set holds the locations of a group.
type set interface {
	// begin reads the settings of a call for locations on a domain, and returns the price of the answer.
	begin(c frame.Call, domain *planar.Domain) (budget.Price, error)

	add(lat, lon float64)
	clear()
	bytes() int64 // how much memory the set takes with one location more

	// answer draws, or returns a stand-in.
	answer(paid frame.Receipt) frame.Answer
}

// plain returns a group of plain locations.
func (a *aggregate) plain(*frame.Session) frame.Group {
	return &plainGroup{aggregate: a, set: a.newSet()}
}

// sealed returns a group of sealed locations.
func (a *aggregate) sealed(*frame.Session) frame.Group {
	return unseal.NewGroup(&sealedForm{aggregate: a, set: a.newSet()})
}

// plainGroup is a group of plain locations. Nothing is charged or drawn before it is complete.
type plainGroup struct {
	*aggregate
	set
	price  budget.Price
	paying frame.Contributors
}

func (g *plainGroup) Begin(c frame.Call) error {
	domain, err := declared.Domain(c, g.domain)
	if err != nil {
		return err
	}
	g.price, err = g.begin(c, domain)
	return err
}

func (g *plainGroup) Row(c frame.Call) error {
	lat, lon, absent := c.Location(frame.ArgLat, frame.ArgLon)
	if absent {
		return nil
	}
	if err := g.paying.Contribute(c); err != nil {
		return err
	}
	g.add(lat, lon)
	return nil
}

// Final charges all accounts in one transaction and draws.
func (g *plainGroup) Final(c frame.Call) error {
	paid, err := g.paying.Pay(c, g.price, g.perRow)
	if err != nil {
		return err
	}
	return c.Result(g.answer(paid), nil)
}

// sealedForm is a set of sealed locations.
type sealedForm struct {
	*aggregate
	set
}

func (f *sealedForm) Start(c frame.Call, of unseal.Range) (terms unseal.Terms, err error) {
	domain, err := unseal.DomainOf(c.Session, of)
	if err != nil {
		return terms, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	if f.perRow {
		terms.Per = unseal.PerRow
	}
	terms.Price, err = f.begin(c, domain)
	return terms, err
}

func (f *sealedForm) Add(_ int, d sealed.Data) { f.add(unseal.Degrees(d)) }
func (f *sealedForm) Bytes(int64) int64        { return f.bytes() }
func (f *sealedForm) Clear()                   { f.clear() }

func (f *sealedForm) Draw(_ frame.Call, paid frame.Receipt) frame.Answer { return f.answer(paid) }
