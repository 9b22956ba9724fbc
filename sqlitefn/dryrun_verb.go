package sqlitefn

import (
	"errors"
	"slices"
	"strings"
)

// verbs lists how the statements begin that can be dry-run. Others change what cannot be
// rolled back, and some pragmas take effect as soon as they are compiled.
var verbs = []string{"SELECT", "WITH", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE",
	"CREATE TABLE", "CREATE TEMP TABLE", "CREATE TEMPORARY TABLE"}

// checkVerb returns an error for a text whose first statement cannot be dry-run.
func checkVerb(sql string) error {
	word, rest := cutWord(sql)
	verb := word
	for word == "CREATE" || word == "TEMP" || word == "TEMPORARY" {
		word, rest = cutWord(rest)
		verb += " " + word
	}
	switch {
	case slices.Contains(verbs, verb):
		return nil
	case skipBlank(sql) == "":
		return errors.New("sql holds no statement")
	}
	return errors.New("sql must be one of SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE, CREATE TABLE AS")
}

// cutWord cuts sql after its first word and returns the word in upper case, or "" if
// something else comes first.
func cutWord(sql string) (word, rest string) {
	sql = skipBlank(sql)
	rest = strings.TrimLeft(sql, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
	return strings.ToUpper(sql[:len(sql)-len(rest)]), rest
}

// skipBlank returns sql without leading white space and comments.
func skipBlank(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\n\f\r")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql[2:], "*/")
		default:
			return sql
		}
	}
}
