package catalog

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A ColumnName names a sealed column. It is compared as a pair, since a dot may be in either name.
type ColumnName struct{ Table, Column string }

// FullName returns the name of a column with that of its table.
func (c *Column) FullName() ColumnName { return ColumnName{c.Table, c.Name} }

// String returns TABLE.COLUMN, with double quotes as in SQL around names that have a dot, a comma or a quote. No two
// columns have the same.
func (n ColumnName) String() string { return quoteName(n.Table) + "." + quoteName(n.Column) }

func quoteName(name string) string {
	if name != "" && !strings.ContainsAny(name, `.,"`) {
		return name
	}
	return sqlite.QuoteName(name)
}

// MarshalJSON implements json.Marshaler: "TABLE.COLUMN", or ["TABLE","COLUMN"] if a name has a dot.
func (n ColumnName) MarshalJSON() ([]byte, error) {
	if strings.Contains(n.Table+n.Column, ".") {
		return json.Marshal([]string{n.Table, n.Column})
	}
	return json.Marshal(n.Table + "." + n.Column)
}

// UnmarshalJSON implements json.Unmarshaler. Texts with several dots, which earlier programs have written, do not tell which
// column is meant: they are read as one of a table without a name, and nobody can seal such a table.
func (n *ColumnName) UnmarshalJSON(text []byte) error {
	var pair []string
	if json.Unmarshal(text, &pair) == nil {
		if len(pair) != 2 {
			return errors.New("a column is not named by two names")
		}
		*n = ColumnName{pair[0], pair[1]}
		return nil
	}
	var joined string
	if err := json.Unmarshal(text, &joined); err != nil {
		return err
	}
	table, column, _ := strings.Cut(joined, ".")
	if strings.Count(joined, ".") != 1 {
		table, column = "", joined
	}
	*n = ColumnName{table, column}
	return nil
}

var errColumnName = errors.New(`write TABLE.COLUMN, and a name that has a dot, a comma or a quote in double quotes, such as "a.b".c`)

// ParseColumnNames reads names of columns, separated by commas, as String writes them.
func ParseColumnNames(text string) (names []ColumnName, err error) {
	for more := true; more; {
		var n ColumnName
		var end byte
		if n.Table, end, text = cutName(text); end != '.' {
			return nil, errColumnName
		}
		if n.Column, end, text = cutName(text); end == '.' || n.Table == "" || n.Column == "" {
			return nil, errColumnName
		}
		names = append(names, n)
		more = end == ','
	}
	if text != "" {
		return nil, errColumnName
	}
	return names, nil
}

// cutName cuts a name off a text, and the dot or comma behind it, which is returned as end: 0 if there is neither.
func cutName(text string) (name string, end byte, rest string) {
	if strings.HasPrefix(text, `"`) {
		for rest = text[1:]; ; {
			part, behind, found := strings.Cut(rest, `"`)
			if !found {
				return "", 0, text
			}
			name, rest = name+part, behind
			if !strings.HasPrefix(rest, `"`) {
				break
			}
			name, rest = name+`"`, rest[1:]
		}
	} else {
		n := strings.IndexAny(text+",", `.,"`)
		name, rest = text[:n], text[n:]
	}
	if rest == "" || !slices.Contains([]byte(".,"), rest[0]) {
		return name, 0, rest
	}
	return name, rest[0], rest[1:]
}
