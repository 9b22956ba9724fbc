// Package meter counts, for a program that runs the statements of others, the charges of these: before, while they run and
// afterwards. It imports the frame, for its dry runs, the declarations and package misuse. Start with [Meter].
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
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
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
	patience time.Duration // after which a dry run is given up

	looked     bool // sealed is known, see HasSealed
	sealed     bool
	autocommit bool // the connection was not in a transaction then

	intervals bool          // are to be told
	answers   []interval.Of // of the statements since the last Reset

	mu      sync.Mutex
	charged map[budget.Unit]*tally // guarded by mu
	groups  map[grouped]*frame.Groups
}

// grouped is an aggregate of which the groups in a unit may cost once.
type grouped struct {
	by   *frame.Function
	unit budget.Unit
}

// tally holds the charges in one unit.
type tally struct {
	total    frame.Sum
	accounts intern.Table
	sums     []frame.Sum // by account
}

// New returns a meter of a session's connection.
func New(s *frame.Session) (*Meter, error) {
	m := &Meter{session: s, gate: misuse.NewGate(s), patience: patience, charged: map[budget.Unit]*tally{}, groups: map[grouped]*frame.Groups{}}
	calls, err := s.Conn.Watch(s.Table.Releasing())
	if err != nil {
		return nil, err
	}
	m.calls = calls
	s.Watch(meterObserver{m})
	return m, nil
}

// patience is the time after which a dry run ends as soon as somebody cannot pay: a statement may have no end.
const patience = 2 * time.Second

// Close ends the meter. The connection must still be open.
func (m *Meter) Close() {
	m.calls.Close()
	m.session.Watch(nil)
}

// Reset begins anew.
func (m *Meter) Reset() {
	m.calls.Reset()
	m.session.TrueCells = false
	m.session.Expect(nil)
	m.answers = m.answers[:0]
	clear(m.groups)
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.charged)
}

// MayCharge reports whether a statement that was compiled since the last Reset calls a function
// that charges, directly or in a view or trigger.
func (m *Meter) MayCharge() bool { return m.calls.Seen() }

// TrueCells reports whether geo_cell was given, since the last Reset, a location that no function has released.
func (m *Meter) TrueCells() bool { return m.session.TrueCells }

// IsTrue reports whether a location is none that a function may have released.
func (m *Meter) IsTrue(lat, lon float64) bool { return declared.IsTrue(m.session, lat, lon) }

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
	i := t.accounts.Number(account)
	if i == len(t.sums) {
		t.sums = append(t.sums, frame.Sum{})
	}
	t.sums[i].Add(price.Amount)
}

func (o meterObserver) Grouped(by *frame.Function, unit budget.Unit, separate error) {
	of := grouped{by, unit}
	g := o.meter.groups[of]
	if g == nil {
		g = new(frame.Groups)
		o.meter.groups[of] = g
	}
	g.Count++
	g.Separate = cmp.Or(separate, g.Separate)
}

// Spent returns the charges of the statements since the last Reset, which have ended, as a forecast that was exact.
func (m *Meter) Spent() (*Forecast, error) {
	f := &Forecast{Certainty: frame.Exact}
	for unit, t := range m.charged {
		u := UnitForecast{Unit: unit, Epsilon: t.total.Rat(), Most: new(big.Rat), Share: new(big.Rat)}
		for i, sum := range t.sums {
			b, err := m.session.Balance(string(t.accounts.Name(i)), unit)
			if err != nil {
				return nil, err
			}
			u.compare(sum, b.Remaining().Rat())
		}
		for of, g := range m.groups {
			if of.unit == unit {
				u.group(g)
			}
		}
		f.Units = append(f.Units, u)
	}
	f.sort()
	return f, nil
}

// TellIntervals has the meter know how far from the truth answers may be. Without that it remembers none.
func (m *Meter) TellIntervals(on bool) { m.intervals = on }

// Answering keeps the answers of a statement if intervals are to be told.
func (o meterObserver) Answering(of interval.Of) bool {
	if o.meter.intervals {
		o.meter.answers = append(o.meter.answers, of)
	}
	return o.meter.intervals
}

// Interval returns how far from the truth a number may be that the statements since the last Reset have released.
func (m *Meter) Interval(number float64) (all interval.Interval) {
	for _, of := range m.answers {
		all = all.Plus(of(number))
	}
	return all
}

// Forecast returns the charges of a statement, by a dry run, which charges and draws nothing and undoes its writes. A dry run of more
// than two seconds ends as soon as somebody cannot pay.
//
// It returns frame.ErrVerb for a statement that never charges, such as EXPLAIN, an error of the statement itself, an interrupt, or
// an [UncountedError].
func (m *Meter) Forecast(sql string) (*Forecast, error) {
	return m.forecast(sql, func(*frame.DryRun) bool { return true })
}

// Foresee is Forecast, but nil for a statement of which a forecast would warn of nothing: it has no charge but that of one group or call,
// which charges all of its accounts or none, and nothing behind it that may fail, or it is known without its rows that everybody can pay.
// If told is set, somebody is told the charges, and wants a forecast of all where an account might pay more than a tenth of its rest.
func (m *Meter) Foresee(sql string, told bool) (*Forecast, error) {
	all := func(string) bool { return true }
	return m.forecast(sql, func(d *frame.DryRun) bool {
		switch {
		case d.Program.Writes():
			return true
		case told:
			return !d.Payable(10)
		}
		return !d.Program.CallsOnce(m.session.Table.Charges, all) && !d.Payable(1)
	})
}

// Reserve has the next statement, which a forecast is about, reserve its charges in one transaction, where it
// would commit for many accounts or rows one after the other. The part that it does not use returns when it ends.
func (m *Meter) Reserve(f *Forecast) { m.session.Expect(f.demands) }

// forecast makes a dry run if that is worth while.
func (m *Meter) forecast(sql string, worthwhile func(*frame.DryRun) bool) (*Forecast, error) {
	s := m.session
	d, err := s.NewDryRun(sql)
	if err == frame.ErrVerb {
		return nil, err
	}
	if err != nil {
		return nil, uncounted(err)
	}
	defer d.Close()
	if !worthwhile(d) {
		return nil, nil
	}
	timer := time.AfterFunc(m.patience, d.Hurry)
	defer timer.Stop()
	switch err := d.Run(); {
	case err == nil, d.Partial:
	case d.Failed != nil:
		return nil, err // the arguments of the call
	default:
		return nil, uncounted(err)
	}
	rows, err := d.Costs()
	if err != nil {
		return nil, err
	}
	return forecast(s, rows, d)
}

// An UncountedError tells why a dry run cannot count the charges of a statement. Either the statement cannot be undone, or it
// fails over a public constant that stands in a dry run for a released value.
type UncountedError struct{ Reason error }

func (e *UncountedError) Error() string { return e.Reason.Error() }

func (e *UncountedError) Unwrap() error { return e.Reason }

// uncounted returns an error of a dry run, an interrupt as it is.
func uncounted(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code == frame.CodeInterrupt {
		return err
	}
	return &UncountedError{err}
}
