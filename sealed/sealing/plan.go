package sealing

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
)

// A Table assigns roles to the columns of a table. Columns that are neither secret nor public nor the
// account's are dropped.
type Table struct {
	Name    string
	Account string // the column of the account; may be empty if nothing is secret
	Secrets []Secret
	Public  []string // names of columns, or several names with commas between them
	Indexes []string // to make of public columns and the account's: the names of each, with commas between them
}

// A Secret names a column of readings to seal, or two of latitudes and longitudes.
type Secret struct {
	Columns string // as written: COLUMN or LAT,LON
	Of      string // name of a universe or a domain
}

// ParseSecret reads COLUMN:UNIVERSE or LAT,LON:DOMAIN.
func ParseSecret(text string) (Secret, error) {
	at := strings.LastIndexByte(text, ':')
	if at <= 0 || at == len(text)-1 {
		return Secret{}, errors.New("it must be like COLUMN:UNIVERSE or LAT,LON:DOMAIN")
	}
	return Secret{text[:at], text[at+1:]}, nil
}

// A role is the use of a column.
type role int

const (
	public role = iota
	account
	secret
)

// A table is a table that is read, and its form in the sealed database.
type table struct {
	name    string
	source  []string // columns that are read, in their order
	account int      // index in source of the account's, or -1
	columns []column // of the sealed table
	indexes []string // statements that make them
	left    []string // names of indexes of the source, which are not copied
}

// A column is one of the sealed table.
type column struct {
	role     role
	name     string
	affinity string  // public
	sealed   *Column // secret
	from     []int   // indices in source: 2 for a location, else 1
}

// A sourceColumn is the schema of a column that is read.
type sourceColumn struct{ name, affinity string }

// plan works out the new tables.
func plan(conn *sqlite.Conn, tables []Table) ([]*table, error) {
	var planned []*table
	secrets := 0
	for _, t := range tables {
		p, err := planTable(conn, t, &secrets)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(planned, func(o *table) bool { return o.name == p.name }) {
			return nil, fmt.Errorf("table %s is given twice", show(p.name))
		}
		planned = append(planned, p)
	}
	if secrets == 0 {
		return nil, errors.New("nothing is sealed: say which columns are secret with --seal COLUMN:UNIVERSE or --seal LAT,LON:DOMAIN")
	}
	return planned, nil
}

// show returns a name as messages show it.
func show(name string) string { return printable.Text(name) }

// A planner plans a table.
type planner struct {
	conn  *sqlite.Conn
	there []sourceColumn
	roles map[int]string // given for each column
	table *table
}

// planTable plans a table. It counts sealed columns in secrets.
func planTable(conn *sqlite.Conn, t Table, secrets *int) (*table, error) {
	name, strict, err := findTable(conn, t.Name)
	if err != nil {
		return nil, err
	}
	p := &planner{conn: conn, roles: map[int]string{}, table: &table{name: name, account: -1}}
	if p.there, err = sourceColumns(conn, name, strict); err != nil {
		return nil, err
	}
	all := make([][]column, len(p.there)) // the new columns in the place of each column
	if t.Account != "" {
		i, err := p.take(t.Account, "--account")
		if err != nil {
			return nil, err
		}
		all[i] = []column{{role: account, name: p.there[i].name, from: []int{i}}}
	} else if len(t.Secrets) > 0 {
		return nil, fmt.Errorf("table %s: give with --account COLUMN the account that pays for answers about sealed values", show(name))
	}
	for _, given := range t.Public {
		for _, word := range p.words(given) {
			i, err := p.take(word, "--public")
			if err != nil {
				return nil, err
			}
			all[i] = []column{{role: public, name: p.there[i].name, affinity: p.there[i].affinity, from: []int{i}}}
		}
	}
	for _, s := range t.Secrets {
		c, err := p.secret(s)
		if err != nil {
			return nil, err
		}
		all[c.from[0]] = []column{c}
	}
	p.table.columns = slices.Concat(all...)
	if len(p.table.columns) == 0 {
		return nil, fmt.Errorf("table %s: no column is sealed or public, so nothing of it would be left", show(name))
	}
	p.nameLocations()
	if err := p.planIndexes(t.Indexes); err != nil {
		return nil, err
	}
	for i := range p.table.columns {
		if c := &p.table.columns[i]; c.role == secret {
			*secrets++
			c.sealed.Number, c.sealed.Table, c.sealed.Name = uint32(*secrets), name, c.name
			if t.Account != "" {
				c.sealed.Account = p.there[p.column(t.Account)].name
			}
		}
	}
	p.compact()
	return p.table, nil
}

// findTable returns a table's name as the schema has it, and whether it is STRICT.
func findTable(conn *sqlite.Conn, given string) (name string, strict bool, err error) {
	if lower := strings.ToLower(given); strings.HasPrefix(lower, "sqlite_") || strings.HasPrefix(lower, "geosql_") {
		return "", false, fmt.Errorf("table %s is not for sealing: declarations are copied by themselves", show(given))
	}
	kind := ""
	var tables []string
	err = conn.Each("SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name", func(v []sqlite.Value) error {
		n := v[0].Text()
		if strings.EqualFold(n, given) {
			name, kind, strict = n, v[1].Text(), v[2].Int() != 0
		}
		if lower := strings.ToLower(n); v[1].Text() == "table" && !strings.HasPrefix(lower, "sqlite_") && !strings.HasPrefix(lower, "geosql_") {
			tables = append(tables, show(n))
		}
		return nil
	})
	switch {
	case err != nil:
		return "", false, err
	case kind == "view":
		err = fmt.Errorf("%s is a view: make a table of it, as with CREATE TABLE t AS SELECT * FROM %s, and seal that", show(name), sqlite.QuoteName(show(name)))
	case kind == "virtual" || kind == "shadow":
		err = fmt.Errorf("%s is a %s table: make a table of it, as with CREATE TABLE t AS SELECT * FROM %s, and seal that", show(name), kind, sqlite.QuoteName(show(name)))
	case kind == "":
		err = fmt.Errorf("there is no table %s (%s)", show(given), listed("tables", tables))
	}
	return name, strict, err
}

// listed lists the names.
func listed(things string, names []string) string {
	if len(names) == 0 {
		return "there are no " + things
	}
	return things + ": " + strings.Join(names, ", ")
}

// sourceColumns returns the columns of a table, generated ones too.
func sourceColumns(conn *sqlite.Conn, table string, strict bool) (columns []sourceColumn, err error) {
	err = conn.Each("SELECT name, type FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid", func(v []sqlite.Value) error {
		columns = append(columns, sourceColumn{v[0].Text(), affinity(v[1].Text(), strict)})
		return nil
	}, table)
	return columns, err
}

// affinity returns the affinity of a column by its declared type, as SQLite finds it.
func affinity(declared string, strict bool) string {
	declared = strings.ToUpper(declared)
	has := func(word string) bool { return strings.Contains(declared, word) }
	switch {
	case has("INT"):
		return "INTEGER"
	case has("CHAR"), has("CLOB"), has("TEXT"):
		return "TEXT"
	case has("BLOB"), declared == "", strict && declared == "ANY":
		return "BLOB"
	case has("REAL"), has("FLOA"), has("DOUB"):
		return "REAL"
	}
	return "NUMERIC"
}

// column returns the index of a column, or -1.
func (p *planner) column(name string) int {
	return slices.IndexFunc(p.there, func(c sourceColumn) bool { return strings.EqualFold(c.name, name) })
}

// take returns the index of a column that a flag names. No other flag may name it.
func (p *planner) take(name, flag string) (int, error) {
	i := p.column(name)
	if i < 0 {
		var names []string
		for _, c := range p.there {
			names = append(names, show(c.name))
		}
		return 0, fmt.Errorf("table %s has no column %s (%s)", show(p.table.name), show(name), listed("columns", names))
	}
	switch earlier := p.roles[i]; {
	case earlier == "--account" && flag == "--public":
		return 0, fmt.Errorf("column %s is the account's: its pseudonym is written anyway, so leave it out of --public", show(p.there[i].name))
	case earlier == flag:
		return 0, fmt.Errorf("column %s is given twice with %s", show(p.there[i].name), flag)
	case earlier != "":
		return 0, fmt.Errorf("column %s is given with %s and with %s: it can be one thing only", show(p.there[i].name), earlier, flag)
	}
	p.roles[i] = flag
	return i, nil
}

// words splits names at commas, unless a column has the whole for its name.
func (p *planner) words(names string) []string {
	if p.column(names) >= 0 {
		return []string{names}
	}
	return strings.Split(names, ",")
}

// secret plans a sealed column.
func (p *planner) secret(s Secret) (column, error) {
	words := p.words(s.Columns)
	if len(words) > 2 {
		return column{}, fmt.Errorf("--seal %s:%s: it must be like COLUMN:UNIVERSE or LAT,LON:DOMAIN", show(s.Columns), show(s.Of))
	}
	c := column{role: secret}
	for _, word := range words {
		i, err := p.take(word, "--seal")
		if err != nil {
			return column{}, err
		}
		c.from = append(c.from, i)
	}
	var declared catalog.Column
	var err error
	if len(words) == 2 {
		declared.Domain, err = findDomain(p.conn, s)
	} else {
		c.name = p.there[c.from[0]].name
		declared.Universe, err = findUniverse(p.conn, s)
	}
	if err == nil {
		c.sealed, err = NewColumn(declared)
	}
	return c, err
}

// findUniverse returns the universe that a secret names.
func findUniverse(conn *sqlite.Conn, s Secret) (found *catalog.Universe, err error) {
	return declared(conn, s, "universe", "domain", "--seal LAT,LON:DOMAIN", "SELECT name, lo, hi, step, unit FROM main.geosql_universe ORDER BY name",
		func(v []sqlite.Value) *catalog.Universe {
			return &catalog.Universe{Name: v[0].Text(), Lo: float(v[1]), Hi: float(v[2]), Step: float(v[3]), Unit: v[4].Text()}
		})
}

// findDomain returns the domain that a secret names.
func findDomain(conn *sqlite.Conn, s Secret) (*catalog.Domain, error) {
	return declared(conn, s, "domain", "universe", "--seal COLUMN:UNIVERSE", "SELECT name, south, west, north, east, step_m, region FROM main.geosql_domain ORDER BY name",
		func(v []sqlite.Value) *catalog.Domain {
			d := &catalog.Domain{Name: v[0].Text(), South: float(v[1]), West: float(v[2]), North: float(v[3]), East: float(v[4]), StepM: float(v[5])}
			if v[6].Type() == sqlite.Text {
				d.Region = v[6].Text()
			}
			return d
		})
}

// declared returns the declaration of a kind that a secret names.
func declared[T any](conn *sqlite.Conn, s Secret, kind, otherKind, otherForm, sql string, read func([]sqlite.Value) *T) (found *T, err error) {
	var names []string
	if there, err := declaration.Has(conn, "geosql_"+kind); err != nil {
		return nil, err
	} else if there {
		err := declaration.Each(conn, sql, func(v []sqlite.Value) error {
			if v[0].Text() == s.Of {
				found = read(v)
			}
			names = append(names, show(v[0].Text()))
			return nil
		})
		if err != nil || found != nil {
			return found, err
		}
	}
	text := fmt.Sprintf("--seal %s:%s: no %s %s is declared", show(s.Columns), show(s.Of), kind, show(s.Of))
	if there, err := declaration.Has(conn, "geosql_"+otherKind); err == nil && there {
		isOther := false
		_ = declaration.Each(conn, "SELECT 1 FROM main.geosql_"+otherKind+" WHERE name = ?1", func([]sqlite.Value) error {
			isOther = true
			return nil
		}, s.Of)
		if isOther {
			return nil, fmt.Errorf("%s, but a %s is: write %s", text, otherKind, otherForm)
		}
	}
	return nil, fmt.Errorf("%s (%s)", text, listed(kind+"s", names))
}

// float returns a number.
func float(v sqlite.Value) float64 {
	if v.Type() == sqlite.Integer {
		return float64(v.Int())
	}
	return v.Float()
}

// nameLocations gives sealed pairs the names location, location_2 and so on that are free.
func (p *planner) nameLocations() {
	taken := map[string]bool{}
	for _, c := range p.table.columns {
		taken[strings.ToLower(c.name)] = true
	}
	n := 0
	for i := range p.table.columns {
		for c := &p.table.columns[i]; c.name == ""; {
			name := "location"
			if n++; n > 1 {
				name += "_" + strconv.Itoa(n)
			}
			if !taken[name] {
				c.name = name
			}
		}
	}
}

// planIndexes plans indexes of columns that are written as they are, or of pseudonyms: they tell nothing that these do not.
func (p *planner) planIndexes(given []string) error {
	for _, names := range given {
		name, columns := p.table.name, []string{}
		for _, word := range p.words(names) {
			i := slices.IndexFunc(p.table.columns, func(c column) bool { return c.role != secret && strings.EqualFold(c.name, word) })
			if i < 0 {
				return fmt.Errorf("table %s: --index %s: only public columns and the account's have indexes", show(p.table.name), show(word))
			}
			name += "_" + p.table.columns[i].name
			columns = append(columns, sqlite.QuoteName(p.table.columns[i].name))
		}
		statement := "CREATE INDEX main." + sqlite.QuoteName(name+"_idx") + " ON " + sqlite.QuoteName(p.table.name) + "(" + strings.Join(columns, ", ") + ")"
		if slices.Contains(p.table.indexes, statement) {
			return fmt.Errorf("table %s: --index %s is given twice", show(p.table.name), show(names))
		}
		p.table.indexes = append(p.table.indexes, statement)
	}
	return p.conn.Each("SELECT name FROM pragma_index_list(?1, 'main') WHERE origin = 'c' ORDER BY name", func(v []sqlite.Value) error {
		p.table.left = append(p.table.left, v[0].Text())
		return nil
	}, p.table.name)
}

// compact reduces the columns that are read to the ones needed.
func (p *planner) compact() {
	place := map[int]int{}
	for i, c := range p.there {
		if p.roles[i] != "" {
			place[i] = len(p.table.source)
			p.table.source = append(p.table.source, c.name)
		}
	}
	for _, c := range p.table.columns {
		for k, i := range c.from {
			c.from[k] = place[i]
		}
		if c.role == account {
			p.table.account = c.from[0]
		}
	}
}
