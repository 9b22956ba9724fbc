package serve

import (
	"cmp"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A Role is the login of an analyst, with its grants. The password is kept as a verifier of SCRAM-SHA-256, and not here.
type Role struct {
	Name    string               // printable, at most 63 bytes
	Columns []catalog.ColumnName // sealed ones that it may ask about; public ones are for everybody

	// EpsilonMax is the largest amount that one call may cost an account, with all of its rows and as often as they are
	// repeated, and Epsilon the largest that all answers to the role may, both by unit. A unit that EpsilonMax lacks has no
	// bound of its own; one that Epsilon lacks may not be spent.
	EpsilonMax map[budget.Unit]budget.Amount
	Epsilon    map[budget.Unit]budget.Amount

	// EpsilonMin is the least that an answer may cost an account for a row, by unit; [DefaultEpsilonMin] for one that it lacks.
	EpsilonMin map[budget.Unit]budget.Amount

	// Answers is how many new answers, and AnswerBytes how many bytes of them, the ledger keeps for the role in a day of UTC.
	// 0 stands for [DefaultAnswers] and [DefaultAnswerBytes].
	Answers     int64
	AnswerBytes int64

	MaxRepeat int           // how often a group may have a sealed value, each time at its cost; 0 stands for [DefaultMaxRepeat]
	Timeout   time.Duration // of a statement; 0 stands for [DefaultTimeout]
	Rows      int64         // of a result; 0 stands for any number
	Memory    int64         // of a session, in bytes; 0 stands for the server's default
	LeaveOut  bool          // leave out accounts that cannot pay, instead of refusing the answer

	Added time.Time // set by [AddRole]
}

// Defaults of a role.
const (
	DefaultMaxRepeat   = role.DefaultMaxRepeat
	DefaultTimeout     = role.DefaultTimeout
	DefaultEpsilonMin  = role.DefaultEpsilonMin
	DefaultAnswers     = role.DefaultAnswers
	DefaultAnswerBytes = role.DefaultAnswerBytes
)

// AddRole adds a role to a sealed database, with a password. Its ledger is at a path or a URL, by default (if ledger is "") in
// the file beside it. It is an error if there is a role of the name, or if the role does not fit the database.
func AddRole(path, ledger string, r Role, password string) error {
	return withVault(path, ledger, func(v *vault) error {
		if v.roles.Find(r.Name) != nil {
			return fmt.Errorf("there is a role %s: drop it first, or take another name", r.Name)
		}
		r.MaxRepeat, r.Timeout = cmp.Or(r.MaxRepeat, DefaultMaxRepeat), cmp.Or(r.Timeout, DefaultTimeout)
		r.Added = time.Now().UTC().Truncate(time.Microsecond)
		added := role.Role{Terms: role.Terms(r)}
		if err := added.Check(); err != nil {
			return err
		}
		if err := added.CheckFor(v.record.Columns); err != nil {
			return err
		}
		var err error
		if added.Verifier, err = wire.NewVerifier(password, wire.DefaultIterations); err != nil {
			return err
		}
		return v.ledger.Record(added.Fact())
	})
}

// DropRole drops a role, which cannot log in any more; its sessions end within a second. Its spending stays charged. It is an
// error if there is no role of the name.
func DropRole(path, ledger, name string) error {
	return withVault(path, ledger, func(v *vault) error {
		r := v.roles.Find(name)
		if r == nil {
			return fmt.Errorf("there is no role %s", name)
		}
		return v.ledger.Record(r.Dropped())
	})
}

// Roles returns the roles of a sealed database in the order of their names.
func Roles(path, ledger string) (all []Role, err error) {
	err = withVault(path, ledger, func(v *vault) error {
		for _, r := range v.roles.All() {
			all = append(all, Role(r.Terms))
		}
		return nil
	})
	return all, err
}

// withVault does something with a sealed database that it opens and closes.
func withVault(path, ledger string, do func(*vault) error) error {
	v, err := openVault(path, ledger)
	if err != nil {
		return err
	}
	return cmp.Or(do(v), v.close())
}
