package worker

import (
	"context"
	"errors"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// A gateKey holds everything the gate's answer depends on.
type gateKey struct {
	sql, epsilon string
	schema       int64
}

// mostGated is the largest number of remembered statements. A full memory forgets all.
const mostGated = 1000

// pass returns the statement with private aggregates over sealed columns, if an epsilon is set, or the error about its
// misuse of sealed columns.
func (db *database) pass(ctx context.Context, sql, epsilon string) (private string, err error) {
	defer db.watch(ctx)()
	err = db.conn.Lift(func() error {
		key := gateKey{sql, epsilon, 0}
		err := db.conn.Each("PRAGMA main.schema_version", func(v []sqlite.Value) error {
			key.schema = v[0].Int()
			return nil
		})
		if err != nil {
			return err
		}
		if known, ok := db.gated[key]; ok {
			private = known
			return nil
		}
		if epsilon != "" {
			private, err = db.gate.Private(sql, epsilon)
		} else {
			private = sql
			var list []sqlitefn.Misuse
			if list, err = db.gate.Misuses(sql); err == nil && len(list) > 0 {
				err = list[0]
			}
		}
		if err != nil {
			return err
		}
		if len(db.gated) >= mostGated {
			clear(db.gated)
		}
		db.gated[key] = private
		return nil
	})
	var misuse sqlitefn.Misuse
	switch {
	case errors.As(err, &misuse):
		return "", misuseError(misuse, epsilon)
	case err != nil:
		if e := (*sqlite.Error)(nil); errors.As(err, &e) {
			return "", db.compileError(ctx, err, sql)
		}
		return "", newError("42804", "%s", err)
	}
	return private, nil
}

// misuseError returns the client's error for a misuse.
func misuseError(m sqlitefn.Misuse, epsilon string) error {
	hint := upperFirst(m.Instead) + "."
	if m.HasForm() && epsilon == "" {
		hint = upperFirst(m.Instead) + ", or SET geosql.epsilon = 0.1 and ask as you did."
	}
	return &wire.Error{Code: "42804", Message: m.Wrong(), Hint: hint}
}

// upperFirst returns a sentence from its words.
func upperFirst(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
