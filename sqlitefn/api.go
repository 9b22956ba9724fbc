package sqlitefn

import (
	"unsafe"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/meter"
	"github.com/geosql/geosql/sqlitefn/internal/misuse"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// LedgerPath returns where the ledger of a database in a file is or would be, unless WithLedger
// names another.
func LedgerPath(database string) string { return frame.LedgerPath(database) }

// For programs that run the statements of others.
type (
	// A Meter counts the charges of statements, before, while they run and afterwards, and finds misuses of sealed values.
	Meter = meter.Meter

	// A Forecast has the charges of a statement that has not run yet, and the accounts that cannot pay them.
	Forecast = meter.Forecast

	// A UnitForecast is the part of a Forecast in one unit.
	UnitForecast = meter.UnitForecast

	// An UncountedError tells why the charges of a statement cannot be counted.
	UncountedError = meter.UncountedError

	// A Charged is a sum of charges in one unit.
	Charged = meter.Charged

	// A Misuse is a place of a statement that takes ciphertexts for numbers.
	Misuse = misuse.Misuse

	// A Gate finds misuses of sealed values, also on a connection that does not have all of the functions.
	Gate = misuse.Gate
)

// How much is proved of a Forecast.
const (
	Guessed = frame.Guessed // nothing: released values decide the charges
	Bounded = frame.Bounded // nobody is charged more
	Exact   = frame.Exact   // exactly this is charged
)

// ErrVerb is the error of a [Meter.Forecast] for a statement that never charges.
var ErrVerb = frame.ErrVerb

// NewMeter returns a meter of a connection that has the functions, by its handle, an *sqlite3
// of C. The meter is the connection's authorizer, which allows everything, until it is closed.
func NewMeter(db unsafe.Pointer) (*Meter, error) {
	s, err := sessionOf(db)
	if err != nil {
		return nil, err
	}
	return meter.New(s)
}

// NewGate returns a gate of a connection.
func NewGate(conn *sqlite.Conn) *Gate {
	return misuse.NewGate(frame.NewSession(conn, functions, frame.Options{}))
}

// MaxRepeat is the largest number that [WithMaxRepeat] takes.
const MaxRepeat = unseal.MaxRepeat

// For servers, which evaluate functions over sealed values for statements that run elsewhere.
type (
	// An Evaluator evaluates functions over sealed values for analysts who have neither the key nor the ledger.
	Evaluator = unseal.Evaluator

	// An Evaluation evaluates the functions of one statement.
	Evaluation = unseal.Evaluation

	// An EvaluatedGroup is a group of an aggregate.
	EvaluatedGroup = unseal.EvaluatedGroup

	// An Analyst is the reader of the answers of an [Evaluator], with the rights of a role.
	Analyst = unseal.Analyst

	// A Report has the costs of the answers of a statement, or of its quote.
	Report = unseal.Report

	// A Cost is the cost of a statement in one unit.
	Cost = unseal.Cost

	// A PermissionError says that an analyst may not ask something, whatever budgets say.
	PermissionError = unseal.PermissionError

	// An OverQuoteError says that a statement would cost more than it was quoted for.
	OverQuoteError = unseal.OverQuoteError

	// Released is a released answer, as a ledger remembers it and as it travels between processes.
	Released = frame.Released

	// A Remote evaluates the functions over sealed values somewhere else: where the key and the ledger are.
	Remote = unseal.Remote

	// A RemoteGroup is a group of an aggregate that a [Remote] evaluates.
	RemoteGroup = unseal.RemoteGroup

	// A Description describes a function.
	Description = unseal.Description
)

// NewEvaluator returns an evaluator on a connection that has the functions, a key (see [WithKeyring]) and its ledger.
// Questions are named by a hash that key keys, which must stay the same for answers to be found again.
func NewEvaluator(db unsafe.Pointer, key [32]byte) (*Evaluator, error) {
	s, err := sessionOf(db)
	if err != nil {
		return nil, err
	}
	return unseal.NewEvaluator(s, key), nil
}

// RegisterRemote gives a connection without key and ledger the functions over sealed values, which a remote
// evaluates, and the free ones. It has no other function that releases or declares anything.
func RegisterRemote(conn *sqlite.Conn, r Remote) error {
	_, err := attach(conn, options{remote: r})
	return err
}

// IsSealed reports whether a blob has the form of a sealed value, or of one that dx_narrow or dx_person has changed.
func IsSealed(b []byte) bool { return unseal.IsSealed(b) }

// RemoteFunctions describes the functions that RegisterRemote gives a connection.
func RemoteFunctions() []Description { return unseal.Describe(functions) }
