package keeper

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/role"
)

const valueRows = "SELECT id, dx_value(kwh, 0.001) FROM reading"

// read reads so many rows.
func read(t *testing.T, r *Rows, n int) (rows []any) {
	t.Helper()
	for range n {
		v, err := r.Values()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, v...)
	}
	return rows
}

// No more is answered ahead than has been read, all of it is charged and remembered, and it is the same as a statement without a preflight
// answers, which answers a row at a time.
func TestAnswersAhead(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const count = 24 * 4
	st, _, err := x.Compile(context.Background(), valueRows, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	held := x.held
	var all []any
	for n, answers := range []int{1, 3, 3, 7, 7, 7, 7, 15} {
		all = append(all, read(t, r, 1)...)
		if got := r.Report(); got.Answers != answers || got.Remembered != 0 {
			t.Errorf("after %d rows: %+v", n+1, got)
		}
	}
	spent := s.spent("ana")
	r.Close()
	if x.held >= held {
		t.Errorf("%d bytes are held, %d before", x.held, held)
	}
	again, err := st.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, again, 8); !slices.Equal(got, all) || s.spent("ana") != spent {
		t.Errorf("%v again, want %v; %v is spent, want %v", got, all, s.spent("ana"), spent)
	}
	all = append(all, read(t, again, count-8)...)
	if _, err := again.Values(); err != io.EOF {
		t.Fatal(err)
	}
	if got := again.Report(); got.Answers != count || got.Remembered != 15 {
		t.Errorf("%+v", got)
	}
	again.Close()
	spent = s.spent("ana")
	x.want("SET geosql.preflight = off")
	single := x.rowsOf(valueRows, 0)
	if got := read(t, single, count); !slices.Equal(got, all) || s.spent("ana") != spent {
		t.Errorf("%v row by row, want %v; %v is spent, want %v", got, all, s.spent("ana"), spent)
	}
	if got := single.Report(); got.Answers != count || got.Remembered != count {
		t.Errorf("%+v", got)
	}
	single.Close()
	if x.evaluators != 0 {
		t.Errorf("%d evaluators are open", x.evaluators)
	}
}

// Calls that are not made after all, from the first row on or later, have no part in the answers.
func TestExpectedWrongly(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	want := x.want(valueRows)
	for _, other := range []string{valueRows + " ORDER BY id DESC", valueRows + " WHERE id <> 10", valueRows + " WHERE id < 10"} {
		compile := func(sql string) *Statement {
			st, _, err := x.Compile(context.Background(), sql, nil)
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		quoted, err := compile(other).quote(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := compile(valueRows).run(context.Background(), &Rows{foretold: quoted.foretold}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for v, err := r.Values(); err == nil; v, err = r.Values() {
			lines = append(lines, fmt.Sprintf("%v|%v", v...))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		r.Close()
	}
}

// A role makes no more answers a day than it may, however many are made together.
func TestAnswersAheadADay(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) { r.Answers = 5 })
	x := s.session()
	x.wantError("53400", valueRows)
	if got := s.events.last().Report.Answers; got != 5 {
		t.Errorf("%d answers", got)
	}
}

// A statement that asks the same question again need not wait for its answer, which costs nothing. If the database has changed it asks
// another one, and gets the answer to that one. If the role may not ask the question any more, it is refused.
func TestQuestionsAgain(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	compile := func() *Statement {
		st, _, err := x.Compile(context.Background(), "SELECT 2 * dx_sum(kwh, $1) FROM reading WHERE id <= 12", nil)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	st := compile()
	ask := func(epsilon float64, expected bool, asks int) any {
		t.Helper()
		r, err := st.Run(context.Background(), []any{epsilon})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		answer := read(t, r, 1)[0]
		if _, err := r.Values(); err != io.EOF {
			t.Error(err)
		}
		if r.expected != expected || r.asks != asks {
			t.Errorf("expected: %v, asked %d times", r.expected, r.asks)
		}
		return answer
	}
	held := x.held
	first := ask(0.01, false, 1)
	spent := s.spent("ana")
	if again := ask(0.01, true, 0); again != first || s.spent("ana") != spent {
		t.Errorf("%v, then %v; %v is spent, then %v", first, again, spent, s.spent("ana"))
	}
	if report := s.events.last().Report; report.Answers != 1 || report.Remembered != 1 {
		t.Errorf("%+v", report)
	}
	if ask(0.02, false, 1); s.spent("ana") <= spent {
		t.Error("another question is free")
	}

	owner, err := sqlite.Open(s.path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if err := owner.Exec("DELETE FROM reading WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	spent = s.spent("ana")
	changed := ask(0.02, true, 1)
	if got := fmt.Sprint(changed); got != s.session().want("SELECT 2 * dx_sum(kwh, $1) FROM reading WHERE id <= 12", 0.02) || s.spent("ana") <= spent {
		t.Errorf("%v is not the answer of the database as it is now, or %v was not charged", got, s.spent("ana"))
	}
	ask(0.02, false, 1)
	ask(0.02, false, 1)

	st.Close()
	if x.held != held {
		t.Errorf("%d bytes are held, %d before", x.held, held)
	}
	st = compile()
	ask(0.02, false, 1)
	s.addRole(func(r *role.Role) { r.EpsilonMin = map[budget.Unit]budget.Amount{"kWh": amount(t, "0.1")} })
	for range 2 {
		if _, err := st.Run(context.Background(), []any{0.02}); !strings.Contains(describe(err), "42501") {
			t.Errorf("%v", describe(err))
		}
	}
	ask(0.1, false, 1)
	ask(0.1, true, 0)
}
