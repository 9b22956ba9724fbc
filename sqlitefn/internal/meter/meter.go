// Package meter counts, for a program that runs the statements of others, the charges of these: before, while they run and
// afterwards. It imports the frame, for its dry runs, and package misuse. Start with [Meter].
package meter

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/misuse"
)

// A Meter tells a program that runs the statements of others their charges: before, as far
// as these are certain, while they run and afterwards. It also tells where they misuse sealed
// values. It belongs to one connection and, like that, is used by one goroutine at a time, but for
// Charged. Its answers are for the owner: balances, and the names of accounts with rows, are not private.
type Meter struct {
	session  *frame.Session
	gate     *misuse.Gate
	calls    *sqlite.Watch
	last     *Forecast
	patience time.Duration // after which a dry run is given up

	looked     bool // sealed is known, see HasSealed
	sealed     bool
	autocommit bool // the connection was not in a transaction then

	mu      sync.Mutex
	charged map[budget.Unit]*tally // guarded by mu
}

// tally holds the charges in one unit.
type tally struct {
	total    frame.Sum
	accounts intern.Table
}

// New returns a meter of a session's connection.
func New(s *frame.Session) (*Meter, error) {
	m := &Meter{session: s, gate: misuse.NewGate(s), patience: patience, charged: map[budget.Unit]*tally{}}
	calls, err := s.Conn.Watch(s.Table.Releasing())
	if err != nil {
		return nil, err
	}
	m.calls = calls
	s.Watch(meterObserver{m})
	return m, nil
}

// patience is how long a dry run may take before a statement. A statement may have no end, and
// still have a reader who soon has enough.
const patience = 2 * time.Second

// Close ends the meter. The connection must still be open.
func (m *Meter) Close() {
	m.calls.Close()
	m.session.Watch(nil)
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

// HasSealed reports whether a database of the connection has sealed columns. It costs nothing
// while no statement has changed that, as far as this connection knows: it does not see that
// another one adds sealed columns to a database that had none.
func (m *Meter) HasSealed() (bool, error) {
	declares, autocommit := m.calls.TakeDeclares(), m.session.Conn.AutoCommit()
	if declares || !m.looked || m.autocommit != autocommit { // a failed statement may have rolled back
		sealed, err := misuse.HasSealed(m.session)
		if err != nil {
			return false, err
		}
		m.calls.TakeDeclares()
		m.sealed, m.autocommit = sealed, autocommit
		m.looked = !declares // the statement that declares has not run yet
	}
	return m.sealed, nil
}

// Misuses returns where a statement depends on sealed columns other than through a private function.
// Nothing else that it computes does. Statements that only steer the connection or change the
// schema have none.
func (m *Meter) Misuses(sql string) ([]misuse.Misuse, error) { return m.gate.Misuses(sql) }

// Private is [misuse.Gate.Private].
func (m *Meter) Private(sql, epsilon string) (string, error) { return m.gate.Private(sql, epsilon) }

// A Charged holds the charges in one unit.
type Charged struct {
	Unit     budget.Unit
	Epsilon  *big.Rat // of all accounts together
	Accounts int
}

// Charged returns the charges of the statements since the last Reset, in the order of units.
// A statement that failed may still have charged when it was closed. Any goroutine may call it,
// also while a statement runs.
func (m *Meter) Charged() []Charged {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Charged
	for unit, t := range m.charged {
		list = append(list, Charged{unit, t.total.Rat(), t.accounts.Len()})
	}
	slices.SortFunc(list, func(a, b Charged) int { return cmp.Compare(a.Unit, b.Unit) })
	return list
}

// meterObserver counts for a meter.
type meterObserver struct{ meter *Meter }

func (o meterObserver) Charged(account []byte, price budget.Price) {
	m := o.meter
	if price.Amount == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.charged[price.Unit]
	if t == nil {
		t = new(tally)
		m.charged[price.Unit] = t
	}
	t.total.Add(price.Amount)
	t.accounts.Number(account)
}

// Counted keeps the forecast of a dry run.
func (o meterObserver) Counted(rows []frame.Cost, certain bool) (err error) {
	o.meter.last, err = forecast(o.meter.session, rows, certain)
	return err
}

// LastForecast returns the forecast of the last dry run that budget_cost has made since the last
// Reset, nil if there was none.
func (m *Meter) LastForecast() *Forecast { return m.last }

// Forecast returns the charges that a statement is certain to make, by a dry run, which charges and
// draws nothing and undoes its writes. It returns nil if nothing is certain: if the statement cannot
// be dry-run, or its evaluation may depend on released values. A dry run of more than two
// seconds is given up; its count by then is certain, and a part of the whole.
//
// It returns an error that the statement is certain to end with, or that of an interrupt.
func (m *Meter) Forecast(sql string) (*Forecast, error) {
	return m.forecast(sql, isSure)
}

// Foresee returns the same as Forecast, but nil for a statement with no other charge than that of one
// group. The group charges all of its accounts or none, so a dry run would warn of nothing.
func (m *Meter) Foresee(sql string) (*Forecast, error) {
	return m.forecast(sql, func(d *frame.DryRun) bool { return !d.Program.EndsOneGroup(m.session.Table.Charges) && isSure(d) })
}

// forecast makes a dry run if that is worth while, see Forecast.
func (m *Meter) forecast(sql string, worthwhile func(*frame.DryRun) bool) (*Forecast, error) {
	s := m.session
	d, err := s.NewDryRun(sql)
	if err != nil {
		return nil, ifInterrupt(err)
	}
	defer d.Close()
	if !worthwhile(d) {
		return nil, nil
	}
	partial, err := m.runPatiently(d)
	if err != nil {
		if d.Failed != nil && !d.Inexact {
			return nil, err // the arguments of such a call are certain too
		}
		return nil, ifInterrupt(err)
	}
	if d.Inexact {
		return nil, nil
	}
	rows, err := d.Costs(true)
	if err != nil {
		return nil, ifInterrupt(err) // the statement will tell the fault of the ledger
	}
	f, err := forecast(s, rows, true)
	if err != nil {
		return nil, ifInterrupt(err)
	}
	f.Partial = partial
	return f, nil
}

// runPatiently runs a dry run, and gives it up when it takes too long. The charges only
// grow while a statement runs, so that the count by then is a lower bound.
func (m *Meter) runPatiently(d *frame.DryRun) (partial bool, err error) {
	fired := make(chan struct{})
	timer := time.AfterFunc(m.patience, func() {
		m.session.Conn.Interrupt()
		close(fired)
	})
	err = d.Run()
	if timer.Stop() {
		return false, err
	}
	<-fired
	if ifInterrupt(err) != nil {
		return true, nil
	}
	return false, err
}

// isSure reports whether the count is certain, as far as the statement's program tells. A
// dry run of a statement that writes changes SQLite's counters of the rows written before.
func isSure(d *frame.DryRun) bool {
	return d.Repeats() && !(d.Program.Writes() && d.Program.Calls("changes", "total_changes", "last_insert_rowid"))
}

// ifInterrupt returns err if it is that of an interrupt.
func ifInterrupt(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code == frame.CodeInterrupt {
		return err
	}
	return nil
}
