// Package role holds the roles of a sealed database: their logins, the columns granted to each, and how much
// a question and all of them together may spend. The owner keeps
// them as facts in the ledger, so that nobody who can write the database can change them. It imports ledger
// and sealed/catalog. Start at Role and Roles.
package role

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A Role is the login of an analyst. It is immutable.
type Role struct {
	Verifier wire.Verifier `json:"verifier"` // of its password; no other role has the same, also of the same name
	Terms
}

// Terms are the grants of a role; see serve.Role, which has the same fields.
type Terms struct {
	Name        string                        `json:"name"`
	Columns     []catalog.ColumnName          `json:"columns"`
	EpsilonMax  map[budget.Unit]budget.Amount `json:"epsilon_max,omitempty"`
	Epsilon     map[budget.Unit]budget.Amount `json:"epsilon"`
	EpsilonMin  map[budget.Unit]budget.Amount `json:"epsilon_min,omitempty"`
	Answers     int64                         `json:"answers,omitempty"`
	AnswerBytes int64                         `json:"answer_bytes,omitempty"`
	MaxRepeat   int                           `json:"max_repeat"`
	Timeout     time.Duration                 `json:"timeout"`
	Rows        int64                         `json:"rows,omitempty"`
	Memory      int64                         `json:"memory,omitempty"`
	LeaveOut    bool                          `json:"leave_out"`
	Added       time.Time                     `json:"added"`
}

// Defaults of a role. A dashboard of twenty panels with three new answers a minute each makes fewer than DefaultAnswers.
const (
	DefaultMaxRepeat   = 1
	DefaultTimeout     = 30 * time.Second
	DefaultEpsilonMin  = budget.One / 1_000_000
	DefaultAnswers     = 100_000
	DefaultAnswerBytes = 64 << 20
)

// Check returns an error for a role that has no meaning.
func (r *Role) Check() error {
	switch {
	case r.Name == "" || !printable.Is(r.Name) || len(r.Name) > 63:
		return errors.New("a role has a printable name of at most 63 bytes")
	case len(r.Columns) == 0:
		return errors.New("a role needs a column that it may ask about")
	case len(r.Epsilon) == 0:
		return errors.New("a role needs a limit on its cost to each account, such as kWh=1")
	case r.MaxRepeat < 1:
		return errors.New("a role needs a number of repeats of a value, at least 1")
	case r.Timeout <= 0:
		return errors.New("a role needs a timeout above 0")
	case r.Rows < 0 || r.Memory < 0 || r.Answers < 0 || r.AnswerBytes < 0:
		return errors.New("rows, memory and answers of a role must not be below 0")
	}
	return cmp.Or(r.checkUnits("a largest epsilon", r.EpsilonMax), r.checkUnits("a least epsilon", r.EpsilonMin))
}

// checkUnits returns an error for a bound in a unit that the role may not spend.
func (r *Role) checkUnits(bound string, by map[budget.Unit]budget.Amount) error {
	for _, unit := range slices.Sorted(maps.Keys(by)) {
		if _, spends := r.Epsilon[unit]; !spends {
			return fmt.Errorf("the role has %s in %s and no budget in it", bound, printable.Text(string(unit)))
		}
	}
	return nil
}

// CheckFor returns an error unless the role is about sealed columns that a database has, and its epsilon in units that
// answers about these are charged in.
func (r *Role) CheckFor(sealed []catalog.Column) error {
	units := map[budget.Unit]bool{budget.Record: true}
	var all []string
	known := map[catalog.ColumnName]bool{}
	for _, c := range sealed {
		all = append(all, c.FullName().String())
		known[c.FullName()] = true
		switch {
		case !r.May(c.FullName()):
		case c.Universe != nil:
			units[budget.Unit(c.Universe.Unit)] = true
		default:
			units[budget.Metre] = true
		}
	}
	for _, name := range r.Columns {
		if !known[name] {
			return fmt.Errorf("%s is not a sealed column of the database (%s)", printable.Text(name.String()), printable.Text(strings.Join(all, ", ")))
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(r.Epsilon)) {
		if !units[unit] {
			var known []string
			for _, u := range slices.Sorted(maps.Keys(units)) {
				known = append(known, string(u))
			}
			return fmt.Errorf("no answer about these columns is charged in %s (%s)", unit, strings.Join(known, ", "))
		}
	}
	return nil
}

// Least returns the least that an answer may cost an account for a row.
func (r *Role) Least(unit budget.Unit) budget.Amount {
	if least, ok := r.EpsilonMin[unit]; ok {
		return least
	}
	return DefaultEpsilonMin
}

// MostAnswers returns the number of new answers that the ledger keeps for the role in a day, and the number of their bytes.
func (r *Role) MostAnswers() (n, bytes int64) {
	return cmp.Or(r.Answers, DefaultAnswers), cmp.Or(r.AnswerBytes, DefaultAnswerBytes)
}

// May reports whether the role may ask about a sealed column.
func (r *Role) May(column catalog.ColumnName) bool { return slices.Contains(r.Columns, column) }

// Kinds of facts.
const (
	addedFact   = "role"         // Role
	droppedFact = "role dropped" // dropped
)

// dropped is a role that was added at a time and is no more. The salt of its verifier tells it from others of its name that
// were added at the same time; earlier programs have not recorded it.
type dropped struct {
	Name  string    `json:"name"`
	Added time.Time `json:"added"`
	Salt  []byte    `json:"salt,omitempty"`
}

func (d dropped) is(r *Role) bool {
	return r != nil && r.Added.Equal(d.Added) && (d.Salt == nil || bytes.Equal(r.Verifier.Salt, d.Salt))
}

// Fact returns the fact that there is a role.
func (r *Role) Fact() ledger.Fact { return fact(addedFact, r) }

// Dropped returns the fact that a role is no more.
func (r *Role) Dropped() ledger.Fact {
	return fact(droppedFact, dropped{r.Name, r.Added, r.Verifier.Salt})
}

func fact(kind string, v any) ledger.Fact {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // both types can be marshalled
	}
	return ledger.Fact{Kind: kind, Text: string(text)}
}

// Roles are the roles of a ledger, as far as they are read. The zero Roles have read nothing. They
// are used by one goroutine at a time.
type Roles struct {
	by   map[string]*Role
	last int64 // ID of the last fact
}

// Update reads the facts recorded since the last time.
func (r *Roles) Update(ctx context.Context, l ledger.Facts) error {
	facts, err := l.Facts(ctx, r.last)
	if err != nil {
		return err
	}
	if r.by == nil {
		r.by = map[string]*Role{}
	}
	for _, f := range facts {
		if err := r.add(f); err != nil {
			return fmt.Errorf("fact %d of the ledger, %s: %w", f.ID, f.Kind, err)
		}
		r.last = f.ID
	}
	return nil
}

func (r *Roles) add(f ledger.Fact) error {
	switch f.Kind {
	case addedFact:
		added := new(Role)
		if err := json.Unmarshal([]byte(f.Text), added); err != nil {
			return err
		}
		r.by[added.Name] = added
	case droppedFact:
		var d dropped
		if err := json.Unmarshal([]byte(f.Text), &d); err != nil {
			return err
		}
		if d.is(r.by[d.Name]) {
			delete(r.by, d.Name)
		}
	}
	return nil
}

// Find returns the role of a name, or nil.
func (r *Roles) Find(name string) *Role { return r.by[name] }

// All returns the roles in the order of their names.
func (r *Roles) All() []*Role {
	return slices.SortedFunc(maps.Values(r.by), func(a, b *Role) int { return strings.Compare(a.Name, b.Name) })
}
