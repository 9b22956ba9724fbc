package console

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/interval"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A reportJSON is a report. Amounts are decimals in text, so that none is rounded.
type reportJSON struct {
	Answers    int        `json:"answers"`
	Remembered int        `json:"remembered"`
	Costs      []costJSON `json:"costs"`
	LeftOut    int        `json:"left_out"`
	Columns    []string   `json:"columns"`
	Functions  []string   `json:"functions"`
	Radius     float64    `json:"radius"`
	Unit       string     `json:"unit"`
	Drawn      *time.Time `json:"drawn"`
}

type costJSON struct {
	Unit         string `json:"unit"`
	Accounts     int    `json:"accounts"`
	Most         string `json:"most"`
	RoleAccounts int    `json:"role_accounts"`
	RoleMost     string `json:"role_most"`
	Multiplicity int    `json:"multiplicity"`
}

func reportOf(r sqlitefn.Report) *reportJSON {
	j := &reportJSON{
		Answers: r.Answers, Remembered: r.Remembered, LeftOut: r.LeftOut, Costs: []costJSON{},
		Columns: orNone(r.Columns), Functions: orNone(r.Functions), Unit: r.Unit,
	}
	if !math.IsInf(r.Radius, 0) && !math.IsNaN(r.Radius) {
		j.Radius = r.Radius
	}
	if !r.Drawn.IsZero() {
		j.Drawn = &r.Drawn
	}
	for _, c := range r.Costs {
		j.Costs = append(j.Costs, costJSON{string(c.Unit), c.Accounts, c.Most.String(), c.RoleAccounts, c.RoleMost.String(), c.Multiplicity})
	}
	return j
}

// charges reports whether a statement costs anything.
func charges(r sqlitefn.Report) bool {
	for _, c := range r.Costs {
		if c.Most > 0 || c.RoleMost > 0 {
			return true
		}
	}
	return false
}

// orNone returns a list that is no null in JSON.
func orNone[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

type noticeJSON struct {
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

func noticesOf(notices []*wire.Error) []noticeJSON {
	all := []noticeJSON{}
	for _, n := range notices {
		all = append(all, noticeJSON{n.Message, n.Detail, n.Hint})
	}
	return all
}

// A resultJSON is a result. A cell is null, a boolean, a number, a text, or an object for bytes; a number that
// JavaScript would round, or has no form in JSON, is a text.
type resultJSON struct {
	Columns []ResultColumn  `json:"columns"`
	Rows    json.RawMessage `json:"rows"`
	Count   int             `json:"count"`
	More    bool            `json:"more"` // whether it ends before the last row, perhaps
	Cut     int             `json:"cut"`  // texts that are too long and end before their end
	Notices []noticeJSON    `json:"notices"`
	Report  *reportJSON     `json:"report"`
	Millis  int64           `json:"millis"`

	// Within has, behind the numbers of each row that are answers, how far from the truth they may be: "± 5.6". It is left out
	// if none has that.
	Within [][]string `json:"within,omitempty"`

	numbers [][]float64 // of each row, with NaN where there is NULL and infinite where there is something else
}

// find finds the answers among the numbers.
func (r *resultJSON) find(of interval.Of) {
	if of == nil {
		return
	}
	f := interval.NewFinder(of, len(r.Columns))
	for _, row := range r.numbers {
		for i, x := range row {
			switch {
			case math.IsInf(x, 1):
				f.SeeOther(i)
			case !math.IsNaN(x):
				f.See(i, x)
			}
		}
	}
	some := false
	within := make([][]string, len(r.numbers))
	for k, row := range r.numbers {
		within[k] = make([]string, len(row))
		for i, x := range row {
			within[k][i] = f.Interval(i, x).String()
			some = some || within[k][i] != ""
		}
	}
	if some {
		r.Within = within
	}
}

// numberOf returns a value of a result as a number, NaN for NULL and an infinite one for anything else.
func numberOf(v any) float64 {
	switch x := v.(type) {
	case nil:
		return math.NaN()
	case int64:
		return float64(x)
	case float64:
		if !math.IsNaN(x) {
			return x
		}
	}
	return math.Inf(1)
}

// readRows reads a result as far as it is shown. It does not look whether there is another row: that might charge for
// an answer that nobody sees.
func readRows(rows Rows) (*resultJSON, error) {
	result := &resultJSON{Columns: orNone(rows.Columns())}
	b := []byte{'['}
	for {
		if result.Count == maxRows || len(b) >= maxResult {
			result.More = true
			break
		}
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) != len(result.Columns) {
			return nil, fmt.Errorf("a row has %d values for %d columns", len(row), len(result.Columns))
		}
		if result.Count > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		numbers := make([]float64, len(row))
		for i, v := range row {
			numbers[i] = numberOf(v)
			if i > 0 {
				b = append(b, ',')
			}
			text, cut, err := cell(v)
			if err != nil {
				return nil, err
			}
			if cut {
				result.Cut++
			}
			b = append(b, text...)
		}
		b = append(b, ']')
		result.numbers = append(result.numbers, numbers)
		result.Count++
	}
	result.Rows = append(b, ']')
	return result, nil
}

// exactFloats is the largest integer below which JavaScript has all others.
const exactFloats = 1 << 53

// cell returns a value as JSON.
func cell(v any) (text []byte, cut bool, err error) {
	switch x := v.(type) {
	case int64:
		if x > exactFloats || x < -exactFloats {
			v = fmt.Sprint(x)
		}
	case float64:
		switch {
		case math.IsNaN(x):
			v = "NaN"
		case math.IsInf(x, 1):
			v = "Infinity"
		case math.IsInf(x, -1):
			v = "-Infinity"
		}
	case string:
		if len(x) > maxCell {
			end := maxCell
			for end > maxCell-utf8.UTFMax && !utf8.RuneStart(x[end]) {
				end--
			}
			v, cut = strings.ToValidUTF8(x[:end], "\uFFFD"), true
		}
	case []byte:
		v = map[string]any{"bytes": len(x), "hex": hex.EncodeToString(x[:min(len(x), 32)])}
	case nil, bool:
	default:
		return nil, false, fmt.Errorf("a value of a result is a %T", v)
	}
	text, err = json.Marshal(v)
	return text, cut, err
}

type budgetJSON struct {
	Role     string  `json:"role"`
	Unit     string  `json:"unit"`
	Limit    string  `json:"limit"`
	Call     string  `json:"call,omitempty"`
	Accounts int     `json:"accounts"`
	Most     string  `json:"most"`
	Left     string  `json:"left"` // of the account that paid most
	Part     float64 `json:"part"` // of Limit that Most is
}

func budgetOf(b Budget) budgetJSON {
	j := budgetJSON{
		Role: b.Role, Unit: string(b.Unit), Limit: b.Limit.String(), Accounts: b.Accounts,
		Most: b.Most.String(), Left: max(0, b.Limit-b.Most).String(), Part: 1,
	}
	if b.Call > 0 {
		j.Call = b.Call.String()
	}
	if b.Limit > 0 {
		j.Part = min(1, b.Most.Float64()/b.Limit.Float64())
	}
	return j
}

type askedJSON struct {
	At      time.Time   `json:"at"`
	Role    string      `json:"role"`
	Refused string      `json:"refused,omitempty"`
	Report  *reportJSON `json:"report"`
	SQL     string      `json:"sql,omitempty"`
	Epsilon string      `json:"epsilon,omitempty"`
}

// amountsOf returns amounts by unit as decimals in text.
func amountsOf(amounts map[budget.Unit]budget.Amount) map[string]string {
	all := map[string]string{}
	for unit, a := range amounts {
		all[string(unit)] = a.String()
	}
	return all
}
