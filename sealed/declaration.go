package sealed

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// A Column is a sealed column. Either Universe or Domain is there.
type Column struct {
	Number   uint32    `json:"number"` // from 1
	Table    string    `json:"table"`
	Name     string    `json:"column"`
	Account  string    `json:"account"` // the column of the account's pseudonym
	Universe *Universe `json:"universe,omitempty"`
	Domain   *Domain   `json:"domain,omitempty"`
}

// A Universe is a declaration of dx_universe.
type Universe struct {
	Name string  `json:"name"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
	Step float64 `json:"step"`
	Unit string  `json:"unit"`
}

// A Domain is a declaration of geo_domain and geo_region.
type Domain struct {
	Name   string  `json:"name"`
	South  float64 `json:"south"`
	West   float64 `json:"west"`
	North  float64 `json:"north"`
	East   float64 `json:"east"`
	StepM  float64 `json:"step_m"`
	Region string  `json:"region,omitempty"` // WKT
}

// A Table is a table that has sealed columns, with all its columns.
type Table struct {
	Name    string        `json:"table"`
	Columns []TableColumn `json:"columns"`
}

// A TableColumn is a column with its type, as the table was created with them.
type TableColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// SaltSize is the length of Declaration.Salt.
const SaltSize = 16

// A Declaration is all that a collector has to know of a database to seal for it: the sealed columns with their universes and
// domains, and all columns of the tables that have them. The id of the database commits to it. So
// a collector, who has neither ledger nor private key, can rely on it: if somebody has changed it, the collector notices, and
// if the id was changed with it, no value of the collector opens. Otherwise a finer step would
// scale its readings up, and a new public column would get what its file has under that name.
type Declaration struct {
	Salt    []byte   `json:"salt"`    // drawn at random for the database
	Columns []Column `json:"columns"` // by their numbers
	Tables  []Table  `json:"tables"`
}

// TableNames returns the names of the tables, in the order of their first columns.
func (d *Declaration) TableNames() (names []string) {
	for _, c := range d.Columns {
		if !slices.Contains(names, c.Table) {
			names = append(names, c.Table)
		}
	}
	return names
}

// Table returns the table with a name, in whatever case; for each of its columns the sealed one, or nil for
// another; and the index of the column of accounts. It reports false if there is no such table.
func (d *Declaration) Table(name string) (t Table, columns []*Column, account int, found bool) {
	i := slices.IndexFunc(d.Tables, func(t Table) bool { return strings.EqualFold(t.Name, name) })
	if i < 0 {
		return t, nil, 0, false
	}
	t = d.Tables[i]
	place := func(name string) int {
		return slices.IndexFunc(t.Columns, func(c TableColumn) bool { return strings.EqualFold(c.Name, name) })
	}
	columns = make([]*Column, len(t.Columns))
	for j := range d.Columns {
		c := &d.Columns[j]
		if k := place(c.Name); c.Table == t.Name && k >= 0 {
			columns[k], account = c, place(c.Account)
		}
	}
	return t, columns, account, account >= 0
}

// ID returns the id of the database that has the declaration. It is the
// beginning of the SHA-256 hash of a list of texts and numbers: each text has its length in 4 bytes
// before it, and a number is a float64, in 8 bytes.
func (d *Declaration) ID() DatabaseID {
	b := append([]byte("geosql database 1\x00"), d.Salt...)
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
	number(float64(len(d.Columns)))
	for _, c := range d.Columns {
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
	}
	for _, t := range d.Tables {
		text(t.Name)
		number(float64(len(t.Columns)))
		for _, c := range t.Columns {
			text(c.Name, c.Type)
		}
	}
	hash := sha256.Sum256(b)
	return DatabaseID(hash[:len(DatabaseID{})])
}
