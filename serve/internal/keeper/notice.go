package keeper

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/geosql/geosql/sqlitefn"
)

// costText describes the cost of a statement's answers, or is "" if it got none.
func costText(r sqlitefn.Report) string {
	if r.Answers == 0 {
		return ""
	}
	var parts []string
	paid := false
	for _, c := range r.Costs {
		if c.Accounts > 0 {
			paid = true
			parts = append(parts, fmt.Sprintf("cost %s%v/%s for %s", upTo(c.Accounts), c.Most, c.Unit, each(c.Accounts)))
		}
		if c.RoleAccounts > 0 && c.Accounts == 0 {
			parts = append(parts, fmt.Sprintf("cost the role %s%v/%s for %s", upTo(c.RoleAccounts), c.RoleMost, c.Unit, each(c.RoleAccounts)))
		}
	}
	switch {
	case r.Remembered == 0 && !paid:
		parts = append(parts, "no cost")
	case r.Remembered == r.Answers:
		given := "given before"
		if !r.Drawn.IsZero() {
			given += ", on " + r.Drawn.UTC().Format(time.DateTime) + " UTC"
		}
		if len(parts) == 0 {
			given += ": no cost"
		} else {
			given += ": accounts pay nothing"
		}
		parts = append([]string{given}, parts...)
	case r.Remembered > 0:
		parts = append(parts, fmt.Sprintf("%d of %d answers were given before", r.Remembered, r.Answers))
	}
	if r.Radius > 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("95 %% of answers are within %.3g %s", r.Radius, r.Unit)))
	}
	switch {
	case r.LeftOut == 1:
		parts = append(parts, "1 account is left out")
	case r.LeftOut > 1:
		parts = append(parts, fmt.Sprintf("%d accounts are left out", r.LeftOut))
	}
	return strings.Join(parts, "; ")
}

// A costRow is a row of geosql.last_cost: the cost in a unit, or none. It says no more than the notice, which is in each.
type costRow struct {
	Unit       string  `json:"unit,omitempty"`
	Epsilon    float64 `json:"epsilon"`
	Accounts   int     `json:"accounts"`
	Payer      string  `json:"payer,omitempty"` // account, or role if the accounts have paid before
	Answers    int     `json:"answers"`
	Remembered int     `json:"remembered"`
	Radius     float64 `json:"radius,omitempty"`
	RadiusUnit string  `json:"radius_unit,omitempty"`
	LeftOut    int     `json:"left_out"`
	Notice     string  `json:"notice"`
}

// costRows returns the rows of geosql.last_cost for a cost with its notice.
func costRows(r sqlitefn.Report, notice string) []byte {
	free := costRow{Answers: r.Answers, Remembered: r.Remembered, LeftOut: r.LeftOut, Notice: notice}
	if r.Radius > 0 && !math.IsInf(r.Radius, 0) {
		free.Radius, free.RadiusUnit = r.Radius, r.Unit
	}
	var rows []costRow
	for _, c := range r.Costs {
		row := free
		row.Unit, row.Epsilon, row.Accounts, row.Payer = string(c.Unit), c.Most.Float64(), c.Accounts, "account"
		if c.Accounts == 0 {
			row.Epsilon, row.Accounts, row.Payer = c.RoleMost.Float64(), c.RoleAccounts, "role"
		}
		if row.Accounts > 0 {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		rows = append(rows, free)
	}
	return marshal(rows)
}

// upTo says that a cost is the largest of several.
func upTo(accounts int) string {
	if accounts > 1 {
		return "up to "
	}
	return ""
}

func each(accounts int) string {
	if accounts == 1 {
		return "1 account"
	}
	return fmt.Sprintf("each of %d accounts", accounts)
}
