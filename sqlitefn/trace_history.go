package sqlitefn

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

var argTrace = &argument{name: "trace", is: "TEXT or INTEGER", kind: kindAccount}

var traceRunColumns = []string{"t TEXT", "lat REAL", "lon REAL", "hard INTEGER", "tested INTEGER", "epsilon REAL", "set_size INTEGER", "x REAL"}

func newTraceRunCursor(*session) cursor {
	return &rowsCursor[ledger.Point]{
		read: func(c call) ([]ledger.Point, error) {
			book, err := c.session.ledger()
			if err != nil {
				return nil, ignoreNoLedger(err)
			}
			return book.TraceRun(c.text(argTrace))
		},
		show: showPoint,
	}
}

// showPoint sets the columns of a row.
func showPoint(c call, p ledger.Point) {
	c.ResultFloat(5, p.Spent.Float64())
	c.ResultNull(6)
	if p.SetSize > 0 {
		c.ResultInt(6, int64(p.SetSize))
	}
	c.ResultNull(7)
	if p.Gap {
		for i := range 5 {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, p.Time.UTC().Format(time.RFC3339Nano))
	if p.Reading {
		c.ResultNull(1)
		c.ResultNull(2)
		c.ResultFloat(7, p.Value)
	} else {
		c.ResultFloat(1, p.Lat)
		c.ResultFloat(2, p.Lon)
	}
	c.resultBool(3, p.Hard)
	c.resultBool(4, p.Tested)
}

// traceRestart lets a trace go on after a crash.
func traceRestart(c call) error {
	book, err := c.session.ledger()
	if err != nil {
		return err
	}
	name := c.text(argTrace)
	account, unit := c.session.accountOfTrace(name)
	restarted, err := book.RestartTrace(name, account, unit)
	if err != nil {
		return err
	}
	said := "was not left by a crash"
	if restarted {
		said = "goes on after a gap; what was reserved is spent"
	}
	c.ResultString(0, fmt.Sprintf("trace %s %s", quoted(name), said))
	return nil
}

// accountOfTrace returns whose budget the policy of a trace charges, empty if there is no policy that
// works. The ledger knows better of a trace that it has.
func (s *session) accountOfTrace(name string) (account string, unit budget.Unit) {
	declared, found, err := s.policyOfTrace(name)
	if err != nil || !found {
		return "", ""
	}
	m, err := mechanismNamed(declared.mechanism)
	if err != nil {
		return "", ""
	}
	plan, err := m.plan(s, declared)
	if err != nil {
		return "", ""
	}
	return declared.account, plan.unit
}
