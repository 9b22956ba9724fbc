// Package declared reads the declarations of a database's owner: domains, universes, models, priors and
// mechanisms. It imports the frame and the mechanisms that it builds, and families of functions import it. Start with
// [Domain] and [Universe], which resolve the name that an argument has.
package declared

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// Declare returns the declaration. If there is none, it first runs the statement insert, which
// must not change an existing declaration, and reads again, since another process may be
// declaring at the same time.
func Declare[T any](s *frame.Session, read func() (declared T, found bool, err error), insert string, params ...any) (declared T, err error) {
	declared, found, err := read()
	if err != nil || found {
		return declared, err
	}
	if err := s.Write(insert, params...); err != nil {
		return declared, err
	}
	declared, _, err = read()
	return declared, err
}

// Blobs is the table of a kind of declarations that are blobs under names.
type Blobs struct{ kind, table, column string }

// read returns the blob of a name, nil if none is stored.
func (b Blobs) read(s *frame.Session, name string) (data []byte, err error) {
	err = s.Read(`SELECT `+b.column+` FROM main.`+b.table+` WHERE name = ?`, func(st *sqlite.Stmt) {
		data = frame.ColumnBlob(st, 0)
	}, name)
	return data, err
}

// Insert is the statement that stores the blob of a name unless there is one.
func (b Blobs) Insert() string {
	return `INSERT OR IGNORE INTO main.` + b.table + `(name, ` + b.column + `) VALUES(?,?)`
}

// Store stores a blob under a name. It is an error if another one is stored there.
func (b Blobs) Store(s *frame.Session, name string, data []byte) error {
	earlier, err := Declare(s, func() ([]byte, bool, error) {
		stored, err := b.read(s, name)
		return stored, stored != nil, err
	}, b.Insert(), name, data)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, earlier) {
		return b.ErrStored(name)
	}
	return nil
}

// ErrStored returns the error for a name under which another blob is stored.
func (b Blobs) ErrStored(name string) error {
	return fmt.Errorf("%s '%s' is stored already and cannot change; take another name", b.kind, name)
}

// declaredNames returns the names of the declarations of a kind, such as "domain": that is
// the name of its table without the prefix geosql_.
func declaredNames(s *frame.Session, kind string) (names []string, err error) {
	err = s.Read(`SELECT name FROM main.geosql_`+kind+` ORDER BY name`,
		func(st *sqlite.Stmt) { names = append(names, frame.ColumnText(st, 0)) })
	return names, err
}

// declaring holds the calls that declare a domain and a universe.
var declaring = map[string]string{
	"domain":   "geo_domain(name, south, west, north, east, step_m)",
	"universe": "dx_universe(name, lo, hi, step, unit)",
}

// Undeclared returns the error about an argument that names no declaration of its kind.
func Undeclared(c frame.Call, a *frame.Arg, kind string) error {
	there := "none is"
	if call := declaring[kind]; call != "" {
		there += "; declare it with SELECT " + call
	}
	if names, err := declaredNames(c.Session, kind); err == nil && len(names) > 0 {
		there = "there are: " + strings.Join(names, ", ")
	}
	return c.Errorf(a, "%s is not declared (%s)", frame.Quoted(c.Bytes(a)), there)
}

// parseStored returns the meaning of a stored value. It is remembered by the content of
// the value, as long as its domain stays the same.
func parseStored[T any](s *frame.Session, m *frame.Memo[string, T], data []byte,
	parse func([]byte, func(string) (*planar.Domain, error)) (T, error), domainOf func(T) *planar.Domain) (T, error) {
	if v, ok := m.Entries(s)[string(data)]; ok {
		was := domainOf(v)
		if domain, err := ResolveDomain(s, was.Name()); err != nil || domain == was {
			return v, err
		}
	}
	v, err := parse(data, DomainResolver(s))
	if err == nil {
		m.Put(s, string(data), v)
	}
	return v, err
}
