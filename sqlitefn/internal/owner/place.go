package owner

import (
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argWhere = &frame.Arg{Name: "where", Is: "TEXT: the path of a file, or the URL of a PostgreSQL database, such as 'postgres://host/database'", Kind: frame.Text}

var placeFunctions = []*frame.Function{
	{
		Name: "geosql_ledger", Section: frame.ForOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argWhere},
		Does: "Says where the ledger of this connection is, before its first use, and returns the ledger's id.",
		Notes: "For programs that have no other way to say so: `SELECT geosql_ledger('postgres://host/database')`. Without it the ledger is the file beside the database. " +
			"NULL if there is no ledger yet: the first limit makes it. An error once a ledger is in use, or if this database was charged to another one. " +
			"A connection forgets it when it closes. A password stands in the file that PGPASSFILE names, never in a URL.",
		Examples: []string{"SELECT geosql_ledger('elsewhere.ledger')"},
		Scalar:   nameLedger,
	},
}

// nameLedger says where the ledger of the connection is, and answers its id.
func nameLedger(c frame.Call) error {
	s, where := c.Session, c.Text(argWhere)
	if err := engines.Check(where); err != nil {
		return c.Errorf(argWhere, "is wrong: %w", err)
	}
	if err := s.MayNameLedger(where); err != nil {
		return c.Errorf(argWhere, "%w", err)
	}
	l, err := s.NameLedger(where)
	if err != nil || l == nil {
		return err
	}
	c.ResultString(0, l.ID())
	return nil
}
