package keeper

import (
	"fmt"
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
