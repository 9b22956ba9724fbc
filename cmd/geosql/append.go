package main

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealing"
)

var appendCommand = &cli.Command{
	Name: "append", Operands: "OUT TABLE FILE", Min: 3, Max: 3,
	Summary: "seal the rows of FILE and add them to a sealed table",
	Details: `FILE has a header and is what import reads; it may be .gz. It has the columns of TABLE: that of the
account with people's names in place of pseudonyms, those of readings, the public ones, and lat
and lon for a location. Others are ignored, and that is said. Readings and locations are moved into
their universe or domain. Rows are added in random order and in one transaction: all or none.

A collector needs KEY.pub of the owner, a key of its own that the owner has enrolled with
'geosql collector', and OUT, which it may write:
  geosql append OUT TABLE FILE --key KEY.pub --sign MYKEY
The owner, beside OUT-ledger, leaves out --sign.

The pseudonym of a name comes from --accounts; if it is not there, from OUT if --key is the owner's
private key; else it is made of the name with the key that signs. So a collector always gives a
name the same pseudonym; without --sign, other runs give it others.
All rows are in memory: about 100 bytes each, and the text of their public columns.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t appendTask
		t.ledger.registerFile(fs, "without --sign: enrol in the ledger `FILE` (default OUT-ledger, beside OUT)")
		t.keys.register(fs, "seal for the public key in `KEY.pub`, or KEY")
		optionalVar(fs, &t.sign, "sign", "sign as the collector that has the private `KEY`")
		optionalVar(fs, &t.accounts, "accounts", "numbers and pseudonyms are in `FILE`, which 'geosql collector OUT accounts' has printed")
		cli.Switch(fs, "new-key", "OUT may have been sealed for other keys only", func() { t.newKey = true })
		cli.ListVar(fs, &t.lat, fileName, "lat", "latitudes are in `COLUMN`; again for a second location")
		cli.ListVar(fs, &t.lon, fileName, "lon", "longitudes are in `COLUMN`; again for a second location")
		return func(ctx context.Context, operands []string) error {
			t.path, t.table, t.file = operands[0], operands[1], operands[2]
			return t.run(ctx)
		}
	},
}

// An appendTask holds what the command line of the command append says.
type appendTask struct {
	path, table, file string
	ledger            ledgerFlags
	keys              keyFlags
	sign, accounts    *string
	newKey            bool
	lat, lon          []string

	conn     *sqlite.Conn
	owner    *vault             // without --sign, and else nil
	private  *sealed.PrivateKey // of the owner, if --key is that
	public   sealed.PublicKey   // of the owner
	signer   *sealed.PrivateKey
	given    map[string]sealed.Account // by --accounts
	database sealed.DatabaseID
	target   *target
}

// run reads the file, and then adds its rows.
func (t *appendTask) run(ctx context.Context) error {
	switch {
	case len(t.keys.names) != 1:
		return cli.UsageError("append: give the owner's public key, once, with --key KEY.pub")
	case len(t.lat) != len(t.lon):
		return cli.UsageError("append: give --lat and --lon together")
	}
	if err := t.readKeys(ctx); err != nil {
		return err
	}
	if err := t.open(); err != nil {
		return err
	}
	err := t.append(ctx)
	if t.owner != nil {
		return t.owner.close(err)
	}
	return cmp.Or(err, t.conn.Close())
}

// readKeys reads the files of keys and accounts.
func (t *appendTask) readKeys(ctx context.Context) error {
	name := t.keys.names[0]
	public, err := readPublicKey(name)
	if err == nil {
		t.public = public
	} else if !errors.Is(err, fs.ErrNotExist) {
		keys, failed := readPrivateKeys([]string{name}, t.keys.passphrase)
		if failed != nil {
			return failed
		}
		t.private, t.public = keys[0], keys[0].Public()
	} else {
		return err
	}
	if t.sign != nil {
		keys, err := readPrivateKeys([]string{*t.sign}, t.keys.passphrase)
		if err != nil {
			return err
		}
		t.signer = keys[0]
	}
	if t.accounts != nil {
		if t.given, err = readAccounts(ctx, *t.accounts); err != nil {
			return err
		}
	}
	return nil
}

// open opens the database, and the ledger if nobody signs.
func (t *appendTask) open() (err error) {
	if t.sign == nil {
		t.owner, err = openVault(t.path, t.ledger)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("append: %w; a collector, who has no ledger, signs with --sign KEY", err)
		}
		if err == nil {
			t.conn = t.owner.conn
		}
		return err
	}
	if t.conn, err = openSealedFile(t.path); err != nil {
		return err
	}
	if err := t.checkEnrolled(); err != nil {
		t.conn.Close()
		return err
	}
	return nil
}

// checkEnrolled returns an error if the ledger is here, and says that the collector may not add
// anything. A collector that has no ledger finds out from the owner.
func (t *appendTask) checkEnrolled() error {
	v, err := openVault(t.path, t.ledger)
	if err != nil {
		return nil
	}
	verify := t.signer.Public().Verifier()
	enrolled := slices.ContainsFunc(v.record.Collectors, func(c catalog.Collector) bool { return string(c.Verify) == string(verify) })
	switch {
	case v.record.Revoked[string(verify)]:
		err = fmt.Errorf("append: the key %s is revoked in %s", *t.sign, v.path)
	case !enrolled:
		err = fmt.Errorf("append: the key %s is not enrolled: geosql collector %s add NAME --verify %s.pub", *t.sign, v.path, *t.sign)
	}
	return v.close(err)
}

// append adds the rows of the file.
func (t *appendTask) append(ctx context.Context) error {
	known, err := catalog.HasKey(t.conn, t.public.ID())
	if err != nil {
		return err
	}
	if !known && !t.newKey {
		return fmt.Errorf("append: %s is not sealed for the key %s: give the owner's key, or --new-key if the owner has changed it", t.path, t.keys.names[0])
	}
	if sameFile(t.path, dataset.FileName(t.file)) {
		return fmt.Errorf("append: %s is in the database itself: write it to a file first", t.file)
	}
	d, err := cli.OpenDataSet(ctx, t.file)
	if err != nil {
		return err
	}
	defer d.Close()
	if t.target, err = t.newTarget(d); err != nil {
		return err
	}
	if len(t.target.ignored) > 0 {
		cli.Say("%s has columns that are ignored: %s", t.file, strings.Join(t.target.ignored, ", "))
	}
	rows, err := t.target.read(d)
	if err != nil {
		return err
	}
	left := t.leaveOutErased(rows)
	rows.shuffle()
	stop := interruptOn(ctx, t.conn)
	defer stop()
	err = inTransaction(ctx, t.conn, func() error { return t.write(ctx, rows) })
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	cli.Say("added %s of %s to %s of %s", counted(int64(len(rows.order)), "row"), counted(int64(len(rows.paying())), "account"), t.target.table, t.path)
	if left > 0 {
		cli.Say("left out %s of erased accounts", counted(int64(left), "row"))
	}
	return nil
}

// A target is the table that rows are added to, and where its columns are in the file.
type target struct {
	table   string
	names   []string // of all columns of the table
	account int      // index among them
	columns []*sealing.Column
	places  []place
	chosen  []int // columns of the file that are read
	ignored []string
	commas  infer.Summary // reads numbers that may have decimal commas
}

// A place is where the file has a column of the table: among those chosen. A location has two.
type place struct {
	cells []int
	kind  dataset.Kind // of a public column
}

// newTarget finds the columns of the table in the file. It goes by what the database declares,
// once that is known to be what it was sealed with.
func (t *appendTask) newTarget(d *cli.DataSet) (*target, error) {
	id, all, err := catalog.ReadColumns(t.conn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	t.database = id
	g := &target{account: -1}
	if form, csv := dataset.CSVFormOf(d.Reader); csv && form.Separator != ',' {
		g.commas.DecimalComma = true
	}
	declared := map[string]catalog.Column{}
	var tables []string
	accountName := ""
	for _, c := range all {
		if strings.EqualFold(c.Table, t.table) {
			g.table, accountName = c.Table, c.Account
			declared[strings.ToLower(c.Name)] = c
		}
		if !slices.Contains(tables, c.Table) {
			tables = append(tables, c.Table)
		}
	}
	if g.table == "" {
		return nil, fmt.Errorf("append: %s has no sealed table %s: there is %s", t.path, t.table, strings.Join(tables, ", "))
	}
	if g.names, _, err = catalog.TableColumns(t.conn, g.table); err != nil {
		return nil, err
	}
	fields := d.Fields()
	used := map[int]bool{}
	locations := 0
	find := func(names ...string) (int, error) {
		for _, name := range names {
			if i := slices.IndexFunc(fields, func(f dataset.Field) bool { return strings.EqualFold(f.Name, name) }); i >= 0 {
				used[i] = true
				if at := slices.Index(g.chosen, i); at >= 0 {
					return at, nil
				}
				g.chosen = append(g.chosen, i)
				return len(g.chosen) - 1, nil
			}
		}
		var there []string
		for _, f := range fields {
			there = append(there, f.Name)
		}
		return 0, fmt.Errorf("%s has no column %s, which table %s needs: it has %s", t.file, strings.Join(names, " or "), g.table, strings.Join(there, ", "))
	}
	for i, name := range g.names {
		c, isSealed := declared[strings.ToLower(name)]
		var column *sealing.Column
		if isSealed {
			if column, err = sealing.NewColumn(c); err != nil {
				return nil, err
			}
		}
		wanted := [][]string{{name}}
		switch {
		case isSealed && column.IsLocation():
			locations++
			if wanted, err = t.coordinates(name, locations); err != nil {
				return nil, err
			}
		case strings.EqualFold(name, accountName):
			g.account = i
		}
		var p place
		for _, names := range wanted {
			at, err := find(names...)
			if err != nil {
				return nil, err
			}
			p.cells = append(p.cells, at)
			p.kind = fields[g.chosen[at]].Kind
		}
		g.columns, g.places = append(g.columns, column), append(g.places, p)
	}
	if len(t.lat) > locations {
		return nil, cli.UsageError(fmt.Sprintf("append: table %s has %s, and --lat is given for %d", g.table, counted(int64(locations), "location"), len(t.lat)))
	}
	if g.account < 0 {
		return nil, fmt.Errorf("table %s of %s has no column %s with accounts", g.table, t.path, accountName)
	}
	for i, f := range fields {
		if !used[i] {
			g.ignored = append(g.ignored, f.Name)
		}
	}
	return g, nil
}

// coordinates returns the names that the columns of the n-th location may have in the file.
func (t *appendTask) coordinates(name string, n int) ([][]string, error) {
	switch {
	case n <= len(t.lat):
		return [][]string{{t.lat[n-1]}, {t.lon[n-1]}}, nil
	case n > 1:
		return nil, cli.UsageError(fmt.Sprintf("append: say with --lat and --lon, once for each location, which columns have that of %s", name))
	}
	return [][]string{latNames, lonNames}, nil
}

// plainRows are the rows of a file before they are sealed. Secrets have the form that is sealed.
type plainRows struct {
	width    int // sealed columns
	accounts []string
	byName   map[string]int
	payer    []int32 // for each row, an index of accounts, or nobody
	secrets  []sealed.Data
	absent   []bool // for each secret
	public   []dataset.Column
	order    []int32 // rows in the order in which they are added
}

// nobody stands for the account of a row without secrets.
const nobody = -1

// read reads all rows of the file.
func (g *target) read(d *cli.DataSet) (*plainRows, error) {
	rows := &plainRows{byName: map[string]int{}, public: make([]dataset.Column, len(g.names))}
	for _, c := range g.columns {
		if c != nil {
			rows.width++
		}
	}
	_, err := d.Each("reading", g.chosen, func(batch *dataset.Rows, i int) error {
		any := false
		for k, c := range g.columns {
			if c == nil {
				if k != g.account {
					rows.keep(k, &batch.Columns[g.places[k].cells[0]], i)
				}
				continue
			}
			data, absent, err := g.secret(k, batch, i)
			if err != nil {
				return err
			}
			any = any || !absent
			rows.secrets, rows.absent = append(rows.secrets, data), append(rows.absent, absent)
		}
		name, null := batch.Columns[g.places[g.account].cells[0]].At(i)
		return rows.pays(string(name), null, any, g.names[g.account])
	})
	for i := range rows.payer {
		rows.order = append(rows.order, int32(i))
	}
	return rows, err
}

// keep keeps cell i of a public column.
func (r *plainRows) keep(column int, cells *dataset.Column, i int) {
	if text, null := cells.At(i); null {
		r.public[column].AppendNull()
	} else {
		r.public[column].Append(text)
	}
}

// pays adds a row with the account that pays for it.
func (r *plainRows) pays(name string, null, secrets bool, column string) error {
	if len(r.payer) == maxRows {
		return fmt.Errorf("more than %d rows: split the file", maxRows)
	}
	if null {
		if secrets {
			return fmt.Errorf("column %s, the account, is NULL, and the row has secrets", column)
		}
		r.payer = append(r.payer, nobody)
		return nil
	}
	account, known := r.byName[name]
	if !known {
		if err := checkAccountName(name); err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		account = len(r.accounts)
		r.accounts, r.byName[name] = append(r.accounts, name), account
	}
	r.payer = append(r.payer, int32(account))
	return nil
}

// maxRows is how many rows a file may have.
const maxRows = 1 << 30

// secret returns what row i of a batch has for a sealed column. An error does not show it.
func (g *target) secret(column int, batch *dataset.Rows, i int) (data sealed.Data, absent bool, err error) {
	c, cells := g.columns[column], g.places[column].cells
	var x [2]float64
	for k, at := range cells {
		v, null, ok := g.commas.Real(&batch.Columns[at], i)
		switch {
		case !ok:
			return 0, false, fmt.Errorf("column %s is not a number here", g.names[column])
		case null:
			absent = true
		}
		x[k] = v
	}
	if absent {
		return 0, true, nil
	}
	if c.IsLocation() {
		data, err = c.Location(x[0], x[1])
	} else {
		data, err = c.Reading(x[0])
	}
	if err != nil {
		err = fmt.Errorf("column %s %w", g.names[column], err)
	}
	return data, false, err
}

// paying returns the accounts of the rows that are added, by index, each once, in the order of
// the rows.
func (r *plainRows) paying() (all []int32) {
	seen := make([]bool, len(r.accounts))
	for _, row := range r.order {
		if a := r.payer[row]; a != nobody && !seen[a] {
			seen[a] = true
			all = append(all, a)
		}
	}
	return all
}

// shuffle puts the rows into random order, all orders being equally likely.
func (r *plainRows) shuffle() {
	rand.New(entropy{}).Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
}

// entropy is the operating system's.
type entropy struct{}

func (entropy) Uint64() uint64 {
	var b [8]byte
	cryptorand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// leaveOutErased leaves out the rows of accounts that the ledger, if it is here, says are erased,
// and returns how many they are.
func (t *appendTask) leaveOutErased(rows *plainRows) (left int) {
	if t.owner == nil {
		return 0
	}
	before := len(rows.order)
	rows.order = slices.DeleteFunc(rows.order, func(row int32) bool {
		a := rows.payer[row]
		return a != nobody && t.owner.record.Erased[rows.accounts[a]]
	})
	return before - len(rows.order)
}

// write adds the session, the accounts and the rows, in the transaction that is open.
func (t *appendTask) write(ctx context.Context, rows *plainRows) (err error) {
	if id, err := catalog.ReadID(t.conn); err != nil || id != t.database {
		return cmp.Or(err, errors.New("the database was replaced meanwhile: try again"))
	}
	if t.newKey {
		if err := catalog.AddKey(t.conn, t.public); err != nil {
			return err
		}
	}
	if t.signer == nil {
		if t.signer, err = t.owner.enrolOnce("append"); err != nil {
			return err
		}
	}
	sealer, err := catalog.NewSession(t.conn, t.database, t.public, t.signer)
	if err != nil {
		return err
	}
	accounts, err := t.enterAccounts(rows, sealer)
	if err != nil {
		return err
	}
	return t.target.write(ctx, t.conn, rows, accounts, sealer)
}

// enterAccounts returns the accounts of the rows by their indexes, and adds those that the signer
// has not added before.
func (t *appendTask) enterAccounts(rows *plainRows, sealer *sealed.Sealer) ([]sealed.Account, error) {
	known := map[string]sealed.Account{}
	if t.private != nil && t.owner != nil {
		k, err := catalog.Open(t.conn, t.owner.book, sealed.NewKeyring(t.private))
		if err == nil {
			known, err = k.Known()
		}
		if err != nil {
			return nil, err
		}
	}
	entered, err := catalog.Entered(t.conn, t.signer)
	if err != nil {
		return nil, err
	}
	all := make([]sealed.Account, len(rows.accounts))
	for _, i := range rows.paying() {
		name := rows.accounts[i]
		a, there := t.given[name]
		if !there {
			a, there = known[name]
		}
		if !there {
			if a, err = sealed.AccountOf(t.signer.Signer(), t.database, name); err != nil {
				return nil, err
			}
		}
		all[i] = a
		there, err := entered(a.Pseudonym)
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		entry, err := sealer.SealAccount(a.Number, name)
		if err == nil {
			err = catalog.AddAccount(t.conn, a.Pseudonym, entry)
		}
		if err != nil {
			return nil, fmt.Errorf("account '%s': %w", name, err)
		}
	}
	return all, nil
}

// write seals the rows and adds them.
func (g *target) write(ctx context.Context, conn *sqlite.Conn, rows *plainRows, accounts []sealed.Account, sealer *sealed.Sealer) error {
	names := make([]string, len(g.names))
	for i, name := range g.names {
		names[i] = sqlite.QuoteName(name)
	}
	insert, _, err := conn.Prepare("INSERT INTO main." + sqlite.QuoteName(g.table) + "(" + strings.Join(names, ", ") +
		") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")")
	if err != nil {
		return err
	}
	defer insert.Close()
	line := cli.NewTerminalLine()
	defer line.Clear()
	for n, row := range rows.order {
		if n&0xfff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			line.Show("sealing: %s", cli.ShareAndRest(float64(n)/float64(len(rows.order)), 0))
		}
		if err := g.bindRow(insert, rows, int(row), accounts, sealer); err != nil {
			return err
		}
		if err := insert.Run(); err != nil {
			return err
		}
	}
	return nil
}

// bindRow binds the parameters of a row.
func (g *target) bindRow(insert *sqlite.Stmt, rows *plainRows, row int, accounts []sealed.Account, sealer *sealed.Sealer) error {
	payer, secret := rows.payer[row], row*rows.width
	var v sealed.Value
	for k, c := range g.columns {
		switch {
		case k == g.account && payer == nobody:
			insert.BindNull(k + 1)
		case k == g.account:
			insert.BindText(k+1, accounts[payer].Pseudonym)
		case c == nil:
			bindPublic(insert, k+1, &rows.public[k], row, g.places[k].kind)
		case rows.absent[secret]:
			insert.BindNull(k + 1)
			secret++
		default:
			err := sealer.Seal(&v, c.Number, sealed.Contents{Account: accounts[payer].Number, Data: rows.secrets[secret]})
			if err != nil {
				return err
			}
			insert.BindBlob(k+1, v[:])
			secret++
		}
	}
	return nil
}

// bindPublic binds a public cell as its file has it. A text in a column of numbers becomes one by
// the column's affinity.
func bindPublic(insert *sqlite.Stmt, parameter int, cells *dataset.Column, row int, kind dataset.Kind) {
	text, null := cells.At(row)
	if !null && kind == dataset.Integer {
		if v, _, ok := cells.Integer(row); ok {
			insert.BindInts(parameter, v)
			return
		}
	}
	if !null && kind == dataset.Real {
		if v, _, ok := cells.Real(row); ok {
			insert.BindFloat(parameter, v)
			return
		}
	}
	if null {
		insert.BindNull(parameter)
		return
	}
	insert.BindText(parameter, string(text))
}
