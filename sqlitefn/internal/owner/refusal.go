package owner

import (
	"encoding/json"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var refusalFunctions = []*frame.Function{
	{
		Name: "geosql_last_refusal", Section: frame.ForOwner, Returns: "TEXT", Flags: frame.OwnerOnly, Reads: true,
		Does: "Tells programs why they were refused: the account and the missing amount, as a JSON object with account, unit, asked, left, short, reopens and function.",
		Notes: "It describes the last call of a function of geosql that failed on this connection, and returns NULL if that was not a refusal or if none has failed. " +
			"Later successes do not change it, and neither does an error outside geosql, such as one of syntax: ask when an error has the code SQLITE_AUTH_USER (279), before another statement fails. " +
			"Amounts are exact decimals: `left` is 0 where the unit has no limit, `short` is asked less left, and `reopens` is when the window of the limit ends (UTC), or null.",
		Examples: []string{"SELECT geosql_last_refusal() ->> 'account'"},
		Scalar:   lastRefusal,
	},
}

func lastRefusal(c frame.Call) error {
	r := c.Session.Refused
	if r == nil {
		return nil
	}
	number := func(a budget.Amount) json.Number { return json.Number(a.String()) }
	var reopens *string
	if !r.Reopens.IsZero() {
		at := r.Reopens.UTC().Format(time.RFC3339)
		reopens = &at
	}
	return c.ResultJSON(struct {
		Account  string      `json:"account"`
		Unit     budget.Unit `json:"unit"`
		Asked    json.Number `json:"asked"`
		Left     json.Number `json:"left"`
		Short    json.Number `json:"short"`
		Reopens  *string     `json:"reopens"`
		Function string      `json:"function"`
	}{r.Account, r.Unit, number(r.Asked), number(r.Left), number(r.Asked - r.Left), reopens, r.Function})
}
