package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

const hundredth = one / 100

// doubter makes calls that report failure, although their writes are
// stored or may be.
type doubter struct {
	*testing.T
	*Ledger
	account string
	fault   func(on bool)

	granted, failed budget.Amount
}

// count counts a call, and reports whether it was granted.
func (d *doubter) count(cost budget.Amount, err error) bool {
	if err != nil {
		d.failed += cost
		return false
	}
	d.granted += cost
	return true
}

// charge charges a statement hundredths.
func (d *doubter) charge(s ledger.Statement, times int) {
	for range times {
		d.count(hundredth, s.Spender("f", unit).Charge([]byte(d.account), hundredth))
	}
}

// failing makes a call that may fail.
func (d *doubter) failing(call func() error) error {
	d.fault(true)
	defer d.fault(false)
	return call()
}

// doubted are calls that give back the amounts they have taken, or give them up, if they fail.
var doubted = map[string]func(*doubter){
	"end": func(d *doubter) {
		s := d.NewStatement()
		d.charge(s, 6)
		_ = d.failing(s.End)
		d.count(hundredth, d.Charge("f", unit, items(hundredth, d.account)))
	},
	"charge": func(d *doubter) {
		s := d.NewStatement()
		d.charge(s, 8)
		_ = d.failing(func() error { d.charge(s, 1); return nil })
		d.charge(s, 1)
		_ = s.End() // the fault may last
	},
	"pool": func(d *doubter) {
		check(d, d.Reserve(unit, items(3*hundredth, d.account)))
		d.count(5*hundredth, d.failing(func() error { return d.Charge("f", unit, items(5*hundredth, d.account)) }))
		d.count(3*hundredth, d.Charge("f", unit, items(3*hundredth, d.account)))
	},
	"trace": func(d *doubter) {
		trace, _, _, err := d.OpenTrace("trace of "+d.account, d.account, unit, "f")
		check(d, err)
		const step = 2 * hundredth
		check(d, trace.Reserve(step, step))
		check(d, d.SetLimit(d.account, unit, one/2, 0)) // the hold returns with the next reservation
		check(d, d.Reserve(unit, items(step, d.account)))
		_ = d.failing(func() error { return trace.Reserve(step, step) })
		if d.count(step, trace.Reserve(step, step)) {
			trace.Add(ledger.Point{Time: time.Unix(1, 0), Spent: step})
		}
		_ = trace.Close(nil)
	},
}

// addWarnings lets warn have the server warn of every entry: then a transaction is in doubt, and is stored.
const addWarnings = `
CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''a warning''; RETURN NULL; END';
CREATE TRIGGER warn AFTER INSERT ON geosql.entry FOR EACH STATEMENT EXECUTE FUNCTION warn();
ALTER TABLE geosql.entry DISABLE TRIGGER warn`

// warn has the server warn, or not.
func warn(t *testing.T, where string, on bool) {
	able := "DISABLE"
	if on {
		able = "ENABLE"
	}
	exec(t, where, "ALTER TABLE geosql.entry "+able+" TRIGGER warn")
}

// TestLeasedTraceSavedInDoubt saves a trace that goes by a lease in a transaction that is stored although it fails. It is
// not saved a second time, and traces that wait with it are saved.
func TestLeasedTraceSavedInDoubt(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	l := open(t, where)
	check(t, l.SetLimit("*", unit, one, 0))
	check(t, l.Reserve(unit, items(9*hundredth, "ana")))
	exec(t, where, addWarnings)
	s := l.NewStatement()
	traces := []string{"first", "second", "third"}
	for i, name := range traces {
		tr, _, _, err := s.OpenTrace(name, "ana", unit, "f")
		check(t, err)
		check(t, tr.Reserve(hundredth, hundredth))
		tr.Add(ledger.Point{Time: time.Unix(1, 0), Hard: true, Spent: hundredth})
		if i == 2 {
			warn(t, where, true)
			if err := tr.Save([]byte("saved")); err == nil {
				t.Error("a warning was overlooked")
			}
			warn(t, where, false)
		}
		check(t, tr.Close([]byte("closed")))
	}
	check(t, s.End())
	for _, name := range traces {
		points, err := l.TraceRun(name)
		check(t, err)
		if len(points) != 1 || points[0].Gap {
			t.Errorf("%s has points %+v", name, points)
		}
	}
	b, err := l.Balance("ana", unit)
	check(t, err)
	if b.Spent != 3*hundredth {
		t.Errorf("%+v", b)
	}
	_, err = l.Verify("", nil, nil)
	check(t, err)
}

// TestNothingReturnsTwice has calls fail with a transaction that is stored, or may be: the returned amounts
// must not return again, and the used ones must not be recorded again. Another process holds
// something of the same account, which must stay reserved.
func TestNothingReturnsTwice(t *testing.T) {
	defer func(before time.Duration) { away = before }(away)
	away = time.Millisecond
	where := pgtest.Start(t).Database(t)
	check(t, open(t, where).SetLimit("*", unit, one, 0))
	exec(t, where, addWarnings)
	play := func(t *testing.T, call, account, through string, setUp func(*Ledger) (fault func(on bool))) {
		l, err := Open(fmt.Sprintf("%s&application_name=other%d", through, others.Add(1)), false)
		check(t, err)
		direct := another(t, where)
		held := direct.NewStatement()
		other := &doubter{T: t, Ledger: direct, account: account}
		other.charge(held, 6) // one is not recorded, and two are left
		d := &doubter{T: t, Ledger: l, account: account}
		check(t, l.Charge("f", unit, items(hundredth, account))) // so that it is a writer
		d.granted += hundredth
		d.fault = setUp(l)
		doubted[call](d)
		_ = l.Close() // the fault may last
		b, err := direct.Balance(account, unit)
		check(t, err)
		granted, failed := d.granted+other.granted, d.failed
		if b.Spent+b.Reserved < granted || b.Spent > granted+failed || b.Reserved < 3*hundredth {
			t.Errorf("spent %v, reserved %v, of which another process holds %v; granted %v, and perhaps charged %v", b.Spent, b.Reserved, 3*hundredth, granted, failed)
		}
		check(t, held.End())
		_, err = direct.Verify("", nil, nil)
		check(t, err)
	}
	for call := range doubted {
		t.Run(call+"/not noted", func(t *testing.T) {
			play(t, call, call+" not noted", where, func(l *Ledger) func(bool) {
				return func(on bool) {
					if on {
						check(t, l.store.writer.file.Close())
					}
				}
			})
		})
		t.Run(call+"/warning", func(t *testing.T) {
			play(t, call, call+" warning", where, func(*Ledger) func(bool) {
				return func(on bool) { warn(t, where, on) }
			})
		})
		t.Run(call+"/cut", func(t *testing.T) {
			cutter, through := newCutter(t, where)
			tryCuts(t, 10, func(n int) (messages int) {
				play(t, call, fmt.Sprint(call, " cut ", n), through, func(*Ledger) func(bool) {
					return func(on bool) {
						if on {
							cutter.arm(n, true)
						} else {
							messages = cutter.disarm()
						}
					}
				})
				return messages
			})
		})
	}
}
