package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// What the owner declares is kept in tables of the main database, named in full
// so that a temporary table cannot stand in for them. Each statement reads what it
// needs again; what is built from a declaration is remembered by its content.
//
// No statement stays prepared between calls: it would keep a closed connection
// alive.
const schema = `
CREATE TABLE IF NOT EXISTS main.geosql_domain(
  name TEXT PRIMARY KEY, south REAL NOT NULL, west REAL NOT NULL,
  north REAL NOT NULL, east REAL NOT NULL, step_m REAL NOT NULL, region TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_region(domain TEXT PRIMARY KEY NOT NULL, rows BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_universe(
  name TEXT PRIMARY KEY, lo REAL NOT NULL, hi REAL NOT NULL,
  step REAL NOT NULL, unit TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_markov(name TEXT PRIMARY KEY NOT NULL, model BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_cip(name TEXT PRIMARY KEY NOT NULL, policy TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_optimal(name TEXT PRIMARY KEY NOT NULL, mechanism BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS main.geosql_trace(
  trace TEXT PRIMARY KEY, account TEXT NOT NULL, mechanism TEXT NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.geosql_ledger(id TEXT PRIMARY KEY) WITHOUT ROWID;`

// query runs one statement on the user's connection and calls row for each row.
// Parameters are float64, string or []byte.
func (s *session) query(sql string, row func(*sqlite.Stmt), params ...any) error {
	stmt, _, err := s.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, p := range params {
		switch v := p.(type) {
		case float64:
			stmt.BindFloat(i+1, v)
		case string:
			stmt.BindText(i+1, v)
		case []byte:
			stmt.BindBlob(i+1, v)
		}
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if row != nil {
			row(stmt)
		}
	}
}

// read is query on a declaration table, which is empty before the first
// declaration made it.
func (s *session) read(sql string, row func(*sqlite.Stmt), params ...any) error {
	err := s.query(sql, row, params...)
	if err != nil && isUndeclared(err) {
		return nil
	}
	return err
}

// isUndeclared reports whether a declaration's table is missing.
func isUndeclared(err error) bool {
	table, missing := strings.CutPrefix(err.Error(), "no such table: ")
	return missing && strings.Contains(table, ".geosql_")
}

// identifier is a name as SQL takes it whatever it holds.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// write is query after the tables were made.
func (s *session) write(sql string, params ...any) error {
	if err := s.conn.Exec(schema); err != nil {
		return err
	}
	return s.query(sql, nil, params...)
}

// declare returns what is declared, and first declares it unless something is: with a
// statement that changes nothing that is there, after which it is read again, since
// another process may be declaring it at the same time.
func declare[T any](s *session, read func() (there T, found bool, err error), insert string, params ...any) (there T, err error) {
	there, found, err := read()
	if err != nil || found {
		return there, err
	}
	if err := s.write(insert, params...); err != nil {
		return there, err
	}
	there, _, err = read()
	return there, err
}

func columnText(st *sqlite.Stmt, i int) string {
	v := st.Column(i)
	if v.Type() != sqlite.Text {
		return ""
	}
	return v.Text()
}

// columnBlob is a copy of a blob, nil for anything else.
func columnBlob(st *sqlite.Stmt, i int) []byte {
	v := st.Column(i)
	if v.Type() != sqlite.Blob {
		return nil
	}
	return append([]byte{}, v.Bytes()...)
}

func columnInt(st *sqlite.Stmt, i int) int {
	v := st.Column(i)
	if v.Type() != sqlite.Integer {
		return 0
	}
	return int(v.Int())
}

func columnFloat(st *sqlite.Stmt, i int) float64 {
	v := st.Column(i)
	if v.Type() == sqlite.Integer {
		return float64(v.Int())
	}
	return v.Float()
}

// declaredDomain is what stands in geosql_domain.
type declaredDomain struct {
	name                            string
	south, west, north, east, stepM float64
	region                          string
}

// whole is the domain without its region.
func (d declaredDomain) whole() (*planar.Domain, error) {
	return planar.NewDomain(d.name, d.south, d.west, d.north, d.east, d.stepM)
}

// build is the domain that d declares. What was built is remembered.
func (s *session) build(d declaredDomain) (*planar.Domain, error) {
	if domain := s.domains[d]; domain != nil {
		return domain, nil
	}
	domain, err := d.whole()
	if err == nil && d.region != "" {
		domain, err = s.restrict(domain, d.region)
	}
	if err == nil {
		s.domains[d] = domain
	}
	return domain, err
}

// restrict is the domain with its region: from stored rows, or computed where there are
// none that belong to it, as after a declaration by an earlier version.
func (s *session) restrict(domain *planar.Domain, wkt string) (*planar.Domain, error) {
	rows, err := s.regionRows(domain.Name())
	if err != nil {
		return nil, err
	}
	if restricted, err := domain.WithRegionRows(wkt, rows); err == nil {
		return restricted, nil
	}
	err = s.untilInterrupted(func(ctx context.Context) (err error) {
		domain, err = domain.WithRegion(ctx, wkt)
		return err
	})
	return domain, err
}

// regionRows is what is stored for the region of a domain, nil for nothing.
func (s *session) regionRows(domain string) (rows []byte, err error) {
	err = s.read(`SELECT rows FROM main.geosql_region WHERE domain = ?`, func(st *sqlite.Stmt) {
		rows = columnBlob(st, 0)
	}, domain)
	return rows, err
}

// storeRegion keeps the rows of a domain's region for other connections.
func (s *session) storeRegion(domain *planar.Domain) error {
	stored, err := s.regionRows(domain.Name())
	if err != nil {
		return err
	}
	rows := domain.RegionRows()
	if bytes.Equal(rows, stored) {
		return nil
	}
	return s.write(`INSERT OR REPLACE INTO main.geosql_region(domain, rows) VALUES(?,?)`, domain.Name(), rows)
}

func (s *session) readDomain(name string) (d declaredDomain, found bool, err error) {
	err = s.read(`SELECT name, south, west, north, east, step_m, region FROM main.geosql_domain WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = declaredDomain{columnText(st, 0), columnFloat(st, 1), columnFloat(st, 2),
				columnFloat(st, 3), columnFloat(st, 4), columnFloat(st, 5), columnText(st, 6)}
		}, name)
	return d, found, err
}

// domain is the domain that argument i names, or the only one there is.
func (s *session) domain(c call, i int) (*planar.Domain, error) {
	if !c.given(i) {
		return s.onlyDomain()
	}
	name, err := c.text(i)
	if err != nil {
		return nil, err
	}
	d, err := s.domainNamed(name)
	if err == nil && d == nil {
		err = c.undeclared(s, i, "domain")
	}
	return d, err
}

// domainNamed is nil for a domain that is not declared.
func (s *session) domainNamed(name []byte) (*planar.Domain, error) {
	declared, found, err := s.readDomain(string(name))
	if err != nil || !found {
		return nil, err
	}
	return s.build(declared)
}

func (s *session) onlyDomain() (*planar.Domain, error) {
	names, err := s.names("domain")
	if err != nil {
		return nil, err
	}
	switch len(names) {
	case 0:
		return nil, errors.New("domain is missing: none is declared, declare one with SELECT geo_domain(name, south, west, north, east, step_m)")
	case 1:
		return s.domainNamed([]byte(names[0]))
	}
	return nil, fmt.Errorf("domain is missing: several are declared (%s)", strings.Join(names, ", "))
}

// names lists what is declared as kind: "domain", "universe", "markov" or
// "optimal".
func (s *session) names(kind string) (names []string, err error) {
	err = s.read(`SELECT name FROM main.geosql_`+kind+` ORDER BY name`,
		func(st *sqlite.Stmt) { names = append(names, columnText(st, 0)) })
	return names, err
}

// undeclared is the error about argument i, which names no declaration of its
// kind.
func (c call) undeclared(s *session, i int, kind string) error {
	there := "none is"
	if names, err := s.names(kind); err == nil && len(names) > 0 {
		there = "there are: " + strings.Join(names, ", ")
	}
	return c.bad(i, "%s is not declared (%s)", quoted(c.Arg(i).Bytes()), there)
}

// declaredUniverse is what stands in geosql_universe.
type declaredUniverse struct {
	name         string
	lo, hi, step float64
	unit         string
}

func (d declaredUniverse) open() (*scalar.Universe, error) {
	return scalar.NewUniverse(d.name, d.lo, d.hi, d.step, budget.Unit(d.unit))
}

func (s *session) readUniverse(name string) (d declaredUniverse, found bool, err error) {
	err = s.read(`SELECT name, lo, hi, step, unit FROM main.geosql_universe WHERE name = ?`,
		func(st *sqlite.Stmt) {
			found = true
			d = declaredUniverse{columnText(st, 0), columnFloat(st, 1), columnFloat(st, 2),
				columnFloat(st, 3), columnText(st, 4)}
		}, name)
	return d, found, err
}

// universe is the universe that argument i names.
func (s *session) universe(c call, i int) (*scalar.Universe, error) {
	name, err := c.text(i)
	if err != nil {
		return nil, err
	}
	declared, found, err := s.readUniverse(string(name))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, c.undeclared(s, i, "universe")
	}
	if u := s.universes[declared]; u != nil {
		return u, nil
	}
	u, err := declared.open()
	if err == nil {
		s.universes[declared] = u
	}
	return u, err
}
