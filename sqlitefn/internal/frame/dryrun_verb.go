package frame

import (
	"errors"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqltext"
)

// verbs lists the first words of statements that can be dry-run. Other statements have effects that
// cannot be rolled back, and some pragmas take effect as soon as they are compiled.
var verbs = []string{"SELECT", "WITH", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE",
	"CREATE TABLE", "CREATE TEMP TABLE", "CREATE TEMPORARY TABLE"}

// ErrVerb is the error for another statement.
var ErrVerb = errors.New("sql must be one of SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE, CREATE TABLE AS")

// checkVerb returns an error for a text if its first statement cannot be dry-run.
func checkVerb(sql string) error {
	var words []string
	for t := range sqltext.SQLite.Words(sql) {
		words = append(words, strings.ToUpper(t.Text))
		if !t.Is("CREATE", "TEMP", "TEMPORARY") || len(words) == 3 {
			break
		}
	}
	switch {
	case slices.Contains(verbs, strings.Join(words, " ")):
		return nil
	case words == nil:
		return errors.New("sql holds no statement")
	}
	return ErrVerb
}
