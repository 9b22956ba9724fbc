package keeper

import (
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/serve/internal/role"
)

// A role makes as many new answers a day as it may, and no more. Answers that were given before are given again.
func TestAnswersADay(t *testing.T) {
	for name, c := range map[string]struct {
		limit func(*role.Role)
		first int // that are answered
	}{
		"by number": {func(r *role.Role) { r.Answers = 3 }, 3},
		"by size":   {func(r *role.Role) { r.AnswerBytes = 20 }, 3}, // 9 bytes each; the third begins below 20
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			now := time.Date(2026, 11, 24, 23, 59, 0, 0, time.UTC)
			s.drawn.now = func() time.Time { return now }
			s.addRole(c.limit)
			x := s.session()
			ask := func(i int) string { return "SELECT dx_sum(kwh, 0.01) FROM reading WHERE hour = " + string(rune('0'+i)) }
			first := ""
			for i := range c.first {
				if got := x.want(ask(i)); i == 0 {
					first = got
				}
			}
			spent := s.spent("ana")
			if e := x.wantError("53400", ask(c.first)); !strings.Contains(e.Message, "today") {
				t.Error(describe(e))
			}
			if got := x.want(ask(0)); got != first || s.spent("ana") != spent {
				t.Errorf("the first answer again: %s, want %s; %v is spent, want %v", got, first, s.spent("ana"), spent)
			}
			other := s.session() // of the same role
			other.wantError("53400", ask(c.first))
			now = now.Add(time.Minute)
			other.want(ask(c.first))
		})
	}
}

// An epsilon below the least is refused before anything is charged.
func TestLeastEpsilon(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	e := x.wantError("42501", "SELECT dx_sum(kwh, 0.0000009) FROM reading")
	if want := "dx_sum: epsilon 0.0000009 is below 0.000001, the least that role ann may ask with per kWh"; e.Message != want {
		t.Errorf("%q, want %q", e.Message, want)
	}
	if spent := s.spent("ana"); spent != 0 {
		t.Errorf("%v is spent", spent)
	}
	x.want("SELECT dx_sum(kwh, 0.000001) FROM reading")
	s.addRole(func(r *role.Role) { r.EpsilonMin = map[budget.Unit]budget.Amount{"kWh": 1} })
	s.session().want("SELECT dx_sum(kwh, 0.000000000001) FROM reading")
}
