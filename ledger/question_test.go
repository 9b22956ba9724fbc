package ledger

import (
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
)

func draw([]string) ([]byte, error) { return nil, nil }

func set(items ...int) (s LeftOut) {
	for _, i := range items {
		s.Add(i)
	}
	return s
}

func members(of ...Member) []Member { return of }

func TestNormalize(t *testing.T) {
	given := members(Member{"eve", 2, 2, 0, 1}, Member{"ana", 1, 0, 1, 1}, Member{"bob", 3, 1, 2, 4})
	q := Question{Unit: "m", Members: slices.Clone(given)}
	was := q.Members
	if err := q.Normalize(); err != nil {
		t.Fatal(err)
	}
	if want := members(given[1], given[2], given[0]); !slices.Equal(q.Members, want) {
		t.Errorf("got %v, want %v", q.Members, want)
	}
	if !slices.Equal(was, given) {
		t.Errorf("the caller's are %v now", was)
	}
	one := Member{"ana", 2, 2, 2, 1}
	for name, spoil := range map[string]func(*Question){
		"no unit":           func(q *Question) { q.Unit = "" },
		"no unit, nobody":   func(q *Question) { q.Unit, q.Members = "", nil },
		"everyone":          func(q *Question) { q.Members[0].Account = Everyone },
		"costs nothing":     func(q *Question) { q.Members[0] = Member{"ana", 0, 0, 0, 1} },
		"costs too much":    func(q *Question) { q.Members[0].Epsilon = budget.Max + 1 },
		"negative due":      func(q *Question) { q.Members[0].Due = -1 },
		"too much due":      func(q *Question) { q.Members[0].Due = 3 },
		"negative role due": func(q *Question) { q.Members[0].RoleDue = -1 },
		"too much role due": func(q *Question) { q.Members[0].RoleDue = 3 },
		"twice":             func(q *Question) { q.Members = append(q.Members, Member{"bob", 1, 1, 1, 1}, Member{"ana", 3, 1, 1, 1}) },
		"negative limit":    func(q *Question) { q.Role, q.RoleLimit = "r", -1 },
		"a huge limit":      func(q *Question) { q.Role, q.RoleLimit = "r", budget.Max+1 },
	} {
		q := Question{Unit: "m", Members: members(one)}
		spoil(&q)
		if q.Normalize() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Questions that differ in anything but the role, the rule for accounts that are short,
// and the due parts, have different IDs.
func TestQuestionID(t *testing.T) {
	base := Question{Function: "f", Unit: "m", Members: members(Member{"ana", 1, 1, 1, 1}, Member{"bob", 2, 2, 2, 1})}
	same := base
	same.Role, same.RoleLimit, same.LeaveOut, same.Draw = "r", 1, true, draw
	same.Members = members(Member{"ana", 1, 0, 1, 7}, Member{"bob", 2, 1, 0, 9})
	if base.ID() != same.ID() {
		t.Error("the role changes the ID")
	}
	questions := []Question{base}
	for _, change := range []func(*Question){
		func(q *Question) { q.Key[31] = 1 },
		func(q *Question) { q.Function = "fm"; q.Unit = "" },
		func(q *Question) { q.Unit = "kWh" },
		func(q *Question) { q.Members = nil },
		func(q *Question) { q.Members = q.Members[:1] },
		func(q *Question) { q.Members = members(Member{"ana", 1, 1, 1, 1}, Member{"bob", 3, 2, 2, 1}) },
		func(q *Question) { q.Members = members(Member{"ana", 1, 1, 1, 1}, Member{"bo", 2, 2, 2, 1}) },
		func(q *Question) { q.Members = members(Member{"ana", 1, 1, 1, 1}, Member{"bot", 2, 2, 2, 1}) },
	} {
		q := base
		change(&q)
		for _, other := range questions {
			if q.ID() == other.ID() {
				t.Errorf("%+v and %+v have the same ID", q, other)
			}
		}
		questions = append(questions, q)
	}
}

// All pairs of sets of up to four items that lie in different bytes.
func TestLeftOut(t *testing.T) {
	places := []int{0, 7, 8, 25}
	all := func(n int) (s LeftOut, of map[int]bool) {
		of = map[int]bool{}
		for k := len(places) - 1; k >= 0; k-- { // in any order
			if n>>k&1 != 0 {
				s.Add(places[k])
				of[places[k]] = true
			}
		}
		return s, of
	}
	for a := range 16 {
		s, of := all(a)
		if s.Count() != len(of) || len(s) > 0 && s[len(s)-1] == 0 {
			t.Errorf("%v has %d items, want %v", s, s.Count(), of)
		}
		for i := range 40 {
			if s.Has(i) != of[i] {
				t.Errorf("%v has %d: %v", s, i, s.Has(i))
			}
		}
		for b := range 16 {
			other, _ := all(b)
			if both, _ := all(a | b); !slices.Equal(s.With(other), both) {
				t.Errorf("%v with %v is %v", s, other, s.With(other))
			}
			if s.In(other) != (a&^b == 0) {
				t.Errorf("%v in %v: %v", s, other, s.In(other))
			}
		}
	}
}

func TestDues(t *testing.T) {
	q := Question{Members: members(Member{"ana", 5, 1, 0, 7}, Member{"bob", 5, 0, 2, 8}, Member{"eve", 5, 5, 3, 9})}
	for _, c := range []struct {
		out            LeftOut
		dues, roleDues []Item
		names          []string
	}{
		{nil, []Item{{"ana", 1, 7}, {"eve", 5, 9}}, []Item{{"bob", 2, 8}, {"eve", 3, 9}}, nil},
		{set(0, 2), nil, []Item{{"bob", 2, 8}}, []string{"ana", "eve"}},
		{set(1), []Item{{"ana", 1, 7}, {"eve", 5, 9}}, []Item{{"eve", 3, 9}}, []string{"bob"}},
		{set(0, 1, 2), nil, nil, []string{"ana", "bob", "eve"}},
	} {
		if dues := q.Dues(c.out); !slices.Equal(dues, c.dues) {
			t.Errorf("without %v: %v, want %v", c.names, dues, c.dues)
		}
		if dues := q.RoleDues(c.out); !slices.Equal(dues, c.roleDues) {
			t.Errorf("without %v: %v for the role, want %v", c.names, dues, c.roleDues)
		}
		if names := q.LeftOut(c.out); !slices.Equal(names, c.names) {
			t.Errorf("left out %v, want %v", names, c.names)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name                  string
		given                 []Given
		accounts, roleBudgets LeftOut
		want                  int64 // 0 for none
	}{
		{name: "none"},
		{name: "whole", given: []Given{{1, set(2), true}, {2, nil, false}}, want: 2},
		{name: "of others only", given: []Given{{1, set(2), true}}},
		{name: "paid before, and cannot pay now", given: []Given{{1, nil, false}}, accounts: set(0, 1), want: 1},
		{name: "who was left out can pay now", given: []Given{{1, set(0, 1), true}}, accounts: set(1)},
		{name: "the same are short", given: []Given{{1, set(1), false}}, accounts: set(1), want: 1},
		{name: "more are short", given: []Given{{1, set(1), false}}, accounts: set(0, 1), want: 1},
		{name: "fewest", given: []Given{{1, set(0, 1), false}, {2, set(1), false}}, accounts: set(0, 1), want: 2},
		{name: "oldest", given: []Given{{2, set(0), false}, {1, set(1), false}}, accounts: set(0, 1), want: 1},
		{name: "seen first", given: []Given{{1, nil, false}, {2, set(1), true}}, accounts: set(1), want: 2},
		{name: "role budget short", given: []Given{{1, nil, false}}, roleBudgets: set(0)},
		{name: "role budget short, seen", given: []Given{{1, nil, true}}, roleBudgets: set(0), want: 1},
		{name: "role budget short for one left out", given: []Given{{1, nil, false}, {2, set(0), false}}, roleBudgets: set(0), want: 2},
		{name: "role budget short for one, another left out", given: []Given{{1, set(1), false}}, accounts: set(1), roleBudgets: set(0)},
	} {
		got := int64(0)
		if g := Choose(c.given, c.accounts, c.roleBudgets); g != nil {
			got = g.ID
		}
		if got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// If the accounts that cannot pay are exactly the accounts that an answer leaves out, it is chosen for every role: no
// second answer about the same accounts is drawn. For all sets of three items.
func TestChooseNeverDrawsAgain(t *testing.T) {
	sets := make([]LeftOut, 8)
	for n := range sets {
		for i := range 3 {
			if n>>i&1 != 0 {
				sets[n].Add(i)
			}
		}
	}
	for _, accounts := range sets {
		for _, roleBudgets := range sets {
			for _, seen := range []bool{false, true} {
				out := accounts.With(roleBudgets)
				if Choose([]Given{{1, out, seen}}, accounts, roleBudgets) == nil {
					t.Errorf("without %v and %v an answer is drawn that is there", accounts, roleBudgets)
				}
			}
		}
	}
}

func TestTollOf(t *testing.T) {
	if got := TollOf([]Item{{"ana", 3, 1}, {"bob", 5, 1}, {"eve", 4, 1}}); got != (Toll{3, 5}) {
		t.Errorf("got %v", got)
	}
}
