package catalog

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// The id of a sealed database commits to its declarations: its sealed columns with their
// universes and domains, and all columns of the tables that have them. Sessions are bound to the
// id, and the owner's ledger knows it. So a collector, who has neither ledger nor private key, can
// rely on the declarations of the database: if somebody has changed them, the collector notices, and if
// the id was changed with it, no value of the collector opens. Otherwise a finer step would
// scale its readings up, and a new public column would get what its file has under that name.

// errChanged says that the declarations of a database have changed since it was sealed.
var errChanged = errors.New("the columns, universes or domains of this database differ from those at its sealing: " +
	"nothing can be sealed for it any more, unless they are put back")

// saltSize is the length of the random part of the input of an id.
const saltSize = 16

// Identify gives an id to a database that has its tables and declares its columns, and returns it.
func Identify(conn *sqlite.Conn) (id sealed.DatabaseID, err error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	columns, err := readColumns(conn)
	if err == nil {
		id, err = identity(conn, salt, columns)
	}
	if err != nil {
		return id, err
	}
	return id, exec(conn, "INSERT INTO main.geosql_sealed VALUES (?1, ?2)", id[:], salt)
}

// ReadColumns returns the id of the main database of a connection and the columns that it
// declares, for a collector. It returns an error if these differ from those at its sealing,
// and ErrNotSealed for a database that is not sealed.
func ReadColumns(conn *sqlite.Conn) (id sealed.DatabaseID, columns []Column, err error) {
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
	if columns, err = readColumns(conn); err != nil {
		return id, nil, err
	}
	declared, err := identity(conn, salt, columns)
	if err == nil && (declared != id || len(salt) != saltSize) {
		err = errChanged
	}
	return id, columns, err
}

// readColumns returns the sealed columns as the database declares them.
func readColumns(conn *sqlite.Conn) (columns []Column, err error) {
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
		c := Column{Number: uint32(number), Table: v[1].Text(), Name: v[2].Text(), Account: v[3].Text()}
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

// identity returns the id that a database with these sealed columns has with a salt. It is the
// beginning of the SHA-256 hash of a list of texts and numbers: each text has its length in 4 bytes
// before it, and a number is a float64, in 8 bytes.
func identity(conn *sqlite.Conn, salt []byte, columns []Column) (id sealed.DatabaseID, err error) {
	b := append([]byte("geosql database 1\x00"), salt...)
	text := func(all ...string) {
		for _, s := range all {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
		}
	}
	number := func(all ...float64) {
		for _, x := range all {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	var tables []string
	number(float64(len(columns)))
	for _, c := range columns {
		number(float64(c.Number))
		text(c.Table, c.Name, c.Account)
		if u := c.Universe; u != nil {
			text("universe", u.Name, u.Unit)
			number(u.Lo, u.Hi, u.Step)
		}
		if d := c.Domain; d != nil {
			text("domain", d.Name, d.Region)
			number(d.South, d.West, d.North, d.East, d.StepM)
		}
		if !slices.Contains(tables, c.Table) {
			tables = append(tables, c.Table)
		}
	}
	for _, t := range tables {
		names, types, err := TableColumns(conn, t)
		if err != nil {
			return id, err
		}
		text(t)
		number(float64(len(names)))
		for i := range names {
			text(names[i], types[i])
		}
	}
	hash := sha256.Sum256(b)
	return sealed.DatabaseID(hash[:len(id)]), nil
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
