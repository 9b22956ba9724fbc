package sqlitefn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/vdbe"
)

// Groups cost once under d1. The answer about the readings of one group distinguishes readings
// x and x' by at most epsilon * d_1(x, x'), and what several groups reveal adds up to the sum
// of epsilon_g * d_1(x_g, x'_g) over the groups g. If no reading is in two groups, their
// distances add up to at most that of all readings, and the sum is at most the largest epsilon
// times this distance. So each account is charged the largest epsilon among its groups, for each
// place where an aggregate under d1 stands in the compiled statement. A place whose groups are
// not proved to be disjoint is charged for each of them.
//
// The proof is that of [vdbe.Program.Disjoint], about the program that SQLite compiles for the
// statement's text. It holds while no table and no schema changes: a running statement does not
// see the changes of other connections, and of its own connection no other statement may have
// changed anything since the statement began.

// secretReading is the position of the reading among the arguments of the aggregates.
const secretReading = 1

// A callSite is an instruction of a running statement that steps an aggregate under d1.
type callSite struct {
	groups   int
	separate error                           // why its groups are charged one by one; nil while they cost once
	schemas  string                          // the versions of the schemas at the first group
	first    bill                            // of the first group, until there is a second
	paid     map[budget.Unit]*paidByAccounts // from the second group on
}

// paidByAccounts is what accounts have paid in a unit.
type paidByAccounts struct {
	accounts intern.Table
	paid     []budget.Amount // by the account's number
	name     []byte          // room for a name
}

// of returns what an account has paid. It is valid until the next call.
func (p *paidByAccounts) of(account string) *budget.Amount {
	p.name = append(p.name[:0], account...)
	i := p.accounts.Number(p.name)
	if i == len(p.paid) {
		p.paid = append(p.paid, 0)
	}
	return &p.paid[i]
}

// callSite returns a place of the running statement by its number.
func (t *statement) callSite(n int) *callSite {
	p := t.places[n]
	if p == nil {
		if t.places == nil {
			t.places = map[int]*callSite{}
		}
		p = new(callSite)
		t.places[n] = p
	}
	return p
}

// payDisjoint pays for a group of a place with a payer: for each account what it has not paid
// there for an earlier group.
func payDisjoint(with payer, t *statement, at int, f *function, b bill) (receipt, error) {
	p := t.callSite(at)
	due, err := p.due(t, f, b)
	if err != nil {
		return receipt{}, err
	}
	paid, err := with.payAll(t, f, due)
	if err == nil {
		p.settle(b)
	}
	return paid, err
}

// due begins a group, and returns what its accounts have to pay. With the second group it decides whether the
// groups cost once. It decides again wherever an account would pay less than for its group alone.
func (p *callSite) due(t *statement, f *function, b bill) (_ bill, err error) {
	p.groups++
	if p.separate != nil {
		return b, nil
	}
	if p.groups == 1 {
		p.schemas, err = t.session.schemas()
		return b, err
	}
	if p.paid == nil {
		p.paid = map[budget.Unit]*paidByAccounts{}
		p.record(p.first)
		p.first = bill{}
	}
	due, less := p.unpaid(b)
	if p.groups == 2 || less {
		p.separate, err = t.separate(p, f)
	}
	if p.separate != nil {
		return b, err
	}
	return due, err
}

// unpaid returns what the accounts of a group have not paid for an earlier one, and reports whether that is less
// than what the group costs alone.
func (p *callSite) unpaid(b bill) (due bill, less bool) {
	paid := p.in(b.unit)
	due = b
	for i, item := range b.items {
		before := *paid.of(item.Account)
		if before > 0 && !less {
			less = true
			due = bill{unit: b.unit, items: slices.Clone(b.items[:i])}
		}
		if less && item.Epsilon > before {
			item.Epsilon -= before
			due.items = append(due.items, item)
		}
	}
	return due, less
}

// settle records that the accounts of a group have paid. Most statements have one group, whose
// accounts are not looked up before there is a second.
func (p *callSite) settle(b bill) {
	switch {
	case p.separate != nil:
		p.first, p.paid = bill{}, nil
	case p.groups == 1:
		p.first = b
	default:
		p.record(b)
	}
}

// record records what the accounts of a group are charged in all.
func (p *callSite) record(b bill) {
	paid := p.in(b.unit)
	for _, item := range b.items {
		a := paid.of(item.Account)
		*a = max(*a, item.Epsilon)
	}
}

// in returns what is paid in a unit.
func (p *callSite) in(unit budget.Unit) *paidByAccounts {
	paid := p.paid[unit]
	if paid == nil {
		paid = new(paidByAccounts)
		p.paid[unit] = paid
	}
	return paid
}

var (
	errChanged     = errors.New("another statement of the connection has changed rows or tables since the statement began")
	errUncommitted = errors.New("the open transaction has changed something, and a rollback would change it back")
)

// separate returns why the groups of a place have to be charged one by one, or nil if they are
// proved to be disjoint.
func (t *statement) separate(p *callSite, f *function) (separate, err error) {
	s := t.session
	schemas, err := s.schemas()
	if err != nil {
		return nil, err
	}
	if t.changes != s.conn.TotalChanges() || schemas != p.schemas {
		return errChanged, nil
	}
	// One of the texts is that of this statement. SQLite does not tell which.
	for _, sql := range s.conn.RunningSQL() {
		key := programKey{sql, schemas, f.name, t.uncommitted}
		proof, err := proofs.get(s, key, func() (proof, error) { return proof{s.proveDisjoint(sql, f, t.uncommitted)}, nil })
		if err != nil || proof.missing != nil {
			return proof.missing, err
		}
	}
	return nil, nil
}

// programKey is what a compiled program depends on, and what is to be proved about it.
type programKey struct {
	sql, schemas, aggregate string
	uncommitted             bool
}

// proof holds why nothing is proved, if there is a reason.
type proof struct{ missing error }

// proofs remembers what is proved about the groups of an aggregate in a statement.
var proofs = newMemo[programKey, proof]()

// proveDisjoint returns nil if the groups of an aggregate are proved to be disjoint at each
// place where it stands in a statement, and otherwise why not. If the statement begins in a
// transaction with uncommitted changes, it must not return rows: between two rows a rollback
// may change what it reads, which changes no row count.
func (s *session) proveDisjoint(sql string, f *function, uncommitted bool) error {
	if sql == "" {
		return errors.New("the text of a running statement is not known")
	}
	program, err := s.explain(sql)
	if err != nil {
		return fmt.Errorf("the statement cannot be explained: %w", err)
	}
	if !program.Steps(f.name) {
		return nil // another statement that runs at the same time
	}
	pure, err := s.pureFunctions()
	if err != nil {
		return err
	}
	return s.proveProgramDisjoint(program, pure, f, uncommitted)
}

// proveProgramDisjoint is proveDisjoint for a compiled statement.
func (s *session) proveProgramDisjoint(program vdbe.Program, pure functionSet, f *function, uncommitted bool) error {
	if uncommitted && program.ReturnsRows() {
		return errUncommitted
	}
	tables, err := s.tablesByRoot()
	if err != nil {
		return err
	}
	return program.Disjoint(f.name, secretReading, pure.has, func(database, root int) string {
		return tables[[2]int{database, root}]
	})
}

// schemas returns the versions of the schemas of all databases of the connection.
func (s *session) schemas() (string, error) {
	databases, err := s.databases()
	if err != nil {
		return "", err
	}
	var versions strings.Builder
	for _, d := range databases {
		err := s.query("PRAGMA "+d.table("schema_version"), func(st *sqlite.Stmt) {
			fmt.Fprintf(&versions, "%s %d\n", d.name, columnInt(st, 0))
		})
		if err != nil {
			return "", err
		}
	}
	return versions.String(), nil
}

// tablesByRoot returns the name of each table by the number of its database and the root page
// of the table or of one of its indexes.
func (s *session) tablesByRoot() (map[[2]int]string, error) {
	databases, err := s.databases()
	if err != nil {
		return nil, err
	}
	tables := map[[2]int]string{}
	for _, d := range databases {
		tables[[2]int{d.number, 1}] = "sqlite_schema"
		err := s.query("SELECT rootpage, tbl_name FROM "+d.table("sqlite_schema")+" WHERE rootpage > 0", func(st *sqlite.Stmt) {
			tables[[2]int{d.number, columnInt(st, 0)}] = columnText(st, 1)
		})
		if err != nil {
			return nil, err
		}
	}
	return tables, nil
}
