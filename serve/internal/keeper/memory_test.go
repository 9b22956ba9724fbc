package keeper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/geosql/geosql/serve/internal/role"
)

// sums asks for n sums at a time; each keeps its rows. Their epsilons differ, or SQLite would evaluate one for all.
func sums(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("dx_sum(kwh, 0.0000%02d)", i+1))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM reading"
}

// A statement that needs more of the keeper than the role's memory is refused, charges nobody, and gives everything back.
func TestMemoryOfARole(t *testing.T) {
	s := &site{t: t, extra: 40_000}
	s.open(nil)
	s.addRole(func(r *role.Role) { r.Memory = 12 << 20 })
	x := s.session()
	x.want(sums(2))
	idle := s.memory.held.Load()
	spent := s.spent("ana")
	if e := x.wantError("53200", sums(40)); e.Message != errSessionMemory.Message {
		t.Error(describe(e))
	}
	if s.spent("ana") != spent {
		t.Error("a refused statement has charged")
	}
	if s.memory.held.Load() != idle || x.held != 0 {
		t.Errorf("%d bytes are held after the statement, %d before it; %d for the session", s.memory.held.Load(), idle, x.held)
	}
	x.want(sums(3))
}

// Sessions together get no more than the server's total, and all of it again when they end.
func TestMemoryOfAServer(t *testing.T) {
	s := newSite(t, func(o *Options) { o.TotalMemory = 3 * (evaluatorSize + 1<<20) })
	var cursors []*Rows
	var sessions []*session
	for i := range 3 {
		x := s.session()
		st, _, err := x.Compile(t.Context(), fmt.Sprintf("SELECT dx_value(kwh, 0.0000%d) FROM reading", i+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := st.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Values(); err != nil {
			t.Fatal(err)
		}
		sessions, cursors = append(sessions, x), append(cursors, r)
	}
	other := s.session()
	other.wantError("53200", "SELECT dx_sum(kwh, 0.000001) FROM reading")
	cursors[0].Close()
	other.want("SELECT dx_sum(kwh, 0.000001) FROM reading")
	for _, x := range append(sessions, other) {
		x.Close()
	}
	s.evaluators.close()
	if held := s.memory.held.Load(); held != 0 {
		t.Errorf("%d bytes are held for nobody", held)
	}
}

// Prepared statements count as memory of their sessions.
func TestMemoryOfTexts(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) { r.Memory = 8 << 20 })
	c, _ := connect(t, s.serve())
	long := "SELECT 1" + strings.Repeat(" ", 900_000)
	var err error
	prepared := 0
	for err == nil && prepared < 20 {
		if _, err = c.Prepare(t.Context(), fmt.Sprint("p", prepared), long); err == nil {
			prepared++
		}
	}
	if !strings.Contains(fmt.Sprint(err), "53200") || prepared == 0 {
		t.Fatalf("after %d: %v", prepared, err)
	}
	if err := c.DeallocateAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prepare(t.Context(), "again", long); err != nil {
		t.Error(err)
	}
}
