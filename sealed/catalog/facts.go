package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
)

// Kinds of facts. All but the last are in the ledger of a sealed database.
const (
	databaseFact  = "sealed database"   // sealedDatabase
	columnFact    = "sealed column"     // Column
	collectorFact = "collector"         // Collector
	revokedFact   = "collector revoked" // Collector
	erasedFact    = "account erased"    // erasedAccount
	sealedAsFact  = "sealed as"         // sealedDatabase, in the ledger of the source
)

type sealedDatabase struct {
	ID []byte `json:"id"`
}

// A Collector may begin sessions, which its key verifies.
type Collector struct {
	Name   string `json:"name"`
	Verify []byte `json:"verify"` // a public key of Ed25519
}

type erasedAccount struct {
	Name string `json:"name"`
}

// Database returns the fact that a ledger is that of a sealed database.
func Database(id sealed.DatabaseID) ledger.Fact { return fact(databaseFact, sealedDatabase{id[:]}) }

// SealedAs returns the fact, for the ledger of a database, that its contents were sealed in
// another one. Sealing them again gives its accounts their budgets a second time.
func SealedAs(id sealed.DatabaseID) ledger.Fact { return fact(sealedAsFact, sealedDatabase{id[:]}) }

// Fact returns the fact that a column is sealed.
func (c Column) Fact() ledger.Fact { return fact(columnFact, c) }

// Fact returns the fact that a collector may begin sessions.
func (c Collector) Fact() ledger.Fact { return fact(collectorFact, c) }

// Revoked returns the fact that no value of a collector is opened, sealed before or later.
func (c Collector) Revoked() ledger.Fact { return fact(revokedFact, c) }

// Erased returns the fact that no value of the account of a name is opened any more, from any
// collector.
func Erased(name string) ledger.Fact { return fact(erasedFact, erasedAccount{name}) }

// fact returns a fact with v in JSON as its text.
func fact(kind string, v any) ledger.Fact {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all types of facts can be marshalled
	}
	return ledger.Fact{Kind: kind, Text: string(text)}
}

// A Record holds the owner's facts in a ledger about a sealed database.
type Record struct {
	Database   *sealed.DatabaseID // nil if the ledger is not that of a sealed database
	Columns    []Column
	Collectors []Collector     // also revoked ones
	Revoked    map[string]bool // collectors, by Collector.Verify
	Erased     map[string]bool // accounts, by name
	SealedAs   int             // how often the ledger's own database was sealed

	last int64 // ID of the last fact
}

// ReadRecord returns the record in a ledger.
func ReadRecord(ctx context.Context, l ledger.Facts) (*Record, error) {
	r := &Record{Revoked: map[string]bool{}, Erased: map[string]bool{}}
	_, err := r.update(ctx, l)
	return r, err
}

// ReadRecordOf returns the record in the ledger of a database, or an error if it is the ledger of another one. Errors name
// the database and the ledger as is said.
func ReadRecordOf(ctx context.Context, conn *sqlite.Conn, database string, l ledger.Facts, label string) (*Record, error) {
	r, err := ReadRecord(ctx, l)
	if err != nil {
		return nil, err
	}
	id, err := ReadID(conn)
	if err == nil && (r.Database == nil || *r.Database != id) {
		err = fmt.Errorf("ledger %s is not that of the sealed database %s: name the right one with --ledger", label, database)
	}
	return r, err
}

// update adds the facts recorded since the last time. It reports whether there were any.
func (r *Record) update(ctx context.Context, l ledger.Facts) (changed bool, err error) {
	facts, err := l.Facts(ctx, r.last)
	if err != nil {
		return false, err
	}
	for _, f := range facts {
		if err := r.add(f); err != nil {
			return false, fmt.Errorf("fact %d of the ledger, %s: %w", f.ID, f.Kind, err)
		}
		r.last = f.ID
	}
	return len(facts) > 0, nil
}

func (r *Record) add(f ledger.Fact) error {
	switch f.Kind {
	case databaseFact:
		var d sealedDatabase
		err := json.Unmarshal([]byte(f.Text), &d)
		switch {
		case err != nil:
			return err
		case len(d.ID) != len(sealed.DatabaseID{}):
			return errors.New("the id has a wrong length")
		case r.Database == nil: // columns belong to the first one
			r.Database = (*sealed.DatabaseID)(d.ID)
		}
		return nil
	case columnFact:
		var c Column
		err := json.Unmarshal([]byte(f.Text), &c)
		r.Columns = append(r.Columns, c)
		return err
	case collectorFact:
		var c Collector
		err := json.Unmarshal([]byte(f.Text), &c)
		r.Collectors = append(r.Collectors, c)
		return err
	case revokedFact:
		var c Collector
		err := json.Unmarshal([]byte(f.Text), &c)
		r.Revoked[string(c.Verify)] = true
		return err
	case erasedFact:
		var a erasedAccount
		err := json.Unmarshal([]byte(f.Text), &a)
		r.Erased[a.Name] = true
		return err
	case sealedAsFact:
		r.SealedAs++
	}
	return nil
}

// Enrolled reports whether a key is that of a collector, revoked or not.
func (r *Record) Enrolled(verify []byte) bool {
	for _, c := range r.Collectors {
		if string(c.Verify) == string(verify) {
			return true
		}
	}
	return false
}
