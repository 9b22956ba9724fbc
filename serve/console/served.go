package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/serve/keeper"
	"github.com/geosql/geosql/serve/pgcatalog"
	"github.com/geosql/geosql/serve/role"
	"github.com/geosql/geosql/serve/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A Served is the backend that a [keeper.Keeper] is.
type Served struct {
	keeper  *keeper.Keeper
	history *History
	owner   *wire.Verifier // nil if the owner cannot log in
	mock    wire.Verifier  // of users who do not exist
	last    atomic.Uint32  // number of a session
}

// Serve returns the backend of a keeper, whose observers have the history. The owner logs in with a password, unless that
// is empty.
func Serve(k *keeper.Keeper, history *History, ownerPassword string) (*Served, error) {
	s := &Served{keeper: k, history: history}
	s.last.Store(firstSession)
	var err error
	if s.mock, err = wire.NewVerifier(string(randomBytes()), wire.DefaultIterations); err != nil {
		return nil, err
	}
	if ownerPassword != "" {
		v, err := wire.NewVerifier(ownerPassword, wire.DefaultIterations)
		if err != nil {
			return nil, fmt.Errorf("the owner's password: %w", err)
		}
		s.owner = &v
	}
	return s, nil
}

// firstSession is above the numbers of sessions over the protocol of PostgreSQL, which begin at random below it.
const firstSession = 1 << 31

// Login implements Backend.
func (b *Served) Login(ctx context.Context, user, password string) (Session, error) {
	verifier, known := b.mock, false
	if user == OwnerName {
		if b.owner != nil {
			verifier, known = *b.owner, true
		}
	} else {
		r, err := b.keeper.Role(user)
		if err != nil {
			return nil, err
		}
		if r != nil {
			verifier, known = r.Verifier, true
		}
	}
	if !verifier.Fits(password) || !known {
		return nil, ErrLogin
	}
	return &servedSession{served: b, user: user}, nil
}

// A servedSession is a login. Its worker starts with its first statement.
type servedSession struct {
	served *Served
	user   string

	mu      sync.Mutex // held while a field below is used; the session itself is used by one goroutine at a time
	session *keeper.Session
	epsilon budget.Amount // that is set
	notices []*wire.Error
}

func (s *servedSession) Owner() bool { return s.user == OwnerName }

var errOwnerAsks = &wire.Error{Code: "42501", Message: "the owner does not ask here: roles and budgets are for analysts",
	Hint: "Ask with geosql --key KEY DB, or log in as a role."}

// begin returns the session's worker, and starts it if there is none.
func (s *servedSession) begin(ctx context.Context) (*keeper.Session, error) {
	if s.Owner() {
		return nil, errOwnerAsks
	}
	if s.session != nil {
		return s.session, nil
	}
	k := s.served.keeper
	began, err := k.Begin(ctx, &wire.Login{
		User: s.user, Database: k.Name(), Parameters: map[string]string{"application_name": "console"},
		Remote: &net.UnixAddr{Name: "console", Net: "http"}, Client: noticed{s}, ProcessID: s.served.last.Add(1),
	})
	if err == nil {
		s.session, s.epsilon = began, 0
	}
	return began, err
}

// noticed collects the notices of a session.
type noticed struct{ s *servedSession }

func (n noticed) Notice(e *wire.Error)     { n.s.notices = append(n.s.notices, e) }
func (n noticed) Parameter(string, string) {}

// prepare compiles a statement.
func (s *servedSession) prepare(ctx context.Context, q Question) (*keeper.Statement, error) {
	session, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	s.notices = nil
	if q.Epsilon != s.epsilon {
		if err := s.setEpsilon(ctx, session, q.Epsilon); err != nil {
			return nil, err
		}
	}
	st, rest, err := session.Compile(ctx, q.SQL, nil)
	switch {
	case err != nil:
		return nil, s.checked(err)
	case st == nil:
		return nil, &wire.Error{Code: "42601", Message: "there is no statement"}
	case strings.TrimSpace(rest) != "":
		st.Close()
		return nil, &wire.Error{Code: "42601", Message: "there is more than one statement", Hint: "Run one at a time.", Position: 1 + len([]rune(q.SQL)) - len([]rune(rest))}
	case len(st.Parameters()) > 0:
		st.Close()
		return nil, &wire.Error{Code: "42P02", Message: "there is no value for the parameter $1", Hint: "Write the value in its place."}
	}
	return st, nil
}

// setEpsilon sets the epsilon of SQL's own aggregates.
func (s *servedSession) setEpsilon(ctx context.Context, session *keeper.Session, epsilon budget.Amount) error {
	sql := "RESET geosql.epsilon"
	if epsilon > 0 {
		sql = fmt.Sprintf("SET geosql.epsilon = '%v'", epsilon)
	}
	st, _, err := session.Compile(ctx, sql, nil)
	if err != nil {
		return s.checked(err)
	}
	defer st.Close()
	rows, err := st.Run(ctx, nil)
	if err != nil {
		return s.checked(err)
	}
	defer rows.Close()
	if _, err := rows.Values(); err != nil && err != io.EOF {
		return s.checked(err)
	}
	s.epsilon = epsilon
	return nil
}

// checked returns an error of the worker. After the worker has ended, the next statement starts another one.
func (s *servedSession) checked(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == "57P01" {
		s.session.Close()
		s.session = nil
	}
	return err
}

// Quote implements Session.
func (s *servedSession) Quote(ctx context.Context, q Question) (Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.prepare(ctx, q)
	if err != nil {
		return Outcome{Notices: s.notices}, err
	}
	defer st.Close()
	report, err := st.Quote(ctx, nil)
	if err != nil {
		err = s.checked(err)
	}
	return Outcome{report, s.notices}, err
}

// Run implements Session.
func (s *servedSession) Run(ctx context.Context, q Question, quoted sqlitefn.Report) (Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := st.RunWithin(ctx, nil, quoted)
	if err != nil {
		st.Close()
		return nil, s.checked(err)
	}
	return &servedRows{s, st, rows}, nil
}

// servedRows are the rows of a statement.
type servedRows struct {
	session   *servedSession
	statement *keeper.Statement
	rows      *keeper.Rows
}

func (r *servedRows) Columns() []ResultColumn {
	var list []ResultColumn
	for _, c := range r.statement.Columns() {
		list = append(list, ResultColumn{c.Name, pgcatalog.TypeName(c.OID)})
	}
	return list
}

func (r *servedRows) Next() ([]any, error) { return r.rows.Values() }

func (r *servedRows) Close() Outcome {
	r.rows.Close()
	report := r.rows.Report()
	r.statement.Close()
	return Outcome{report, r.session.notices}
}

// Close implements Session.
func (s *servedSession) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		s.session.Close()
		s.session = nil
	}
}

// Schema implements Session.
func (s *servedSession) Schema(context.Context) (*Schema, error) {
	k := s.served.keeper
	tables, err := k.Tables()
	if err != nil {
		return nil, err
	}
	var r *role.Role
	if !s.Owner() {
		if r, err = k.Role(s.user); err != nil {
			return nil, err
		}
	}
	schema := &Schema{Database: k.Name()}
	for _, t := range tables {
		shown := Table{Name: t.Name, View: t.View}
		for _, c := range t.Columns {
			column := Column{Name: c.Name, Type: c.Type}
			if of := c.Sealed; of != nil {
				column.Sealed = &Sealed{Granted: r != nil && r.May(t.Name, c.Name)}
				if of.Universe != nil {
					column.Sealed.Universe, column.Sealed.Unit = of.Universe.Name, budget.Unit(of.Universe.Unit)
				} else {
					column.Sealed.Domain, column.Sealed.Unit = of.Domain.Name, budget.Metre
					schema.addDomain(Domain{of.Domain.Name, of.Domain.South, of.Domain.West, of.Domain.North, of.Domain.East})
				}
			}
			shown.Columns = append(shown.Columns, column)
		}
		schema.Tables = append(schema.Tables, shown)
	}
	for _, f := range sqlitefn.RemoteFunctions() {
		schema.Functions = append(schema.Functions, Function(f))
	}
	return schema, nil
}

func (s *Schema) addDomain(d Domain) {
	if !slices.Contains(s.Domains, d) {
		s.Domains = append(s.Domains, d)
	}
}

// Budgets implements Session.
func (s *servedSession) Budgets(context.Context) (list []Budget, err error) {
	k := s.served.keeper
	roles, err := k.Roles()
	if err != nil {
		return nil, err
	}
	for _, r := range roles {
		if !s.Owner() && r.Name != s.user {
			continue
		}
		purses, err := k.Purses(r.Name)
		if err != nil {
			return nil, err
		}
		for _, unit := range slices.SortedFunc(maps.Keys(r.Epsilon), cmp.Compare) {
			b := Budget{Role: r.Name, Unit: unit, Limit: r.Epsilon[unit], Call: r.EpsilonMax[unit]}
			for _, p := range purses {
				if p.Unit == unit && p.Spent > 0 {
					b.Accounts++
					b.Most = max(b.Most, p.Spent)
				}
			}
			list = append(list, b)
		}
	}
	return list, nil
}

// History implements Session.
func (s *servedSession) History(_ context.Context, most int) ([]Asked, error) {
	if s.Owner() {
		return s.served.history.of("", most), nil
	}
	return s.served.history.of(s.user, most), nil
}

// Roles implements Session.
func (s *servedSession) Roles(context.Context) ([]*role.Role, error) { return s.served.keeper.Roles() }

// AddRole implements Session.
func (s *servedSession) AddRole(_ context.Context, r *role.Role) error {
	return s.served.keeper.AddRole(r)
}

// DropRole implements Session.
func (s *servedSession) DropRole(_ context.Context, name string) error {
	return s.served.keeper.DropRole(name)
}
