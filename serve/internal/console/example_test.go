package console

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/role"
)

// Every example can be asked as it stands, one after the other, whatever the role may spend.
func TestExamplesCanBePaid(t *testing.T) {
	s := newSite(t, nil)
	place := catalog.ColumnName{Table: "reading", Column: "place"}
	const rows = "SELECT count(*) FROM morning"
	for i, c := range []struct {
		change func(*role.Role)
		want   []string
	}{
		{func(r *role.Role) { r.Columns = append(r.Columns, place) },
			[]string{rows, "SELECT dx_sum(kwh, 0.1) FROM reading", "SELECT dx_median(dx_person(kwh, 0, 1000), 0.5) FROM reading", "SELECT dx_heatmap(place, 0.5, 3000) FROM (SELECT place FROM reading GROUP BY home)"}},
		{func(r *role.Role) {
			r.Columns = append(r.Columns, place)
			r.Epsilon = map[budget.Unit]budget.Amount{"kWh": hundredths(5), "record": hundredths(100)}
			r.EpsilonMax = map[budget.Unit]budget.Amount{"record": hundredths(25)}
		}, []string{rows, "SELECT dx_sum(kwh, 0.05) FROM reading", "SELECT dx_median(dx_person(kwh, 0, 1000), 0.25) FROM reading", "SELECT dx_heatmap(place, 0.25, 3000) FROM (SELECT place FROM reading GROUP BY home)"}},
		{func(r *role.Role) {
			r.Columns = append(r.Columns, place)
			r.Epsilon = map[budget.Unit]budget.Amount{"record": hundredths(30)}
		}, []string{rows, "SELECT dx_median(dx_person(kwh, 0, 1000), 0.15) FROM reading", "SELECT dx_heatmap(place, 0.15, 3000) FROM (SELECT place FROM reading GROUP BY home)"}},
		{func(r *role.Role) { r.Columns = []catalog.ColumnName{place}; delete(r.Epsilon, "record") }, []string{rows}},
		{func(r *role.Role) { r.EpsilonMin = map[budget.Unit]budget.Amount{"kWh": hundredths(20)} }, []string{rows, "SELECT dx_sum(kwh, 0.2) FROM reading", "SELECT dx_median(dx_person(kwh, 0, 1000), 0.5) FROM reading"}},
	} {
		name := fmt.Sprint("role", i)
		s.put(func(r *role.Role) { r.Name = name; c.change(r) })
		x := s.login(name, password)
		schema, err := x.Schema(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range schema.Examples {
			got = append(got, e.SQL)
			pay(t, x, Question{SQL: e.SQL})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("the examples are %q, want %q", got, c.want)
		}
	}
	schema, err := s.login(OwnerName, "owner's password").Schema(context.Background())
	if err != nil || len(schema.Examples) != 1 {
		t.Errorf("the owner's examples are %v, %v", schema.Examples, err)
	}
}

func TestNamesInExamples(t *testing.T) {
	for name, want := range map[string]string{"reading": "reading", "order": `"order"`, "a b": `"a b"`, `a"b`: `"a""b"`, "2": `"2"`} {
		if got := sqlite.Name(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}
