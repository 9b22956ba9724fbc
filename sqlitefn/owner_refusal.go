package sqlitefn

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/geosql/geosql/budget"
)

var refusalFunctions = []*function{
	&function{
		name: "geosql_last_refusal", section: owners, flags: ownerOnly, reads: true,
		does: "Tells programs why they were refused: who is short of what, as a JSON object with account, unit, asked, left, short, reopens and function.",
		notes: "It describes the last call of a function of geosql that failed on this connection, and returns NULL if that was not a refusal or if none has failed. " +
			"What succeeds later does not change it, and neither does an error in which geosql has no part, such as one of syntax: ask when an error has the code SQLITE_AUTH_USER (279), before another statement fails. " +
			"It charges nothing. Amounts are exact decimals: `left` is 0 where the unit has no limit, `short` is asked less left, and `reopens` is when the window of the limit ends (UTC), or null.",
		example: []string{"SELECT geosql_last_refusal() ->> 'account'"},
		scalar:  lastRefusal,
	},
}

func lastRefusal(c call) error {
	r := c.session.refused
	if r == nil {
		return nil
	}
	text, err := r.json()
	if err == nil {
		c.ResultText(0, text)
	}
	return err
}

// json returns the refusal as a JSON object.
func (e *RefusedError) json() ([]byte, error) {
	number := func(a budget.Amount) json.Number { return json.Number(a.String()) }
	var reopens *string
	if !e.Reopens.IsZero() {
		at := e.Reopens.UTC().Format(time.RFC3339)
		reopens = &at
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Account  string      `json:"account"`
		Unit     budget.Unit `json:"unit"`
		Asked    json.Number `json:"asked"`
		Left     json.Number `json:"left"`
		Short    json.Number `json:"short"`
		Reopens  *string     `json:"reopens"`
		Function string      `json:"function"`
	}{e.Account, e.Unit, number(e.Asked), number(e.Left), number(e.Short), reopens, e.Function})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
