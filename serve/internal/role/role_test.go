package role

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/wire"
)

var kwh = catalog.ColumnName{Table: "reading", Column: "kwh"}

func newRole(name string, at int64) *Role {
	verifier, err := wire.NewVerifier("secret", wire.DefaultIterations)
	if err != nil {
		panic(err)
	}
	return &Role{verifier, Terms{Name: name, Columns: []catalog.ColumnName{kwh}, Epsilon: map[budget.Unit]budget.Amount{"kWh": budget.One},
		MaxRepeat: 1, Timeout: DefaultTimeout, Added: time.Unix(at, 0).UTC()}}
}

func TestRolesAreWhatWasRecordedLast(t *testing.T) {
	l, err := file.Open(filepath.Join(t.TempDir(), "ledger"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var roles Roles
	record := func(want string, facts ...ledger.Fact) {
		t.Helper()
		if err := l.Record(facts...); err != nil {
			t.Fatal(err)
		}
		if err := roles.Update(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range roles.All() {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("roles %q, want %q", got, want)
		}
	}
	first, second := newRole("ana", 1), newRole("ana", 2)
	second.Rows = 7
	record("ana bo", first.Fact(), newRole("bo", 1).Fact())
	if got := roles.Find("ana").Verifier.String(); got != first.Verifier.String() {
		t.Errorf("the verifier is %s", got)
	}
	record("bo", first.Dropped())
	record("bo", first.Fact()) // was recorded before, so that nothing comes back
	record("ana bo", second.Fact())
	record("ana bo", first.Dropped()) // another role of the name
	// A clock may stand still, or be set back.
	third, fourth := newRole("cy", 1), newRole("cy", 1)
	record("ana bo cy", third.Fact())
	record("ana bo", third.Dropped())
	record("ana bo cy", fourth.Fact())
	record("ana bo", fourth.Dropped())
	// Earlier programs have dropped roles by their time alone.
	record("ana bo cy", newRole("cy", 5).Fact())
	record("ana bo", ledger.Fact{Kind: droppedFact, Text: `{"name":"cy","added":"1970-01-01T00:00:05Z"}`})
	if r := roles.Find("ana"); r == nil || r.Rows != 7 || !r.May(kwh) || r.May(catalog.ColumnName{Table: "reading", Column: "t"}) || roles.Find("cy") != nil {
		t.Errorf("%+v", r)
	}
	var again Roles
	if err := again.Update(t.Context(), l); err != nil || len(again.All()) != 2 || again.Find("ana").Epsilon["kWh"] != budget.One {
		t.Error(again.All(), err)
	}
}

func TestCheck(t *testing.T) {
	if err := newRole("ana", 1).Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Role){
		"name":    func(r *Role) { r.Name = "a\nb" },
		"long":    func(r *Role) { r.Name = strings.Repeat("a", 64) },
		"columns": func(r *Role) { r.Columns = nil },
		"budget":  func(r *Role) { r.Epsilon = nil },
		"repeat":  func(r *Role) { r.MaxRepeat = 0 },
		"timeout": func(r *Role) { r.Timeout = 0 },
		"rows":    func(r *Role) { r.Rows = -1 },
		"unit":    func(r *Role) { r.EpsilonMax = map[budget.Unit]budget.Amount{"m": 1} },
	} {
		r := newRole("ana", 1)
		change(r)
		if r.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A grant is of one column, wherever there are dots in its name and in that of its table.
func TestGrantsArePairs(t *testing.T) {
	of := func(table, column string) catalog.ColumnName { return catalog.ColumnName{Table: table, Column: column} }
	granted := newRole("ana", 1)
	granted.Columns = []catalog.ColumnName{of("a.b", "c"), kwh}
	earlier := strings.Replace(newRole("bo", 1).Fact().Text, `["reading.kwh"]`, `["reading.kwh","a.b.c"]`, 1)
	roles := Roles{by: map[string]*Role{}}
	for _, f := range []ledger.Fact{granted.Fact(), {Kind: addedFact, Text: earlier}} {
		if err := roles.add(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		role string
		of   catalog.ColumnName
		may  bool
	}{
		{"ana", of("a.b", "c"), true}, {"ana", of("a", "b.c"), false}, {"ana", kwh, true},
		// Which column an earlier program has granted is not known.
		{"bo", of("a.b", "c"), false}, {"bo", of("a", "b.c"), false}, {"bo", kwh, true},
	} {
		if got := roles.Find(c.role).May(c.of); got != c.may {
			t.Errorf("%s may ask about %v: %v", c.role, c.of, got)
		}
	}
}
