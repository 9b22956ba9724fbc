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
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A Served is the backend that a [keeper.Keeper] is.
type Served struct {
	keeper  *keeper.Keeper
	history *History
	saved   *savedQuestions
	owner   *wire.Verifier // nil if the owner cannot log in
	mock    wire.Verifier  // of users who do not exist
	last    atomic.Uint32  // number of a session
}

// Serve returns the backend of a keeper. history is one of the keeper's observers. Questions are saved in a file. The owner logs
// in with a password, unless that is empty.
func Serve(k *keeper.Keeper, history *History, saved, ownerPassword string) (*Served, error) {
	s := &Served{keeper: k, history: history, saved: &savedQuestions{path: saved}}
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
func (b *Served) Login(_ context.Context, c Credentials) (Session, error) {
	verifier, known := b.mock, false
	if c.User == OwnerName {
		if b.owner != nil {
			verifier, known = *b.owner, true
		}
	} else {
		r, err := b.keeper.Role(c.User)
		if err != nil {
			return nil, err
		}
		if r != nil {
			verifier, known = r.Verifier, true
		}
	}
	if !verifier.Fits(c.Password) || !known {
		return nil, ErrLogin
	}
	return &servedSession{served: b, user: c.User, verifier: verifier, remote: c.Remote, tls: c.TLS}, nil
}

// A servedSession is a login. Its worker starts with its first statement.
type servedSession struct {
	served   *Served
	user     string
	verifier wire.Verifier // of the user
	remote   net.Addr
	tls      bool

	// For users of the session, one at a time.
	session *keeper.Session // nil while there is none
	epsilon budget.Amount   // that is set in it, or unknown
	notices []*wire.Error
}

// unknown is no epsilon.
const unknown budget.Amount = -1

func (s *servedSession) Owner() bool { return s.user == OwnerName }

var (
	errOwnerAsks = &wire.Error{Code: "42501", Message: "the owner does not ask here: roles and budgets are for analysts",
		Hint: "Ask with geosql --key KEY DB, or log in as a role."}
	errSeveral = &wire.Error{Code: "42601", Message: "there is more than one statement", Hint: "Run one at a time."}
	errStays   = &wire.Error{Code: "0A000", Message: "the console keeps nothing from one statement to the next: there are no settings, transactions and cursors, and no COPY",
		Hint: "Write a SELECT. The field below the statement sets the epsilon of plain aggregates."}
	errWorkerEnded = &wire.Error{Code: "57P02", Message: "the process that runs your statements has ended",
		Hint: "It probably used more memory or time than allowed. The next statement starts another one."}
)

// role returns the role that has logged in, as it is now. Its login ends once it has been dropped. The owner has none.
func (s *servedSession) role() (*role.Role, error) {
	if s.Owner() {
		return nil, nil
	}
	return s.served.keeper.LoggedIn(s.user, s.verifier)
}

// begin starts the session's worker if there is none.
func (s *servedSession) begin(ctx context.Context) (err error) {
	if s.Owner() {
		return errOwnerAsks
	}
	if s.session != nil {
		return nil
	}
	k := s.served.keeper
	s.session, err = k.Begin(ctx, &wire.Login{
		User: s.user, Verifier: s.verifier, Database: k.Name(), Parameters: map[string]string{"application_name": "console"},
		Remote: s.remote, TLS: s.tls, Client: noticed{s}, ProcessID: s.served.last.Add(1),
	})
	s.epsilon = 0
	return err
}

// noticed collects the notices of a session.
type noticed struct{ s *servedSession }

func (n noticed) Notice(e *wire.Error)     { n.s.notices = append(n.s.notices, e) }
func (n noticed) Parameter(string, string) {}

// prepare compiles a statement.
func (s *servedSession) prepare(ctx context.Context, q Question) (*keeper.Statement, error) {
	s.notices = nil
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if stays(q.SQL) {
		return nil, errStays
	}
	if q.Epsilon != s.epsilon {
		if err := s.setEpsilon(ctx, q.Epsilon); err != nil {
			return nil, err
		}
	}
	st, rest, err := s.session.Compile(ctx, q.SQL, nil)
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	switch {
	case err != nil:
		return nil, s.checked(err)
	case st == nil:
		return nil, &wire.Error{Code: "42601", Message: "there is no statement"}
	case rest != "":
		st.Close()
		e := *errSeveral
		e.Position = 1 + utf8.RuneCountInString(strings.TrimSuffix(q.SQL, rest))
		return nil, &e
	case len(st.Parameters()) > 0:
		st.Close()
		return nil, &wire.Error{Code: "42P02", Message: "there is no value for the parameter $1", Hint: "Write a value instead of $1."}
	}
	return st, nil
}

// stays reports whether a statement has effects that outlast it, or is not for pages. A worker judges text that does not
// parse.
func stays(sql string) bool {
	_, first, _ := sqltext.PostgreSQL.Split(sql, sqltext.Budget{})
	switch c, err := dialect.Parse(first); c.(type) {
	case dialect.Empty, dialect.Query, dialect.Show, dialect.Explain:
		return false
	default:
		return err == nil
	}
}

// setEpsilon sets the epsilon of SQL's own aggregates.
func (s *servedSession) setEpsilon(ctx context.Context, epsilon budget.Amount) error {
	s.epsilon = unknown // until it has been set
	sql := "RESET geosql.epsilon"
	if epsilon > 0 {
		sql = fmt.Sprintf("SET geosql.epsilon = '%v'", epsilon)
	}
	st, _, err := s.session.Compile(ctx, sql, nil)
	if err != nil {
		return s.checked(err)
	}
	defer st.Close()
	rows, err := st.Run(ctx, nil)
	if err != nil {
		return s.checked(err)
	}
	defer rows.Close()
	if _, err := rows.Values(); err != io.EOF {
		return s.checked(err)
	}
	s.epsilon = epsilon
	return nil
}

// checked returns an error of the worker as the user sees it. After the worker has ended, the next statement starts
// another one.
func (s *servedSession) checked(err error) error {
	if hasEnded(err) && s.session != nil {
		s.session.Close()
		s.session = nil
	}
	return s.shown(err)
}

// shown returns an error of the worker as the user sees it. If the role has been dropped, it ends the login.
func (s *servedSession) shown(err error) error {
	if !hasEnded(err) {
		return err
	}
	if _, err := s.role(); err != nil {
		return err
	}
	return errWorkerEnded
}

func hasEnded(err error) bool {
	e, ok := errors.AsType[*wire.Error](err)
	return ok && e.Severity == "FATAL"
}

// Quote implements Session.
func (s *servedSession) Quote(ctx context.Context, q Question) (Outcome, error) {
	st, err := s.prepare(ctx, q)
	if err != nil {
		return Outcome{}, err
	}
	defer st.Close()
	report, err := st.Quote(ctx, nil)
	if err != nil {
		return Outcome{}, s.checked(err)
	}
	return Outcome{Report: report, Notices: s.notices}, nil
}

// Run implements Session.
func (s *servedSession) Run(ctx context.Context, q Question, quoted sqlitefn.Report) (Rows, error) {
	st, err := s.prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := st.RunWithin(ctx, nil, quoted)
	if err != nil {
		st.Close()
		return nil, s.checked(err)
	}
	return &servedRows{session: s, statement: st, rows: rows}, nil
}

// servedRows are the rows of a statement.
type servedRows struct {
	session     *servedSession
	statement   *keeper.Statement
	rows        *keeper.Rows
	err         error // of the worker
	shown, held int64 // bytes of the result, and bytes that the session holds for it
}

func (r *servedRows) Columns() []ResultColumn {
	var list []ResultColumn
	for _, c := range r.statement.Columns() {
		list = append(list, ResultColumn{c.Name, pgcatalog.TypeName(c.OID)})
	}
	return list
}

func (r *servedRows) Next() ([]any, error) {
	values, err := r.rows.Values()
	if err == nil {
		err = r.hold(values)
	}
	if err != nil && err != io.EOF {
		r.err, err = err, r.session.shown(err)
	}
	return values, err
}

// hold holds memory for a row, which stays in the result until the execution ends.
func (r *servedRows) hold(row []any) error {
	for _, v := range row {
		r.shown += shownSize(v)
	}
	if r.shown <= r.held {
		return nil
	}
	more := max(r.shown-r.held, heldAtATime)
	if err := r.session.session.Hold(more); err != nil {
		return err
	}
	r.held += more
	return nil
}

const heldAtATime = 1 << 20

// shownSize returns the bytes that a value of a result takes: as JSON, in a buffer that has grown to twice that, and in the response.
func shownSize(v any) int64 {
	const short = 48 // a number with its interval, or the head of a blob
	if text, ok := v.(string); ok {
		return 4 * (short + int64(min(len(text), maxCell)))
	}
	return 4 * short
}

func (r *servedRows) Close() Outcome {
	notices := r.session.notices // without that of the cost, which the report has
	r.rows.Close()
	r.statement.Close()
	_ = r.session.session.Hold(-r.held)
	if r.err != nil {
		r.session.checked(r.err)
	}
	return Outcome{r.rows.Report(), notices, r.rows.Intervals()}
}

// Close implements Session.
func (s *servedSession) Close() {
	if s.session != nil {
		s.session.Close()
		s.session = nil
	}
}

// Schema implements Session.
func (s *servedSession) Schema(context.Context) (*Schema, error) {
	r, err := s.role()
	if err != nil {
		return nil, err
	}
	k := s.served.keeper
	tables, err := k.Tables()
	if err != nil {
		return nil, err
	}
	schema := &Schema{Database: k.Name(), Examples: examples(tables, r)}
	for _, t := range tables {
		shown := Table{Name: t.Name, View: t.View}
		for _, c := range t.Columns {
			column := Column{Name: c.Name, Type: c.Type}
			if of := c.Sealed; of != nil {
				column.Sealed = &Sealed{Granted: r != nil && r.May(c.Sealed.FullName())}
				if of.Universe != nil {
					column.Sealed.Universe, column.Sealed.Unit = of.Universe.Name, budget.Unit(of.Universe.Unit)
				} else {
					column.Sealed.Domain, column.Sealed.Unit = of.Domain.Name, budget.Metre
					schema.addDomain(Domain{of.Domain.Name, of.Domain.South, of.Domain.West, of.Domain.North, of.Domain.East, drawable(of.Domain.Region)})
				}
			}
			shown.Columns = append(shown.Columns, column)
		}
		schema.Tables = append(schema.Tables, shown)
	}
	for _, f := range sqlitefn.RemoteFunctions() {
		schema.Functions = append(schema.Functions, Function{Name: f.Name, Signatures: f.Signatures, Does: f.Does, Charges: f.Charges})
	}
	return schema, nil
}

// drawable returns a region, unless it is too long.
func drawable(wkt string) string {
	if len(wkt) > maxRegion {
		return ""
	}
	return wkt
}

func (s *Schema) addDomain(d Domain) {
	if !slices.Contains(s.Domains, d) {
		s.Domains = append(s.Domains, d)
	}
}

// Budgets implements Session.
func (s *servedSession) Budgets(context.Context) (list []Budget, err error) {
	k := s.served.keeper
	var roles []*role.Role
	if r, err := s.role(); err != nil {
		return nil, err
	} else if r != nil {
		roles = append(roles, r)
	} else if roles, err = k.Roles(); err != nil {
		return nil, err
	}
	for _, r := range roles {
		roleBudgets, err := k.RoleBudgets(r.Name)
		if err != nil {
			return nil, err
		}
		for _, unit := range slices.SortedFunc(maps.Keys(r.Epsilon), cmp.Compare) {
			b := Budget{Role: r.Name, Unit: unit, Limit: r.Epsilon[unit], Call: r.EpsilonMax[unit]}
			for _, p := range roleBudgets {
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
	r, err := s.role()
	if err != nil {
		return nil, err
	}
	return s.served.history.of(r, most), nil
}

// Saved implements Session. The owner has none.
func (s *servedSession) Saved(context.Context) ([]SavedQuestion, error) {
	r, err := s.role()
	if r == nil || err != nil {
		return nil, err
	}
	return s.served.saved.of(r)
}

// Save implements Session.
func (s *servedSession) Save(_ context.Context, q SavedQuestion) error {
	r, err := s.role()
	switch {
	case err != nil:
		return err
	case r == nil:
		return errOwnerAsks
	}
	return s.served.saved.save(r, q)
}

// Left implements Session.
func (s *servedSession) Left(context.Context) ([]Left, error) {
	left := map[budget.Unit]Left{}
	for b, err := range ledger.AllBalances(s.served.keeper) {
		if err != nil {
			return nil, err
		}
		if b.Account != ledger.Everyone {
			l := left[b.Unit]
			l.Unit, l.Accounts = b.Unit, l.Accounts+1
			l.Tenths[tenthsLeft(b)]++
			left[b.Unit] = l
		}
	}
	return slices.SortedFunc(maps.Values(left), func(a, b Left) int { return cmp.Compare(a.Unit, b.Unit) }), nil
}

// tenthsLeft returns how many tenths of its limit an account has left, rounded up.
func tenthsLeft(b ledger.Balance) (tenths int) {
	left := b.Remaining()
	for left > 0 && tenths < 10 && (tenths == 0 || left > b.Limit/10*budget.Amount(tenths)) {
		tenths++
	}
	return tenths
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
