package file

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Trace implements [engine.Reader].
func (r *reader) Trace(name string) (found *engine.TraceRow, err error) {
	s := r.db.getTrace
	defer s.Reset()
	s.BindText(1, name)
	row, err := s.Step()
	if err != nil || !row {
		return nil, err
	}
	var v [7]sqlite.Value
	s.Row(0, v[:])
	found = &engine.TraceRow{
		Account: v[0].Text(),
		Unit:    budget.Unit(v[1].Text()),
		State:   slices.Clone(v[2].Bytes()),
		Saved:   v[3].Int(),
		Held:    budget.Amount(v[5].Int()),
		Lost:    budget.Amount(v[6].Int()),
	}
	if v[4].Type() == sqlite.Blob {
		found.User = slices.Clone(v[4].Bytes())
	}
	return found, nil
}

// TraceKeys implements [engine.Transaction].
func (t *transaction) TraceKeys(names []string) (map[string]engine.Key, error) {
	keys := map[string]engine.Key{}
	for _, name := range names {
		found, err := t.Trace(name)
		if err != nil {
			return nil, err
		}
		if found != nil {
			keys[name] = engine.Key{Account: found.Account, Unit: found.Unit}
		}
	}
	return keys, nil
}

// TakeTrace implements [engine.Transaction].
func (t *transaction) TakeTrace(name string, row *engine.TraceRow) error {
	s := t.db.takeTrace
	s.BindText(1, name)
	s.BindText(2, row.Account)
	s.BindText(3, string(row.Unit))
	s.BindBlob(4, row.User)
	s.BindInts(5, int64(row.Held), t.now)
	t.written++
	return s.Run()
}

// PutTrace implements [engine.Transaction].
func (t *transaction) PutTrace(name string, row *engine.TraceRow) error {
	s := t.db.putTrace
	s.BindText(1, name)
	s.BindText(2, row.Account)
	s.BindText(3, string(row.Unit))
	s.BindBlob(4, row.State)
	s.BindNull(5)
	if row.User != nil {
		s.BindBlob(5, row.User)
	}
	s.BindInts(6, row.Saved, int64(row.Held), t.now)
	t.written++
	return s.Run()
}

// FreeTrace implements [engine.Transaction].
func (t *transaction) FreeTrace(name string, saved int64, lost budget.Amount) error {
	s := t.db.freeTrace
	s.BindText(1, name)
	s.BindInts(2, saved, int64(lost))
	t.written++
	return s.Run()
}

// AddPoints implements [engine.Transaction].
func (t *transaction) AddPoints(name string, saved int64, points []ledger.Point) error {
	if len(points) == 0 {
		return nil
	}
	s := t.db.putRun
	s.BindText(1, name)
	s.BindInts(2, saved+1)
	s.BindBlob(3, engine.EncodePoints(points))
	t.written++
	return s.Run()
}

// Lease implements [engine.Reader].
func (r *reader) Lease(k engine.Key) (l engine.LeaseRow, err error) {
	s := r.db.getLease
	defer s.Reset()
	s.BindText(1, k.Account)
	s.BindText(2, string(k.Unit))
	row, err := s.Step()
	if err != nil || !row {
		return l, err
	}
	user, lost := s.Column(0), s.Column(1)
	if user.Type() == sqlite.Blob {
		l.User = slices.Clone(user.Bytes())
	}
	l.Lost = budget.Amount(lost.Int())
	return l, nil
}

// TakeLeases implements [engine.Transaction].
func (t *transaction) TakeLeases(user []byte, unit budget.Unit, accounts []string, most budget.Amount) (taken []string, err error) {
	s := t.db.takeLease
	s.BindText(2, string(unit))
	s.BindBlob(3, user)
	s.BindInts(4, int64(most))
	for _, a := range accounts {
		t.written++
		s.BindText(1, a)
		row, err := s.Step()
		s.Reset()
		if err != nil {
			return nil, err
		}
		if row {
			taken = append(taken, a)
		}
	}
	return taken, nil
}

// LeasedTraces implements [engine.Transaction].
func (t *transaction) LeasedTraces(user []byte) (all []engine.LeasedTrace, err error) {
	s, err := t.db.compiled(`SELECT t.trace, t.points, l.most FROM lease AS l JOIN leased_trace AS t USING (account, unit)
WHERE l.user = ?1 AND t.user IS NULL`)
	if err != nil {
		return nil, err
	}
	defer s.Reset()
	s.BindBlob(1, user)
	for {
		row, err := s.Step()
		if err != nil || !row {
			return all, err
		}
		var v [3]sqlite.Value
		s.Row(0, v[:])
		all = append(all, engine.LeasedTrace{Name: v[0].Text(), Saved: v[1].Int(), Most: budget.Amount(v[2].Int())})
	}
}

// EndLeases implements [engine.Transaction].
func (t *transaction) EndLeases(user []byte) error {
	if err := t.exec("DELETE FROM lease WHERE user = ?1 AND lost = 0", user); err != nil {
		return err
	}
	return t.exec("UPDATE lease SET user = NULL, most = 0 WHERE user = ?1", user)
}

// BreakLeases implements [engine.Transaction].
func (t *transaction) BreakLeases(user []byte) error {
	return t.exec("UPDATE lease SET user = NULL, most = 0, lost = lost + most WHERE user = ?1", user)
}

// TraceRun implements [ledger.Ledger].
func (l *Ledger) TraceRun(name string) (points []ledger.Point, err error) {
	err = l.read(func(db *store) error {
		return db.query("SELECT points FROM run WHERE trace = ?1 ORDER BY first", func(s *sqlite.Stmt) error {
			block := s.Column(0)
			points, err = engine.AppendPoints(points, block.Bytes())
			return err
		}, name)
	})
	return points, err
}
