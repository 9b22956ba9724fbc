package sqlitefn

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/internal/sqlite"
)

// A Meter tells a program that runs the statements of others what they charge: before, as far
// as that is certain, while they run and afterwards. It also tells where they misuse sealed values. It belongs to one connection and, like
// that, is used by one goroutine at a time, but for Charged. What it tells is for the owner:
// balances, and who has rows, are not private.
type Meter struct {
	session  *session
	calls    *sqlite.Watch
	last     *Forecast
	patience time.Duration // after which a dry run is given up

	looked     bool // sealed is known, see HasSealed
	sealed     bool
	autocommit bool // the connection was not in a transaction then

	mu      sync.Mutex
	charged map[budget.Unit]*tally // guarded by mu
}

// tally holds what is charged in one unit.
type tally struct {
	total    total
	accounts intern.Table
}

// NewMeter returns a meter of a connection that has the functions, by its handle, an *sqlite3
// of C. The meter is the connection's authorizer, which allows everything, until it is closed.
func NewMeter(db unsafe.Pointer) (*Meter, error) {
	s := attachedSession(db)
	if s == nil {
		return nil, errors.New("geosql: the connection does not have the functions")
	}
	m := &Meter{session: s, patience: patience, charged: map[budget.Unit]*tally{}}
	calls, err := s.conn.Watch(s.table.releasing())
	if err != nil {
		return nil, err
	}
	m.calls, s.meter = calls, m
	return m, nil
}

// patience is how long a dry run may take before a statement. A statement may have no end, and
// still have a reader who soon has enough.
const patience = 2 * time.Second

// Close ends the meter. The connection must still be open.
func (m *Meter) Close() {
	m.calls.Close()
	m.session.meter = nil
}

// Reset begins anew.
func (m *Meter) Reset() {
	m.calls.Reset()
	m.last = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.charged)
}

// MayCharge reports whether a statement that was compiled since the last Reset calls a function
// that charges, directly or in a view or trigger.
func (m *Meter) MayCharge() bool { return m.calls.Seen() }

// A Charged says what was charged in one unit.
type Charged struct {
	Unit     budget.Unit
	Epsilon  *big.Rat // of all accounts together
	Accounts int
}

// Charged returns what the statements since the last Reset have charged, in the order of units.
// A statement that failed may still have charged when it was closed. Any goroutine may call it,
// also while a statement runs.
func (m *Meter) Charged() []Charged {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Charged
	for unit, t := range m.charged {
		list = append(list, Charged{unit, t.total.rat(), t.accounts.Len()})
	}
	slices.SortFunc(list, func(a, b Charged) int { return cmp.Compare(a.Unit, b.Unit) })
	return list
}

// note counts a charge. Without a meter it does nothing, as the methods below.
func (m *Meter) note(account []byte, price budget.Price) {
	if m == nil || price.Amount == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.charged[price.Unit]
	if t == nil {
		t = new(tally)
		m.charged[price.Unit] = t
	}
	t.total.add(price.Amount)
	t.accounts.Number(account)
}

// noteAll counts the charges of a bill.
func (m *Meter) noteAll(b bill) {
	if m == nil {
		return
	}
	for _, item := range b.items {
		m.note([]byte(item.Account), budget.Price{Unit: b.unit, Amount: item.Epsilon})
	}
}

// keep keeps the forecast of a dry run.
func (m *Meter) keep(s *session, rows []cost, proved bool) (err error) {
	if m != nil {
		m.last, err = s.forecast(rows, proved)
	}
	return err
}

// LastForecast returns the forecast of the last dry run that budget_cost has made since the last
// Reset, nil if there was none.
func (m *Meter) LastForecast() *Forecast { return m.last }

// Forecast returns what a statement is certain to charge, by a dry run, which charges and draws
// nothing and undoes what it writes. It returns nil if nothing is certain: if the statement cannot
// be dry-run, or released values may decide what it evaluates. A dry run of more than two
// seconds is given up; what it has counted by then is certain, and a part of the whole.
//
// It returns an error that the statement is certain to end with, or that of an interrupt.
func (m *Meter) Forecast(sql string) (*Forecast, error) {
	return m.forecast(sql, (*dryRun).isSure)
}

// Foresee returns what Forecast returns, but nil for a statement whose only charge is that of one
// group. The group charges all of its accounts or none, so a dry run would warn of nothing.
func (m *Meter) Foresee(sql string) (*Forecast, error) {
	return m.forecast(sql, func(d *dryRun) bool { return !d.program.EndsOneGroup(m.session.table.charges) && d.isSure() })
}

// forecast makes a dry run if that is worth while, see Forecast.
func (m *Meter) forecast(sql string, worthwhile func(*dryRun) bool) (*Forecast, error) {
	s := m.session
	d, err := s.newDryRun(sql)
	if err != nil {
		return nil, ifInterrupt(err)
	}
	defer d.close()
	if !worthwhile(d) {
		return nil, nil
	}
	partial, err := m.runPatiently(d)
	if err != nil {
		if d.failed != nil && !d.inexact {
			return nil, err // the arguments of such a call are certain too
		}
		return nil, ifInterrupt(err)
	}
	if d.inexact {
		return nil, nil
	}
	rows, err := s.costRows(d, true)
	if err != nil {
		return nil, ifInterrupt(err) // the statement will say what is wrong with the ledger
	}
	f, err := s.forecast(rows, true)
	if err != nil {
		return nil, ifInterrupt(err)
	}
	f.Partial = partial
	return f, nil
}

// runPatiently runs a dry run, and gives it up when it takes too long. What is charged only
// grows while a statement runs, so that what was counted by then is a lower bound.
func (m *Meter) runPatiently(d *dryRun) (partial bool, err error) {
	fired := make(chan struct{})
	timer := time.AfterFunc(m.patience, func() {
		m.session.conn.Interrupt()
		close(fired)
	})
	err = d.run()
	if timer.Stop() {
		return false, err
	}
	<-fired
	if ifInterrupt(err) != nil {
		return true, nil
	}
	return false, err
}

// isSure reports whether what is counted is certain, as far as the statement's program tells. A
// dry run of a statement that writes changes what is known of the rows written before.
func (d *dryRun) isSure() bool {
	return d.repeats() && !(d.program.Writes() && d.program.Calls("changes", "total_changes", "last_insert_rowid"))
}

// ifInterrupt returns err if it is that of an interrupt.
func ifInterrupt(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code == codeInterrupt {
		return err
	}
	return nil
}
