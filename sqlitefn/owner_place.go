package sqlitefn

import (
	"errors"

	"github.com/geosql/geosql/ledger/engines"
)

var argWhere = &argument{name: "where", is: "TEXT: the path of a file, or the URL of a PostgreSQL database, such as 'postgres://host/database'", kind: kindText}

var placeFunctions = []*function{
	&function{
		name: "geosql_ledger", section: owners, flags: ownerOnly,
		args: []*argument{argWhere},
		does: "Says where the ledger of this connection is, before its first use, and returns the ledger's id.",
		notes: "For programs that have no other way to say so: `SELECT geosql_ledger('postgres://host/database')`. Without it the ledger is the file beside the database. " +
			"NULL if there is no ledger yet: the first limit makes it. An error once a ledger is in use, or if this database was charged to another one. " +
			"A connection forgets it when it closes. A password stands in the file that PGPASSFILE names, never in a URL.",
		scalar: nameLedger,
	},
}

// nameLedger says where the ledger of the connection is, and answers its id.
func nameLedger(c call) error {
	s, where := c.session, c.text(argWhere)
	if err := engines.Check(where); err != nil {
		return c.argErrorf(argWhere, "is wrong: %w", err)
	}
	if now, _ := s.ledgerPlace(); where != now {
		switch {
		case s.book != nil:
			return c.argErrorf(argWhere, "comes too late: this connection uses %s already; say where the ledger is before anything asks for it", s.ledgerLabel())
		case s.opts.ledger != "":
			return c.argErrorf(argWhere, "is not %s, which the program that opened this connection has named", s.ledgerLabel())
		}
	}
	earlier := s.named
	s.named = where
	book, err := s.ledger()
	switch {
	case errors.Is(err, errNoLedger):
		return nil
	case err != nil:
		s.named = earlier
		return err
	}
	c.ResultString(0, book.ID())
	return nil
}
