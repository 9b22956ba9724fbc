package sqlitefn

import (
	"fmt"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

var runColumns = []string{"t TEXT", "lat REAL", "lon REAL", "hard INTEGER", "tested INTEGER", "epsilon REAL"}

// runCursor runs through the run of a trace.
type runCursor struct {
	rowsCursor[ledger.Point]
	session *session
}

func newRunCursor(s *session, _ *function) cursor {
	return &runCursor{rowsCursor[ledger.Point]{show: showPoint}, s}
}

func (r *runCursor) filter(c call, _ uint) (sqlite.Rows, error) {
	var room [20]byte
	name, err := c.account(0, &room)
	if err != nil {
		return sqlite.NoRow, err
	}
	book, err := r.session.ledger()
	if err != nil {
		return sqlite.NoRow, ignoreNoLedger(err)
	}
	if r.rows, err = book.TraceRun(string(name)); err != nil {
		return sqlite.NoRow, err
	}
	return r.next(c)
}

func showPoint(c call, p ledger.Point) {
	c.ResultFloat(5, p.Spent.Float64())
	if p.Gap {
		for i := range 5 {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, p.Time.UTC().Format(time.RFC3339Nano))
	c.ResultFloat(1, p.Lat)
	c.ResultFloat(2, p.Lon)
	c.ResultInt(3, number(p.Hard))
	c.ResultInt(4, number(p.Tested))
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
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
