package frame

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// manyRows is from how many rows of one account in a group on there is a cure for their price.
const manyRows = 11

// cure says how an account pays once, where it has many rows in a group and would pay for each. Most questions are about persons, and
// could be asked about one row of each. It returns "" if there is none.
func (d *DryRun) cure(f *Function, t *Total) string {
	if !t.perRow || t.rows < manyRows {
		return ""
	}
	if d.cures[f] == "" { // which is the same for all accounts
		d.cures[f] = d.session.cureOf(f, d.sql)
	}
	return d.cures[f]
}

func (s *Session) cureOf(f *Function, sql string) string {
	from, called := sqltext.SQLite.From(sql, f.Name)
	switch one := s.oneRowEach(f, from); {
	case f.OnceAs != "" && called:
		return fmt.Sprintf("to count accounts and charge each once, write %s(%s)", f.OnceAs, strings.Join(from.Arguments, ", "))
	case f.OnceAs != "":
		return "to count accounts and charge each once, call " + f.OnceAs
	case f.OnceBy != "" && called:
		from.Arguments[0] = fmt.Sprintf("%s(%s, lo, hi)", f.OnceBy, from.Arguments[0])
		return fmt.Sprintf("to charge each account once, write %s(%s)", f.Name, strings.Join(from.Arguments, ", "))
	case one != "":
		return "to charge each account once, aggregate its rows first: " + one
	}
	return "to charge each account once, aggregate its rows first, with GROUP BY account in a subquery"
}

// oneRowEach returns the call of a function over locations on one row of each account, "" if the statement does not tell its rows.
func (s *Session) oneRowEach(f *Function, from sqltext.From) string {
	if from.Rows == "" || from.Grouped || len(from.Arguments) < f.Required() {
		return ""
	}
	var columns []string
	by := "1"
	outer := slices.Clone(from.Arguments)
	for i, a := range f.Args[:f.varying()] {
		column := outer[i]
		if !IsColumn(column) || strings.Contains(column, ".") {
			column, outer[i] = column+" AS "+a.Name, a.Name
		}
		columns = append(columns, column)
	}
	if !slices.Contains(f.Args, ArgLat) {
		columns = columns[:1]
		if by = s.accountOf(from.Arguments[0]); by == "" {
			return ""
		}
	}
	return fmt.Sprintf("SELECT %s(%s) FROM (SELECT %s %s GROUP BY %s)", f.Name, strings.Join(outer, ", "), strings.Join(columns, ", "), from.Rows, by)
}

// accountOf returns the column of the account beside a column of sealed locations, "" if there are several or none.
func (s *Session) accountOf(column string) (account string) {
	_ = s.Read("SELECT group_concat(DISTINCT account) FROM main.geosql_sealed_column WHERE col = ?1 AND kind = 'domain' HAVING count(DISTINCT account) = 1", func(st *sqlite.Stmt) {
		if account = ColumnText(st, 0); !IsColumn(account) {
			account = sqlite.QuoteName(account)
		}
	}, column)
	return account
}
