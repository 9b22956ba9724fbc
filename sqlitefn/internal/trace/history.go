package trace

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argTrace = &frame.Arg{Name: "trace", Is: "TEXT or INTEGER", Kind: frame.Account}

var traceRunColumns = []string{"t TEXT", "lat REAL", "lon REAL", "hard INTEGER", "tested INTEGER", "epsilon REAL", "set_size INTEGER", "x REAL"}

func newTraceRunCursor(*frame.Session) frame.Cursor {
	return &frame.RowsCursor[ledger.Point]{
		Read: func(c frame.Call) ([]ledger.Point, error) {
			l, err := c.Session.Ledger()
			if err != nil {
				return nil, frame.IgnoreNoLedger(err)
			}
			return l.TraceRun(c.Text(argTrace))
		},
		Show: showPoint,
	}
}

// showPoint sets the columns of a row.
func showPoint(c frame.Call, p ledger.Point) {
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
	c.ResultBool(3, p.Hard)
	c.ResultBool(4, p.Tested)
}

// traceRestart lets a trace go on after a crash.
func traceRestart(c frame.Call) error {
	l, err := c.Session.Ledger()
	if err != nil {
		return err
	}
	name := c.Text(argTrace)
	account, unit := accountOfTrace(c.Session, name)
	restarted, err := l.RestartTrace(name, account, unit)
	if err != nil {
		return err
	}
	said := "was not left by a crash"
	if restarted {
		said = "goes on after a gap; its reservation is spent"
	}
	c.ResultString(0, fmt.Sprintf("trace %s %s", frame.Quoted(name), said))
	return nil
}

// accountOfTrace returns the account that the policy of a trace charges, empty if there is no policy that
// works. The ledger knows better of a trace that it has.
func accountOfTrace(s *frame.Session, name string) (account string, unit budget.Unit) {
	declared, found, err := policyOfTrace(s, name)
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
	return declared.account, plan.Unit
}
