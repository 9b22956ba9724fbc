package file_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
)

// standing is a balance in a ledger's file.
type standing struct {
	spent, reserved, windowStart, windowSpent int64
}

// state is the state in a ledger's file.
type state struct {
	balances    map[key]standing
	limits      map[key]setting
	roleBudgets map[key]int64 // of askingRole; spent
}

// readState reads a ledger's file as it stands: without this
// package, and without a file as empty.
func readState(path string) (s state, err error) {
	s = state{map[key]standing{}, map[key]setting{}, map[key]int64{}}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return s, nil
	}
	conn, err := sqlite.Open(path, sqlite.ReadWrite) // may have to recover the log
	if err != nil {
		return s, err
	}
	defer conn.Close()
	err = each(conn, "SELECT account, unit, spent, reserved, coalesce(window_start, 0), window_spent FROM balance", func(v []sqlite.Value) {
		s.balances[key{v[0].Text(), budget.Unit(v[1].Text())}] = standing{v[2].Int(), v[3].Int(), v[4].Int(), v[5].Int()}
	})
	if err != nil {
		return s, err
	}
	err = each(conn, "SELECT account, unit, epsilon, coalesce(window_seconds, 0) FROM budget", func(v []sqlite.Value) {
		s.limits[key{v[0].Text(), budget.Unit(v[1].Text())}] = setting{budget.Amount(v[2].Int()), v[3].Int()}
	})
	if err != nil {
		return s, err
	}
	asked := false
	err = each(conn, "SELECT 1 FROM sqlite_schema WHERE name = 'purse'", func([]sqlite.Value) { asked = true })
	if err != nil || !asked {
		return s, err
	}
	err = each(conn, "SELECT account, unit, spent FROM purse WHERE role = '"+askingRole+"'", func(v []sqlite.Value) {
		s.roleBudgets[key{v[0].Text(), budget.Unit(v[1].Text())}] = v[2].Int()
	})
	return s, err
}

func each(conn *sqlite.Conn, query string, row func([]sqlite.Value)) error {
	s, _, err := conn.Prepare(query)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		v := make([]sqlite.Value, s.Columns())
		s.Row(0, v)
		row(v)
	}
}

// usable is the account that is charged to see whether budgets are usable.
const usable = "usable"

// recovered makes sure that crashed processes left a ledger that grants,
// refuses and verifies as it should, and that it has grown out of head. It
// returns its state.
func recovered(dir string, head *ledger.Head) (s state, reached *ledger.Head, err error) {
	if err := grantsAndRefuses(mainFile(dir)); err != nil {
		return s, nil, err
	}
	if reached, err = verified(dir, head); err != nil {
		return s, nil, err
	}
	if err := soundFile(ledgerFile(dir)); err != nil {
		return s, nil, err
	}
	s, err = readState(ledgerFile(dir))
	return s, reached, err
}

func grantsAndRefuses(path string) error {
	pool := sql.OpenDB(sqlitefn.Connector(path))
	defer pool.Close()
	for _, query := range []string{
		declareDomain,
		`SELECT budget_limit('` + usable + `', 'm', 9000000)`,
		`SELECT budget_limit('nobody', 'm', 0)`,
		`SELECT geoind_laplace('` + usable + `', 39.9, 116.3, 0.5)`,
	} {
		var text sql.NullString
		if err := pool.QueryRow(query).Scan(&text); err != nil || !text.Valid {
			return fmt.Errorf("%s: %v, %v", query, text, err)
		}
	}
	var text sql.NullString
	err := pool.QueryRow(`SELECT geoind_laplace('nobody', 39.9, 116.3, 0.5)`).Scan(&text)
	if err == nil || !strings.Contains(err.Error(), "0.5/m asked") {
		return fmt.Errorf("not refused: %v, %v", text, err)
	}
	return nil
}

// verified makes sure that the ledger's entries are a chain that leads through
// an earlier head to the balances, and returns its end.
func verified(dir string, earlier *ledger.Head) (*ledger.Head, error) {
	l, err := file.Open(ledgerFile(dir), false)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	archive := archiveFile(dir)
	if _, err := os.Stat(archive); err != nil {
		archive = ""
	}
	v, err := l.Verify(archive, earlier, nil)
	return &v.Head, err
}

// soundFile makes the checks of Verify too, without this package.
func soundFile(path string) error {
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		return err
	}
	defer conn.Close()
	var faults []error
	err = each(conn, "PRAGMA integrity_check", func(v []sqlite.Value) {
		if v[0].Text() != "ok" {
			faults = append(faults, errors.New(v[0].Text()))
		}
	})
	if err != nil || len(faults) > 0 {
		return errors.Join(append(faults, err)...)
	}
	err = each(conn, `WITH sums AS (SELECT account, unit, sum(spent) AS spent, sum(reserved) AS reserved
		                FROM entry WHERE epsilon_limit IS NULL GROUP BY account, unit)
		SELECT b.account FROM balance AS b LEFT JOIN sums AS s USING (account, unit)
		WHERE (b.spent, b.reserved) IS NOT (s.spent, s.reserved)`,
		func(v []sqlite.Value) {
			faults = append(faults, fmt.Errorf("the balance of %s is not the sum of its entries", v[0].Text()))
		})
	return errors.Join(append(faults, err)...)
}

// verdict is the result of a round, in answers, each counted for every account
// that it is about.
type verdict struct {
	answered, charged, uncharged int64
	faults                       []error
}

// judge compares the state of the file after a round with the one before and
// the reports of the killed processes.
func judge(s *scenario, before, after state, told testimony) (v verdict) {
	keys := map[key]bool{}
	for k := range told.answers {
		keys[k] = true
	}
	for k := range before.balances {
		keys[k] = true
	}
	for k := range after.balances {
		keys[k] = true
	}
	delete(keys, key{usable, "m"})
	for k := range keys {
		v.account(s, k, before.balances[k], after.balances[k], told.answers[k])
	}
	for k, set := range told.set {
		now := after.limits[k]
		if now != set && !slices.Contains(told.asked[k], now) {
			v.faults = append(v.faults, fmt.Errorf("the limit of %v is %v after it was set to %v", k, now, set))
		}
	}
	if s.check != nil {
		if err := s.check(before, after); err != nil {
			v.faults = append(v.faults, err)
		}
	}
	return v
}

func (v *verdict) account(s *scenario, k key, before, after standing, answers []answer) {
	added := after.spent + after.reserved - before.spent - before.reserved
	var answered int64
	for _, a := range answers {
		answered += int64(a.eps)
	}
	eps := int64(s.eps)
	v.answered += answered / eps
	v.charged += added / eps
	if added < answered {
		v.uncharged += (answered - added + eps - 1) / eps
		v.faults = append(v.faults, fmt.Errorf("%v was charged %d for answers of %d", k, added, answered))
	}
	if s.most != nil && added > eps*s.most(answered/eps, int64(s.kills())) {
		v.faults = append(v.faults, fmt.Errorf("%v was charged %d for answers of %d, which wastes too much", k, added, answered))
	}
}

// judgeWindows makes sure that amounts certainly granted in an account's window
// count in it, and that windows hold no more than limits allowed.
func judgeWindows(s *scenario, after state, seen testimony) (faults []error) {
	if s.window == 0 {
		return nil
	}
	for k, b := range after.balances {
		if !strings.HasPrefix(k.account, windowed) {
			continue
		}
		var answered int64
		for _, a := range seen.answers[k] {
			if b.windowStart > 0 && a.asked >= b.windowStart {
				answered += int64(a.eps)
			}
		}
		if b.windowSpent < answered || b.windowSpent > int64(s.window) {
			faults = append(faults, fmt.Errorf("%v was charged %d in a window of at most %d for answers of %d", k, b.windowSpent, s.window, answered))
		}
	}
	return faults
}
