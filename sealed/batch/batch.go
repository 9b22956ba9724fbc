// Package batch seals rows where they arise, on somebody's device, as lines of text that 'geosql append' adds to the owner's
// database. It imports sealed and mechanism/nearest only, so that it fits into a small module of WebAssembly. Start at [New].
//
// The lines of a batch are JSON, in this order: its session, the accounts of its rows, its rows, and its end, which the collector
// has signed. docs/sealed.md has the form. Rows are sealed together, in random order, when a batch ends: so counters and places
// tell nothing of when or in which order rows arose. That is Lemma 3's condition there.
//
// # A batch has a session of its own
//
// A batch is added to the database as a whole, once: its session is there, or it is not. Were there several batches to
// a session, append would have to look through the table for the counters that it has already.
//
// A device does not have the database, so it draws the number of its session at random, as append does, and 'geosql append'
// refuses a number that is taken. Of n sessions one is refused with a probability of about n/2^32.
package batch

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/geosql/geosql/mechanism/nearest"
	"github.com/geosql/geosql/sealed"
)

// A Kind is the kind of a column.
type Kind int

// The kinds of columns.
const (
	Account Kind = iota
	Public
	Reading
	Location
)

// A Sealer seals rows for one table. It is not safe for concurrent use.
type Sealer struct {
	owner    sealed.PublicKey
	signer   *sealed.PrivateKey
	database sealed.DatabaseID
	table    string
	columns  []column
	rows     []row
}

type column struct {
	name   string
	kind   Kind
	number uint32 // of a sealed column
	steps  nearest.Steps
	box    nearest.Box
}

// A row keeps secrets in the form that is sealed.
type row struct {
	account string
	cells   []cell
}

type cell struct {
	present bool
	data    sealed.Data
	json    string // of a public column
}

// Errors of New.
var (
	errNoTable  = errors.New("the declaration has no sealed table of this name")
	errUniverse = errors.New("the declaration has a universe that geosql would not declare")
	errNoKind   = errors.New("the declaration has a column with neither a universe nor a domain")
)

// New returns a sealer for a table, in whatever case, of the database with a declaration. The signer is
// the collector's key, which the owner has enrolled.
func New(owner sealed.PublicKey, signer *sealed.PrivateKey, d *sealed.Declaration, table string) (*Sealer, error) {
	t, columns, account, found := d.Table(table)
	if !found {
		return nil, errNoTable
	}
	s := &Sealer{owner: owner, signer: signer, database: d.ID(), table: t.Name}
	for i, c := range columns {
		of, err := newColumn(t.Columns[i].Name, c)
		if err != nil {
			return nil, err
		}
		if i == account {
			of.kind = Account
		}
		s.columns = append(s.columns, of)
	}
	return s, nil
}

func newColumn(name string, c *sealed.Column) (column, error) {
	if c == nil {
		return column{name: name, kind: Public}, nil
	}
	of := column{name: name, number: c.Number}
	switch {
	case c.Universe != nil:
		steps, ok := nearest.StepsOf(c.Universe.Lo, c.Universe.Hi, c.Universe.Step)
		if !ok {
			return of, errUniverse
		}
		of.kind, of.steps = Reading, steps
	case c.Domain != nil:
		of.kind, of.box = Location, nearest.NewBox(c.Domain.South, c.Domain.West, c.Domain.North, c.Domain.East)
	default:
		return of, errNoKind
	}
	return of, nil
}

// Columns returns how many columns the table has. A row has a cell for each.
func (s *Sealer) Columns() int { return len(s.columns) }

// Column returns the name and the kind of column i.
func (s *Sealer) Column(i int) (name string, kind Kind) { return s.columns[i].name, s.columns[i].kind }

// A Row is a row that is not complete yet.
type Row struct {
	sealer *Sealer
	row    row
}

// NewRow returns a row of NULLs of the account of a name, to be completed and then given to Add.
func (s *Sealer) NewRow(account string) *Row {
	return &Row{s, row{account, make([]cell, len(s.columns))}}
}

// SetReading sets column i, of readings, to the value of the universe that is nearest to x, which is finite.
func (r *Row) SetReading(i int, x float64) {
	r.row.cells[i] = cell{present: true, data: sealed.OfReading(r.sealer.columns[i].steps.Index(x))}
}

// SetLocation sets column i, of locations, to the location in the box of the domain that is nearest to one on Earth.
func (r *Row) SetLocation(i int, lat, lon float64) {
	r.row.cells[i] = cell{present: true, data: sealed.OfLocation(r.sealer.columns[i].box.InUnits(lat, lon))}
}

// SetPublic sets column i, which is public, to a number or a text in JSON.
func (r *Row) SetPublic(i int, json string) { r.row.cells[i] = cell{present: true, json: json} }

// Add adds a row to the batch.
func (s *Sealer) Add(r *Row) error {
	if err := sealed.CheckAccountName(r.row.account); err != nil {
		return err
	}
	s.rows = append(s.rows, r.row)
	return nil
}

// Len returns how many rows the batch has.
func (s *Sealer) Len() int { return len(s.rows) }

// Seal returns the lines of the batch, and begins another one, without rows.
func (s *Sealer) Seal() (string, error) {
	var number [4]byte
	for number == [4]byte{} {
		rand.Read(number[:])
	}
	sealer, session, err := sealed.NewSession(s.owner, s.database, binary.BigEndian.Uint32(number[:]), s.signer.Signer())
	if err != nil {
		return "", err
	}
	sealed.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
	b := s.appendSession(nil, session)
	accounts := map[string]sealed.Account{}
	for _, r := range s.rows {
		if _, known := accounts[r.account]; known {
			continue
		}
		a, err := sealed.AccountOf(s.signer.Signer(), s.database, r.account)
		if err != nil {
			return "", err
		}
		entry, err := sealer.SealAccount(a.Number, r.account)
		if err != nil {
			return "", err
		}
		accounts[r.account] = a
		b = append(b, `{"account":"`+a.Pseudonym+`","sealed":"`+encode(entry)+"\"}\n"...)
	}
	for _, r := range s.rows {
		if b, err = s.appendRow(b, r, accounts[r.account], sealer); err != nil {
			return "", err
		}
	}
	signature := ed25519.Sign(s.signer.Signer(), Signed(b))
	b = append(b, `{"end":`+strconv.Itoa(len(s.rows))+`,"signature":"`+encode(signature)+"\"}\n"...)
	s.rows = nil
	return string(b), nil
}

// Signed returns the text that the collector signs: of the lines of a batch before the last. The first of them has the database.
func Signed(lines []byte) []byte {
	hash := sha256.Sum256(lines)
	return append([]byte("geosql batch 1\x00"), hash[:]...)
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (s *Sealer) appendSession(b []byte, of *sealed.Session) []byte {
	return append(b, `{"session":`+strconv.FormatUint(uint64(of.Number), 10)+
		`,"database":"`+hex.EncodeToString(s.database[:])+`","table":`+quote(s.table)+
		`,"key":"`+hex.EncodeToString(of.Key[:])+`","enc":"`+encode(of.Enc)+
		`","signer":"`+encode(of.Signer)+`","signature":"`+encode(of.Signature)+"\"}\n"...)
}

// appendRow seals a row. Its cells are in the order of the table's columns.
func (s *Sealer) appendRow(b []byte, r row, a sealed.Account, sealer *sealed.Sealer) ([]byte, error) {
	b = append(b, `{"row":`...)
	separator := byte('[')
	for i, c := range s.columns {
		b = append(b, separator)
		separator = ','
		switch cell := r.cells[i]; {
		case c.kind == Account:
			b = append(b, `"`+a.Pseudonym+`"`...)
		case !cell.present:
			b = append(b, "null"...)
		case c.kind == Public:
			b = append(b, cell.json...)
		default:
			var v sealed.Value
			if err := sealer.Seal(&v, c.number, sealed.Contents{Account: a.Number, Data: cell.data}); err != nil {
				return b, err
			}
			b = append(b, `"`+encode(v[:])+`"`...)
		}
	}
	return append(b, "]}\n"...), nil
}

// quote returns a text in JSON.
func quote(text string) string {
	b := []byte{'"'}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, `\u00`+hex.EncodeToString([]byte{c})...)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
