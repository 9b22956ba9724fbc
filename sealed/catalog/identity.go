package catalog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// errChanged says that the declarations of a database have changed since it was sealed.
var errChanged = errors.New("the columns, universes or domains of this database differ from those at its sealing: " +
	"nothing can be sealed for it any more, unless they are put back")

// Identify gives an id to a database that has its tables and declares its columns, and returns it.
func Identify(conn *sqlite.Conn) (id sealed.DatabaseID, err error) {
	salt := make([]byte, sealed.SaltSize)
	rand.Read(salt)
	d, err := readDeclaration(conn, salt)
	if err != nil {
		return id, err
	}
	id = d.ID()
	return id, exec(conn, "INSERT INTO main.geosql_sealed VALUES (?1, ?2)", id[:], salt)
}

// ReadDeclaration returns the id of the main database of a connection and the declaration that it
// has, for a collector. It returns an error if that differs from the declaration at its sealing,
// and ErrNotSealed for a database that is not sealed.
func ReadDeclaration(conn *sqlite.Conn) (id sealed.DatabaseID, d *sealed.Declaration, err error) {
	if id, err = ReadID(conn); err != nil {
		return id, nil, err
	}
	var salt []byte
	err = each(conn, "SELECT salt FROM main.geosql_sealed", func(v []sqlite.Value) error {
		salt, _ = blob(v[0])
		return nil
	})
	if err != nil {
		return id, nil, err
	}
	d, err = readDeclaration(conn, salt)
	if err == nil && (d.ID() != id || len(salt) != sealed.SaltSize) {
		err = errChanged
	}
	return id, d, err
}

// readDeclaration reads the declaration of the database.
func readDeclaration(conn *sqlite.Conn, salt []byte) (*sealed.Declaration, error) {
	columns, err := readColumns(conn)
	if err != nil {
		return nil, err
	}
	d := &sealed.Declaration{Salt: salt, Columns: columns}
	for _, name := range d.TableNames() {
		names, types, err := TableColumns(conn, name)
		if err != nil {
			return nil, err
		}
		t := sealed.Table{Name: name}
		for i := range names {
			t.Columns = append(t.Columns, sealed.TableColumn{Name: names[i], Type: types[i]})
		}
		d.Tables = append(d.Tables, t)
	}
	return d, nil
}

// readColumns returns the sealed columns as the database declares them.
func readColumns(conn *sqlite.Conn) (columns []sealed.Column, err error) {
	const sql = `SELECT c.number, c.tbl, c.col, c.account, c.kind, c.name, u.lo, u.hi, u.step, u.unit,
		d.south, d.west, d.north, d.east, d.step_m, d.region
		FROM main.geosql_sealed_column c
		LEFT JOIN main.geosql_universe u ON c.kind = 'universe' AND u.name = c.name
		LEFT JOIN main.geosql_domain d ON c.kind = 'domain' AND d.name = c.name
		ORDER BY c.number`
	err = each(conn, sql, func(v []sqlite.Value) error {
		number := v[0].Int()
		if number < 1 || number > math.MaxUint32 {
			return errChanged
		}
		for i := range 5 {
			if v[1+i].Type() != sqlite.Text {
				return errChanged
			}
		}
		c := sealed.Column{Number: uint32(number), Table: v[1].Text(), Name: v[2].Text(), Account: v[3].Text()}
		ok := false
		switch name := v[5].Text(); v[4].Text() {
		case "universe":
			c.Universe = &Universe{Name: name}
			ok = numbers(v[6:9], &c.Universe.Lo, &c.Universe.Hi, &c.Universe.Step) && v[9].Type() == sqlite.Text
			if ok {
				c.Universe.Unit = v[9].Text()
			}
		case "domain":
			c.Domain = &Domain{Name: name}
			d := c.Domain
			ok = numbers(v[10:15], &d.South, &d.West, &d.North, &d.East, &d.StepM)
			if v[15].Type() == sqlite.Text {
				d.Region = v[15].Text()
			}
		}
		if !ok {
			return errChanged
		}
		columns = append(columns, c)
		return nil
	})
	return columns, err
}

// numbers sets to to values. It reports false if one is not a number.
func numbers(values []sqlite.Value, to ...*float64) bool {
	for i, x := range to {
		switch v := &values[i]; v.Type() {
		case sqlite.Integer:
			*x = float64(v.Int())
		case sqlite.Float:
			*x = v.Float()
		default:
			return false
		}
	}
	return true
}

// TableColumns returns the names and the types of all columns of a table of the main database.
func TableColumns(conn *sqlite.Conn, table string) (names, types []string, err error) {
	err = conn.Each(`SELECT x.name, x.type FROM main.sqlite_schema s, pragma_table_xinfo(s.name, 'main') x
		WHERE s.type = 'table' AND s.name = ?1 ORDER BY x.cid`, func(v []sqlite.Value) error {
		names, types = append(names, v[0].Text()), append(types, v[1].Text())
		return nil
	}, table)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("there is no table %s", table)
	}
	return names, types, err
}
