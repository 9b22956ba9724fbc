package rules

import (
	"testing"

	"github.com/geosql/geosql/budget"
)

func TestRefusalText(t *testing.T) {
	for _, c := range []struct {
		refusal RefusalError
		want    string
	}{
		{
			RefusalError{Account: "ana", Unit: "m", Asked: 6_900_000_000, Left: 2_100_000_000, Limit: 23_000_000_000, Limited: true},
			"account 'ana' has 0.0021/m left of 0.0230/m, 0.0069/m asked, 0.0048/m short",
		}, {
			RefusalError{Account: "o'neil", Unit: "record", Asked: budget.One, Limit: 5 * budget.One, Limited: true},
			"account 'o''neil' has 0/record left of 5/record, 1/record asked, 1/record short",
		}, {
			RefusalError{Account: "ana", Unit: "m", Asked: budget.Max, Left: 1, Limit: 1, Limited: true},
			"account 'ana' has 0.000000000001/m left of 0.000000000001/m, 9000000.000000000000/m asked, 8999999.999999999999/m short",
		}, {
			RefusalError{Account: "ana", Unit: "kWh", Asked: budget.One, OtherUnits: []budget.Unit{"kwh"}},
			"account 'ana' has no budget in unit 'kWh' (limits exist for 'kwh'); set one: SELECT budget_limit('ana', 'kWh', EPSILON) or budget_limit('*', 'kWh', EPSILON)",
		}, {
			RefusalError{Account: "ana", Unit: "m"},
			"account 'ana' has no budget in unit 'm'; set one: SELECT budget_limit('ana', 'm', EPSILON) or budget_limit('*', 'm', EPSILON)",
		}, {
			RefusalError{Account: "a\nb", Unit: "k'h", OtherUnits: []budget.Unit{"m", "set"}},
			"account 'a'||char(10)||'b' has no budget in unit 'k''h' (limits exist for 'm', 'set'); set one: SELECT budget_limit('a'||char(10)||'b', 'k''h', EPSILON) or budget_limit('*', 'k''h', EPSILON)",
		},
	} {
		if got := c.refusal.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
