package declared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// DomainRow is a row of geosql_domain.
type DomainRow struct {
	Name                            string
	South, West, North, East, StepM float64
	Region                          string
}

// WithoutRegion returns the domain without its region.
func (d DomainRow) WithoutRegion() (*planar.Domain, error) {
	return planar.NewDomain(d.Name, d.South, d.West, d.North, d.East, d.StepM)
}

var domains = frame.NewMemo[DomainRow, *planar.Domain]()

// BuildDomain returns the domain that d declares.
func BuildDomain(s *frame.Session, d DomainRow) (*planar.Domain, error) {
	return domains.Get(s, d, func() (*planar.Domain, error) {
		domain, err := d.WithoutRegion()
		if err == nil && d.Region != "" {
			domain, err = restrict(s, domain, d.Region)
		}
		return domain, err
	})
}

// restrict returns the domain with its region. It uses the stored rows, or computes them if
// there are none that belong to the region, as after a declaration by an earlier version.
func restrict(s *frame.Session, domain *planar.Domain, wkt string) (*planar.Domain, error) {
	rows, err := regionRows(s, domain.Name())
	if err != nil {
		return nil, err
	}
	if restricted, err := domain.WithRegionRows(wkt, rows); err == nil {
		return restricted, nil
	}
	err = s.Interruptibly(func(ctx context.Context) (err error) {
		domain, err = domain.WithRegion(ctx, wkt)
		return err
	})
	return domain, err
}

// regionRows returns the stored rows of a domain's region, nil if there are none.
func regionRows(s *frame.Session, domain string) (rows []byte, err error) {
	err = s.Read(`SELECT rows FROM main.geosql_region WHERE domain = ?`, func(st *sqlite.Stmt) {
		rows = frame.ColumnBlob(st, 0)
	}, domain)
	return rows, err
}

// StoreRegion keeps the rows of a domain's region for other connections.
func StoreRegion(s *frame.Session, domain *planar.Domain) error {
	stored, err := regionRows(s, domain.Name())
	if err != nil {
		return err
	}
	rows := domain.RegionRows()
	if bytes.Equal(rows, stored) {
		return nil
	}
	return s.Write(`INSERT OR REPLACE INTO main.geosql_region(domain, rows) VALUES(?,?)`, domain.Name(), rows)
}

// ReadDomain returns the declaration of a domain.
func ReadDomain(s *frame.Session, name string) (d DomainRow, found bool, err error) {
	err = s.Read(`SELECT name, south, west, north, east, step_m, region FROM main.geosql_domain WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = DomainRow{frame.ColumnText(st, 0), frame.ColumnFloat(st, 1), frame.ColumnFloat(st, 2),
				frame.ColumnFloat(st, 3), frame.ColumnFloat(st, 4), frame.ColumnFloat(st, 5), frame.ColumnText(st, 6)}
		}, name)
	return d, found, err
}

// Domain returns the domain that an argument names. Without the argument it is the only one
// that is declared.
func Domain(c frame.Call, a *frame.Arg) (*planar.Domain, error) {
	if !c.Given(a) {
		return onlyDomain(c.Session)
	}
	d, err := domainNamed(c.Session, c.Text(a))
	if err == nil && d == nil {
		err = Undeclared(c, a, "domain")
	}
	return d, err
}

// domainNamed returns the domain of that name, nil if it is not declared.
func domainNamed(s *frame.Session, name string) (*planar.Domain, error) {
	declared, found, err := ReadDomain(s, name)
	if err != nil || !found {
		return nil, err
	}
	return BuildDomain(s, declared)
}

// onlyDomain returns the only domain that is declared.
func onlyDomain(s *frame.Session) (*planar.Domain, error) {
	names, err := declaredNames(s, "domain")
	if err != nil {
		return nil, err
	}
	switch len(names) {
	case 0:
		return nil, errors.New("domain is missing: none is declared, declare one with SELECT " + declaring["domain"])
	case 1:
		return domainNamed(s, names[0])
	}
	return nil, fmt.Errorf("domain is missing: several are declared (%s)", strings.Join(names, ", "))
}

// ResolveDomain returns the domain of that name. For "" it is the only one that is declared.
func ResolveDomain(s *frame.Session, name string) (*planar.Domain, error) {
	if name == "" {
		return onlyDomain(s)
	}
	domain, err := domainNamed(s, name)
	if err == nil && domain == nil {
		err = fmt.Errorf("domain %s is not declared", frame.Quoted(name))
	}
	return domain, err
}

// DomainResolver returns resolveDomain for a session.
func DomainResolver(s *frame.Session) func(name string) (*planar.Domain, error) {
	return func(name string) (*planar.Domain, error) { return ResolveDomain(s, name) }
}
