package sqlitefn

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/ledger"
)

var runColumns = []string{"t TEXT", "lat REAL", "lon REAL", "hard INTEGER", "tested INTEGER", "epsilon REAL", "set_size INTEGER"}

func newRunCursor(s *session, _ *function) cursor {
	return &rowsCursor[ledger.Point]{
		read: func(c call) ([]ledger.Point, error) {
			var room [20]byte
			name, err := c.account(0, &room)
			if err != nil {
				return nil, err
			}
			book, err := s.ledger()
			if err != nil {
				return nil, ignoreNoLedger(err)
			}
			return book.TraceRun(string(name))
		},
		show: showPoint,
	}
}

func showPoint(c call, p ledger.Point) {
	c.ResultFloat(5, p.Spent.Float64())
	c.ResultNull(6)
	if p.SetSize > 0 {
		c.ResultInt(6, int64(p.SetSize))
	}
	if p.Gap {
		for i := range 5 {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, p.Time.UTC().Format(time.RFC3339Nano))
	c.ResultFloat(1, p.Lat)
	c.ResultFloat(2, p.Lon)
	c.resultBool(3, p.Hard)
	c.resultBool(4, p.Tested)
}

// traceRestart lets a trace go on that a crash has left.
func traceRestart(s *session, c call) error {
	var room [20]byte
	name, err := c.account(0, &room)
	if err != nil {
		return err
	}
	book, err := s.ledger()
	if err != nil {
		return err
	}
	restarted, err := book.RestartTrace(string(name))
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
